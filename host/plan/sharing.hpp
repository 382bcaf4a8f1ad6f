// Whether two views share a byte of memory.
#pragma once

#include "relayout/tensor_view.hpp"

namespace relayout::plan {

enum class Sharing {
  none,       ///< no byte
  some,       ///< at least one
  undecided,  ///< their ranges overlap, and whether their elements do could not be told in bounded time
};

/// Exact for what tensors are cut from: columns, halves of rows, slices of a cache, one channel of many, real
/// and imaginary parts. Disjoint ranges cost a comparison; else a search of at most a few hundred steps.
Sharing sharing_of(const TensorView& a, const TensorView& b);

/// Whether two byte_range()s overlap, counted from these pointers: else views of them share no byte.
bool ranges_overlap(const TensorView::ByteRange& a, const void* at_a, const TensorView::ByteRange& b,
                    const void* at_b);

}  // namespace relayout::plan
