#pragma once

#include <cstdint>
#include <ostream>

#include "tests/cases/layout.hpp"

#include <relayout/gemm.hpp>

namespace relayout::cases {

/// y[g] = a[g] * bt[g]^T + bias[g].
struct GemmCase {
  std::int64_t m = 1, n = 1, k = 1, groups = 1;
  DType in_type = DType::f16, out_type = DType::f16;
  bool bias = true, workspace = true;
  bool side_by_side = false;                     // y's groups are column blocks of one [m, groups * n] matrix
  std::int64_t a_gap = 0, b_gap = 0, y_gap = 0;  // elements left free after each row
  std::int64_t misaligned = 0;                   // elements, of a, bt and y

  Dims shape(std::int64_t rows, std::int64_t columns) const {
    return groups == 1 ? Dims{rows, columns} : Dims{groups, rows, columns};
  }
  Dims strides(std::int64_t rows, std::int64_t pitch) const {
    return groups == 1 ? Dims{pitch, 1} : Dims{rows * pitch, pitch, 1};
  }
  Dims a_shape() const { return shape(m, k); }
  Dims b_shape() const { return shape(n, k); }
  Dims y_shape() const { return shape(m, n); }
  Dims a_strides() const { return strides(m, k + a_gap); }
  Dims b_strides() const { return strides(n, k + b_gap); }
  Dims y_strides() const {
    if (groups > 1 && side_by_side) return {n, groups * n + y_gap, 1};
    return strides(m, n + y_gap);
  }
};

inline std::ostream& operator<<(std::ostream& out, const GemmCase& c) {
  return out << "gemm " << c.groups << " x m " << c.m << " n " << c.n << " k " << c.k << " "
             << relayout::name_of(c.in_type) << " to " << relayout::name_of(c.out_type)
             << (c.bias ? " bias" : " no bias") << (c.workspace ? " workspace" : " no workspace")
             << (c.side_by_side ? " side by side" : "") << " gaps " << c.a_gap << ", " << c.b_gap << ", "
             << c.y_gap << " misaligned by " << c.misaligned;
}

}  // namespace relayout::cases
