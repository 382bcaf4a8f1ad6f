#include "host/redistribute/box_moves.hpp"

#include <algorithm>

namespace relayout::plan {
namespace {

/// What is left of a box without `cut`, which lies in it: a slab before and after it along each axis.
void add_rest(Box box, const Box& cut, std::vector<Box>& rest) {
  for (std::size_t axis = 0; axis < box.begin.size(); ++axis) {
    Box before = box, after = box;
    before.end[axis] = cut.begin[axis];
    after.begin[axis] = cut.end[axis];
    for (const Box& slab : {before, after})
      if (slab.elements() > 0) rest.push_back(slab);
    box.begin[axis] = cut.begin[axis];
    box.end[axis] = cut.end[axis];
  }
}

/// Takes out of `pending` what `box` contains, and hands each piece to `take`.
template <class Take>
void remove(std::vector<Box>& pending, const Box& box, const Take& take) {
  std::vector<Box> rest;
  for (const Box& piece : pending) {
    const Box shared = intersection(piece, box);
    if (shared.elements() == 0) {
      rest.push_back(piece);
    } else {
      take(shared);
      add_rest(piece, shared, rest);
    }
  }
  pending = std::move(rest);
}

}  // namespace

Box intersection(const Box& a, const Box& b) {
  Box result = a;
  for (std::size_t axis = 0; axis < a.begin.size(); ++axis) {
    result.begin[axis] = std::max(a.begin[axis], b.begin[axis]);
    result.end[axis] = std::max(result.begin[axis], std::min(a.end[axis], b.end[axis]));
  }
  return result;
}

std::vector<Box> uncovered(const Box& box, const std::vector<Box>& boxes) {
  std::vector<Box> pending;
  if (box.elements() > 0) pending.push_back(box);
  for (const Box& one : boxes) remove(pending, one, [](const Box&) {});
  return pending;
}

std::vector<int> inverse(const std::vector<int>& axes) {
  std::vector<int> result(axes.size());
  for (std::size_t j = 0; j < axes.size(); ++j)
    result[static_cast<std::size_t>(axes[j])] = static_cast<int>(j);
  return result;
}

Box permuted(const Box& box, const std::vector<int>& axes) {
  Box result;
  for (const int axis : axes) {
    result.begin.push_back(box.begin[static_cast<std::size_t>(axis)]);
    result.end.push_back(box.end[static_cast<std::size_t>(axis)]);
  }
  return result;
}

std::vector<BoxMove> box_moves(const Distribution& in, const std::vector<int>& axes,
                               const Distribution& out) {
  std::vector<BoxMove> moves;
  const int ranks = in.ranks();
  for (int to = 0; to < ranks; ++to) {
    std::vector<Box> pending;
    const Box wanted = permuted(out.box(to), inverse(axes));
    if (wanted.elements() > 0) pending.push_back(wanted);
    std::vector<BoxMove> own;
    remove(pending, in.box(to), [&](const Box& box) { own.push_back({to, to, box}); });
    for (int step = 1; step < ranks; ++step) {
      const int from = (to + step) % ranks;
      remove(pending, in.box(from), [&](const Box& box) { moves.push_back({from, to, box}); });
    }
    moves.insert(moves.end(), own.begin(), own.end());
  }
  return moves;
}

int joining_axis(const std::vector<BoxMove>& moves) {
  int joined = -1;
  for (const BoxMove& move : moves)
    for (std::size_t axis = 0; axis < move.box.begin.size(); ++axis) {
      const Box& first = moves.front().box;
      if (move.box.begin[axis] == first.begin[axis] && move.box.end[axis] == first.end[axis]) continue;
      if (joined >= 0 && joined != static_cast<int>(axis)) return -1;
      joined = static_cast<int>(axis);
    }
  return joined;
}

std::vector<BoxMove> pieces(const BoxMove& move, const std::vector<int>& axes, int parts, int whole) {
  const Box out = permuted(move.box, axes);
  const Dims shape = out.shape();
  std::size_t axis = 0;  // in the output
  while (axis < shape.size() && (shape[axis] < parts || axes[axis] == whole)) ++axis;
  if (parts <= 1 || axis == shape.size()) return {move};
  std::vector<BoxMove> result;
  for (std::int64_t part = 0; part < parts; ++part) {
    Box piece = out;
    // extent * parts may not fit 64 bits
    const std::int64_t each = shape[axis] / parts, longer = shape[axis] % parts;
    piece.begin[axis] = out.begin[axis] + part * each + std::min(part, longer);
    piece.end[axis] = piece.begin[axis] + each + (part < longer ? 1 : 0);
    result.push_back({move.from, move.to, permuted(piece, inverse(axes))});
  }
  return result;
}

}  // namespace relayout::plan
