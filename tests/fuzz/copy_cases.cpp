// Random copies: shapes, orders of axes, layouts, element types. What breaks kernels is likely here: extents
// beside multiples of the vectors and tiles, primes, extents of 1 to 3, odd pitches, bases misaligned by one
// element.
#include "tests/fuzz/copy_cases.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "tests/cases/permute_case.hpp"
#include "tests/support/checks.hpp"

namespace relayout::fuzz {
namespace {

using cases::PermuteCase;

constexpr int kMostAxes = 26;
/// Elements a layout may take up for one of the tensor's.
constexpr double kMostGaps = 8;

/// What an axis draws, all of it at once: an axis more or less is so many bytes more or less.
struct AxisDraw {
  std::int64_t extent = 1;
  int axes_at = 0, in_at = 0, out_at = 0, in_gap = 0, out_gap = 0, in_step = 0, out_step = 0;
};

using Order = std::vector<int>;

/// Puts the next axis in front of `at % size` others; at 0: the order stays 0, 1, 2, ...
void insert(Order& order, int at) {
  const auto size = static_cast<int>(order.size());
  order.insert(order.end() - at % (size + 1), size);
}

/// Strides of axes that lie in memory in this order, the slowest first, with what `gap_of` draws between
/// them.
template <class GapOf>
Dims strides_in(const Order& order, const Dims& shape, const GapOf& gap_of) {
  Dims strides(shape.size(), 0);
  std::int64_t step = 1;
  double wasted = 1;
  const auto widen = [&](std::int64_t wider) {
    const double waste = wasted * static_cast<double>(wider) / static_cast<double>(step);
    if (waste > kMostGaps) return;
    wasted = waste;
    step = wider;
  };
  for (std::size_t k = order.size(); k-- > 0;) {
    const auto axis = static_cast<std::size_t>(order[k]);
    const int gap = gap_of(axis);
    if (step == 1 && gap >= 250) widen(2 + gap % 2);  // no unit stride
    strides[axis] = step;
    step *= shape[axis];
    if (gap >= 160 && gap < 200) widen(step + 1 + gap % 9);     // a slice of wider rows
    if (gap >= 200 && gap < 230) widen((step + 15) / 16 * 16);  // aligned rows
    if (gap >= 230 && gap < 250) widen(step + 64);
  }
  return strides;
}

/// Extents of 1 have any stride.
std::int64_t odd_stride(int byte, std::int64_t stride) {
  const std::int64_t odd[] = {stride, 0, -1, 7, std::int64_t{1} << 40};
  return odd[byte % 5];
}

std::int64_t in_stride(int byte, std::int64_t stride, std::int64_t extent) {
  if (extent == 1) return odd_stride(byte, stride);
  if (byte < 200) return stride;
  if (byte < 226) return -stride;
  return byte < 242 ? 0 : 1 + byte % 9;  // one value for all; windows that overlap
}

std::int64_t out_stride(int byte, std::int64_t stride, std::int64_t extent) {
  if (extent == 1) return odd_stride(byte, stride);
  return byte < 226 ? stride : -stride;
}

/// Elements between an aligned address and the tensor's first.
std::int64_t draw_misalignment(Draw& draw) {
  const int byte = draw.byte();
  return byte < 176 ? 0 : byte < 208 ? 1 : byte % 17;
}

std::vector<AxisDraw> draw_axes(Draw& draw, bool tidy) {
  static constexpr std::int64_t kMost[] = {128, 512, 1024, 2048, 4096, 4096, 8192, 24000};
  static constexpr Extents kExtents[] = {Extents::any, Extents::any, Extents::any, Extents::whole_vectors,
                                         Extents::short_ones};
  const Extents drawn = draw.pick(kExtents), extents = tidy ? Extents::whole_vectors : drawn;
  const bool many = draw.chance(10);
  std::int64_t room = kMost[draw.below(8)];
  std::vector<AxisDraw> axes;
  for (int rank = 0; rank < kMostAxes; ++rank) {
    const int stop_below = rank == 0 || many ? 1 : rank == 1 ? 4 : 10;
    if (draw.below(32) < stop_below) break;
    AxisDraw axis;
    axis.extent = std::min(many ? 1 + draw_extent(draw, extents) % 3 : draw_extent(draw, extents), room);
    for (int* choice : {&axis.axes_at, &axis.in_at, &axis.out_at, &axis.in_gap, &axis.out_gap, &axis.in_step,
                        &axis.out_step})
      *choice = draw.byte();
    room /= axis.extent;
    axes.push_back(axis);
  }
  return axes;
}

double draw_factor(Draw& draw) {
  static constexpr double kFactors[] = {1, 0, -1, 2, 0.1, -1.0 / 3, 1e20};
  return draw.pick(kFactors);
}

/// Any two types but b128, often enough.
void draw_any_types(Draw& draw, PermuteCase& c) {
  constexpr int kTypes = static_cast<int>(DType::b128);
  const bool any = draw.chance(80);
  const int in = draw.below(kTypes), out = draw.below(kTypes);
  if (!any) return;
  c.in_type = static_cast<DType>(in);
  c.out_type = static_cast<DType>(out);
}

/// Of those that the types have.
void draw_cast_options(Draw& draw, PermuteCase& c) {
  const int rounding = draw.below(10), others = draw.below(4);
  const auto has_fractions = [](DType type) { return is_floating(type) || is_restricted(type); };
  const bool scaled = c.scale.alpha != 1 || c.scale.beta != 0;
  const bool rounds = c.out_type != DType::bool_ && (has_fractions(c.in_type) || has_fractions(c.out_type));
  if (rounding > 0 && rounding <= 5 && rounds && !scaled)
    c.options.rounding = static_cast<Rounding>(rounding - 1);
  if (c.out_type == DType::e4m3fn || c.out_type == DType::e5m2) c.options.saturate_fp8 = others % 2 == 0;
  if (is_integral(c.out_type) && others == 3) c.options.integer_overflow = IntegerOverflow::saturate;
}

/// alpha and beta, which equal types that have no arithmetic get along without, and pointers from slots.
void draw_options(Draw& draw, PermuteCase& c) {
  const bool scaled = draw.chance(80);
  c.indirect = draw.chance(48);
  const double alpha = draw_factor(draw), beta = draw.chance(128) ? draw_factor(draw) : 0;
  if (scaled && is_floating(c.in_type) && is_floating(c.out_type)) c.scale = {alpha, beta};
}

/// `order`: the result's axes, when it is not drawn.
PermuteCase draw_copy(Draw& draw, Order (*order)(int rank)) {
  PermuteCase c;
  draw_types(draw, c.in_type, c.out_type);
  draw_any_types(draw, c);
  const bool tidy = draw.chance(48);  // what the fastest paths take
  const bool in_contiguous = !draw.chance(128) || tidy, out_contiguous = !draw.chance(128) || tidy;
  c.in_misaligned = tidy ? 0 : draw_misalignment(draw);
  c.out_misaligned = tidy ? 0 : draw_misalignment(draw);
  const std::vector<AxisDraw> axes = draw_axes(draw, tidy);
  Order in_order, out_order;
  for (const AxisDraw& axis : axes) {
    c.shape.push_back(axis.extent);
    insert(c.axes, axis.axes_at);
    insert(in_order, axis.in_at);
    insert(out_order, axis.out_at);
  }
  if (order != nullptr) c.axes = order(static_cast<int>(axes.size()));
  if (!in_contiguous) {
    c.in_strides = strides_in(in_order, c.shape, [&](std::size_t axis) { return axes[axis].in_gap; });
    for (std::size_t k = 0; k < axes.size(); ++k)
      c.in_strides[k] = in_stride(axes[k].in_step, c.in_strides[k], c.shape[k]);
  }
  if (!out_contiguous) {
    const Dims shape = c.out_shape();
    c.out_strides = strides_in(out_order, shape, [&](std::size_t axis) { return axes[axis].out_gap; });
    for (std::size_t k = 0; k < axes.size(); ++k)
      c.out_strides[k] = out_stride(axes[k].out_step, c.out_strides[k], shape[k]);
  }
  draw_options(draw, c);
  draw_cast_options(draw, c);
  return c;
}

Order in_order(int rank) {
  Order order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Order last_two_swapped(int rank) {
  Order order = in_order(rank);
  if (rank >= 2) std::swap(order[order.size() - 1], order[order.size() - 2]);
  return order;
}

/// The case by any call that means it.
template <class Call>
Trial copy_trial(const PermuteCase& c, const Call& call) {
  return trial_of(c, [call](const Stream& stream, const PermuteCase& copy) {
    test::check_copy(stream, copy, [&](const TensorView& in, const TensorView& out) {
      if (copy.indirect) return test::permute_indirect(stream, copy, in, out);
      call(stream, in, copy, out);
    });
  });
}

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

void draw_types(Draw& draw, DType& in, DType& out) {
  static constexpr DType kBySize[] = {DType::f32, DType::f16, DType::u8, DType::f64};
  static constexpr DType kFloats[] = {DType::f32, DType::f16, DType::bf16, DType::f64};
  const bool converted = draw.chance(64);
  in = converted ? draw.pick(kFloats) : draw.pick(kBySize);
  out = converted ? draw.pick(kFloats) : (draw.byte(), in);
}

Trial decode_permute(Draw& draw) {
  return copy_trial(draw_copy(draw, nullptr),
                    [](const Stream& stream, const TensorView& in, const PermuteCase& c,
                       const TensorView& out) { permute(stream, in, c.axes, out, c.scale, c.options); });
}

Trial decode_transpose(Draw& draw) {
  return copy_trial(draw_copy(draw, last_two_swapped), [](const Stream& stream, const TensorView& in,
                                                          const PermuteCase& c, const TensorView& out) {
    if (c.axes.size() < 2) return cast(stream, in, out, c.scale, c.options);
    transpose(stream, in, out, c.scale, c.options);
  });
}

Trial decode_cast(Draw& draw) {
  return copy_trial(draw_copy(draw, in_order),
                    [](const Stream& stream, const TensorView& in, const PermuteCase& c,
                       const TensorView& out) { cast(stream, in, out, c.scale, c.options); });
}

}  // namespace relayout::fuzz
