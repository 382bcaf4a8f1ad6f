#include "tests/fuzz/layouts.hpp"

#include <algorithm>

namespace relayout::fuzz {
namespace {

/// How many elements of memory a layout may take for one element of the tensor.
constexpr double kMaxGaps = 8;

/// Strides of axes that lie in memory in this order, the slowest first, with gaps between them.
Dims strides_in(const Order& order, const Dims& shape, const std::vector<AxisPlace>& places) {
  Dims strides(shape.size(), 0);
  std::int64_t step = 1;
  double wasted = 1;
  const auto widen = [&](std::int64_t wider) {
    const double waste = wasted * static_cast<double>(wider) / static_cast<double>(step);
    if (waste > kMaxGaps) return;
    wasted = waste;
    step = wider;
  };
  for (std::size_t k = order.size(); k-- > 0;) {
    const auto axis = static_cast<std::size_t>(order[k]);
    const int gap = places[axis].gap;
    if (step == 1 && gap >= 250) widen(2 + gap % 2);  // no unit stride
    strides[axis] = step;
    step *= std::max<std::int64_t>(shape[axis], 1);
    if (gap >= 160 && gap < 200) widen(step + 1 + gap % 9);     // a slice of wider rows
    if (gap >= 200 && gap < 230) widen((step + 15) / 16 * 16);  // aligned rows
    if (gap >= 230 && gap < 250) widen(step + 64);
  }
  return strides;
}

/// Axes of extent 1 may have any stride.
std::int64_t odd_stride(int byte, std::int64_t stride) {
  const std::int64_t odd[] = {stride, 0, -1, 7, std::int64_t{1} << 40};
  return odd[byte % 5];
}

std::int64_t in_stride(int byte, std::int64_t stride) {
  if (byte < 200) return stride;
  if (byte < 226) return -stride;
  return byte < 242 ? 0 : 1 + byte % 9;  // one value for all; windows that overlap
}

std::int64_t out_stride(int byte, std::int64_t stride) { return byte < 226 ? stride : -stride; }

}  // namespace

std::int64_t draw_extent(Draw& draw, Extents extents) {
  static constexpr std::int64_t kUnits[] = {8, 4, 16, 32, 64};
  static constexpr std::int64_t kPrimes[] = {5,  7,  11, 13, 17, 19, 23,  29,  31,  37,  41,
                                             43, 47, 53, 61, 67, 97, 127, 131, 257, 509, 1031};
  const int kind = draw.below(8), value = draw.byte(), beside = draw.below(4);
  if (extents == Extents::short_ones) return 1 + value % 9;
  if (kind < 2) return 1 + value % 3;
  if (kind < 6 || extents == Extents::whole_vectors) {
    const std::int64_t multiple = kUnits[value % 5] * (1 + value / 5 % 4);
    if (extents == Extents::whole_vectors) return multiple;
    return beside == 2 ? multiple - 1 : beside == 3 ? multiple + 1 : multiple;
  }
  return kind == 6 ? kPrimes[value % 22] : 1 + value * (1 + beside * beside);
}

void insert(Order& order, int at) {
  const auto size = static_cast<int>(order.size());
  order.insert(order.end() - at % (size + 1), size);
}

AxisPlace draw_place(Draw& draw) {
  AxisPlace place;
  place.at = draw.byte();
  place.gap = draw.byte();
  place.step = draw.byte();
  return place;
}

Dims placed(const Dims& shape, const std::vector<AxisPlace>& places, bool input) {
  Order order;
  for (const AxisPlace& place : places) insert(order, place.at);
  Dims strides = strides_in(order, shape, places);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const int step = places[axis].step;
    std::int64_t& stride = strides[axis];
    stride = shape[axis] == 1 ? odd_stride(step, stride)
             : input          ? in_stride(step, stride)
                              : out_stride(step, stride);
  }
  return strides;
}

std::int64_t draw_misalignment(Draw& draw) {
  const int byte = draw.byte();
  return byte < 176 ? 0 : byte < 208 ? 1 : byte % 17;
}

}  // namespace relayout::fuzz
