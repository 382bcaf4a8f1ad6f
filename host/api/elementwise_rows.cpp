#include "host/api/elementwise_rows.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>

namespace relayout {
namespace {

constexpr std::int64_t kVectorBytes = 16;

bool has_heavy(const ElementwiseParams& p) {
  const bool real = p.compute == ComputeClass::single || p.compute == ComputeClass::twice;
  return std::any_of(p.step, p.step + p.steps,
                     [&](const Step& step) { return is_heavy(step.operation, p.rounding, real); });
}

/// Elements of which the largest operand's are 16 bytes; fewer where a kernel computes with more registers.
std::int64_t width_of(const ElementwiseParams& p) {
  std::size_t widest = size_of(p.out_type);
  for (int t = 0; t < p.tensors; ++t) widest = std::max(widest, size_of(p.tensor[t].type));
  if (p.convert) widest = std::max(widest, size_of(p.result));
  const std::int64_t fitting = kVectorBytes / static_cast<std::int64_t>(widest);
  switch (p.compute) {
    case ComputeClass::word:
      return has_heavy(p) ? 2 : fitting;
    case ComputeClass::single:
      return std::min<std::int64_t>(fitting, has_heavy(p) ? 4 : 8);
    case ComputeClass::long_word:
    case ComputeClass::twice:
      break;
  }
  return 2;
}

/// Whether every row of the output begins as many elements behind a vector's boundary, or has no vectors.
bool rows_alike(const ElementwiseParams& p) {
  if (p.out_strides[p.rank - 1] != 1) return true;
  return std::all_of(p.out_strides, p.out_strides + p.rank - 1,
                     [&](std::int64_t stride) { return stride % p.width == 0; });
}

/// With room for a vector.
constexpr std::int64_t kMostSmall = std::numeric_limits<std::int32_t>::max() - 2 * kVectorBytes;

/// How far elements are from the nest's first one, at most.
std::int64_t reach_of(const ElementwiseParams& p, const std::int64_t* strides) {
  std::int64_t reach = 0;
  for (int axis = 0; axis < p.rank; ++axis) reach += (p.extents[axis] - 1) * std::abs(strides[axis]);
  return reach;
}

/// An element, counted from address 0.
std::int64_t place_of(const void* data, std::int32_t bytes) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data) / static_cast<unsigned>(bytes));
}

/// An operand's vectors are aligned where its elements are as far from a boundary as the output's, in every
/// row.
Access access_of(const ElementwiseParams& p, const TensorOperand& tensor) {
  const int last = p.rank - 1;
  if (tensor.strides[last] == 0) return Access::repeated;
  if (tensor.strides[last] != 1) return Access::strided;
  const bool vectors = p.out_strides[last] == 1;
  const std::int64_t place = vectors ? place_of(p.out, p.out_bytes) : 0;
  if ((place_of(tensor.data, tensor.bytes) - place) % p.width != 0) return Access::unaligned;
  for (int axis = 0; axis < last; ++axis) {
    const std::int64_t step = vectors ? p.out_strides[axis] : 0;
    if ((tensor.strides[axis] - step) % p.width != 0) return Access::unaligned;
  }
  return Access::aligned;
}

/// Whether vectors of 16 bytes along `axis` are aligned wherever they begin, but for the axis's own steps.
bool aligned_along(const ElementwiseParams& p, const void* data, std::int32_t bytes,
                   const std::int64_t* strides, int axis) {
  const std::int64_t width = kVectorBytes / bytes;
  if (strides[axis] != 1 || place_of(data, bytes) % width != 0) return false;
  for (int other = 0; other < p.rank; ++other) {
    if (other != axis && strides[other] % width != 0) return false;
  }
  return true;
}

/// One operand that lies across the output's rows, beside one along them or a constant.
void find_turned(ElementwiseParams& p) {
  const int last = p.rank - 1;
  p.turned_tensor = -1;
  if (!aligned_along(p, p.out, p.out_bytes, p.out_strides, last)) return;
  int turned = -1;
  for (int t = 0; t < p.tensors; ++t) {
    const TensorOperand& tensor = p.tensor[t];
    if (tensor.strides[last] == 0 || aligned_along(p, tensor.data, tensor.bytes, tensor.strides, last))
      continue;
    if (turned >= 0) return;
    turned = t;
  }
  if (turned < 0) return;
  for (int axis = 0; axis < last; ++axis) {
    const TensorOperand& tensor = p.tensor[turned];
    if (!aligned_along(p, tensor.data, tensor.bytes, tensor.strides, axis)) continue;
    p.turned_tensor = turned;
    p.turned_axis = axis;
  }
}

}  // namespace

void cut_rows(ElementwiseParams& p) {
  const int last = p.rank - 1;
  p.width = static_cast<std::int32_t>(width_of(p));
  p.aligned = true;
  for (int t = 0; t < p.tensors; ++t) {
    p.tensor[t].access = access_of(p, p.tensor[t]);
    p.aligned =
        p.aligned && (p.tensor[t].access == Access::repeated || p.tensor[t].access == Access::aligned);
  }
  p.rows_alike = rows_alike(p);
  p.lead = 0;
  if (p.out_strides[last] == 1) p.lead = static_cast<std::int32_t>(place_of(p.out, p.out_bytes) % p.width);
  const std::int64_t most_lead = p.rows_alike ? p.lead : p.width - 1;
  find_turned(p);
  p.row_vectors = (most_lead + p.extents[last] + p.width - 1) / p.width;
  const std::int64_t rows = p.elements / p.extents[last];
  p.vectors = rows * p.row_vectors;
  p.small = p.vectors <= kMostSmall && reach_of(p, p.out_strides) <= kMostSmall;
  for (int t = 0; t < p.tensors; ++t) p.small = p.small && reach_of(p, p.tensor[t].strides) <= kMostSmall;
  if (!p.small) return;
  p.row_divisor = make_divisor(static_cast<std::uint32_t>(p.row_vectors));
  for (int axis = 0; axis < last; ++axis)
    p.divisors[axis] = make_divisor(static_cast<std::uint32_t>(p.extents[axis]));
}

}  // namespace relayout
