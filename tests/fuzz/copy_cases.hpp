#pragma once

#include <cstdint>

#include "tests/fuzz/trial.hpp"

namespace relayout::fuzz {

enum class Extents { any, whole_vectors, short_ones };

/// Small numbers, multiples of what vectors and tiles hold and their neighbours, primes, and a few hundreds.
std::int64_t draw_extent(Draw& draw, Extents extents);

/// Equal types of 1, 2, 4 or 8 bytes, or a conversion.
void draw_types(Draw& draw, DType& in, DType& out);

Trial decode_permute(Draw& draw);
Trial decode_transpose(Draw& draw);
Trial decode_cast(Draw& draw);

}  // namespace relayout::fuzz
