// Permutations in few words.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <relayout/copy_plan.hpp>
#include <relayout/permute.hpp>

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

/// The copy that is planned for the case on a GPU with these properties. Only addresses are computed, so the
/// memory need not exist.
inline CopyDetails plan_of(const PermuteCase& c, const DeviceProperties& gpu) {
  const auto view = [](std::uintptr_t base, std::int64_t misaligned, DType type, const Dims& shape,
                       const Dims& strides) {
    void* data = reinterpret_cast<void*>(base + static_cast<std::uintptr_t>(misaligned) * size_of(type));
    return strides.empty() ? TensorView(data, type, shape) : TensorView(data, type, shape, strides);
  };
  const TensorView in = view(std::uintptr_t{1} << 44, c.in_misaligned, c.in_type, c.shape, c.in_strides);
  const TensorView out =
      view(std::uintptr_t{1} << 45, c.out_misaligned, c.out_type, c.out_shape(), c.out_strides);
  return plan_permute(gpu, in, c.axes, out, {c.scale, c.indirect}).details();
}

}  // namespace relayout::cases
