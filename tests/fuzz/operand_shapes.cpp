#include "tests/fuzz/operand_shapes.hpp"

#include <algorithm>

#include <relayout/layout.hpp>

namespace relayout::fuzz {
namespace {

/// An axis, and the part that each operand has of it.
struct Axis {
  std::int64_t extent = 1;
  int repeated = 0, of_one = 0;  // a bit for each operand: it is repeated; it has extent 1
  std::int64_t period = 1;       // of those that are repeated and have another extent
};

std::int64_t draw_divisor(Draw& draw, std::int64_t extent) {
  std::vector<std::int64_t> divisors;
  for (std::int64_t d = 1; d <= extent; ++d) {
    if (extent % d == 0) divisors.push_back(d);
  }
  const int byte = draw.byte();
  return divisors.empty() ? 1 : divisors[static_cast<std::size_t>(byte) % divisors.size()];
}

std::vector<Axis> draw_axes(Draw& draw, bool tidy, bool repeat) {
  static constexpr std::int64_t kMax[] = {256, 64, 512, 1024, 2048, 4096, 4096, 6000};
  static constexpr Extents kExtents[] = {Extents::any, Extents::any, Extents::whole_vectors,
                                         Extents::short_ones};
  const Extents drawn = draw.pick(kExtents), extents = tidy ? Extents::whole_vectors : drawn;
  const bool many = draw.chance(16);
  std::int64_t room = kMax[draw.below(8)];
  std::vector<Axis> axes;
  const int most = many ? kMaxRank : 6;
  for (int rank = 0; rank < most; ++rank) {
    const int stop_below = rank == 0 || many ? 1 : rank == 1 ? 4 : 10;
    if (draw.below(32) < stop_below) break;
    Axis axis;
    const int byte = many ? draw.byte() : 0;
    axis.extent = many ? (byte % 4 == 3 ? 2 + byte / 4 % 2 : 1) : draw_extent(draw, extents);
    axis.extent = std::min(axis.extent, room);
    room /= axis.extent;
    const int repeated = draw.byte();
    if (repeated >= 128) axis.repeated = repeated % 8;
    axis.of_one = repeat ? draw.byte() : -1;
    axis.period = repeat ? draw_divisor(draw, axis.extent) : 1;
    axes.push_back(axis);
  }
  if (!axes.empty() && draw.chance(3)) axes[0] = Axis{0, 0, 0, 1};
  return axes;
}

}  // namespace

OperandShapes draw_shapes(Draw& draw, bool tidy, std::size_t tensors, Broadcasting how,
                          bool first_is_tensor) {
  const bool repeat = how == Broadcasting::repeat;
  OperandShapes shapes;
  const std::vector<Axis> axes = draw_axes(draw, tidy, repeat);
  for (const Axis& axis : axes) shapes.shape.push_back(axis.extent);
  // By numpy's rules at least one operand has the full extent of each axis.
  const auto whole = repeat ? std::size_t{0} : static_cast<std::size_t>(draw.byte()) % tensors;
  const int all = (1 << tensors) - 1;
  for (std::size_t t = 0; t < tensors; ++t) {
    Dims shape;
    for (const Axis& axis : axes) {
      const bool kept = t == whole && (repeat ? first_is_tensor : (axis.repeated & all) == all);
      const bool repeated = (axis.repeated >> t & 1) != 0 && !kept;
      shape.push_back(!repeated ? axis.extent : (axis.of_one >> t & 1) != 0 ? 1 : axis.period);
    }
    const bool shorter = draw.chance(128) && t != whole;
    while (shorter && !shape.empty() && shape[0] == 1) shape.erase(shape.begin());
    shapes.operands.push_back(shape);
  }
  return shapes;
}

Placed draw_placed(Draw& draw, const Dims& shape, bool input, bool tidy) {
  static constexpr Layout kLayouts[] = {Layout::nhwc, Layout::nhwc8, Layout::nhwc16};
  Placed result;
  const int kind = draw.byte();
  const Layout layout = draw.pick(kLayouts);
  const std::int64_t misaligned = draw_misalignment(draw);
  if (!tidy) result.misaligned = misaligned;
  if (kind < 112) return result;
  if (kind < 144 && shape.size() >= 2) {
    result.strides = strides_in(layout, shape);
    return result;
  }
  std::vector<AxisPlace> places;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    AxisPlace place = draw_place(draw);
    if (tidy) place.gap = place.step = 0;
    places.push_back(place);
  }
  result.strides = placed(shape, places, input);
  return result;
}

}  // namespace relayout::fuzz
