// Rows of a nest cut into aligned vectors of the output, for parameters of any kernel that has a nest, an
// output and a width.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "core/elementwise_params.hpp"
#include "core/integer_math.hpp"
#include "core/sector.hpp"

namespace relayout::plan {

/// The largest index in 32 bits, with room for the vectors of a block beyond it.
constexpr std::int64_t kMax32BitIndex = std::numeric_limits<std::int32_t>::max() - (1 << 16);

/// Whether every row of the output begins as many elements behind a vector's boundary, or has no vectors.
template <class Params>
bool rows_alike(const Params& p) {
  if (p.out_strides[p.rank - 1] != 1) return true;
  return std::all_of(p.out_strides, p.out_strides + p.rank - 1,
                     [&](std::int64_t stride) { return stride % p.width == 0; });
}

/// How far elements are from the nest's first one, at most.
template <class Params>
std::int64_t reach_of(const Params& p, const std::int64_t* strides) {
  std::int64_t reach = 0;
  for (int axis = 0; axis < p.rank; ++axis) reach += (p.extents[axis] - 1) * std::abs(strides[axis]);
  return reach;
}

/// An element's number, counted from address 0.
inline std::int64_t place_of(const void* data, std::int32_t bytes) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data) / static_cast<unsigned>(bytes));
}

/// A tensor's vectors are aligned where its elements are as far from a boundary as the output's, in every
/// row. Their halves are where the two distances differ by whole halves, and so for quarters.
template <class Params>
Access access_of(const Params& p, const TensorOperand& tensor) {
  const int last = p.rank - 1;
  if (tensor.strides[last] == 0) return Access::repeated;
  if (tensor.strides[last] != 1) return Access::strided;
  const bool vectors = p.out_strides[last] == 1;
  // The lowest bit that is set here divides what the two distances differ by, in every row.
  std::int64_t differences =
      place_of(tensor.data, tensor.bytes) - (vectors ? place_of(p.out, p.out_bytes) : 0);
  for (int axis = 0; axis < last; ++axis)
    differences |= tensor.strides[axis] - (vectors ? p.out_strides[axis] : 0);
  const auto is_multiple = [&](std::int64_t elements) { return (differences & (elements - 1)) == 0; };
  if (is_multiple(p.width)) return Access::aligned;
  if (p.width * tensor.bytes != kVectorBytes) return Access::unaligned;
  if (is_multiple(p.width / 2)) return Access::halves;
  return p.width >= 4 && is_multiple(p.width / 4) ? Access::quarters : Access::unaligned;
}

/// Sets row_vectors, vectors, fits_32_bits and what splits numbers, for p.width.
template <class Params>
void count_vectors(Params& p) {
  const int last = p.rank - 1;
  std::int64_t most_lead = 0;
  if (p.out_strides[last] == 1)
    most_lead = rows_alike(p) ? place_of(p.out, p.out_bytes) % p.width : p.width - 1;
  p.row_vectors = divide_up(most_lead + p.extents[last], p.width);
  const std::int64_t rows = p.elements / p.extents[last];
  p.vectors = rows * p.row_vectors;
  p.fits_32_bits = p.vectors <= kMax32BitIndex && reach_of(p, p.out_strides) <= kMax32BitIndex;
  for (int t = 0; t < p.tensors; ++t)
    p.fits_32_bits = p.fits_32_bits && reach_of(p, p.tensor[t].strides) <= kMax32BitIndex;
  if (!p.fits_32_bits) return;
  p.row_divisor = make_divisor(static_cast<std::uint32_t>(p.row_vectors));
  for (int axis = 0; axis < last; ++axis)
    p.axes[axis].extent = make_divisor(static_cast<std::uint32_t>(p.extents[axis]));
}

}  // namespace relayout::plan
