// out = alpha * in + beta * out gives the bits of plain loops on every device and by every kernel.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "host/api/copy.hpp"
#include "host/reference/permute.hpp"
#include "tests/cases/permute_shorthand.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/random_strides.hpp"

namespace relayout::test {
namespace {

using cases::identity;
using cases::move_of;
using cases::PermuteCase;

const std::vector<DType> kFloats{DType::f16, DType::bf16, DType::f32, DType::f64};
/// 0.1 and 1/3 are rounded to f32 first; 3 and 5 make sums that must not be rounded twice.
const std::vector<CopyScale> kScales{{2, 0}, {0.1, 0}, {1, 1}, {-1.5, 0.1}, {1.0 / 3, -3}, {0, 5}, {0, 0}};

PermuteCase scaled(PermuteCase c, const CopyScale& scale) {
  c.scale = scale;
  return c;
}

PermuteCase cast_of(DType in, DType out, const Dims& shape, const std::vector<int>& axes) {
  PermuteCase c = move_of(in, shape, axes);
  c.out_type = out;
  return c;
}

class CopyScaleTest : public DeviceTest {
 protected:
  /// The kernel that the device takes for the case.
  CopyKernel kernel_of(const PermuteCase& c) const {
    if (is_native()) return CopyKernel::native;
    return cases::plan_of(c, device().properties()).kernel;
  }
  /// How the plan for a GPU of few multiprocessors, whose tiles need not be small, assembles a tile's output.
  std::string way_of(const PermuteCase& c) const {
    const TensorView in(at(1, c.in_misaligned, c.in_type), c.in_type, c.shape),
        out(at(2, c.out_misaligned, c.out_type), c.out_type, c.out_shape());
    const std::string text = plan_permute(of_few_multiprocessors(), in, c.axes, out, {c.scale}).explain();
    const std::size_t begin = text.find("Output vectors are");
    return begin == std::string::npos ? "" : text.substr(begin);
  }
  DeviceProperties of_few_multiprocessors() const {
    DeviceProperties properties = device().properties();
    properties.multiprocessors = 4;
    return properties;
  }
  /// Checks what a plan for that GPU does on this device.
  void check_as_for_few_multiprocessors(const PermuteCase& c) const {
    if (is_native()) return;
    const DeviceProperties properties = of_few_multiprocessors();
    check_copy(stream(), c, [&](const TensorView& in, const TensorView& out) {
      launch_copy(stream(), plan_copy_of("permute", properties, in.permuted(c.axes), out, {c.scale}),
                  {in.data(), out.data()});
    });
  }
  static const void* at(int far, std::int64_t misaligned, DType type) {
    return reinterpret_cast<const void*>((static_cast<std::uintptr_t>(far) << 44) +
                                         static_cast<std::uintptr_t>(misaligned) * size_of(type));
  }
  /// Checks the case, which must be taken by this kernel of a GPU.
  void check_by(CopyKernel gpu_kernel, const PermuteCase& c) const {
    if (!is_native()) {
      EXPECT_STREQ(name_of(kernel_of(c)), name_of(gpu_kernel)) << c;
    }
    check(stream(), c);
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, CopyScaleTest, ::testing::ValuesIn(test_devices()), device_test_name);

TEST_P(CopyScaleTest, EveryTypePair) {
  for (const DType in : kFloats)
    for (const DType out : kFloats)
      for (const CopyScale& scale : kScales) {
        const CopyKernel kernel = in == out || scale.beta == 0 ? CopyKernel::tile : CopyKernel::gather;
        check_by(kernel, scaled(cast_of(in, out, {40, 48}, {1, 0}), scale));
        check_by(kernel, scaled(cast_of(in, out, {3, 17, 19}, {2, 0, 1}), scale));
      }
}

/// Every way of assembling a tile's output, aligned and not; no two tiles add to one element.
TEST_P(CopyScaleTest, EveryTile) {
  std::set<std::string> ways;
  for (const DType type : kFloats) {
    PermuteCase misaligned = move_of(type, {131, 67}, {1, 0});
    misaligned.in_misaligned = 1;
    misaligned.out_misaligned = 3;
    for (const PermuteCase& c :
         {move_of(type, {128, 160}, {1, 0}), move_of(type, {129, 161}, {1, 0}), misaligned,
          move_of(type, {6, 40, 48}, {1, 0, 2}), move_of(type, {17, 9, 5, 15}, {3, 1, 2, 0}),
          move_of(type, {1009, 7}, {1, 0}), move_of(type, {7, 1009}, {1, 0}), move_of(type, {4001}, {0})}) {
      for (const CopyScale& scale : {CopyScale{0.1, 0}, CopyScale{-1.5, 0.1}}) {
        check_by(CopyKernel::tile, scaled(c, scale));
        check_as_for_few_multiprocessors(scaled(c, scale));
      }
      ways.insert(way_of(scaled(c, {2, 1})));
    }
  }
  // On a GPU the planner knows more multiprocessors, and takes other tiles.
  if (device().kind() == DeviceKind::emulated) {
    const auto taken = [&](const char* words) {
      return std::any_of(ways.begin(), ways.end(),
                         [&](const std::string& way) { return way.find(words) != std::string::npos; });
    };
    for (const char* words :
         {"a constant step apart", "words of several runs", "as they lie", "places that a table names",
          "words of several rows", "elements, each run from"})
      EXPECT_TRUE(taken(words)) << "no tile was written so: " << words;
  }
}

TEST_P(CopyScaleTest, WithoutRunsAndWithoutAxes) {
  for (const DType type : kFloats)
    for (const CopyScale& scale : {CopyScale{0.1, 0}, CopyScale{-1.5, 0.1}}) {
      check_by(CopyKernel::gather, scaled(move_of(type, {64, 33}, {1, 0}, {99, 3}, {130, 2}), scale));
      check_by(CopyKernel::gather, scaled(move_of(type, {}, {}), scale));
    }
}

/// The window kernel, which moves such transposes, has no scale.
TEST_P(CopyScaleTest, AlignedTransposesTakeTilesInstead) {
  const PermuteCase plain = move_of(DType::f32, {256, 512}, {1, 0});
  PermuteCase widening = plain;
  widening.in_type = DType::f16;
  if (!is_native()) {
    EXPECT_EQ(cases::plan_of(widening, of_few_multiprocessors()).kernel, CopyKernel::window);
  }
  check_by(CopyKernel::tile, scaled(widening, {2, 0}));
  check_by(CopyKernel::tile, scaled(plain, {1, 1}));
}

TEST_P(CopyScaleTest, RandomLayouts) {
  for (const std::uint64_t seed : random_seeds(60)) {
    SCOPED_TRACE(reproduce(seed));
    Random random(seed);
    PermuteCase c;
    c.in_type = random.pick(kFloats);
    c.out_type = random.chance(0.4) ? random.pick(kFloats) : c.in_type;
    draw_layout(random, 5, c);
    c.scale = {4 * uniform(seed, 1) - 2, random.chance(0.4) ? 0 : 4 * uniform(seed, 2) - 2};
    check(stream(), c, seed);
  }
}

/// Every special value against every other, with alphas and betas that keep, flip, overflow and vanish.
TEST_P(CopyScaleTest, NanInfinityAndZero) {
  using Limits = std::numeric_limits<double>;
  const std::vector<double> values{
      0.0,     -0.0,  1.0,     -1.5,     Limits::infinity(), -Limits::infinity(), 65504.0,
      -3.4e38, 1e300, 0x1p-24, 0x1p-149, -0x1p-1074,         Limits::quiet_NaN()};
  const auto count = static_cast<std::int64_t>(values.size());
  const auto of = [&](std::uint64_t i) { return values[static_cast<std::size_t>(i)]; };
  const auto n = static_cast<std::uint64_t>(count);
  for (const DType in_type : kFloats)
    for (const DType out_type : kFloats)
      for (const CopyScale& scale : {CopyScale{1, 1}, CopyScale{-1, 1}, CopyScale{0, -1}, CopyScale{1e38, 0},
                                     CopyScale{1e-38, 1e-38}, CopyScale{Limits::infinity(), 1},
                                     CopyScale{1, Limits::quiet_NaN()}, CopyScale{Limits::quiet_NaN(), 0}}) {
        SCOPED_TRACE(::testing::Message() << name_of(in_type) << " to " << name_of(out_type) << " by "
                                          << scale.alpha << ", " << scale.beta);
        GuardedBuffer in(stream(), Role::input, in_type, {count, count}),
            out(stream(), Role::output, out_type, {count, count});
        fill_with(in.host(), [&](std::uint64_t i) { return of(i / n); });
        fill_with(out.host(), [&](std::uint64_t i) { return of(i / n); });
        out.upload();
        run_and_compare(
            in, out,
            [&](const TensorView& from, const TensorView& to) { transpose(stream(), from, to, scale); },
            [&](const TensorView& from, const TensorView& to) {
              reference::permute(from, {1, 0}, to, scale);
            },
            NanRule::any);
      }
}

TEST_P(CopyScaleTest, WhatZerosDo) {
  GuardedBuffer in(stream(), Role::input, DType::f32, {50, 33}),
      out(stream(), Role::output, DType::f32, {33, 50});
  const auto is_nan_after = [&](float value, const CopyScale& scale) {
    fill_with(in.host(), [&](std::uint64_t) { return value; });
    in.upload();
    transpose(stream(), in.device(), out.device(), scale);
    const std::vector<unsigned char> bytes = out.download();
    return std::isnan(load_value(out.view_of(bytes), {32, 49}));
  };
  EXPECT_FALSE(is_nan_after(3, {2, 0})) << "the output's NaN was read";
  out.upload();  // NaNs again
  EXPECT_FALSE(is_nan_after(3, {2, 1e-60})) << "a beta that f32 has no room for is 0";
  out.upload();
  EXPECT_TRUE(is_nan_after(3, {2, 1}));
  EXPECT_TRUE(is_nan_after(std::numeric_limits<float>::infinity(), {0, 0})) << "0 * infinity";
  EXPECT_FALSE(is_nan_after(3, {0, 0}));
}

/// Types without arithmetic, too, bit for bit; numbers that f32 rounds to 1 and 0 count as these.
TEST_P(CopyScaleTest, OneAndZeroAreThePlainCopy) {
  for (const DType type : {DType::u8, DType::i32, DType::f16, DType::f32, DType::tf32}) {
    PermuteCase c = move_of(type, {64, 48}, {1, 0});
    c.scale = {1, -0.0};
    check(stream(), c);
  }
  GuardedBuffer in(stream(), Role::input, DType::f32, {64, 48}),
      out(stream(), Role::output, DType::f32, {48, 64});
  const CopyPlan plain = plan_transpose(device(), in.device(), out.device());
  const CopyPlan rounded = plan_transpose(device(), in.device(), out.device(), {{1 + 1e-12, 1e-60}});
  EXPECT_EQ(plain.explain(), rounded.explain());
  fill_bits(in.host());
  in.upload();
  rounded.run(stream());
  reference::permute(in.host(), {1, 0}, out.host());
  EXPECT_TRUE(out.check(NanRule::exact));
}

/// f64 keeps what f32 would round away.
TEST_P(CopyScaleTest, DoublesAreScaledInDouble) {
  for (const auto& [in, out] : {std::pair{DType::f64, DType::f64}, std::pair{DType::f32, DType::f64},
                                std::pair{DType::f64, DType::f32}})
    for (const CopyScale& scale :
         {CopyScale{1 + 0x1p-40, 0}, CopyScale{1, 0x1p-40}, CopyScale{1e200, -1e-200}})
      check(stream(), scaled(cast_of(in, out, {20, 36}, {1, 0}), scale));
}

TEST_P(CopyScaleTest, EveryFunctionAndItsPlan) {
  const CopyScale scale{0.75, -2};
  for (const bool planned : {false, true}) {
    GuardedBuffer in(stream(), Role::input, DType::f32, {2, 12, 20}, {300, 25, 1}),
        permuted(stream(), Role::output, DType::f32, {20, 2, 12}),
        transposed(stream(), Role::output, DType::f32, {2, 20, 12}),
        cast_out(stream(), Role::output, DType::f16, {2, 12, 20}),
        crossing(stream(), Role::output, DType::f32, {15, 32}, {33, 1}),
        crossing_bf16(stream(), Role::output, DType::bf16, {15, 32}, {33, 1});
    fill_numbers(in.host(), 1);
    in.upload();
    for (const GuardedBuffer* out : {&permuted, &transposed, &cast_out, &crossing, &crossing_bf16}) {
      fill_numbers(out->host(), 2);
      out->upload();
    }
    const TensorView from = in.device();
    if (planned) {
      plan_permute(device(), from, {2, 0, 1}, permuted.device(), {scale}).run(stream());
      plan_transpose(device(), from, transposed.device(), {scale}).run(stream());
      plan_cast(device(), from, cast_out.device(), {scale}).run(stream());
      plan_copy(device(), from, crossing.device(), {scale}).run(stream());
      plan_copy(device(), from, crossing_bf16.device(), {scale}).run(stream());
    } else {
      permute(stream(), from, {2, 0, 1}, permuted.device(), scale);
      transpose(stream(), from, transposed.device(), scale);
      cast(stream(), from, cast_out.device(), scale);
      copy(stream(), from, crossing.device(), scale);
      copy(stream(), from, crossing_bf16.device(), scale);
    }
    reference::permute(in.host(), {2, 0, 1}, permuted.host(), scale);
    reference::permute(in.host(), {0, 2, 1}, transposed.host(), scale);
    reference::cast(in.host(), cast_out.host(), scale);
    reference::copy(in.host(), crossing.host(), scale);
    reference::copy(in.host(), crossing_bf16.host(), scale);
    for (const GuardedBuffer* out : {&permuted, &transposed, &cast_out, &crossing, &crossing_bf16})
      EXPECT_TRUE(out->check()) << (planned ? "planned" : "at once");
  }
}

/// Enough for the native code to use all its threads.
TEST_P(CopyScaleTest, ManyElements) {
  check(stream(), scaled(move_of(DType::f32, {3, 150, 151}, {2, 0, 1}), {0.1, 1}));
}

TEST_P(CopyScaleTest, PlansSayIt) {
  const TensorView in(nullptr, DType::f16, {64, 128}), out(nullptr, DType::f16, {128, 64}),
      wide(nullptr, DType::f64, {128, 64});
  const CopyPlan sum = plan_transpose(device(), in, out, {{0.5, 2}});
  EXPECT_EQ(sum.details().scale.alpha, 0.5);
  EXPECT_EQ(sum.details().scale.beta, 2);
  EXPECT_NE(sum.explain().find("out = 0.5 * in + 2 * out, computed in f32"), std::string::npos)
      << sum.explain();
  const std::string cast_words = plan_transpose(device(), in, wide, {{3, 0}}).explain();
  EXPECT_NE(cast_words.find("out = 3 * in, computed in f64; the output is not read"), std::string::npos)
      << cast_words;
  EXPECT_EQ(plan_transpose(device(), in, out).explain().find("Scaled"), std::string::npos);
}

TEST_P(CopyScaleTest, Errors) {
  GuardedBuffer in(stream(), Role::input, DType::f64, {4, 6}),
      out(stream(), Role::output, DType::f64, {6, 4});
  in.upload();
  const auto as = [](const GuardedBuffer& buffer, DType type) {
    return TensorView(buffer.device().data(), type, type == DType::b128 ? Dims{2, 2} : buffer.host().shape());
  };
  for (const DType type : {DType::bool_, DType::u8, DType::i16, DType::u32, DType::i64, DType::tf32,
                           DType::e4m3fn, DType::e5m2, DType::b128})
    for (const CopyScale& scale : {CopyScale{2, 0}, CopyScale{1, 1}}) {
      expect_error(ErrorCode::dtype, {"transpose", "alpha", name_of(type)},
                   [&] { transpose(stream(), as(in, type), as(out, type), scale); });
      expect_error(ErrorCode::dtype, {name_of(type)},
                   [&] { plan_transpose(device(), as(in, type), as(out, type), {scale}); });
    }
  const TensorView from = as(in, DType::f32), to = as(out, DType::f32);
  expect_error(ErrorCode::literal_range, {"alpha 1e+39 ", "f32"}, [&] {
    transpose(stream(), from, to, {1e39, 0});
  });
  expect_error(ErrorCode::literal_range, {"beta", "f32"}, [&] { transpose(stream(), from, to, {1, -1e39}); });
  expect_error(ErrorCode::partial_overlap, {}, [&] { cast(stream(), to, to, {1, 1}); });
  expect_error(ErrorCode::null_pointer, {}, [&] {
    transpose(stream(), from, TensorView(nullptr, DType::f32, {6, 4}), {1, 1});
  });
  EXPECT_TRUE(out.check()) << "something was written";
}

}  // namespace
}  // namespace relayout::test
