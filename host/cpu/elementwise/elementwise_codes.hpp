// Rows of 8-bit codes to the numbers that they stand for, and back.
#pragma once

#include <cstdint>

#include "core/elementwise_params.hpp"

namespace relayout::native {

/// Codes, their scales and their zero points, element by element; zero points have the codes' type.
void dequantize_row(bool is_signed, const void* codes, const void* zeros, const float* scales, float* numbers,
                    std::int64_t count);
/// The nearest codes; NaN becomes the zero point.
void quantize_row(bool is_signed, const float* numbers, const void* zeros, const float* scales, void* codes,
                  std::int64_t count);

}  // namespace relayout::native
