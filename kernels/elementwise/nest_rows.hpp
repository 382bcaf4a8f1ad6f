// The rows of a nest, those of its last axis: where one lies, and which of its elements a vector has, for
// all parameters that have an output, extents and strides.
#pragma once

#include "kernels/divide.hpp"
#include "kernels/elementwise/elementwise_memory.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Splits a row's number into its indices: calls add_axis(axis, index) for the nest's outer axes.
/// extent(axis): what numbers are split by.
template <class Params, class Index, class Extent, class AddAxis>
__device__ __forceinline__ void split_row(const Params& p, Index row, const Extent& extent,
                                          AddAxis&& add_axis) {
  if (p.rank == 1) return;
#pragma unroll 1
  for (int axis = p.rank - 2; axis > 0; --axis) {
    Index index = row;
    row = split(index, extent(axis));
    add_axis(axis, index);
  }
  add_axis(0, row);
}

/// Which elements of a row are in its vector number `column`. `row` is where the output's row begins.
template <int kWidth, class Params>
__device__ __forceinline__ Span span_of(const Params& p, const unsigned char* row, std::int64_t column) {
  const int last = p.rank - 1;
  int lead = 0;
  if (p.out_strides[last] == 1)
    lead =
        (static_cast<int>(reinterpret_cast<std::uintptr_t>(row)) & (kWidth * p.out_bytes - 1)) / p.out_bytes;
  Span span;
  span.first = column * kWidth - lead;
  span.begin = span.first < 0 ? static_cast<int>(-span.first) : 0;
  const std::int64_t left = p.extents[last] - span.first;
  span.end = left < kWidth ? static_cast<int>(left) : kWidth;
  span.length = p.extents[last];
  return span;
}

}  // namespace relayout::RELAYOUT_BACKEND
