// Casts between all element types in every kernel: in one piece, through tiles of every kind, element by
// element, and between shapes that have no nest in common.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "host/reference/permute.hpp"
#include "tests/cases/conversion_table.hpp"
#include "tests/cases/permute_shorthand.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/copy_by.hpp"
#include "tests/support/element_types.hpp"
#include "tests/support/random_strides.hpp"

namespace relayout::test {
namespace {

using cases::PermuteCase;

class ConversionLayouts : public ::testing::TestWithParam<std::tuple<Device, DType>> {
 protected:
  const Stream& stream() const { return stream_; }
  DType from() const { return std::get<1>(GetParam()); }

  /// Checks the case by this kernel, on emulated devices and GPUs.
  void check_by(CopyKernel kernel, PermuteCase c, DType to, const CastOptions& options) {
    c.in_type = from();
    c.out_type = to;
    c.options = options;
    CopyPlanOptions plan_options;
    plan_options.cast = options;
    check_copy(stream(), c, [&](const TensorView& in, const TensorView& out) {
      copy_by(stream(), kernel, in.permuted(c.axes), out, plan_options);
    });
  }

  /// Options that this pair of types takes: different ones at each call.
  CastOptions options_for(DType to, std::size_t turn) const {
    CastOptions options;
    if (to == DType::e4m3fn || to == DType::e5m2) options.saturate_fp8 = turn % 2 == 0;
    const bool fractions =
        is_floating(from()) || is_restricted(from()) || is_floating(to) || is_restricted(to);
    if (to != DType::bool_ && fractions && turn % 3 != 0) options.rounding = static_cast<Rounding>(turn % 5);
    if (is_integral(to) && turn % 4 == 3) options.integer_overflow = IntegerOverflow::saturate;
    return options;
  }

 private:
  Stream stream_{std::get<0>(GetParam())};
};

INSTANTIATE_TEST_SUITE_P(DevicesAndTypes, ConversionLayouts,
                         ::testing::Combine(::testing::ValuesIn(test_devices()),
                                            ::testing::ValuesIn(kCastableTypes)),
                         device_and_type_name);

PermuteCase permuted(Dims shape, std::vector<int> axes, std::int64_t in_misaligned = 0,
                     std::int64_t out_misaligned = 0) {
  PermuteCase c;
  c.shape = std::move(shape);
  c.axes = std::move(axes);
  c.in_misaligned = in_misaligned;
  c.out_misaligned = out_misaligned;
  return c;
}

TEST_P(ConversionLayouts, InEveryKernel) {
  PermuteCase rows = permuted({5, 96}, {0, 1});
  rows.in_strides = {112, 1};
  PermuteCase odd_rows = permuted({7, 61}, {0, 1}, 1);
  odd_rows.in_strides = {67, 1};
  PermuteCase spread = permuted({37, 29}, {1, 0});
  spread.in_strides = {58, 2};
  std::size_t turn = 0;
  for (const DType to : kCastableTypes) {
    if (to == from()) continue;
    check_by(CopyKernel::stream, permuted({3073}, {0}), to, options_for(to, turn++));
    check_by(CopyKernel::tile, rows, to, options_for(to, turn++));
    check_by(CopyKernel::tile, odd_rows, to, options_for(to, turn++));
    check_by(CopyKernel::tile, permuted({2, 35, 53}, {0, 2, 1}, 1, 1), to, options_for(to, turn++));
    check_by(CopyKernel::gather, spread, to, options_for(to, turn++));
    check_by(CopyKernel::rows, odd_rows, to, {});
    check_by(CopyKernel::rows, spread, to, {});
  }
}

/// Aligned transposes: the window kernel takes them for its own casts, and must not take these.
TEST_P(ConversionLayouts, Transposed) {
  std::size_t turn = 1;
  for (const DType to : kCastableTypes) {
    if (to == from() || (is_floating(from()) && is_floating(to))) continue;
    if (is_integral(from()) && is_integral(to) && size_of(from()) == size_of(to)) continue;  // moved as bytes
    check_by(CopyKernel::tile, permuted({64, 48}, {1, 0}), to, options_for(to, turn++));
    check_by(CopyKernel::tile, permuted({16, 3, 5, 32}, {3, 2, 1, 0}), to, options_for(to, turn++));
  }
}

TEST_P(ConversionLayouts, BetweenShapesWithoutACommonNest) {
  std::size_t turn = 2;
  const auto check_shapes = [&](DType to, const Dims& in_shape, const Dims& out_shape) {
    SCOPED_TRACE(std::string(name_of(from())) + " to " + name_of(to));
    const CastOptions options = options_for(to, turn++);
    GuardedBuffer in(stream(), Role::input, from(), in_shape, {in_shape[1] + 5, 1});
    GuardedBuffer out(stream(), Role::output, to, out_shape, {out_shape[1] + 1, 1});
    fill_for(in.host(), to, turn);
    run_and_compare(
        in, out, [&](const TensorView& a, const TensorView& b) { copy(stream(), a, b, {}, options); },
        [&](const TensorView& a, const TensorView& b) { reference::copy(a, b, {}, options); });
  };
  for (const DType to : kCastableTypes) {
    if (to != from()) check_shapes(to, {12, 35}, {35, 12});
  }
  check_shapes(from() == DType::i8 ? DType::f32 : DType::i8, {3, 2200}, {2, 3300});  // long rows
}

TEST_P(ConversionLayouts, RandomPermutations) {
  Random random(20251121 + static_cast<std::uint64_t>(from()));
  std::size_t turn = 0;
  for (const DType to : kCastableTypes) {
    for (int i = 0; i < 3; ++i) {
      PermuteCase c;
      draw_layout(random, 5, c);
      c.in_type = from();
      c.out_type = to;
      c.indirect = random.chance(0.2);
      if (to != from()) c.options = options_for(to, turn++);
      check(stream(), c, turn);
    }
  }
}

/// A row that several threads of the processor share.
TEST_P(ConversionLayouts, OneLongRow) {
  PermuteCase c = permuted({70001}, {0});
  c.in_type = from();
  c.out_type = from() == DType::f32 ? DType::i8 : DType::f32;
  check(stream(), c);
}

/// One element, and no element.
TEST_P(ConversionLayouts, Sizes) {
  for (const DType to : {DType::bool_, DType::i32, DType::f16, DType::f32, DType::e5m2}) {
    for (const std::int64_t size : {0, 1, 2, 15, 17, 1025}) {
      PermuteCase c = permuted({size}, {0});
      c.in_type = from();
      c.out_type = to;
      check(stream(), c);
    }
    PermuteCase scalar;
    scalar.in_type = from();
    scalar.out_type = to;
    check(stream(), scalar);
  }
}

}  // namespace
}  // namespace relayout::test
