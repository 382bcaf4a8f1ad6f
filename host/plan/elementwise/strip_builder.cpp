#include "host/plan/elementwise/strip_builder.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "core/integer_math.hpp"
#include "core/sector.hpp"
#include "host/plan/elementwise/row_vectors.hpp"

namespace relayout::plan {
namespace {

using Axis = StripNestAxis;

/// Lanes along the output, before others take the next strips: as many as fill its sectors, and few enough
/// that the sectors of an operand across them, of which a strip is a part, are read again while they are in
/// the first cache. With strips that are vectors of that operand, and without.
constexpr std::int64_t kLanesAcross = 64, kFewLanesAcross = 16;
/// Lanes along the output that an axis of strips leaves, where no operand lies across.
constexpr std::int64_t kLanesAlong = 32;
/// The least part of the strips' elements that exists: where another axis could have them, and where strips
/// are vectors of an operand.
constexpr double kGoodShare = 0.9, kLeastShare = 0.65;
/// The least part of the lanes along the output that exists, where a long axis is divided so that all begin
/// with a sector of the output, if their first does.
constexpr double kLeastAlignedShare = 0.85;

/// The share of an axis's strips' elements from which on it is not joined with the next one, and the least
/// one of both together.
constexpr double kJoinShare = 0.9, kLeastJoinedShare = 0.8;
/// How far apart in the output, in runs along the other axes, the elements of an inner axis are, where these
/// are shorter than a sector. Nearer ones are better left to lanes, which then fill the sectors of both.
constexpr std::int64_t kFarInner = 4;

/// The tensor with most elements of those that are fastest across the output's rows; -1: there is none.
int tensor_across(const ElementwiseParams& p) {
  int across = -1;
  std::int64_t most = 0;
  for (int t = 0; t < p.tensors; ++t) {
    const std::int64_t step = std::abs(p.tensor[t].strides[p.rank - 1]);
    std::int64_t elements = 1, least = step;
    for (int axis = 0; axis < p.rank; ++axis) {
      const std::int64_t stride = std::abs(p.tensor[t].strides[axis]);
      if (stride == 0) continue;
      elements *= p.extents[axis];
      least = stride < least ? stride : least;
    }
    if (step == 0 || least == step || elements * p.tensor[t].bytes <= most) continue;
    most = elements * p.tensor[t].bytes;
    across = t;
  }
  return across;
}

/// The tensor's axis of the smallest step.
int fastest_axis(const ElementwiseParams& p, int tensor) {
  int fastest = -1;
  std::int64_t least = 0;
  for (int axis = p.rank - 1; axis >= 0; --axis) {
    const std::int64_t stride = std::abs(p.tensor[tensor].strides[axis]);
    if (stride == 0 || (fastest >= 0 && stride >= least)) continue;
    fastest = axis;
    least = stride;
  }
  return fastest;
}

}  // namespace

std::int64_t misaligned_elements(const ElementwiseParams& p, int tensor, int axis) {
  if (p.tensor[tensor].strides[axis] != 1) return 0;
  for (int other = 0; other < p.rank; ++other) {
    if (other != axis && p.tensor[tensor].strides[other] % p.width != 0) return 0;
  }
  // Strips begin so many steps before the axis: no further than an element lies behind its begin, so that
  // offsets of 32 bits reach there.
  const std::int64_t elements = place_of(p.tensor[tensor].data, p.tensor[tensor].bytes) % p.width;
  return elements < p.extents[axis] ? elements : 0;
}

StripLayout layout_of_nest(const ElementwiseParams& p, std::int32_t count, std::uint32_t without) {
  StripLayout layout;
  layout.rank = p.rank;
  for (int i = 0; i < p.rank; ++i) {
    Axis& axis = layout.at(i);
    axis.may_have_strips = (without >> i & 1) == 0;
    axis.extent = p.extents[i];
    axis.out = p.out_strides[i];
    for (int t = 0; t < p.tensors; ++t) axis.tensors[t] = p.tensor[t].strides[i];
  }
  layout.strips.count = count;
  return layout;
}

bool StripBuilder::build(bool may_join) {
  may_join_ = may_join;
  const int across = tensor_across(p_);
  if (across >= 0) return build_across(across, fastest_axis(p_, across));
  if (cut_near()) return false;
  if (const int axis = axis_to_fill(); axis >= 0) {
    cut_neighbours(axis, 0);
  } else {
    cut_apart(fullest_axis(rank()));
  }
  return false;
}

void StripBuilder::build_along(int axis, std::int64_t lead, std::int64_t lanes, int tensor) {
  place_across(tensor, take(axis), lanes, lead);
}

void StripBuilder::cut_apart(int axis) {
  const Axis whole = at(axis);
  const std::int64_t step = divide_up(whole.extent, count_);
  at(axis).extent = step;
  set_strips(axis, whole.stretched(step), 1, 0, step);
  layout_.strips.whole = step * count_ == whole.extent;
  layout_.strips.extent = static_cast<std::int32_t>(whole.extent);
}

bool StripBuilder::cut_near() {
  std::int64_t lanes = 1;
  for (int axis = rank() - 1; axis >= 0 && lanes < kLanesAlong && kLanesAlong % lanes == 0;
       lanes *= at(axis--).extent) {
    const std::int64_t step = kLanesAlong / lanes, box = step * count_;
    if (at(axis).extent < box) continue;
    const Axis whole = at(axis);
    if (share(whole, box) < kGoodShare) return false;
    at(axis) = whole.stretched(box);
    at(axis).extent = divide_up(whole.extent, box);
    at(axis).scale = box;
    insert(axis + 1, whole);
    at(axis + 1).extent = step;
    set_strips(axis + 1, whole.stretched(step), 1, 0, step);
    layout_.strips.whole = whole.extent % box == 0;
    return true;
  }
  return false;
}

double StripBuilder::share(const Axis& axis, std::int64_t places) {
  if (!axis.may_have_strips) return 0;
  return static_cast<double>(axis.extent) / static_cast<double>(round_up(axis.extent, places));
}

void StripBuilder::insert(int place, const Axis& axis) {
  std::copy_backward(begin() + place, begin() + rank(), begin() + rank() + 1);
  at(place) = axis;
  ++layout_.rank;
}

Axis StripBuilder::take(int place) {
  const Axis axis = at(place);
  std::copy(begin() + place + 1, begin() + rank(), begin() + place);
  --layout_.rank;
  return axis;
}

int StripBuilder::axis_to_fill() const {
  std::int64_t lanes = 1;
  for (int axis = rank() - 1; axis >= 0; lanes *= at(axis--).extent) {
    if (lanes >= kLanesAlong && share(axis) >= kGoodShare) return axis;
  }
  return -1;
}

int StripBuilder::fullest_axis(int axes) const {
  int fullest = 0;
  for (int axis = 1; axis < axes; ++axis) {
    if (share(axis) > share(fullest)) fullest = axis;
  }
  return fullest;
}

void StripBuilder::cut_neighbours(int axis, std::int64_t lead) {
  const Axis strip = at(axis);
  at(axis) = strip.stretched(count_);
  at(axis).extent = divide_up(strip.extent + lead, count_);
  set_strips(axis, strip, count_, lead, 1);
  layout_.strips.whole = lead == 0 && strip.extent % count_ == 0;
}

void StripBuilder::set_strips(int axis, const Axis& strip, std::int64_t scale, std::int64_t lead,
                              std::int64_t step) {
  at(axis).scale = scale;
  insert(rank(), strip);
  layout_.strips.lead = static_cast<std::int32_t>(lead);
  layout_.strips.step = static_cast<std::int32_t>(step);
  layout_.strips.extent = static_cast<std::int32_t>(strip.extent);
}

bool StripBuilder::build_across(int tensor, int fastest) {
  if (const int outer = axis_to_join(tensor, fastest); outer >= 0) {
    place_across(tensor, join(fastest, outer), kLanesAcross, 0);
    return true;
  }
  const bool vectors = share(fastest) >= kLeastShare;
  const std::int64_t lead = vectors ? misaligned_elements(p_, tensor, fastest) : 0;
  const int axis = vectors ? fastest : fullest_axis(rank() - 1);
  if (share(axis) < kLeastShare) {
    cut_apart(fullest_axis(rank()));
    return false;
  }
  place_across(tensor, take(axis), vectors ? kLanesAcross : kFewLanesAcross, lead);
  return vectors;
}

int StripBuilder::axis_to_join(int tensor, int fastest) const {
  const Axis& inner = at(fastest);
  if (!may_join_ || inner.tensors[tensor] != 1 || inner.extent > kLongestInner || !inner.may_have_strips ||
      share(inner) >= kJoinShare)
    return -1;
  for (int i = 0; i < rank() - 1; ++i) {
    const Axis& outer = at(i);
    if (outer.tensors[tensor] != inner.extent || i == fastest || !outer.may_have_strips) continue;
    Axis both = inner;
    both.extent *= outer.extent;
    const std::int64_t lanes = lanes_beside(fastest, i);
    const bool fills_sectors = lanes * p_.out_bytes >= kSectorBytes ||
                               (lanes == lanes_beside(fastest, fastest) && inner.out >= kFarInner * lanes);
    return share(both) >= kLeastJoinedShare && share(both) > share(inner) && fills_sectors ? i : -1;
  }
  return -1;
}

std::int64_t StripBuilder::lanes_beside(int one, int other) const {
  std::int64_t lanes = 1;
  for (int axis = rank() - 1; axis >= 0; --axis) {
    if (axis == one || axis == other) continue;
    if (at(axis).out != lanes * at(rank() - 1).out) break;
    lanes *= at(axis).extent;
  }
  return lanes;
}

Axis StripBuilder::join(int inner_place, int outer_place) {
  const Axis outer = at(outer_place);
  Axis joined = at(inner_place);
  const std::int64_t inner = joined.extent;
  layout_.jump.out = outer.out - inner * joined.out;
  for (int t = 0; t < p_.tensors; ++t) layout_.jump.tensors[t] = outer.tensors[t] - inner * joined.tensors[t];
  const Divisor divisor = make_divisor(static_cast<std::uint32_t>(inner));
  layout_.joined = {divisor.multiplier, divisor.shift, divisor.value, 0};
  for (std::int64_t i = 0; i <= kLongestInner; i += inner) layout_.joined.chunk |= 1u << i;
  joined.extent *= outer.extent;
  take(std::max(inner_place, outer_place));
  take(std::min(inner_place, outer_place));
  return joined;
}

void StripBuilder::place_across(int tensor, Axis strip, std::int64_t lanes, std::int64_t lead) {
  strip.has_strips = true;
  const int place = take_lanes(lanes);
  insert(place, strip);
  const auto step = [&](const Axis& a) {  // the greatest where the tensor repeats its elements
    return static_cast<std::uint64_t>(std::abs(tensor < 0 ? a.out : a.tensors[tensor])) - 1;
  };
  std::stable_sort(begin(), begin() + place + 1,
                   [&](const Axis& a, const Axis& b) { return step(a) > step(b); });
  int strips = 0;
  while (!at(strips).has_strips) ++strips;
  cut_neighbours(strips, lead);
}

int StripBuilder::take_lanes(std::int64_t wanted) {
  std::int64_t lanes = 1;
  int place = rank();
  while (place > 0 && 2 * lanes * at(place - 1).extent <= 5 * wanted) lanes *= at(--place).extent;
  if (place == 0 || 2 * lanes > wanted) return place;
  const Axis whole = at(place - 1);
  const std::int64_t chunk = lanes_of_chunk(whole.extent, lanes, wanted);
  Axis inner = whole;
  inner.extent = chunk;
  inner.chunk = 1;
  at(place - 1) = whole.stretched(chunk);
  at(place - 1).extent = divide_up(whole.extent, chunk);
  at(place - 1).chunk = chunk;
  insert(place, inner);
  layout_.strips.chunked_extent = static_cast<std::int32_t>(whole.extent);
  return place;
}

std::int64_t StripBuilder::lanes_of_chunk(std::int64_t extent, std::int64_t lanes,
                                          std::int64_t wanted) const {
  const std::int64_t even = divide_up(extent, divide_up(extent, wanted / lanes));
  const std::int64_t sector = kSectorBytes / std::gcd(kSectorBytes, lanes * p_.out_bytes);
  const std::int64_t aligned = round_up(even, sector);
  const bool fits =
      2 * lanes * aligned <= 3 * wanted &&
      static_cast<double>(extent) >= kLeastAlignedShare * static_cast<double>(round_up(extent, aligned));
  return fits ? aligned : even;
}

}  // namespace relayout::plan
