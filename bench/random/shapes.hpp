// Random shapes, and where a tensor of a shape lies in memory: the part of the distribution that all families
// share.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/random/draw.hpp"
#include "bench/random/problem.hpp"

namespace relayout::bench::random {

/// 1 to 8 axes, about `elements` in all. An extent is as likely a power of two, 8 to 4096, as one of the odd
/// ones and others that no vector or tile divides. Until all fit, the longer of two random axes is made
/// shorter, to the next smaller extent of its kind; then one is made longer, by a power of two or an odd
/// factor.
Dims draw_shape(Draw& draw, std::int64_t elements);

/// How a tensor is laid out. The defaults are a contiguous one whose base is aligned.
struct Placing {
  std::vector<int> order;      // the axes from the slowest to the fastest in memory; empty: as they are
  std::vector<bool> repeated;  // axes of stride 0; empty: none
  bool sliced = false;   // part of a larger tensor: some axes, one at least, have elements before and behind
  bool stepped = false;  // of these axes some take every second or third element
  bool misaligned = false;
};
Tensor place(Draw& draw, DType type, const Dims& shape, const Placing& placing);

std::vector<int> draw_order(Draw& draw, std::size_t rank);
/// Base addresses of one operand in four are misaligned, one in four is permuted, one in four sliced; where
/// operands may be repeated, one in four is, along each axis or not.
Placing draw_placing(Draw& draw, std::size_t rank, bool may_repeat);

}  // namespace relayout::bench::random
