// Random distributions: uneven boxes, empty ones, replicas.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "host/redistribute/box_moves.hpp"
#include "tests/cases/redistribute_case.hpp"
#include "tests/support/random_strides.hpp"

namespace relayout::test {

/// Cuts the boxes so often at random places that there is one for each rank.
inline Distribution random_distribution(Random& random, const Dims& shape, int ranks) {
  const int rank = static_cast<int>(shape.size());
  if (rank == 0) return Distribution::replicated(shape, ranks);
  if (random.chance(0.25))
    return Distribution::split(shape, static_cast<int>(random.integer(0, rank - 1)), ranks);
  std::vector<Box> boxes{{Dims(shape.size(), 0), shape}};
  while (static_cast<int>(boxes.size()) < ranks) {
    Box& box =
        boxes[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(boxes.size()) - 1))];
    const auto axis = static_cast<std::size_t>(random.integer(0, rank - 1));
    const std::int64_t cut = random.integer(box.begin[axis], box.end[axis]);
    Box rest = box;
    box.end[axis] = cut;
    rest.begin[axis] = cut;
    boxes.push_back(rest);
  }
  random.shuffle(boxes);
  if (random.chance(0.2))  // replicas
    for (Box& box : boxes)
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        box.begin[axis] = random.integer(0, box.begin[axis]);
        box.end[axis] = random.integer(box.end[axis], shape[axis]);
      }
  return Distribution(shape, boxes);
}

/// Strides and bases of the ranks' views.
inline void draw_layouts(Random& random, cases::DistributedTensor& tensor) {
  for (int rank = 0; rank < tensor.distribution.ranks(); ++rank) {
    const Dims shape = tensor.distribution.box(rank).shape();
    std::vector<int> order = cases::identity(static_cast<int>(shape.size()));
    if (random.chance(0.5)) random.shuffle(order);
    Dims strides =
        random.chance(0.3) ? contiguous_strides(shape) : random_strides(random, shape, order, false);
    tensor.strides.push_back(strides);
    tensor.misaligned.push_back(random.chance(0.5) ? random.integer(0, 3) : 0);
  }
}

/// A redistribution of at most `most_axes` axes and some thousand elements.
inline cases::RedistributeCase random_redistribution(Random& random, int ranks, int most_axes) {
  const int rank = static_cast<int>(random.integer(0, most_axes));
  Dims shape;
  std::int64_t elements = 1;
  for (int axis = 0; axis < rank; ++axis) {
    shape.push_back(random.integer(random.chance(0.02) ? 0 : 1,
                                   std::max<std::int64_t>(2, std::min<std::int64_t>(60, 4000 / elements))));
    elements *= std::max<std::int64_t>(1, shape.back());
  }
  std::vector<int> axes = cases::identity(rank);
  random.shuffle(axes);
  Dims out_shape;
  for (const int axis : axes) out_shape.push_back(shape[static_cast<std::size_t>(axis)]);

  DType in_type = random.pick(cases::kOneTypePerSize), out_type = in_type;
  if (random.chance(0.4)) {
    const std::vector<DType> floats{DType::f16, DType::bf16, DType::f32, DType::f64};
    in_type = random.pick(floats);
    out_type = random.pick(floats);
  }
  cases::RedistributeCase c{{in_type, random_distribution(random, shape, ranks)},
                            axes,
                            {out_type, random_distribution(random, out_shape, ranks)}};
  draw_layouts(random, c.in);
  draw_layouts(random, c.out);
  return c;
}

/// One of the routes that pack messages: of some redistributions nothing can be joined.
inline RedistributeRoute random_staged_route(Random& random, const cases::RedistributeCase& c) {
  std::map<int, std::vector<plan::BoxMove>> received;
  for (const plan::BoxMove& move : plan::box_moves(c.in.distribution, c.axes, c.out.distribution))
    received[move.to].push_back(move);
  const bool joins = std::any_of(received.begin(), received.end(),
                                 [](const auto& moves) { return plan::joining_axis(moves.second) >= 0; });
  return joins && random.chance(0.5) ? RedistributeRoute::joined : RedistributeRoute::staged;
}

}  // namespace relayout::test
