// Lays strips along one axis of a nest, or two, and shares the others among lanes.
#pragma once

#include <cstdint>

#include "host/plan/elementwise/strip_layout.hpp"

namespace relayout::plan {

/// The nest's axes, without strips. count: elements of a strip; without: axes that get none, bit by bit.
StripLayout layout_of_nest(const ElementwiseParams& params, std::int32_t count, std::uint32_t without);

/// Elements before the first whole strip, so that the others are aligned vectors of the tensor along them.
std::int64_t misaligned_elements(const ElementwiseParams& params, int tensor, int axis);

/// Makes a nest's axes those of lanes and of a strip. The parameters still have the nest.
class StripBuilder {
 public:
  StripBuilder(const ElementwiseParams& p, const StripLayout& nest)
      : p_(p), layout_(nest), count_(nest.strips.count) {}

  const StripLayout& layout() const { return layout_; }

  /// As the operands lie. may_join: strips may lie along two axes. Returns whether strips are vectors of an
  /// operand that lies across the output.
  bool build(bool may_join);

  /// Strips along an axis, behind the lanes along the output; all other axes as the tensor has them, or,
  /// below 0, the output.
  void build_along(int axis, std::int64_t lead, std::int64_t lanes, int tensor);

  /// Strips of elements as far apart as `axis` is long, divided by their number, so that lanes remain
  /// neighbours along it.
  void cut_apart(int axis);

  /// Which part of the strips' elements exists along an axis; 0 where it may have none.
  double share(const StripNestAxis& axis) const { return share(axis, count_); }
  double share(int axis) const { return share(at(axis)); }

 private:
  /// The same of boxes of so many places each.
  static double share(const StripNestAxis& axis, std::int64_t places);

  int rank() const { return layout_.rank; }
  StripNestAxis& at(int i) { return layout_.at(i); }
  const StripNestAxis& at(int i) const { return layout_.at(i); }
  auto begin() { return layout_.axes.begin(); }

  void insert(int place, const StripNestAxis& axis);
  StripNestAxis take(int place);

  /// Strips of elements that lie so far apart as 32 neighbouring lanes reach, along the axis that is not all
  /// lanes' among these: what the lanes of a warp read and write of all their strips is one box. False, and
  /// nothing is done, where axes inside do not divide 32, or the boxes do not fill that axis.
  bool cut_near();

  /// The innermost axis that strips fill well and that leaves enough lanes along the output; -1: there is
  /// none.
  int axis_to_fill() const;
  /// The one of the first axes that strips fill best; of two alike, the outer one.
  int fullest_axis(int axes) const;

  /// Strips of neighbouring elements along `axis`, which becomes one of strips.
  void cut_neighbours(int axis, std::int64_t lead);
  void set_strips(int axis, const StripNestAxis& strip, std::int64_t scale, std::int64_t lead,
                  std::int64_t step);

  /// A tensor is fastest along an axis that is not the output's: some lanes along the output, then, as that
  /// tensor lies, strips along its axis and the other axes. Where that axis is too short for strips, another
  /// one has them, and the result is false.
  bool build_across(int tensor, int fastest);

  /// The axis whose elements follow those of `fastest` in the tensor, where that is too short for strips and
  /// both together are not; -1: there is none, or too few lanes would be left along the output.
  int axis_to_join(int tensor, int fastest) const;
  /// How many elements follow each other in the output along all axes but these two.
  std::int64_t lanes_beside(int one, int other) const;
  /// One axis of the two.
  StripNestAxis join(int inner_place, int outer_place);

  /// Cuts strips along an axis that was taken out of the nest: some lanes along the output, then all axes as
  /// the tensor has them.
  void place_across(int tensor, StripNestAxis strip, std::int64_t lanes, std::int64_t lead);

  /// The innermost axes that have about so many elements: up to 2.5 times as many, rather than that one of
  /// them is divided into chunks. Returns how many axes are outside them.
  int take_lanes(std::int64_t wanted);

  /// How many elements a chunk has of an axis of `extent`, where each is `lanes` lanes.
  std::int64_t lanes_of_chunk(std::int64_t extent, std::int64_t lanes, std::int64_t wanted) const;

  const ElementwiseParams& p_;
  StripLayout layout_;
  std::int64_t count_;  // elements of a strip
  bool may_join_ = false;
};

}  // namespace relayout::plan
