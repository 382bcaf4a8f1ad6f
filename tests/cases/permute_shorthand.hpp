// Permutations in few words.
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "tests/cases/permute_case.hpp"

namespace relayout::cases {

inline const std::vector<DType> kOneTypePerSize{DType::u8, DType::f16, DType::f32, DType::i64};

inline std::vector<int> identity(int rank) {
  std::vector<int> axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

inline std::vector<int> reversal(int rank) {
  std::vector<int> axes = identity(rank);
  std::reverse(axes.begin(), axes.end());
  return axes;
}

inline PermuteCase move_of(DType type, Dims shape, std::vector<int> axes, Dims in_strides = {},
                           Dims out_strides = {}) {
  PermuteCase c;
  c.in_type = c.out_type = type;
  c.shape = std::move(shape);
  c.axes = std::move(axes);
  c.in_strides = std::move(in_strides);
  c.out_strides = std::move(out_strides);
  return c;
}

}  // namespace relayout::cases
