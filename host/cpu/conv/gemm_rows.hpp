// The native GEMM for a left operand that may be computed row by row instead of lying in memory.
#pragma once

#include <cstdint>

#include "core/gemm_params.hpp"

namespace relayout::native {

/// How many elements of a row are multiplied at a time.
constexpr std::int64_t kPanelDepth = 128;

class GemmRows {
 public:
  virtual ~GemmRows() = default;
  /// panel[r][i] = element k + i of row `row` + r of a matrix, for r < rows and i < depth. The threads of a
  /// GEMM call it at the same time.
  virtual void load(std::int64_t group, std::int64_t row, std::int64_t rows, std::int64_t k,
                    std::int64_t depth, float (*panel)[kPanelDepth]) const = 0;
};

/// The GEMM of params, with `a` in place of params.a.
void gemm_of_rows(const GemmParams& params, const GemmRows& a);

}  // namespace relayout::native
