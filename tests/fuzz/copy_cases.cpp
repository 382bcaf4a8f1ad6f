// Random copies: shapes, orders of axes, layouts, element types. Likely values are those that break kernels:
// extents next to multiples of the vectors and tiles, primes, extents of 1 to 3, odd pitches, bases
// misaligned by one element.
#include "tests/fuzz/copy_cases.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "tests/cases/permute_case.hpp"
#include "tests/fuzz/layouts.hpp"
#include "tests/support/checks.hpp"

namespace relayout::fuzz {
namespace {

using cases::PermuteCase;

constexpr int kMaxAxes = 26;

/// All draws of one axis together, so that an axis more or less is so many bytes more or less.
struct AxisDraw {
  std::int64_t extent = 1;
  int axes_at = 0;
  AxisPlace in, out;
};

std::vector<AxisDraw> draw_axes(Draw& draw, bool tidy) {
  static constexpr std::int64_t kMax[] = {128, 512, 1024, 2048, 4096, 4096, 8192, 24000};
  static constexpr Extents kExtents[] = {Extents::any, Extents::any, Extents::any, Extents::whole_vectors,
                                         Extents::short_ones};
  const Extents drawn = draw.pick(kExtents), extents = tidy ? Extents::whole_vectors : drawn;
  const bool many = draw.chance(10);
  std::int64_t room = kMax[draw.below(8)];
  std::vector<AxisDraw> axes;
  for (int rank = 0; rank < kMaxAxes; ++rank) {
    const int stop_below = rank == 0 || many ? 1 : rank == 1 ? 4 : 10;
    if (draw.below(32) < stop_below) break;
    AxisDraw axis;
    axis.extent = std::min(many ? 1 + draw_extent(draw, extents) % 3 : draw_extent(draw, extents), room);
    axis.axes_at = draw.byte();
    axis.in = draw_place(draw);
    axis.out = draw_place(draw);
    room /= axis.extent;
    axes.push_back(axis);
  }
  return axes;
}

double draw_factor(Draw& draw) {
  static constexpr double kFactors[] = {1, 0, -1, 2, 0.1, -1.0 / 3, 1e20};
  return draw.pick(kFactors);
}

/// Any two types except b128, quite often.
void draw_any_types(Draw& draw, PermuteCase& c) {
  constexpr int kTypes = static_cast<int>(DType::b128);
  const bool any = draw.chance(80);
  const int in = draw.below(kTypes), out = draw.below(kTypes);
  if (!any) return;
  c.in_type = static_cast<DType>(in);
  c.out_type = static_cast<DType>(out);
}

/// alpha and beta, which only floating types take, and pointers from slots.
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
  std::vector<AxisPlace> in_places, out_places;
  for (const AxisDraw& axis : axes) {
    c.shape.push_back(axis.extent);
    insert(c.axes, axis.axes_at);
    in_places.push_back(axis.in);
    out_places.push_back(axis.out);
  }
  if (order != nullptr) c.axes = order(static_cast<int>(axes.size()));
  if (!in_contiguous) c.in_strides = placed(c.shape, in_places, true);
  if (!out_contiguous) c.out_strides = placed(c.out_shape(), out_places, false);
  draw_options(draw, c);
  c.options = draw_cast_options(draw, c.in_type, c.out_type);
  if (c.scale.alpha != 1 || c.scale.beta != 0) c.options.rounding.reset();
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

/// Runs the case by any function that can express it.
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

void draw_types(Draw& draw, DType& in, DType& out) {
  static constexpr DType kBySize[] = {DType::f32, DType::f16, DType::u8, DType::f64};
  static constexpr DType kFloats[] = {DType::f32, DType::f16, DType::bf16, DType::f64};
  const bool converted = draw.chance(64);
  in = converted ? draw.pick(kFloats) : draw.pick(kBySize);
  out = converted ? draw.pick(kFloats) : (draw.byte(), in);
}

CastOptions draw_cast_options(Draw& draw, DType in, DType out) {
  const int rounding = draw.below(10), others = draw.below(4);
  const auto has_fractions = [](DType type) { return is_floating(type) || is_restricted(type); };
  CastOptions options;
  if (rounding > 0 && rounding <= 5 && out != DType::bool_ && (has_fractions(in) || has_fractions(out)))
    options.rounding = static_cast<Rounding>(rounding - 1);
  if (out == DType::e4m3fn || out == DType::e5m2) options.saturate_fp8 = others % 2 == 0;
  if (is_integral(out) && others == 3) options.integer_overflow = IntegerOverflow::saturate;
  return options;
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
