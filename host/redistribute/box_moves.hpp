// Which box goes from which rank to which: the intersections of two distributions.
#pragma once

#include <vector>

#include "relayout/distribution.hpp"

namespace relayout::plan {

/// The elements of a global tensor, not empty, that rank `to` gets from rank `from`.
struct BoxMove {
  int from = 0, to = 0;
  Box box;  // in the input's axes
};

/// What both contain; an empty box where they share nothing.
Box intersection(const Box& a, const Box& b);

/// The elements of `box` that none of `boxes` contains, as boxes that share none.
std::vector<Box> uncovered(const Box& box, const std::vector<Box>& boxes);

/// The axes that undo these.
std::vector<int> inverse(const std::vector<int>& axes);

/// The box with axis j = the box's axis axes[j].
Box permuted(const Box& box, const std::vector<int>& axes);

/// Every element of every output box once, by receivers. An element that several ranks hold comes from the
/// receiver itself, else from the next of them after the receiver, so that replicas share the load. A
/// receiver's moves begin with the next rank after it and end with itself: no rank is everyone's first.
std::vector<BoxMove> box_moves(const Distribution& in, const std::vector<int>& axes, const Distribution& out);

/// The axis of the input along which the moves to one rank, all that it has, follow each other and fill a box
/// together; -1: there is none, or a single move.
int joining_axis(const std::vector<BoxMove>& moves);

/// A move in at most `parts` pieces of nearly equal extent, cut along the output's slowest axis that has
/// enough and is not the input's axis `whole`.
std::vector<BoxMove> pieces(const BoxMove& move, const std::vector<int>& axes, int parts, int whole = -1);

}  // namespace relayout::plan
