// Random redistributions: up to 8 ranks on one device, boxes cut anywhere, any layouts, each route.
#include "tests/fuzz/redistribute_cases.hpp"

#include <algorithm>
#include <vector>

#include "tests/fuzz/copy_cases.hpp"
#include "tests/fuzz/layouts.hpp"
#include "tests/support/redistribute_check.hpp"

namespace relayout::fuzz {
namespace {

using cases::DistributedTensor;
using cases::RedistributeCase;

constexpr int kMaxAxes = 6;
constexpr std::int64_t kMaxElements = 3000;

/// Boxes that share nothing; now and then each grows over its neighbours.
Distribution draw_distribution(Draw& draw, const Dims& shape, int ranks) {
  if (shape.empty()) return Distribution::replicated(shape, ranks);
  std::vector<Box> boxes{{Dims(shape.size(), 0), shape}};
  while (static_cast<int>(boxes.size()) < ranks) {
    Box& box = boxes[static_cast<std::size_t>(draw.below(static_cast<int>(boxes.size())))];
    const auto axis = static_cast<std::size_t>(draw.below(static_cast<int>(shape.size())));
    const std::int64_t cut = box.begin[axis] + draw.byte() % (box.end[axis] - box.begin[axis] + 1);
    Box rest = box;
    box.end[axis] = cut;
    rest.begin[axis] = cut;
    boxes.push_back(rest);
  }
  const std::int64_t more = draw.chance(32) ? draw.byte() : 0;
  for (Box& box : boxes)
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      box.end[axis] = std::min(shape[axis], box.end[axis] + more);
  return Distribution(shape, boxes);
}

void draw_layouts(Draw& draw, const std::vector<AxisPlace>& places, DistributedTensor& tensor) {
  if (!draw.chance(128)) return;
  for (int rank = 0; rank < tensor.distribution.ranks(); ++rank) {
    tensor.strides.push_back(placed(tensor.distribution.box(rank).shape(), places, false));
    tensor.misaligned.push_back(draw_misalignment(draw));
  }
}

}  // namespace

Trial decode_redistribute(Draw& draw) {
  const int ranks = 1 + draw.below(8);
  DType in_type = DType::f32, out_type = DType::f32;
  draw_types(draw, in_type, out_type);
  Dims shape, out_shape;
  Order axes;
  std::vector<AxisPlace> in_places, out_places;
  std::int64_t room = kMaxElements;
  while (static_cast<int>(shape.size()) < kMaxAxes && draw.below(32) >= (shape.size() < 2 ? 2 : 10)) {
    shape.push_back(std::min(draw_extent(draw, Extents::any), room));
    room /= shape.back();
    insert(axes, draw.byte());
    in_places.push_back(draw_place(draw));
    out_places.push_back(draw_place(draw));
  }
  for (const int axis : axes) out_shape.push_back(shape[static_cast<std::size_t>(axis)]);
  DistributedTensor in{in_type, draw_distribution(draw, shape, ranks)},
      out{out_type, draw_distribution(draw, out_shape, ranks)};
  draw_layouts(draw, in_places, in);
  draw_layouts(draw, out_places, out);
  RedistributeCase c{in, axes, out};
  c.options.route = draw.below(2) == 0 ? RedistributeRoute::direct : RedistributeRoute::staged;
  c.options.cast = draw_cast_options(draw, in_type, out_type);
  return trial_of(c, [ranks](const Stream& stream, const RedistributeCase& drawn) {
    test::check(Group(std::vector<Stream>(static_cast<std::size_t>(ranks), stream)), drawn);
  });
}

}  // namespace relayout::fuzz
