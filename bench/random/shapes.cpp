#include "bench/random/shapes.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/bytes.hpp"

namespace relayout::bench::random {
namespace {

constexpr int kMaxAxes = 8;
/// Slices lie in memory of at most so many times their elements.
constexpr std::int64_t kMaxSpread = 4;
constexpr std::int64_t kMaxBeside = 64;

const std::vector<std::int64_t> kAwkward{1,  3,   5,   7,   9,   13,  17,  31,   33,   49,   63,
                                         77, 100, 197, 224, 255, 257, 577, 1000, 1025, 3000, 4097};

struct Axis {
  std::int64_t extent = 1;
  bool power = false;
};

std::int64_t product(const std::vector<Axis>& axes) {
  std::int64_t all = 1;
  for (const Axis& axis : axes) {
    if (__builtin_mul_overflow(all, axis.extent, &all)) return std::numeric_limits<std::int64_t>::max();
  }
  return all;
}

std::int64_t next_smaller(const Axis& axis) {
  if (axis.power) return axis.extent / 2;
  const auto found = std::lower_bound(kAwkward.begin(), kAwkward.end(), axis.extent);
  return found == kAwkward.begin() ? 1 : *(found - 1);
}

/// The largest factor of the axis's kind that is at most `most`.
std::int64_t factor(const Axis& axis, std::int64_t most) {
  if (!axis.power) return most - (most % 2 == 0 ? 1 : 0);
  std::int64_t power = 1;
  while (2 * power <= most) power *= 2;
  return power;
}

/// What one axis of a sliced tensor takes of the larger one.
struct Cut {
  std::int64_t before = 0, behind = 0, step = 1;
  std::int64_t extent_around(std::int64_t extent) const { return before + (extent - 1) * step + 1 + behind; }
};

Cut draw_cut(Draw& draw, std::int64_t extent, bool stepped) {
  const std::int64_t beside = std::min(extent, kMaxBeside);
  Cut cut;
  cut.before = draw.between(0, beside);
  cut.behind = draw.between(cut.before == 0 ? 1 : 0, beside);
  const std::int64_t step = draw.between(2, 3);
  if (draw.one_in(4) && stepped) cut.step = step;
  return cut;
}

/// A cut for some axes, as long as the memory around them stays small enough.
std::vector<Cut> draw_cuts(Draw& draw, const Dims& shape, const Placing& placing) {
  std::vector<Cut> cuts(shape.size());
  const std::size_t certain = static_cast<std::size_t>(draw.below(static_cast<std::int64_t>(shape.size())));
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape) elements *= extent;
  std::int64_t memory = elements;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::size_t axis = (certain + i) % shape.size();
    const Cut cut = draw_cut(draw, shape[axis], placing.stepped);
    const bool wanted = draw.one_in(2) || i == 0;
    const bool repeated = !placing.repeated.empty() && placing.repeated[axis];
    const std::int64_t larger = memory / shape[axis] * cut.extent_around(shape[axis]);
    if (!wanted || repeated || larger > kMaxSpread * elements) continue;
    cuts[axis] = cut;
    memory = larger;
  }
  return cuts;
}

std::vector<int> in_order(std::size_t rank) {
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace

Dims draw_shape(Draw& draw, std::int64_t elements) {
  std::vector<Axis> axes(static_cast<std::size_t>(draw.between(1, kMaxAxes)));
  for (Axis& axis : axes) {
    axis.power = draw.one_in(2);
    axis.extent = axis.power ? std::int64_t{8} << draw.below(10) : draw.pick(kAwkward);
  }
  const auto any_axis = [&]() -> Axis& {
    return axes[static_cast<std::size_t>(draw.below(static_cast<std::int64_t>(axes.size())))];
  };
  while (product(axes) > std::max<std::int64_t>(elements, 1)) {
    Axis& one = any_axis();
    Axis& other = any_axis();
    Axis& longer = one.extent > other.extent ? one : other;
    if (longer.extent > 1) longer.extent = next_smaller(longer);
  }
  Axis& longer = any_axis();
  longer.extent *= factor(longer, std::max<std::int64_t>(elements / product(axes), 1));
  Dims shape;
  for (const Axis& axis : axes) shape.push_back(axis.extent);
  return shape;
}

Tensor place(Draw& draw, DType type, const Dims& shape, const Placing& placing) {
  const std::size_t rank = shape.size();
  const std::vector<int> order = placing.order.empty() ? in_order(rank) : placing.order;
  const std::vector<Cut> cuts = placing.sliced ? draw_cuts(draw, shape, placing) : std::vector<Cut>(rank);
  Tensor tensor{type, shape, Dims(rank, 0), 0};
  std::int64_t pitch = 1;
  for (std::size_t at = rank; at-- > 0;) {
    const std::size_t axis = static_cast<std::size_t>(order[at]);
    if (!placing.repeated.empty() && placing.repeated[axis]) continue;
    tensor.strides[axis] = pitch * cuts[axis].step;
    tensor.offset += pitch * cuts[axis].before;
    pitch *= cuts[axis].extent_around(shape[axis]);
  }
  const std::int64_t of_16_bytes = 16 / bytes_of(type);
  const std::int64_t elements = draw.between(1, std::max<std::int64_t>(of_16_bytes - 1, 1));
  if (placing.misaligned) tensor.offset += elements;
  return tensor;
}

std::vector<int> draw_order(Draw& draw, std::size_t rank) {
  std::vector<int> order = in_order(rank);
  draw.shuffle(order);
  return order;
}

Placing draw_placing(Draw& draw, std::size_t rank, bool may_repeat) {
  Placing placing;
  placing.misaligned = draw.one_in(4);
  const std::vector<int> order = draw_order(draw, rank);
  if (draw.one_in(4)) placing.order = order;
  placing.sliced = draw.one_in(4);
  std::vector<bool> repeated(rank);
  for (std::size_t axis = 0; axis < rank; ++axis) repeated[axis] = draw.one_in(2);
  if (draw.one_in(4) && may_repeat) placing.repeated = repeated;
  return placing;
}

}  // namespace relayout::bench::random
