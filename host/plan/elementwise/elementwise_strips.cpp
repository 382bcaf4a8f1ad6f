#include "host/plan/elementwise/elementwise_strips.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "host/plan/elementwise/strip_builder.hpp"
#include "host/plan/elementwise/strip_cost.hpp"
#include "host/plan/small_problems.hpp"

namespace relayout::plan {
namespace {

/// Lanes along the output without which lanes do not follow it.
constexpr std::int64_t kLeastLanesAlong = 8;
/// Lanes that fill a multiprocessor.
constexpr std::int64_t kLanesToFill = 1536;

/// How many elements a tensor has, where they lie in one piece from the first one on; else 0. 0 also for one
/// that is written in place: other lanes write what lies beside a strip.
std::int32_t dense_elements(const ElementwiseParams& p, const TensorOperand& tensor) {
  if (tensor.data == p.out) return 0;
  int axes = 0;  // along which elements differ
  for (int axis = 0; axis < p.rank; ++axis) axes += tensor.strides[axis] != 0 && p.extents[axis] > 1 ? 1 : 0;
  std::int64_t elements = 1;
  for (; axes > 0; --axes) {  // the next axis steps over all that is inside it
    int next = 0;
    while (next < p.rank && (tensor.strides[next] != elements || p.extents[next] == 1)) ++next;
    if (next == p.rank) return 0;
    elements *= p.extents[next];
  }
  return static_cast<std::int32_t>(elements);
}

/// A layout, and what cut_strips() returns of it.
struct Chosen {
  StripLayout layout;
  StripCut cut;
};

/// The least part of the strips' elements that exists where costs are compared. A layout is taken in the
/// place of the one by rule if it costs this part of that.
constexpr double kLeastComparedShare = 0.5, kLeastGain = 0.985;
/// Lanes along the output that are tried.
constexpr std::int64_t kTriedLanes[] = {16, 64};
/// Bytes of the smallest output for which costs are compared, which takes longer than the rest of a plan.
constexpr std::int64_t kLeastComparedBytes = 4 << 20;

/// Whether lanes along the output are in the order of the tensor, too.
bool lies_like_output(const StripLayout& nest, int tensor) {
  std::int64_t outer = std::numeric_limits<std::int64_t>::max();
  for (int axis = 0; axis < nest.rank; ++axis) {
    const std::int64_t stride = std::abs(nest.at(axis).tensors[tensor]);
    if (stride == 0) continue;
    if (stride > outer) return false;
    outer = stride;
  }
  return true;
}

/// The least costly layout of these: strips along each axis but the output's, with some numbers of lanes
/// along the output and the other axes in the order of each tensor; and strips of elements that lie apart
/// along an axis. Strips along the output write rows 16 bytes at a time, which takes 1.2 to 2 times the time.
Chosen least_costly(const ElementwiseParams& p, const StripLayout& nest, const Chosen& by_rule) {
  const StripCosts costs(p, nest);
  Chosen best = by_rule;
  best.cut.cost = costs.of(by_rule.layout, std::numeric_limits<double>::infinity());
  double least = kLeastGain * best.cut.cost;
  if (least <= costs.least()) return best;
  const auto consider = [&](const StripBuilder& other, bool vectors) {
    const double cost = costs.of(other.layout(), least);
    if (cost >= least) return;
    least = cost;
    best = {other.layout(), {vectors, cost}};
  };
  std::array<int, kMaxTensors + 1> orders{-1};  // the output's, and those of tensors that lie otherwise
  std::size_t order_count = 1;
  for (int t = 0; t < p.tensors; ++t) {
    if (!lies_like_output(nest, t)) orders[order_count++] = t;
  }
  const StripBuilder uncut(p, nest);
  for (int axis = 0; axis < nest.rank; ++axis) {
    if (uncut.share(axis) < kLeastComparedShare) continue;
    StripBuilder apart(p, nest);
    apart.cut_apart(axis);
    consider(apart, false);
    if (axis == nest.rank - 1) break;
    bool vectors = false;
    std::int64_t lead = 0;
    for (int t = 0; t < p.tensors; ++t) {
      if (nest.at(axis).tensors[t] != 1) continue;
      vectors = true;
      lead = misaligned_elements(p, t, axis);
    }
    for (std::size_t order = 0; order < order_count; ++order) {
      for (const std::int64_t lanes : kTriedLanes) {
        StripBuilder along(p, nest);
        along.build_along(axis, lead, lanes, orders[order]);
        consider(along, vectors);
      }
    }
  }
  return best;
}

/// Puts a layout into the parameters, with the axes in reverse order: the strip comes first, then the axis
/// that counts lanes fastest. Strides are those of quotients (Strips).
void store(const StripLayout& layout, ElementwiseParams& p) {
  p.rank = layout.rank;
  p.strips = layout.strips;
  p.strip_axes[0] = layout.joined;
  std::int64_t lanes = 1;
  for (int i = 0; i < layout.rank; ++i) {
    const StripNestAxis none, &axis = layout.at(layout.rank - 1 - i),
                              &before = i < 2 ? none : layout.at(layout.rank - i);
    const auto added = [&](std::int64_t number, std::int64_t before_it) {
      return number - before.extent * before_it;
    };
    p.extents[i] = axis.extent;
    p.out_strides[i] = added(axis.out, before.out);
    for (int t = 0; t < p.tensors; ++t) p.tensor[t].strides[i] = added(axis.tensors[t], before.tensors[t]);
    if (i == 0) continue;
    const Divisor extent = make_divisor(static_cast<std::uint32_t>(axis.extent));
    p.strip_axes[i] = {extent.multiplier, extent.shift,
                       static_cast<std::uint32_t>(added(axis.scale, before.scale)),
                       static_cast<std::uint32_t>(added(axis.chunk, before.chunk))};
    lanes *= axis.extent;
  }
  p.lanes = static_cast<std::uint32_t>(lanes);
  p.out_strides[kJumpAxis] = layout.jump.out;
  for (int t = 0; t < kMaxTensors; ++t) p.tensor[t].strides[kJumpAxis] = layout.jump.tensors[t];
}

}  // namespace

std::int64_t lanes_to_fill(const DeviceProperties& device) { return kLanesToFill * device.multiprocessors; }

void find_dense(ElementwiseParams& p) {
  for (int t = 0; t < p.tensors; ++t) p.tensor[t].dense = dense_elements(p, p.tensor[t]);
}

StripCut cut_strips(ElementwiseParams& p, std::int32_t count, std::uint32_t without, bool may_join) {
  find_dense(p);
  const StripLayout nest = layout_of_nest(p, count, without);
  StripBuilder builder(p, nest);
  const bool vectors_by_rule = builder.build(may_join);
  Chosen chosen{builder.layout(), {vectors_by_rule, 0}};
  if (plans_as_large() || p.elements * p.out_bytes >= kLeastComparedBytes)
    chosen = least_costly(p, nest, chosen);
  store(chosen.layout, p);
  for (int t = 0; t < p.tensors; ++t) {
    const bool repeated = p.tensor[t].strides[0] == 0 && p.tensor[t].strides[kJumpAxis] == 0;
    p.tensor[t].access = repeated ? Access::repeated : Access::strided;
  }
  return chosen.cut;
}

bool follow_output(const ElementwiseParams& p) {
  if (std::abs(p.out_strides[1]) != 1) return false;
  std::int64_t lanes = p.extents[1];  // that lie next to each other in the output
  for (int axis = 2; axis < p.rank && p.out_strides[axis] == 0; ++axis) lanes *= p.extents[axis];
  return lanes >= kLeastLanesAlong;
}

}  // namespace relayout::plan
