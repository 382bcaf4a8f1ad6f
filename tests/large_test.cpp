// More than 2^31 elements, on a GPU. The big arrays are hashes of their index: nothing is kept to compare
// with.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "host/reference/gemm.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/devices.hpp"

namespace relayout::test {
namespace {

class HugeTest : public DeviceTest {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(HugeTest);
INSTANTIATE_TEST_SUITE_P(Devices, HugeTest, ::testing::ValuesIn(gpu_devices()), device_test_name);

TEST_P(HugeTest, GemmOfManyTiles) {
  struct Shape {
    std::int64_t groups, m, n;
  };
  for (const Shape& shape : {Shape{70001, 1, 1}, Shape{1, 4300001, 1}, Shape{1, 1, 4300001}})
    for (const bool library : {true, false}) {
      SCOPED_TRACE(::testing::Message() << shape.groups << " x m " << shape.m << " n " << shape.n);
      GuardedBuffer a(stream(), Role::input, DType::f16, {shape.groups, shape.m, 2});
      GuardedBuffer bt(stream(), Role::input, DType::f16, {shape.groups, shape.n, 2});
      GuardedBuffer bias(stream(), Role::input, DType::f32, {shape.groups * shape.n});
      GuardedBuffer y(stream(), Role::output, DType::f16, {shape.groups, shape.m, shape.n});
      fill_small_integers(a.host(), 1);
      fill_small_integers(bt.host(), 2);
      fill_small_integers(bias.host(), 3);
      a.upload();
      bt.upload();
      bias.upload();
      const Buffer workspace(device(), library ? gemm_workspace_bytes(device(), y.device(), true) : 0);
      EXPECT_NO_THROW(
          gemm(stream(), a.device(), bt.device(), bias.device(), y.device(),
               TensorView(workspace.data(), DType::u8, {static_cast<std::int64_t>(workspace.bytes())})));
      reference::gemm(a.host(), bt.host(), bias.host(), y.host());
      EXPECT_TRUE(y.check());
    }
}

/// A device array whose element i is the low bits of hash(i).
template <class T>
Buffer hashed(const Stream& stream, std::int64_t elements) {
  std::vector<T> values(static_cast<std::size_t>(elements));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(hash(i));
  Buffer buffer(stream.device(), values.size() * sizeof(T));
  stream.copy(buffer.data(), values.data(), buffer.bytes());
  stream.synchronize();
  return buffer;
}

template <class T>
std::vector<T> downloaded(const Stream& stream, const Buffer& buffer) {
  std::vector<T> values(buffer.bytes() / sizeof(T));
  stream.copy(values.data(), buffer.data(), buffer.bytes());
  stream.synchronize();
  return values;
}

TEST_P(HugeTest, TransposeBeyond31Bits) {
  constexpr std::int64_t kRows = 65539, kColumns = 32771;  // 2.148e9 elements, both prime
  const Buffer in = hashed<std::uint8_t>(stream(), kRows * kColumns), out(device(), in.bytes());
  transpose(stream(), TensorView(in.data(), DType::u8, {kRows, kColumns}),
            TensorView(out.data(), DType::u8, {kColumns, kRows}));
  const std::vector<std::uint8_t> result = downloaded<std::uint8_t>(stream(), out);
  std::int64_t wrong = 0;
  for (std::int64_t column = 0, i = 0; column < kColumns; ++column)
    for (std::int64_t row = 0; row < kRows; ++row, ++i)
      wrong += result[static_cast<std::size_t>(i)] !=
               static_cast<std::uint8_t>(hash(static_cast<std::uint64_t>(row * kColumns + column)));
  EXPECT_EQ(wrong, 0);
}

TEST_P(HugeTest, CastBeyond31Bits) {
  constexpr std::int64_t kElements = (std::int64_t{1} << 31) + 1000003;
  const Buffer in = hashed<std::uint16_t>(stream(), kElements),
               out(device(), 4 * static_cast<std::size_t>(kElements));
  cast(stream(), TensorView(in.data(), DType::bf16, {kElements}),
       TensorView(out.data(), DType::f32, {kElements}));
  const std::vector<std::uint32_t> result = downloaded<std::uint32_t>(stream(), out);
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto bits = static_cast<std::uint16_t>(hash(i));
    const bool nan = (bits & 0x7fffu) > 0x7f80u;
    wrong += nan ? (result[i] & 0x7fffffffu) <= 0x7f800000u : result[i] != std::uint32_t{bits} << 16;
  }
  EXPECT_EQ(wrong, 0);
}

TEST_P(HugeTest, TwentySixAxesReversed) {
  constexpr int kAxes = 26;
  const Dims shape(kAxes, 2);
  std::vector<int> axes(kAxes);
  for (int axis = 0; axis < kAxes; ++axis) axes[static_cast<std::size_t>(axis)] = kAxes - 1 - axis;
  const std::int64_t elements = std::int64_t{1} << kAxes;
  const Buffer in = hashed<std::uint8_t>(stream(), elements), out(device(), in.bytes());
  permute(stream(), TensorView(in.data(), DType::u8, shape), axes, TensorView(out.data(), DType::u8, shape));
  const std::vector<std::uint8_t> result = downloaded<std::uint8_t>(stream(), out);
  std::int64_t wrong = 0;
  for (std::uint64_t i = 0; i < result.size(); ++i) {
    std::uint64_t from = 0;  // i's bits in reverse
    for (int bit = 0; bit < kAxes; ++bit) from |= (i >> bit & 1u) << (kAxes - 1 - bit);
    wrong += result[i] != static_cast<std::uint8_t>(hash(from));
  }
  EXPECT_EQ(wrong, 0);
}

TEST_P(HugeTest, PadBeyond31Bits) {
  constexpr std::int64_t kChannels = 3, kLength = 716000003, kLeft = 5;  // 2^31 and 516 k elements
  const Buffer in = hashed<std::uint8_t>(stream(), kChannels * kLength),
               out(device(), static_cast<std::size_t>(kChannels * (kLength + kLeft)));
  PadSpec spec;
  spec.left = kLeft;
  spec.mode = PadMode::reflect;
  pad(stream(), TensorView(in.data(), DType::u8, {1, kChannels, kLength}), spec,
      TensorView(out.data(), DType::u8, {1, kChannels, kLength + kLeft}));
  const std::vector<std::uint8_t> result = downloaded<std::uint8_t>(stream(), out);
  std::int64_t wrong = 0;
  for (std::int64_t channel = 0, o = 0; channel < kChannels; ++channel)
    for (std::int64_t i = -kLeft; i < kLength; ++i, ++o)
      wrong +=
          result[static_cast<std::size_t>(o)] !=
          static_cast<std::uint8_t>(hash(static_cast<std::uint64_t>(channel * kLength + (i < 0 ? -i : i))));
  EXPECT_EQ(wrong, 0);
}

TEST_P(HugeTest, Img2colBeyond31Bits) {
  constexpr std::int64_t kChannels = 33, kLength = 16500001, kTaps = 4;  // 544 M samples, 2.178e9 outputs
  const Buffer in = hashed<std::uint16_t>(stream(), kChannels * kLength),
               out(device(), static_cast<std::size_t>(2 * kChannels * kLength * kTaps));
  Window window;
  window.taps = kTaps;
  img2col(stream(), TensorView(in.data(), DType::f16, {1, kChannels, kLength}), window,
          causal_padding(Causal::sample, kLength, window),
          TensorView(out.data(), DType::f16, {kLength, kTaps * kChannels}));
  const std::vector<std::uint16_t> result = downloaded<std::uint16_t>(stream(), out);
  std::int64_t wrong = 0;
  for (std::int64_t t = 0, o = 0; t < kLength; ++t)
    for (std::int64_t k = 0; k < kTaps; ++k)
      for (std::int64_t c = 0; c < kChannels; ++c, ++o) {
        const std::int64_t sample = t + k - (kTaps - 1);
        const auto expected =
            sample < 0 ? std::uint16_t{0}
                       : static_cast<std::uint16_t>(hash(static_cast<std::uint64_t>(c * kLength + sample)));
        wrong += result[static_cast<std::size_t>(o)] != expected;
      }
  EXPECT_EQ(wrong, 0);
}

/// y[m, n] = a[m] * b[n] with integers up to 5: exact, and every element is known without a sum.
TEST_P(HugeTest, GemmBeyond31Bits) {
  constexpr std::int64_t kM = 65539, kN = 32771;
  GuardedBuffer a(stream(), Role::input, DType::f16, {kM, 1}), bt(stream(), Role::input, DType::f16, {kN, 1});
  fill_small_integers(a.host(), 1);
  fill_small_integers(bt.host(), 2);
  a.upload();
  bt.upload();
  const Buffer y(device(), static_cast<std::size_t>(2 * kM * kN));
  gemm(stream(), a.device(), bt.device(), TensorView(), TensorView(y.data(), DType::f16, {kM, kN}));
  const std::vector<std::uint16_t> result = downloaded<std::uint16_t>(stream(), y);
  std::vector<int> rows, columns;
  for (std::int64_t m = 0; m < kM; ++m) rows.push_back(static_cast<int>(load_value(a.host(), {m, 0})));
  for (std::int64_t n = 0; n < kN; ++n) columns.push_back(static_cast<int>(load_value(bt.host(), {n, 0})));
  std::int64_t wrong = 0;
  for (std::int64_t m = 0, o = 0; m < kM; ++m)
    for (std::int64_t n = 0; n < kN; ++n, ++o)
      wrong += to_float(f16{result[static_cast<std::size_t>(o)]}) !=
               static_cast<float>(rows[static_cast<std::size_t>(m)] * columns[static_cast<std::size_t>(n)]);
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace relayout::test
