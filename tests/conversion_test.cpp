// Casts between all element types: values by hand, at every boundary and in every rounding, bit for bit
// against the oracle of exact arithmetic, NaNs too.
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "tests/cases/conversion_table.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/conversion_inputs.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/element_types.hpp"
#include "tests/support/expect_error.hpp"

namespace relayout::test {
namespace {

/// Casts between f16, bf16, f32 and f64 to nearest even are done by the processor where it can, and may keep
/// the payload of a NaN.
NanRule rule_of(DType from, DType to, const CastOptions& options) {
  const bool own = options.rounding.value_or(Rounding::nearest_even) == Rounding::nearest_even;
  return is_floating(from) && is_floating(to) && own ? NanRule::any : NanRule::exact;
}

class ConversionByHand : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, ConversionByHand, ::testing::ValuesIn(test_devices()), device_test_name);

TEST_P(ConversionByHand, Table) {
  for (const cases::Conversion& row : cases::conversion_table()) {
    SCOPED_TRACE(::testing::Message()
                 << name_of(row.from) << " 0x" << std::hex << row.bits << " to " << name_of(row.to));
    const Dims shape{3};
    GuardedBuffer in(stream(), Role::input, row.from, shape), out(stream(), Role::output, row.to, shape);
    for (int i = 0; i < 3; ++i) {
      store_bits(element_at(in.host(), i), row.from, row.bits);
      store_bits(element_at(out.host(), i), row.to, row.expected);
    }
    in.upload();
    EXPECT_NO_THROW(cast(stream(), in.device(), out.device(), {}, row.options));
    EXPECT_TRUE(out.check(NanRule::exact));
  }
}

class ConversionTest : public ::testing::TestWithParam<std::tuple<Device, DType>> {
 protected:
  const Stream& stream() const { return stream_; }
  DType from() const { return std::get<1>(GetParam()); }

  /// The inputs, `times` times in a row.
  void check(DType to, const CastOptions& options, std::uint64_t density, std::uint64_t phase,
             std::size_t times = 1) {
    SCOPED_TRACE(std::string(name_of(from())) + " to " + name_of(to) + " " +
                 (options.rounding ? name_of(*options.rounding) : "default") +
                 (options.saturate_fp8 ? "" : ", no saturation") +
                 (options.integer_overflow == IntegerOverflow::saturate ? ", saturated" : ""));
    std::vector<std::uint64_t> inputs = conversion_inputs(from(), to, density, phase);
    const std::size_t once = inputs.size();
    for (std::size_t i = once; i < times * once; ++i) inputs.push_back(inputs[i - once]);
    const Dims shape{static_cast<std::int64_t>(inputs.size())};
    GuardedBuffer in(stream(), Role::input, from(), shape), out(stream(), Role::output, to, shape);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      store_bits(element_at(in.host(), static_cast<std::int64_t>(i)), from(), inputs[i]);
      store_bits(element_at(out.host(), static_cast<std::int64_t>(i)), to,
                 reference::convert_bits(inputs[i] & mask_of(from()), from(), to, options));
    }
    in.upload();
    EXPECT_NO_THROW(cast(stream(), in.device(), out.device(), {}, options));
    EXPECT_TRUE(out.check(rule_of(from(), to, options)));
    EXPECT_TRUE(in.check());
  }

  bool rounds(DType to) const { return to != DType::bool_ && (has_fractions(from()) || has_fractions(to)); }

 private:
  static std::uint64_t mask_of(DType type) { return ~std::uint64_t{0} >> (64 - 8 * size_of(type)); }
  Stream stream_{std::get<0>(GetParam())};
};

INSTANTIATE_TEST_SUITE_P(DevicesAndTypes, ConversionTest,
                         ::testing::Combine(::testing::ValuesIn(test_devices()),
                                            ::testing::ValuesIn(kCastableTypes)),
                         device_and_type_name);

TEST_P(ConversionTest, ToEveryTypeByDefault) {
  // There are too few bytes for a whole block of a kernel.
  const std::size_t times = size_of(from()) == 1 ? 40 : 1;
  for (const DType to : kCastableTypes) {
    if (to != from()) check(to, {}, size_of(from()) == 2 ? 1 : 5, 2, times);
  }
}

TEST_P(ConversionTest, InEveryRounding) {
  std::uint64_t phase = 0;
  for (const DType to : kCastableTypes) {
    if (to == from() || !rounds(to)) continue;
    for (const Rounding mode : {Rounding::nearest_even, Rounding::nearest_away, Rounding::toward_zero,
                                Rounding::down, Rounding::up})
      check(to, cases::rounding(mode), 29, phase++);
  }
}

TEST_P(ConversionTest, WithoutSaturationToFp8InEveryRounding) {
  std::uint64_t phase = 0;
  for (const DType to : {DType::e4m3fn, DType::e5m2}) {
    if (to == from()) continue;
    for (const Rounding mode : {Rounding::nearest_even, Rounding::nearest_away, Rounding::toward_zero,
                                Rounding::down, Rounding::up})
      check(to, cases::unsaturated(mode), 29, phase++);
  }
}

TEST_P(ConversionTest, SaturatedToIntegers) {
  for (const DType to : kCastableTypes) {
    if (to != from() && is_integral(to)) check(to, cases::saturating(), 3, 1);
  }
}

TEST(ConversionExplained, InWords) {
  const auto words = [](DType from, DType to, const CastOptions& options) {
    CopyPlanOptions plan_options;
    plan_options.cast = options;
    return plan_cast(DeviceProperties::mi300x(), TensorView(nullptr, from, {64, 96}),
                     TensorView(nullptr, to, {64, 96}), plan_options)
        .explain();
  };
  const auto expect_words = [&](DType from, DType to, const CastOptions& options, const std::string& line) {
    const std::string text = words(from, to, options);
    EXPECT_NE(text.find("\n" + line + "\n"), std::string::npos) << text;
  };
  expect_words(DType::f32, DType::f16, {}, "Cast: f32 to f16, rounding nearest_even.");
  expect_words(DType::f32, DType::f16, cases::rounding(Rounding::up),
               "Cast: f32 to f16, rounding up; by format.");
  expect_words(DType::f32, DType::e5m2, {},
               "Cast: f32 to e5m2, rounding nearest_even, saturated; by format.");
  expect_words(DType::f32, DType::e5m2, cases::unsaturated(),
               "Cast: f32 to e5m2, rounding nearest_even; by format.");
  expect_words(DType::f64, DType::i8, {}, "Cast: f64 to i8, rounding toward_zero; by format.");
  expect_words(DType::f64, DType::bool_, {}, "Cast: f64 to bool; by format.");
  expect_words(DType::u16, DType::i16, {}, "Cast: u16 to i16; the bits stay as they are.");
  expect_words(DType::u16, DType::i16, cases::saturating(), "Cast: u16 to i16, saturated; by format.");
  EXPECT_EQ(words(DType::i8, DType::i8, {}).find("Cast"), std::string::npos);
}

class ConversionErrors : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, ConversionErrors, ::testing::ValuesIn(test_devices()), device_test_name);

TEST_P(ConversionErrors, NameBothTypes) {
  const auto expect = [&](ErrorCode code, DType from, DType to, const CastOptions& options,
                          const CopyScale& scale = {}) {
    GuardedBuffer in(stream(), Role::input, from, {2, 3}), out(stream(), Role::output, to, {2, 3});
    in.upload();
    expect_error(code, {"cast", name_of(from), name_of(to)},
                 [&] { cast(stream(), in.device(), out.device(), scale, options); });
    CopyPlanOptions plan_options;
    plan_options.scale = scale;
    plan_options.cast = options;
    expect_error(code, {"cast", name_of(from), name_of(to)},
                 [&] { plan_cast(device(), in.device(), out.device(), plan_options); });
    EXPECT_TRUE(out.check()) << "something was written before the error";
  };
  const CastOptions up = cases::rounding(Rounding::up);
  expect(ErrorCode::rounding_mode, DType::i32, DType::i8, up);
  expect(ErrorCode::rounding_mode, DType::u8, DType::i8, up);
  expect(ErrorCode::rounding_mode, DType::bool_, DType::i64, up);
  expect(ErrorCode::rounding_mode, DType::f32, DType::bool_, up);
  expect(ErrorCode::rounding_mode, DType::i32, DType::i32, up);
  expect(ErrorCode::rounding_mode, DType::f32, DType::f16, up, {2, 0});
  expect(ErrorCode::rounding_mode, DType::f32, DType::f32, up, {1, 1});
  expect(ErrorCode::dtype, DType::f32, DType::f16, cases::unsaturated());
  expect(ErrorCode::dtype, DType::e5m2, DType::i8, cases::unsaturated());
  expect(ErrorCode::dtype, DType::i64, DType::f16, cases::saturating());
  expect(ErrorCode::dtype, DType::i64, DType::bool_, cases::saturating());
  expect(ErrorCode::dtype, DType::f32, DType::e5m2, {}, {2, 0});
  expect(ErrorCode::dtype, DType::tf32, DType::tf32, {}, {2, 0});
}

}  // namespace
}  // namespace relayout::test
