#include "host/cpu/elementwise/elementwise_order.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/bytes.hpp"
#include "host/cpu/elementwise/elementwise_operand.hpp"
#include "host/cpu/elementwise/elementwise_packing.hpp"
#include "host/cpu/streaming.hpp"

namespace relayout::native {
namespace {

/// What the begin of a row that is waited for takes beside one that is not. Stores are waited for less than
/// loads.
constexpr double kReadWait = 3, kWriteWait = 1;
/// Another order is taken where it has no more than this share of the cost.
constexpr double kWorth = 0.65;
/// With fewer elements the order does not matter.
constexpr std::int64_t kLeastElements = 4096;

/// Whether the memory is waited for at the begin of a row: rows are short, what they belong to is too large
/// for the second-level cache, and more rows than the processor reads ahead come before the next one nearby.
bool waits(const MergedAxes& axes, std::int64_t bytes) {
  constexpr std::int64_t kShortRow = 1024, kInCache = 512 << 10, kReadAhead = 8, kNearby = 1024;
  std::int64_t elements = 1, between = 1;
  for (int axis = 0; axis < axes.rank; ++axis) elements *= axes.strides[axis] == 0 ? 1 : axes.extents[axis];
  const std::int64_t row = axes.inner_extent() * std::abs(axes.inner_stride()) * bytes;
  if (row >= kShortRow || elements * bytes <= kInCache) return false;
  for (int axis = axes.rank - 1; axis-- > 0;) {
    const std::int64_t step = std::abs(axes.strides[axis]) * bytes;
    if (step == 0) continue;
    if (step <= kNearby) break;
    between *= axes.extents[axis];
  }
  return between > kReadAhead;
}

/// For each element, in the time that the begin of a row takes. Unpacking takes longer than packing: it
/// writes to memory in short runs.
double cost_of(const MergedAxes& axes, std::int64_t bytes, bool is_output) {
  const auto size = static_cast<double>(bytes);
  if (is_output ? is_output_packed(axes, bytes) : is_packed(axes, bytes))
    return is_output ? 0.1 + 0.04 * size : 0.06 + 0.02 * size;
  if (std::abs(axes.inner_stride()) * bytes >= kLineBytes) return 1;
  const double wait = is_output ? kWriteWait : kReadWait;
  return (waits(axes, bytes) ? 1 + wait : 1) / static_cast<double>(axes.inner_extent());
}

double cost_of(const ElementwiseParams& p) {
  double cost = cost_of(MergedAxes(p, p.out_strides), bytes_of(p.out_type), true);
  for (int i = 0; i < p.tensors; ++i)
    cost += cost_of(MergedAxes(p, p.tensor[i].strides), bytes_of(p.tensor[i].type), false);
  return cost;
}

/// The axes along which the tensor varies in the order of its strides; others keep their places.
ElementwiseParams in_order_of(const TensorOperand& tensor, const ElementwiseParams& p) {
  int places[kMaxRank], axes[kMaxRank], count = 0;
  for (int axis = 0; axis < p.rank; ++axis) {
    if (tensor.strides[axis] != 0) places[count++] = axis;
  }
  std::copy_n(places, count, axes);
  std::stable_sort(axes, axes + count, [&tensor](int a, int b) {
    return std::abs(tensor.strides[a]) > std::abs(tensor.strides[b]);
  });
  ElementwiseParams ordered = p;
  for (int k = 0; k < count; ++k) {
    const int from = axes[k], to = places[k];
    ordered.extents[to] = p.extents[from];
    ordered.out_strides[to] = p.out_strides[from];
    for (int i = 0; i < p.tensors; ++i) ordered.tensor[i].strides[to] = p.tensor[i].strides[from];
  }
  return ordered;
}

}  // namespace

std::optional<ElementwiseParams> in_better_order(const ElementwiseParams& params) {
  std::optional<ElementwiseParams> best;
  if (params.rank < 2 || params.elements < kLeastElements) return best;
  double least = kWorth * cost_of(params);
  for (int i = 0; i < params.tensors; ++i) {
    const ElementwiseParams ordered = in_order_of(params.tensor[i], params);
    const double cost = cost_of(ordered);
    if (cost >= least) continue;
    least = cost;
    best = ordered;
  }
  return best;
}

}  // namespace relayout::native
