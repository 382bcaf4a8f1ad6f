#include "host/plan/elementwise/strip_cost.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "core/integer_math.hpp"
#include "core/sector.hpp"

namespace relayout::plan {
namespace {

/// Microseconds for a million elements, on an H100. The first four are for each byte: of the sectors that a
/// block's loads meet, of those that each store of a warp meets, of those that a block's stores meet, and of
/// the lines around these beyond the sectors; then for each line that a load of a warp meets, which the first
/// cache takes one after the other, and for each byte of the tensors. They were fitted to the times of 298
/// random problems in 175 layouts beside the first, the prices of few and of many instructions again to 236
/// problems in all of their layouts (docs/notes/operations.md).
constexpr double kRead = 0.1, kStored = 0.15, kWritten = 0.35, kWrittenLines = 0.05, kLoadedLine = 1.0,
                 kMoved = 0.22;
/// For each place that strips have, whether or not there is an element: few instructions, many, several
/// types, codes.
constexpr double kCheapPlace = 2, kCostlyPlace = 3.4, kMixedPlace = 3.5, kCodePlace = 1.8, kCodeLane = 2;

constexpr std::int64_t kLineBytes = 128, kWarpLanes = 32;

double place_cost(const ElementwiseParams& p, std::int32_t count) {
  if (has_codes(p)) return kCodePlace + kCodeLane / count;
  const auto is_other = [&](const TensorOperand& tensor) { return tensor.type != p.tensor[0].type; };
  if (p.steps != 1 || std::any_of(p.tensor, p.tensor + p.tensors, is_other)) return kMixedPlace;
  return has_costly(p) ? kCostlyPlace : kCheapPlace;
}

/// The share of the places of all lanes' strips that have elements.
double filled_share(const StripLayout& layout) {
  const Strips& s = layout.strips;
  const std::int64_t places = s.step == 1 ? round_up<std::int64_t>(s.extent + s.lead, s.count)
                                          : round_up<std::int64_t>(s.extent, std::int64_t{s.step} * s.count);
  std::int64_t chunked = 1;  // indices of an axis in chunks
  for (int i = 0; i < layout.rank; ++i) chunked *= layout.at(i).chunk != 0 ? layout.at(i).extent : 1;
  return static_cast<double>(s.extent) * s.chunked_extent / static_cast<double>(places * chunked);
}

/// The axes of a layout, and the outer one of two along which strips lie.
constexpr int kBoxAxes = kMaxRank + 1;

/// One operand of the nest: the bytes between its elements along an axis, and where it begins.
struct OperandBytes {
  std::int64_t bytes[kBoxAxes];
  std::int64_t element, address;
};

/// The elements of the first `lanes` lanes, `strip` of each.
struct LaneBox {
  std::int64_t extents[kBoxAxes];
  double elements = 1;

  LaneBox(const StripLayout& layout, std::int64_t lanes, std::int64_t strip) {
    const int last = layout.rank - 1;
    const std::int64_t inner =
        layout.joined.wraps() != 0 ? std::min<std::int64_t>(layout.joined.inner(), strip) : strip;
    extents[last] = inner;
    extents[last + 1] = divide_up(strip, inner);
    elements = static_cast<double>(extents[last] * extents[last + 1]);
    for (int axis = last - 1; axis >= 0; --axis) {
      extents[axis] = std::min(layout.at(axis).extent, lanes);
      elements *= static_cast<double>(extents[axis]);
      lanes = divide_up(lanes, extents[axis]);
    }
  }
};

/// How many pieces of memory of `piece` bytes, a power of two, the box meets for each of its elements. From
/// the strides alone: traffic_of() visits each element, which takes too long for a plan.
double pieces_of(const OperandBytes& operand, const LaneBox& box, int rank, std::int64_t piece) {
  struct Step {
    std::int64_t bytes, extent;
  } steps[kBoxAxes];
  int count = 0;
  std::int64_t granule = std::gcd(operand.address, piece);  // runs begin at multiples of it
  for (int axis = 0; axis <= rank; ++axis) {
    const std::int64_t bytes = operand.bytes[axis];
    granule = std::gcd(granule, bytes);
    if (bytes == 0 || box.extents[axis] == 1) continue;
    int i = count++;
    for (; i > 0 && steps[i - 1].bytes > bytes; --i) steps[i] = steps[i - 1];
    steps[i] = {bytes, box.extents[axis]};
  }
  std::int64_t run = operand.element;
  double runs = 1;
  bool in_run = true;  // each piece between the first element and the last is met
  for (int i = 0; i < count; ++i) {
    in_run = in_run && steps[i].bytes <= std::max(run, piece);
    if (in_run) {
      run += (steps[i].extent - 1) * steps[i].bytes;
    } else {
      runs *= static_cast<double>(steps[i].extent);
    }
  }
  const double met =
      static_cast<double>(run + piece - std::max(granule, operand.element)) / static_cast<double>(piece);
  return runs * std::max(1.0, met) / box.elements;
}

template <class Stride>
OperandBytes bytes_of(const StripLayout& layout, const void* data, std::int64_t element,
                      const Stride& stride) {
  OperandBytes operand;
  operand.element = element;
  operand.address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data) % kLineBytes);
  const bool joined = layout.joined.wraps() != 0;
  const std::int64_t inner = joined ? std::int64_t{layout.joined.inner()} : 1, jump = stride(layout.jump);
  for (int i = 0; i < layout.rank; ++i) {
    const StripNestAxis& axis = layout.at(i);
    operand.bytes[i] = std::abs(stride(axis) + (joined ? axis.scale / inner * jump : 0)) * element;
  }
  const std::int64_t outer = joined ? inner * stride(layout.at(layout.rank - 1)) + jump : 0;
  operand.bytes[layout.rank] = std::abs(outer) * element;
  return operand;
}

}  // namespace

StripCosts::StripCosts(const ElementwiseParams& p, const StripLayout& nest)
    : p_(p), place_(place_cost(p, nest.strips.count)), moved_(kMoved * p.out_bytes) {
  double read = 0;
  for (int t = 0; t < p.tensors; ++t) {
    if (p.tensor[t].data == nullptr) continue;
    double bytes = p.tensor[t].bytes;
    for (int axis = 0; axis < nest.rank; ++axis)
      if (nest.at(axis).tensors[t] == 0) bytes /= static_cast<double>(nest.at(axis).extent);
    read += bytes;
  }
  moved_ += kMoved * read;
  least_ = moved_ + place_ + (kStored + kWritten) * p.out_bytes + kRead * read;
}

double StripCosts::of(const StripLayout& layout, double most) const {
  const int rank = layout.rank;
  const std::int64_t strip = std::min(layout.strips.count, layout.strips.extent);
  double cost = moved_ + place_ / filled_share(layout);
  if (cost >= most) return cost;
  const LaneBox block(layout, kStripThreads, strip), warp(layout, kWarpLanes, 1);
  const OperandBytes out =
      bytes_of(layout, p_.out, p_.out_bytes, [](const StripNestAxis& axis) { return axis.out; });
  const double written = kSectorBytes * pieces_of(out, block, rank, kSectorBytes),
               lines = kLineBytes * pieces_of(out, block, rank, kLineBytes);
  cost += kStored * kSectorBytes * pieces_of(out, warp, rank, kSectorBytes) + kWritten * written +
          kWrittenLines * std::max(0.0, lines - written);
  for (int t = 0; t < p_.tensors && cost < most; ++t) {
    if (p_.tensor[t].data == nullptr) continue;
    const OperandBytes operand = bytes_of(layout, p_.tensor[t].data, p_.tensor[t].bytes,
                                          [t](const StripNestAxis& axis) { return axis.tensors[t]; });
    cost += kRead * kSectorBytes * pieces_of(operand, block, rank, kSectorBytes);
    const std::int64_t step = operand.bytes[rank - 1];
    if (step == 0) continue;
    const bool is_vector = step == operand.element && layout.jump.tensors[t] == 0;
    const LaneBox loaded(layout, kWarpLanes, is_vector ? strip : 1);
    cost += kLoadedLine * pieces_of(operand, loaded, rank, kLineBytes);
  }
  return cost;
}

}  // namespace relayout::plan
