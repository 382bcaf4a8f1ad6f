// pad: by hand for a b c d, then every mode, policy, size, type and layout against the index formulas.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "host/reference/pad.hpp"
#include "tests/cases/pad_shorthand.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/random.hpp"
#include "tests/support/reserved_memory.hpp"

namespace relayout::test {
namespace {

using cases::kModes;
using cases::Layout;
using cases::PadCase;
using cases::spec;

PadCase small(std::int64_t length, const PadSpec& pad) {
  PadCase c;
  c.batch = 2;
  c.channels = 3;
  c.length = length;
  c.pad = pad;
  return c;
}

class PadTest : public DeviceTest {
 protected:
  /// Pads the signal 1 2 .. length (type f32, one batch and channel).
  void expect(std::int64_t length, const PadSpec& pad_spec, const std::vector<double>& samples) {
    SCOPED_TRACE(name_of(pad_spec.mode));
    GuardedBuffer in(stream(), Role::input, DType::f32, {1, 1, length});
    GuardedBuffer out(stream(), Role::output, DType::f32, {1, 1, static_cast<std::int64_t>(samples.size())});
    fill_with(in.host(), [](std::uint64_t i) { return static_cast<double>(i + 1); });
    in.upload();
    EXPECT_NO_THROW(pad(stream(), in.device(), pad_spec, out.device()));
    fill_with(out.host(), [&](std::uint64_t i) { return samples[i]; });
    EXPECT_TRUE(out.check());
    EXPECT_TRUE(in.check());
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, PadTest, ::testing::ValuesIn(test_devices()), device_test_name);

class PadOrderTest : public DeviceTest {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PadOrderTest);
INSTANTIATE_TEST_SUITE_P(Devices, PadOrderTest, ::testing::ValuesIn(reordered_devices()), device_test_name);

class PadFarTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, PadFarTest, ::testing::ValuesIn(host_memory_devices()), device_test_name);

/// Types of fewer digits take the value as a cast rounds it.
TEST_P(PadTest, ConstantsOfRestrictedTypes) {
  for (const DType type : {DType::e4m3fn, DType::e5m2, DType::tf32}) {
    for (const double value : {0.0, -1.75, 300.0, 1e9}) {
      GuardedBuffer in(stream(), Role::input, type, {1, 3, 5}), out(stream(), Role::output, type, {1, 3, 8});
      fill_bits(in.host());
      in.upload();
      PadSpec padding = spec(PadMode::constant, 2, 1);
      padding.value = value;
      EXPECT_NO_THROW(pad(stream(), in.device(), padding, out.device()));
      GuardedBuffer one(Stream(Device::cpu()), Role::output, type, {1});
      fill(Stream(Device::cpu()), value, one.device());
      const std::vector<unsigned char> filled = one.download();
      const std::uint64_t bits = reference::load_bits(one.view_of(filled), {0});
      reference::for_each_index(out.host().shape(), [&](const Dims& i) {
        const bool inside = i[2] >= 2 && i[2] < 7;
        reference::store_bits(out.host(), i,
                              inside ? reference::load_bits(in.host(), {i[0], i[1], i[2] - 2}) : bits);
      });
      EXPECT_TRUE(out.check()) << name_of(type) << ' ' << value;
    }
  }
}

TEST_P(PadTest, ModesByHand) {
  expect(4, spec(PadMode::constant, 2, 1), {0, 0, 1, 2, 3, 4, 0});
  expect(4, spec(PadMode::replicate, 2, 3), {1, 1, 1, 2, 3, 4, 4, 4, 4});
  expect(4, spec(PadMode::reflect, 3, 2), {4, 3, 2, 1, 2, 3, 4, 3, 2});
  expect(4, spec(PadMode::symmetric, 3, 2), {3, 2, 1, 1, 2, 3, 4, 4, 3});
  expect(4, spec(PadMode::circular, 4, 3), {1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3});
  // 1 2 | 0 0 extended to 4 and reflected: 0 0 2 [1 2] 0 0 2 has its extension cut off again.
  expect(2, spec(PadMode::reflect_zero_extended, 3, 0), {0, 0, 2, 1, 2});
}

TEST_P(PadTest, PadsLongerThanTheSignalByHand) {
  const PadPolicy extended = PadPolicy::extended;
  expect(3, spec(PadMode::reflect, 5, 6, extended), {2, 1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3, 2, 1});
  expect(3, spec(PadMode::symmetric, 7, 4, extended), {1, 1, 2, 3, 3, 2, 1, 1, 2, 3, 3, 2, 1, 1});
  expect(3, spec(PadMode::circular, 4, 5, extended), {3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2});
  expect(1, spec(PadMode::reflect, 2, 3, extended), {1, 1, 1, 1, 1, 1});
}

TEST_P(PadTest, NegativePadsCut) {
  expect(5, spec(PadMode::constant, -2, 1), {3, 4, 5, 0});
  expect(5, spec(PadMode::replicate, 2, -4), {1, 1, 1});
  expect(5, spec(PadMode::reflect, -1, 2), {2, 3, 4, 5, 4, 3});
  expect(5, spec(PadMode::circular, 2, -3), {4, 5, 1, 2});
  expect(5, spec(PadMode::symmetric, -1, -3), {2});
}

TEST_P(PadTest, EveryModeAndSizeThatStrictAllows) {
  for (const PadMode mode : kModes)
    for (const std::int64_t length : {2, 7, 33})
      for (const auto& [left, right] : std::vector<std::pair<std::int64_t, std::int64_t>>{
               {0, 0}, {1, 0}, {0, 1}, {length - 1, length / 2}, {length - 1, -1}, {1 - length, length - 1}})
        check(stream(), small(length, spec(mode, left, right)));
}

TEST_P(PadTest, PadsOfAnySizeWhenExtended) {
  for (const PadMode mode : kModes)
    for (const std::int64_t length : {1, 2, 5})
      for (const auto& [left, right] : std::vector<std::pair<std::int64_t, std::int64_t>>{
               {length, length}, {3 * length + 1, 0}, {-1, 4 * length}, {65, 7 - length}})
        check(stream(), small(length, spec(mode, left, right, PadPolicy::extended)));
}

TEST_P(PadTest, ModesWithoutALimitTakeLongPadsWhenStrict) {
  for (const PadMode mode : {PadMode::constant, PadMode::replicate, PadMode::reflect_zero_extended})
    check(stream(), small(3, spec(mode, 17, 9)));
}

TEST_P(PadTest, AnEmptySignalIsAllPadding) {
  PadCase c = small(0, spec(PadMode::constant, 3, 2));
  c.pad.value = -1.5;
  check(stream(), c);
}

TEST_P(PadTest, NoBatchesOrChannels) {
  PadCase c = small(5, spec(PadMode::reflect, 2, 3));
  c.batch = 0;
  check(stream(), c);
  c.batch = 2;
  c.channels = 0;
  check(stream(), c);
}

TEST_P(PadTest, ConstantsAreRoundedOnce) {
  for (const auto& [in, out] : std::vector<std::pair<DType, DType>>{{DType::f32, DType::f32},
                                                                    {DType::f32, DType::f16},
                                                                    {DType::f32, DType::bf16},
                                                                    {DType::f16, DType::f64},
                                                                    {DType::bf16, DType::bf16}})
    for (const double value :
         {0.1, -0.0, -7.25, 1.0 + 0x1p-11 + 0x1p-40, 0x1p-25, std::numeric_limits<double>::infinity(),
          std::numeric_limits<double>::quiet_NaN()}) {
      PadCase c = small(4, spec(PadMode::constant, 2, 3));
      c.in_type = in;
      c.out_type = out;
      c.pad.value = value;
      check(stream(), c);
    }
  for (const DType type : {DType::u8, DType::i16, DType::i32, DType::i64}) {
    PadCase c = small(4, spec(PadMode::constant, 2, 3));
    c.in_type = c.out_type = type;
    c.pad.value = 77;
    check(stream(), c);
  }
}

TEST_P(PadTest, OtherModesIgnoreTheConstant) {
  for (const PadMode mode : kModes) {
    if (mode == PadMode::constant) continue;
    PadCase c = small(3, spec(mode, 2, 2));
    c.pad.value = 42.0;
    check(stream(), c);
  }
}

TEST_P(PadTest, EveryLayout) {
  for (const Layout in :
       {Layout::ncl, Layout::nlc, Layout::lcn, Layout::gaps, Layout::nlc_gaps, Layout::every_second,
        Layout::reversed, Layout::one_batch, Layout::one_channel, Layout::one_sample})
    for (const Layout out : {Layout::ncl, Layout::nlc, Layout::nlc_gaps, Layout::reversed}) {
      PadCase c;
      c.batch = 2;
      c.channels = 18;
      c.length = 37;
      c.pad = spec(PadMode::reflect, 5, 3);
      c.out_type = DType::f16;
      c.in_layout = in;
      c.out_layout = out;
      c.in_misaligned = in == Layout::ncl ? 1 : 0;
      c.out_misaligned = out == Layout::nlc ? 1 : 0;
      check(stream(), c);
    }
}

TEST_P(PadTest, EveryType) {
  for (const DType type : {DType::bool_, DType::u8, DType::u16, DType::i8, DType::i32, DType::u64, DType::f16,
                           DType::bf16, DType::f32, DType::f64}) {
    PadCase c = small(35, spec(PadMode::circular, 7, 3));
    c.in_type = c.out_type = type;
    c.out_layout = Layout::nlc;
    check(stream(), c);
    c.pad.mode = PadMode::constant;
    check(stream(), c);
  }
}

/// Long rows without a cast, time fastest on both sides, from every 16-byte offset to every other, with ends
/// cut off: there are bytes behind the last sample that a faulty kernel would copy.
TEST_P(PadTest, LongRowsMovedAsTheyAre) {
  for (const DType type : {DType::u8, DType::f16, DType::f32, DType::f64})
    for (const auto& [left, right] :
         std::vector<std::pair<std::int64_t, std::int64_t>>{{2, -41}, {-33, -40}, {0, -17}, {3, 5}})
      for (const std::int64_t misaligned : {0, 1, 3}) {
        PadCase c = small(150, spec(PadMode::constant, left, right));
        c.in_type = c.out_type = type;
        c.in_misaligned = misaligned;
        c.out_misaligned = 3 - misaligned;
        check(stream(), c);
      }
}

/// 2248 packs among three blocks: one of them takes a pack more.
TEST_P(PadTest, LongRowsThatBlocksShareUnevenly) {
  for (const std::int64_t left : {1, 3}) check(stream(), small(9000, spec(PadMode::constant, left, 2)));
}

TEST_P(PadTest, LengthsAndChannelsAroundTheTiles) {
  for (const std::int64_t length : {31, 64, 65, 127, 129, 257})
    for (const std::int64_t channels : {1, 31, 33, 65}) {
      PadCase c;
      c.channels = channels;
      c.length = length;
      c.pad = spec(PadMode::replicate, 3, 1);
      c.out_type = DType::f16;
      c.out_layout = Layout::nlc;
      check(stream(), c);
    }
}

/// Rows at 16-byte boundaries and whole vectors of channels: the needs of 16-byte loads and stores.
TEST_P(PadTest, AlignedRows) {
  for (const Layout in : {Layout::ncl, Layout::nlc, Layout::wide_rows})
    for (const Layout out : {Layout::ncl, Layout::nlc, Layout::wide_rows})
      for (const auto& [from, to] : std::vector<std::pair<DType, DType>>{{DType::f32, DType::f16},
                                                                         {DType::f16, DType::f16},
                                                                         {DType::f32, DType::f32},
                                                                         {DType::u8, DType::u8}}) {
        PadCase c;
        c.batch = 2;
        c.channels = 48;
        c.length = 32;
        c.pad = spec(PadMode::reflect, 5, 11);
        c.in_type = from;
        c.out_type = to;
        c.in_layout = in;
        c.out_layout = out;
        check(stream(), c);
      }
}

TEST_P(PadTest, RandomCases) {
  const std::vector<Layout> inputs{Layout::ncl,      Layout::nlc,      Layout::lcn,        Layout::gaps,
                                   Layout::nlc_gaps, Layout::reversed, Layout::one_channel};
  const std::vector<Layout> outputs{Layout::ncl, Layout::nlc, Layout::lcn, Layout::gaps, Layout::reversed};
  const std::vector<DType> types{DType::f16, DType::bf16, DType::f32, DType::f64};
  for (const std::uint64_t seed : random_seeds(30)) {
    SCOPED_TRACE(reproduce(seed));
    Random random(seed);
    PadCase c;
    c.batch = random.integer(1, 3);
    c.channels = random.integer(1, 40);
    c.length = random.integer(1, 40);
    c.pad = spec(random.pick(kModes), random.integer(-3, 45), random.integer(-3, 45), PadPolicy::extended);
    while (c.length + c.pad.left + c.pad.right < 1) ++c.pad.right;
    c.pad.value = static_cast<double>(random.integer(-9, 9));
    c.in_type = random.pick(types);
    c.out_type = random.pick(types);
    c.in_layout = random.pick(inputs);
    c.out_layout = random.pick(outputs);
    c.in_misaligned = random.integer(0, 3);
    c.out_misaligned = random.integer(0, 3);
    check(stream(), c, seed);
  }
}

TEST_P(PadTest, BfloatKeepsTheSignsOfNans) {
  const std::vector<std::uint64_t> nans{0x7fc00000, 0xffc00000, 0x7f800001,
                                        0xff800001, 0x7fffffff, 0xffffffff};
  const auto count = static_cast<std::int64_t>(nans.size());
  for (const std::int64_t channels : {1, 3, 64}) {
    SCOPED_TRACE(channels);
    GuardedBuffer in(stream(), Role::input, DType::f32, {2, channels, count});
    GuardedBuffer out(stream(), Role::output, DType::bf16, {2, channels, count + 2});
    for_each_element(in.host(), [&](const Dims& i, std::int64_t) {
      reference::store_bits(in.host(), i, nans[static_cast<std::size_t>(i[2])]);
    });
    in.upload();
    pad(stream(), in.device(), spec(PadMode::replicate, 1, 1), out.device());
    stream().synchronize();
    const std::vector<unsigned char> bytes = out.download();
    for_each_element(out.view_of(bytes), [&](const Dims& i, std::int64_t) {
      const std::int64_t from = std::min(std::max<std::int64_t>(i[2] - 1, 0), count - 1);
      const std::uint64_t bits = load_bits(out.view_of(bytes), i);
      EXPECT_EQ(bits >> 15, nans[static_cast<std::size_t>(from)] >> 31) << to_string(i);
      EXPECT_EQ(bits & 0x7fc0, 0x7fc0u) << to_string(i) << " is no quiet NaN";
    });
  }
}

TEST_P(PadOrderTest, TheOrderOfThreadsDoesNotMatter) {
  for (const Layout out : {Layout::ncl, Layout::nlc}) {
    PadCase c = small(67, spec(PadMode::symmetric, 9, 4));
    c.channels = 34;
    c.out_layout = out;
    c.out_type = DType::f16;
    check(stream(), c);
  }
}

TEST_P(PadFarTest, StridesBeyondThirtyTwoBits) {
  constexpr std::int64_t kFar = (std::int64_t{1} << 31) + 33;
  const Dims in_shape{2, 3, 20}, out_shape{2, 3, 27};
  const ReservedMemory source(static_cast<std::size_t>(2 * (kFar + 60)));
  const ReservedMemory destination(static_cast<std::size_t>(2 * (2 * kFar + 60)));
  const TensorView in(source.data(), DType::f16, in_shape, {kFar, 20, 1});
  const TensorView out(destination.data(), DType::f16, out_shape, {27, kFar, 1});
  fill_bits(in);
  std::vector<std::uint16_t> expected(2 * 3 * 27);
  const TensorView oracle(expected.data(), DType::f16, out_shape);
  pad(stream(), in, spec(PadMode::reflect, 5, 2), out);
  reference::pad(in, spec(PadMode::reflect, 5, 2), oracle);
  EXPECT_TRUE(same_elements(oracle, out, NanRule::exact));
}

}  // namespace
}  // namespace relayout::test
