// Elements of every type to numbers of every class that is computed in, and back: loops that the compiler
// vectorises.
#pragma once

#include <cstdint>

#include "core/elementwise_params.hpp"

namespace relayout::native {

/// out[0, count) from in[0, count), contiguous, not overlapping.
using ConvertRow = void (*)(const void* in, void* out, std::int64_t count);

/// Elements to numbers; with a rounding where the class does not hold them. Null where they are numbers as
/// they lie in memory, and from floating types to integers.
ConvertRow load_row(DType type, ComputeClass compute);
/// Integers or bools to integers, which wrap.
ConvertRow integer_cast_row(DType in, DType out);
/// Elements of any type to bools: x != 0, as bytes of 0 and 1.
ConvertRow truth_row(DType type);
/// Numbers to elements of the result's type, which holds them but for a rounding or a wrap. Null where they
/// are elements as they lie in memory.
ConvertRow store_row(DType type, ComputeClass compute);

}  // namespace relayout::native
