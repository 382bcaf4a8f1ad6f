#include "host/plan/loop_nest.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "host/plan/checked_math.hpp"
#include "relayout/error.hpp"

namespace relayout::plan {
namespace {

std::int64_t magnitude(std::int64_t value) { return value < 0 ? -value : value; }

void drop_axis(Dims& extents, Dims* strides, int operands, std::size_t axis) {
  const auto position = static_cast<std::ptrdiff_t>(axis);
  extents.erase(extents.begin() + position);
  for (int p = 0; p < operands; ++p) strides[p].erase(strides[p].begin() + position);
}

/// Axes of extent 1 may have any stride, also one that has no negative.
void drop_single_axes(Dims& extents, Dims* strides, int operands) {
  for (std::size_t axis = extents.size(); axis-- > 0;)
    if (extents[axis] == 1) drop_axis(extents, strides, operands, axis);
}

/// Walks an axis from its other end: every operand starts there and steps back.
void flip_axis(LoopNest& nest, std::size_t axis) {
  for (std::size_t p = 0; p < nest.strides.size(); ++p) {
    std::int64_t& stride = nest.strides[p][axis];
    if (!multiply_add(nest.extents[axis] - 1, stride, nest.offsets[p], nest.offsets[p])) {
      throw_too_large("An offset of the loop nest over " + to_string(nest.extents));
    }
    stride = -stride;
  }
}

/// Outermost first: the larger stride of the output, then of each input in turn.
void sort_axes(LoopNest& nest) {
  std::vector<std::size_t> order(nest.extents.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&nest](std::size_t a, std::size_t b) {
    for (const Dims& strides : nest.strides) {
      if (magnitude(strides[a]) != magnitude(strides[b]))
        return magnitude(strides[a]) > magnitude(strides[b]);
    }
    return false;
  });
  const LoopNest unsorted = nest;
  for (std::size_t k = 0; k < order.size(); ++k) {
    nest.extents[k] = unsorted.extents[order[k]];
    for (std::size_t p = 0; p < nest.strides.size(); ++p) {
      nest.strides[p][k] = unsorted.strides[p][order[k]];
    }
  }
}

/// Whether one step of axis `outer` equals a whole round of the next axis, for every operand.
bool can_merge(const Dims& extents, const Dims* strides, int operands, std::size_t outer) {
  for (int p = 0; p < operands; ++p) {
    std::int64_t round = 0;
    if (!multiply(strides[p][outer + 1], extents[outer + 1], round) || strides[p][outer] != round)
      return false;
  }
  return true;
}

}  // namespace

std::int64_t LoopNest::elements() const noexcept {
  // An empty axis first: the product of the others may be too large.
  if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return 0;
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

void merge_axes(Dims& extents, Dims* strides, int operands) {
  drop_single_axes(extents, strides, operands);
  for (std::size_t outer = extents.size(); outer-- > 0;) {
    if (outer + 1 < extents.size() && can_merge(extents, strides, operands, outer)) {
      extents[outer + 1] *= extents[outer];
      drop_axis(extents, strides, operands, outer);
    }
  }
}

OffsetRange offset_range(const LoopNest& nest, int operand) {
  OffsetRange range;
  for (int axis = 0; axis < nest.rank(); ++axis) {
    const std::int64_t last = (nest.extents[axis] - 1) * nest.strides[operand][axis];
    (last < 0 ? range.least : range.greatest) += last;
  }
  return range;
}

LoopNest make_nest(const TensorView& out, const std::vector<TensorView>& inputs) {
  LoopNest nest;
  nest.extents = out.shape();
  nest.strides.push_back(out.strides());
  for (const TensorView& in : inputs) {
    if (in.shape() != out.shape()) {
      throw Error(ErrorCode::shape, "The input shape " + to_string(in.shape()) +
                                        " does not equal the output shape " + to_string(out.shape()) + ".");
    }
    nest.strides.push_back(in.strides());
  }
  nest.offsets.assign(nest.strides.size(), 0);
  return nest;
}

LoopNest normalise(const LoopNest& nest) {
  LoopNest result = nest;
  if (std::find(nest.extents.begin(), nest.extents.end(), 0) != nest.extents.end()) {
    result.extents = {0};
    for (Dims& strides : result.strides) strides = {0};
    return result;
  }
  drop_single_axes(result.extents, result.strides.data(), result.operands());
  for (std::size_t axis = result.extents.size(); axis-- > 0;)
    if (result.strides.front()[axis] < 0) flip_axis(result, axis);
  sort_axes(result);
  merge_axes(result.extents, result.strides.data(), result.operands());
  return result;
}

LoopNest own_nest(const TensorView& view) {
  LoopNest nest = make_nest(view, {});
  merge_axes(nest.extents, nest.strides.data(), 1);
  return nest;
}

bool may_self_overlap(const TensorView& view) {
  if (view.elements() == 0) return false;
  std::vector<std::pair<Int128, Int128>> axes;  // |stride|, extent
  for (int k = 0; k < view.rank(); ++k) {
    const Int128 stride = view.stride(k);
    if (view.extent(k) > 1) axes.emplace_back(stride < 0 ? -stride : stride, view.extent(k));
  }
  std::sort(axes.begin(), axes.end());
  Int128 reach = 0;  // of all axes with smaller strides together
  for (const auto& [stride, extent] : axes) {
    if (stride <= reach) return true;
    reach += stride * (extent - 1);
  }
  return false;
}

}  // namespace relayout::plan
