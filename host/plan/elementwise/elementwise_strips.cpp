#include "host/plan/elementwise/elementwise_strips.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <numeric>

#include "core/integer_math.hpp"
#include "host/plan/copy/sectors.hpp"
#include "host/plan/elementwise/row_vectors.hpp"

namespace relayout::plan {
namespace {

/// Lanes along the output, before others take the next strips: as many as fill its sectors, and few enough
/// that the sectors of an operand across them, of which a strip is a part, are read again while they are in
/// the first cache. With strips that are vectors of that operand, and without.
constexpr std::int64_t kLanesAcross = 64, kFewLanesAcross = 16;
/// Lanes along the output that an axis of strips leaves, where no operand lies across.
constexpr std::int64_t kLanesAlong = 32;
/// Lanes along the output without which lanes do not follow it.
constexpr std::int64_t kLeastLanesAlong = 8;
/// Lanes that fill a multiprocessor.
constexpr std::int64_t kLanesToFill = 1536;
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

/// An axis of the nest, with the strides of the output and of all tensors.
struct Axis {
  std::int64_t scale = 0, chunk = 0;  // what an index adds for Strips
  bool has_strips = false, may_have_strips = true;
  std::int64_t extent = 1, out = 0, tensors[kMaxTensors] = {};

  Axis stretched(std::int64_t factor) const {
    Axis axis = *this;
    axis.out *= factor;
    for (std::int64_t& stride : axis.tensors) stride *= factor;
    return axis;
  }
};

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

/// How many elements a tensor has, where they lie in one piece from the first one on; else 0. 0 also for one
/// that is written in place: other lanes write what lies beside a strip.
std::int32_t dense_elements(const ElementwiseParams& p, const TensorOperand& tensor) {
  if (tensor.data == p.out) return 0;
  int axes = 0;  // along which elements differ
  for (int axis = 0; axis < p.rank; ++axis) axes += tensor.strides[axis] != 0 && p.extents[axis] > 1 ? 1 : 0;
  std::int64_t elements = 1;
  for (; axes > 0; --axes) {  // the next axis steps over all that is inside it
    int next = 0;
    while (next < p.rank && (tensor.strides[next] != elements || p.extents[next] == 1)) ++next;
    if (next == p.rank) return 0;
    elements *= p.extents[next];
  }
  return static_cast<std::int32_t>(elements);
}

/// Elements before the first whole strip, so that the others are aligned vectors of the tensor along them.
std::int64_t misaligned_elements(const ElementwiseParams& p, int tensor, int axis) {
  if (p.tensor[tensor].strides[axis] != 1) return 0;
  for (int other = 0; other < p.rank; ++other) {
    if (other != axis && p.tensor[tensor].strides[other] % p.width != 0) return 0;
  }
  return place_of(p.tensor[tensor].data, p.tensor[tensor].bytes) % p.width;
}

/// Makes the nest's axes those of lanes and of a strip.
class StripBuilder {
 public:
  StripBuilder(ElementwiseParams& p, std::int32_t count, std::uint32_t without, bool may_join)
      : p_(p), rank_(p.rank), count_(count), may_join_(may_join) {
    for (int i = 0; i < rank_; ++i) {
      Axis& axis = at(i);
      axis.may_have_strips = (without >> i & 1) == 0;
      axis.extent = p.extents[i];
      axis.out = p.out_strides[i];
      for (int t = 0; t < p.tensors; ++t) axis.tensors[t] = p.tensor[t].strides[i];
    }
    p.strips = Strips{};
    p.strips.count = count;
    p.strip_axes[0] = StripAxis{};
    p.out_strides[kJumpAxis] = 0;
    for (TensorOperand& tensor : p.tensor) tensor.strides[kJumpAxis] = 0;
  }

  /// Returns what cut_strips() does.
  bool build() {
    const int across = tensor_across(p_);
    bool vectors = false;
    if (across >= 0) {
      vectors = build_across(across, fastest_axis(p_, across));
    } else if (const int axis = axis_to_fill(); axis >= 0) {
      cut_neighbours(axis, 0);
    } else {
      cut_apart(fullest_axis(rank_));
    }
    store();
    return vectors;
  }

 private:
  Axis& at(int i) { return axes_[static_cast<std::size_t>(i)]; }

  void insert(int place, const Axis& axis) {
    std::copy_backward(axes_.begin() + place, axes_.begin() + rank_, axes_.begin() + rank_ + 1);
    at(place) = axis;
    ++rank_;
  }
  Axis take(int place) {
    const Axis axis = at(place);
    std::copy(axes_.begin() + place + 1, axes_.begin() + rank_, axes_.begin() + place);
    --rank_;
    return axis;
  }

  /// Which part of the strips' elements exists along an axis; 0 where it may have none.
  double share(const Axis& axis) const {
    if (!axis.may_have_strips) return 0;
    return static_cast<double>(axis.extent) / static_cast<double>(round_up(axis.extent, count_));
  }
  /// The innermost axis that strips fill well and that leaves enough lanes along the output; -1: there is
  /// none.
  int axis_to_fill() {
    std::int64_t lanes = 1;
    for (int axis = rank_ - 1; axis >= 0; lanes *= at(axis--).extent) {
      if (lanes >= kLanesAlong && share(at(axis)) >= kGoodShare) return axis;
    }
    return -1;
  }
  /// The one of the first axes that strips fill best; of two alike, the outer one.
  int fullest_axis(int axes) {
    int fullest = 0;
    for (int axis = 1; axis < axes; ++axis) {
      if (share(at(axis)) > share(at(fullest))) fullest = axis;
    }
    return fullest;
  }

  /// Strips of neighbouring elements along `axis`, which becomes one of strips.
  void cut_neighbours(int axis, std::int64_t lead) {
    const Axis strip = at(axis);
    at(axis) = strip.stretched(count_);
    at(axis).extent = divide_up(strip.extent + lead, count_);
    set_strips(axis, strip, count_, lead, 1);
    p_.strips.whole = lead == 0 && strip.extent % count_ == 0;
  }
  /// Strips of elements as far apart as `axis` is long, divided by their number, so that lanes remain
  /// neighbours along it.
  void cut_apart(int axis) {
    const Axis whole = at(axis);
    const std::int64_t step = divide_up(whole.extent, count_);
    at(axis).extent = step;
    set_strips(axis, whole.stretched(step), 1, 0, step);
    p_.strips.whole = step * count_ == whole.extent;
    p_.strips.extent = static_cast<std::int32_t>(whole.extent);
  }
  void set_strips(int axis, const Axis& strip, std::int64_t scale, std::int64_t lead, std::int64_t step) {
    at(axis).scale = scale;
    insert(rank_, strip);
    p_.strips.lead = static_cast<std::int32_t>(lead);
    p_.strips.step = static_cast<std::int32_t>(step);
    p_.strips.extent = static_cast<std::int32_t>(strip.extent);
  }

  /// A tensor is fastest along an axis that is not the output's: some lanes along the output, then, as that
  /// tensor lies, strips along its axis and the other axes. Where that axis is too short for strips, another
  /// one has them, and the result is false.
  bool build_across(int tensor, int fastest) {
    if (const int outer = axis_to_join(tensor, fastest); outer >= 0) {
      place_across(tensor, join(fastest, outer), kLanesAcross, 0);
      return true;
    }
    const bool vectors = share(at(fastest)) >= kLeastShare;
    const std::int64_t lead = vectors ? misaligned_elements(p_, tensor, fastest) : 0;
    const int axis = vectors ? fastest : fullest_axis(rank_ - 1);
    if (share(at(axis)) < kLeastShare) {
      cut_apart(fullest_axis(rank_));
      return false;
    }
    place_across(tensor, take(axis), vectors ? kLanesAcross : kFewLanesAcross, lead);
    return vectors;
  }

  /// The axis whose elements follow those of `fastest` in the tensor, where that is too short for strips and
  /// both together are not; -1: there is none, or too few lanes would be left along the output.
  int axis_to_join(int tensor, int fastest) {
    const Axis& inner = at(fastest);
    if (!may_join_ || inner.tensors[tensor] != 1 || inner.extent > kLongestInner || !inner.may_have_strips ||
        share(inner) >= kJoinShare)
      return -1;
    for (int i = 0; i < rank_ - 1; ++i) {
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
  /// How many elements follow each other in the output along all axes but these two.
  std::int64_t lanes_beside(int one, int other) {
    std::int64_t lanes = 1;
    for (int axis = rank_ - 1; axis >= 0; --axis) {
      if (axis == one || axis == other) continue;
      if (at(axis).out != lanes * at(rank_ - 1).out) break;
      lanes *= at(axis).extent;
    }
    return lanes;
  }
  /// One axis of the two.
  Axis join(int inner_place, int outer_place) {
    const Axis outer = at(outer_place);
    Axis joined = at(inner_place);
    const std::int64_t inner = joined.extent;
    p_.out_strides[kJumpAxis] = outer.out - inner * joined.out;
    for (int t = 0; t < p_.tensors; ++t)
      p_.tensor[t].strides[kJumpAxis] = outer.tensors[t] - inner * joined.tensors[t];
    const Divisor divisor = make_divisor(static_cast<std::uint32_t>(inner));
    p_.strip_axes[0] = {divisor.multiplier, divisor.shift, divisor.value, 0};
    for (std::int64_t i = 0; i <= kLongestInner; i += inner) p_.strip_axes[0].chunk |= 1u << i;
    joined.extent *= outer.extent;
    take(std::max(inner_place, outer_place));
    take(std::min(inner_place, outer_place));
    return joined;
  }

  /// Cuts strips along an axis that was taken out of the nest: some lanes along the output, then all axes as
  /// the tensor has them.
  void place_across(int tensor, Axis strip, std::int64_t lanes, std::int64_t lead) {
    strip.has_strips = true;
    const int place = take_lanes(lanes);
    insert(place, strip);
    const auto step = [&](const Axis& a) {  // the greatest where the tensor repeats its elements
      return static_cast<std::uint64_t>(std::abs(a.tensors[tensor])) - 1;
    };
    std::stable_sort(axes_.begin(), axes_.begin() + place + 1,
                     [&](const Axis& a, const Axis& b) { return step(a) > step(b); });
    int strips = 0;
    while (!at(strips).has_strips) ++strips;
    cut_neighbours(strips, lead);
  }

  /// The innermost axes that have about so many elements: up to 2.5 times as many, rather than that one of
  /// them is divided into chunks. Returns how many axes are outside them.
  int take_lanes(std::int64_t wanted) {
    std::int64_t lanes = 1;
    int place = rank_;
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
    p_.strips.chunked_extent = static_cast<std::int32_t>(whole.extent);
    return place;
  }

  /// How many elements a chunk has of an axis of `extent`, where each is `lanes` lanes.
  std::int64_t lanes_of_chunk(std::int64_t extent, std::int64_t lanes, std::int64_t wanted) const {
    const std::int64_t even = divide_up(extent, divide_up(extent, wanted / lanes));
    const std::int64_t sector = kSectorBytes / std::gcd(kSectorBytes, lanes * p_.out_bytes);
    const std::int64_t aligned = round_up(even, sector);
    const bool fits =
        2 * lanes * aligned <= 3 * wanted &&
        static_cast<double>(extent) >= kLeastAlignedShare * static_cast<double>(round_up(extent, aligned));
    return fits ? aligned : even;
  }

  /// The axes turn round: the strip comes first, then the axis that counts lanes fastest. An axis has what it
  /// adds for a quotient in the place of an index (Strips).
  void store() {
    p_.rank = rank_;
    std::reverse(axes_.begin(), axes_.begin() + rank_);
    std::int64_t lanes = 1;
    for (int i = 0; i < rank_; ++i) {
      const Axis none, &axis = at(i), &before = i < 2 ? none : at(i - 1);
      const auto added = [&](std::int64_t number, std::int64_t before_it) {
        return number - before.extent * before_it;
      };
      p_.extents[i] = axis.extent;
      p_.out_strides[i] = added(axis.out, before.out);
      for (int t = 0; t < p_.tensors; ++t)
        p_.tensor[t].strides[i] = added(axis.tensors[t], before.tensors[t]);
      if (i == 0) continue;
      const Divisor extent = make_divisor(static_cast<std::uint32_t>(axis.extent));
      p_.strip_axes[i] = {extent.multiplier, extent.shift,
                          static_cast<std::uint32_t>(added(axis.scale, before.scale)),
                          static_cast<std::uint32_t>(added(axis.chunk, before.chunk))};
      lanes *= axis.extent;
    }
    p_.lanes = static_cast<std::uint32_t>(lanes);
  }

  ElementwiseParams& p_;
  std::array<Axis, kMaxRank> axes_;
  int rank_;
  std::int64_t count_;  // elements of a strip
  bool may_join_;
};

}  // namespace

std::int64_t lanes_to_fill(const DeviceProperties& device) { return kLanesToFill * device.multiprocessors; }

void find_dense(ElementwiseParams& p) {
  for (int t = 0; t < p.tensors; ++t) p.tensor[t].dense = dense_elements(p, p.tensor[t]);
}

bool cut_strips(ElementwiseParams& p, std::int32_t count, std::uint32_t without, bool may_join) {
  find_dense(p);
  const bool vectors = StripBuilder(p, count, without, may_join).build();
  for (int t = 0; t < p.tensors; ++t) {
    const bool repeated = p.tensor[t].strides[0] == 0 && p.tensor[t].strides[kJumpAxis] == 0;
    p.tensor[t].access = repeated ? Access::repeated : Access::strided;
  }
  return vectors;
}

bool follow_output(const ElementwiseParams& p) {
  if (std::abs(p.out_strides[1]) != 1) return false;
  std::int64_t lanes = p.extents[1];  // that lie next to each other in the output
  for (int axis = 2; axis < p.rank && p.out_strides[axis] == 0; ++axis) lanes *= p.extents[axis];
  return lanes >= kLeastLanesAlong;
}

}  // namespace relayout::plan
