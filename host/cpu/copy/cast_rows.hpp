// Contiguous rows of elements converted between any two types.
#pragma once

#include <cstdint>

#include "core/number_format.hpp"

namespace relayout::native {

/// out[0, count) = cast(in[0, count)), not overlapping.
using CastRow = void (*)(const ElementCast& cast, const void* in, void* out, std::int64_t count);

/// The row loop for a cast with these types and its rounding. Common pairs have loops that the compiler
/// vectorises: bool and integers of up to 32 bits from and to f32 and f16, with the default rounding.
CastRow cast_row(DType in, DType out, const ElementCast& cast);

}  // namespace relayout::native
