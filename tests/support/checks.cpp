#include "tests/support/checks.hpp"

#include <iterator>
#include <limits>

#include "host/reference/img2col.hpp"
#include "host/reference/pad.hpp"
#include "host/reference/permute.hpp"
#include "tests/support/fill.hpp"
#include "tests/support/slots.hpp"

namespace relayout::test {

NanRule nan_rule(DType from, DType to) {
  return from != to && is_floating(from) && is_floating(to) ? NanRule::any : NanRule::exact;
}

void fill_numbers(const TensorView& view, std::uint64_t seed) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double special[] = {
      kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN(), -0.0, 65504.0, 65520.0, 1e30, -1e300,
      0x1p-25,   2049.0};
  fill_with(view, [&](std::uint64_t i) {
    const std::uint64_t choice = hash(i, seed + 1);
    return choice % 16 == 0 ? special[choice / 16 % std::size(special)] : 128.0 * uniform(i, seed) - 64.0;
  });
}

void fill_for(const TensorView& view, DType to, std::uint64_t seed) {
  if (view.dtype() == to || !is_floating(view.dtype())) return fill_bits(view, seed);
  fill_numbers(view, seed);
}

void run_and_compare(GuardedBuffer& in, GuardedBuffer& out, const OnViews& operation, const OnViews& oracle,
                     std::optional<NanRule> rule) {
  in.upload();
  EXPECT_NO_THROW(operation(in.device(), out.device()));
  oracle(in.host(), out.host());
  EXPECT_TRUE(out.check(rule.value_or(nan_rule(in.host().dtype(), out.host().dtype()))));
  EXPECT_TRUE(in.check());
}

void check_copy(const Stream& stream, const cases::PermuteCase& c, const OnViews& operation,
                std::uint64_t seed) {
  SCOPED_TRACE(::testing::Message() << c);
  GuardedBuffer in(stream, Role::input, c.in_type, c.shape, c.in_strides, c.in_misaligned);
  GuardedBuffer out(stream, Role::output, c.out_type, c.out_shape(), c.out_strides, c.out_misaligned);
  const bool plain = c.scale.alpha == 1 && c.scale.beta == 0;
  if (plain) {
    fill_for(in.host(), c.out_type, seed);
  } else {
    fill_numbers(in.host(), seed);
  }
  if (c.scale.beta != 0) {  // else the output's NaNs must not be seen
    fill_numbers(out.host(), seed + 7);
    out.upload();
  }
  run_and_compare(
      in, out, operation,
      [&](const TensorView& from, const TensorView& to) {
        reference::permute(from, c.axes, to, c.scale, c.options);
      },
      plain ? nan_rule(c.in_type, c.out_type) : NanRule::any);
}

void permute_indirect(const Stream& stream, const cases::PermuteCase& c, const TensorView& in,
                      const TensorView& out) {
  const Slots slots(stream);
  slots.set(in.data(), out.data());
  plan_permute(stream.device(), elsewhere(in, 1), c.axes, elsewhere(out, 2), {c.scale, true, c.options})
      .run_indirect(stream, slots.in(), slots.out());
  stream.synchronize();
}

void check(const Stream& stream, const cases::PermuteCase& c, std::uint64_t seed) {
  check_copy(
      stream, c,
      [&](const TensorView& from, const TensorView& to) {
        if (c.indirect) return permute_indirect(stream, c, from, to);
        permute(stream, from, c.axes, to, c.scale, c.options);
      },
      seed);
}

void check(const Stream& stream, const cases::CastCase& c, std::uint64_t seed) {
  check_filled(
      stream, c, c.shape, c.shape, strides_of(c.out_layout, c.shape), seed,
      [&](const TensorView& from, const TensorView& to) { cast(stream, from, to); },
      [&](const TensorView& from, const TensorView& to) { reference::cast(from, to); });
}

void check(const Stream& stream, const cases::PadCase& c, std::uint64_t seed) {
  check_filled(
      stream, c, c.in_shape(), c.out_shape(), strides_of(c.out_layout, c.out_shape()), seed,
      [&](const TensorView& from, const TensorView& to) { pad(stream, from, c.pad, to); },
      [&](const TensorView& from, const TensorView& to) { reference::pad(from, c.pad, to); });
}

void check(const Stream& stream, const cases::Img2colCase& c, std::uint64_t seed) {
  check_filled(
      stream, c, c.in_shape(), c.out_shape(), c.out_strides(), seed,
      [&](const TensorView& from, const TensorView& to) { img2col(stream, from, c.window, c.pad, to); },
      [&](const TensorView& from, const TensorView& to) { reference::img2col(from, c.window, c.pad, to); });
}

void check(const Stream& stream, const cases::WeightsCase& c, std::uint64_t seed) {
  check_filled(
      stream, c, c.in_shape(), c.out_shape(), c.out_strides(), seed,
      [&](const TensorView& from, const TensorView& to) { rearrange_weights(stream, from, c.order, to); },
      [&](const TensorView& from, const TensorView& to) { reference::rearrange_weights(from, c.order, to); });
}

}  // namespace relayout::test
