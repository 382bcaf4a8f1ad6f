#include "relayout/distribution.hpp"

#include <algorithm>
#include <utility>

#include "host/plan/checked_math.hpp"
#include "host/redistribute/box_moves.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

void check_ranks(std::int64_t ranks) {
  if (ranks >= 1) return;
  throw Error(ErrorCode::invalid_argument,
              "a distribution needs 1 rank or more, not " + std::to_string(ranks));
}

void check_box(const Dims& shape, std::size_t rank, const Box& box) {
  const std::string name = "the box of rank " + std::to_string(rank);
  if (box.begin.size() != shape.size() || box.end.size() != shape.size())
    throw Error(ErrorCode::rank, name + " has " + std::to_string(box.begin.size()) + " begins and " +
                                     std::to_string(box.end.size()) + " ends, and the shape " +
                                     to_string(shape) + " has " + std::to_string(shape.size()) + " axes");
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (box.begin[axis] < 0 || box.begin[axis] > box.end[axis] || box.end[axis] > shape[axis])
      throw Error(ErrorCode::invalid_argument, name + ", " + box.to_string() + ", leaves the shape " +
                                                   to_string(shape) + " along axis " + std::to_string(axis));
}

}  // namespace

Dims Box::shape() const {
  Dims shape(end);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) shape[axis] -= begin[axis];
  return shape;
}

std::int64_t Box::elements() const {
  const Dims extents = shape();
  std::int64_t elements = 1;
  for (const std::int64_t extent : extents)
    if (extent == 0) return 0;
  for (const std::int64_t extent : extents)
    elements = plan::checked_product({elements, extent}, "The number of elements of a box");
  return elements;
}

std::string Box::to_string() const {
  std::string text = "[";
  for (std::size_t axis = 0; axis < end.size(); ++axis)
    text += (axis > 0 ? ", " : "") + std::to_string(begin[axis]) + ":" + std::to_string(end[axis]);
  return text + "]";
}

Distribution::Distribution(Dims shape, std::vector<Box> boxes)
    : shape_(std::move(shape)), boxes_(std::move(boxes)) {
  (void)TensorView(nullptr, DType::u8, shape_);  // throws for extents that no tensor has
  check_ranks(static_cast<std::int64_t>(boxes_.size()));
  for (std::size_t rank = 0; rank < boxes_.size(); ++rank) check_box(shape_, rank, boxes_[rank]);
  const std::vector<Box> missing = plan::uncovered({Dims(shape_.size(), 0), shape_}, boxes_);
  if (missing.empty()) return;
  throw Error(ErrorCode::shape, "no rank holds the elements " + missing.front().to_string() +
                                    " of the shape " + relayout::to_string(shape_) +
                                    "; the boxes of a distribution contain every element");
}

Distribution Distribution::split(const Dims& shape, int axis, int ranks) {
  check_ranks(ranks);
  if (axis < 0 || axis >= static_cast<int>(shape.size()))
    throw Error(ErrorCode::invalid_argument,
                "split: the shape " + relayout::to_string(shape) + " has no axis " + std::to_string(axis));
  const auto cut = static_cast<std::size_t>(axis);
  const std::int64_t extent = shape[cut], block = extent / ranks + (extent % ranks > 0 ? 1 : 0);
  std::vector<Box> boxes(static_cast<std::size_t>(ranks), {Dims(shape.size(), 0), shape});
  std::int64_t begin = 0;
  for (Box& box : boxes) {
    box.begin[cut] = begin;
    begin += std::min(block, extent - begin);
    box.end[cut] = begin;
  }
  return Distribution(shape, std::move(boxes));
}

Distribution Distribution::replicated(const Dims& shape, int ranks) {
  check_ranks(ranks);
  return Distribution(shape,
                      std::vector<Box>(static_cast<std::size_t>(ranks), {Dims(shape.size(), 0), shape}));
}

const Box& Distribution::box(int rank) const {
  if (rank >= 0 && rank < ranks()) return boxes_[static_cast<std::size_t>(rank)];
  throw Error(ErrorCode::invalid_argument, "a distribution over ranks 0 to " + std::to_string(ranks() - 1) +
                                               " has no rank " + std::to_string(rank));
}

}  // namespace relayout
