// The oracle of element-wise operations on tensors and on quantised numbers, and the inputs that the tests of
// the implementation use, against values worked out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>
#include <vector>

#include "host/reference/arithmetic.hpp"
#include "host/reference/quantized.hpp"
#include "tests/support/arithmetic_inputs.hpp"
#include "tests/support/element_types.hpp"

namespace relayout {
namespace {

using O = Operation;
using reference::elementwise;

TEST(ReferenceElementwise, ConvertsThenApplies) {
  // Axis order and steps: a is read as a transposed view, b is one element repeated, out has gaps.
  const std::int8_t a[] = {1, 4, -2, 5, 3, -128};  // [3, 2] of which [2, 3] is the transpose
  const double b = 0.5;
  float out[] = {9, 9, 9, 9, 9, 9, 9, 9};
  elementwise(O::mul,
              {TensorView(a, DType::i8, {3, 2}).permuted({1, 0}), TensorView(&b, DType::f64, {2, 3}, {0, 0})},
              DType::f64, TensorView(out, DType::f32, {2, 3}, {4, 1}));
  const std::vector<float> expected{0.5f, -1, 1.5f, 9, 2, 2.5f, -64, 9};
  EXPECT_EQ(std::vector<float>(std::begin(out), std::end(out)), expected);
}

TEST(ReferenceElementwise, CommonTypeThenOut) {
  // 300 and 250 become i8 by their low bits, 44 and -6; the sum 38 becomes u8.
  const std::int32_t a = 300, b = 250;
  std::uint8_t out = 0;
  elementwise(O::add, {TensorView(&a, DType::i32, {}), TensorView(&b, DType::i32, {})}, DType::i8,
              TensorView(&out, DType::u8, {}));
  EXPECT_EQ(out, 38);
  // 1e5 is infinity in f16 before the operation runs.
  const float large = 1e5f;
  float result = 0;
  elementwise(O::sub, {TensorView(&large, DType::f32, {}), TensorView(&large, DType::f32, {})}, DType::f16,
              TensorView(&result, DType::f32, {}));
  EXPECT_TRUE(std::isnan(result));
  // 2^24 + 1 is 2^24 in f32: 16777217 / 2 is 8388608, as an integer again.
  const std::int32_t odd = 16777217, two = 2;
  std::int32_t half = 0;
  elementwise(O::truediv, {TensorView(&odd, DType::i32, {}), TensorView(&two, DType::i32, {})}, DType::f32,
              TensorView(&half, DType::i32, {}));
  EXPECT_EQ(half, 8388608);
}

TEST(ReferenceElementwise, Truth) {
  const float a[] = {0.0f, -0.0f, std::numeric_limits<float>::quiet_NaN(), 0x1p-149f};
  const std::int64_t b[] = {5, 5, std::int64_t{1} << 40, 0};
  std::uint8_t both[4] = {7, 7, 7, 7}, neither[4] = {7, 7, 7, 7};
  elementwise(O::logical_and, {TensorView(a, DType::f32, {4}), TensorView(b, DType::i64, {4})}, DType::bool_,
              TensorView(both, DType::bool_, {4}));
  EXPECT_EQ(std::vector<int>(both, both + 4), (std::vector<int>{0, 0, 1, 0}));
  elementwise(O::logical_not, {TensorView(a, DType::f32, {4})}, DType::bool_,
              TensorView(neither, DType::bool_, {4}));
  EXPECT_EQ(std::vector<int>(neither, neither + 4), (std::vector<int>{1, 1, 0, 0}));
  // A condition of any type; the chosen elements keep their bits, NaN's payload too.
  const std::uint32_t yes = 0x7f800123, no[4] = {1, 2, 3, 4};
  std::uint32_t chosen[4] = {};
  elementwise(O::where,
              {TensorView(a, DType::f32, {4}), TensorView(&yes, DType::f32, {4}, {0}),
               TensorView(no, DType::f32, {4})},
              DType::f32, TensorView(chosen, DType::f32, {4}));
  EXPECT_EQ(std::vector<std::uint32_t>(chosen, chosen + 4), (std::vector<std::uint32_t>{1, 2, yes, yes}));
  // Bools of any byte; a bool as a number is 0 or 1; results are bytes 0 and 1.
  const std::uint8_t bools[] = {0, 1, 2, 255};
  std::uint8_t flipped[4] = {};
  std::int32_t sums[4] = {};
  elementwise(O::bit_not, {TensorView(bools, DType::bool_, {4})}, DType::bool_,
              TensorView(flipped, DType::bool_, {4}));
  elementwise(O::add, {TensorView(bools, DType::bool_, {4}), TensorView(bools, DType::bool_, {4})},
              DType::i32, TensorView(sums, DType::i32, {4}));
  EXPECT_EQ(std::vector<int>(flipped, flipped + 4), (std::vector<int>{1, 0, 0, 0}));
  EXPECT_EQ(std::vector<int>(sums, sums + 4), (std::vector<int>{0, 2, 2, 2}));
}

TEST(ReferenceElementwise, Options) {
  const float a = 1, b = 1.5f, three = 3;
  bool close = false;
  elementwise(O::isclose, {TensorView(&a, DType::f32, {}), TensorView(&b, DType::f32, {})}, DType::f32,
              TensorView(&close, DType::bool_, {}), {0, 0.5, false});
  EXPECT_TRUE(close);
  elementwise(O::isclose, {TensorView(&a, DType::f32, {}), TensorView(&b, DType::f32, {})}, DType::f32,
              TensorView(&close, DType::bool_, {}));
  EXPECT_FALSE(close);
  float third = 0;
  elementwise(O::truediv, {TensorView(&a, DType::f32, {}), TensorView(&three, DType::f32, {})}, DType::f32,
              TensorView(&third, DType::f32, {}), {}, Rounding::down);
  EXPECT_EQ(third, 0x1.555554p-2f);
  const TensorView nothing(nullptr, DType::f32, {0, 3});
  elementwise(O::add, {nothing, nothing}, DType::f32, nothing);  // reads and writes nothing
}

using reference::dequantize;
using reference::quantize;
using reference::quantized;

std::uint64_t f32(float value) { return detail::bit_cast<std::uint32_t>(value); }

TEST(ReferenceQuantized, ThereAndBack) {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(quantize(f32(2.5f), 1, 0, false), 2u);
  EXPECT_EQ(quantize(f32(3.5f), 1, 0, false), 4u);
  EXPECT_EQ(quantize(f32(-2.5f), 1, 0, false), 0xfeu);
  EXPECT_EQ(quantize(f32(2.5f), 1, 1, false), 3u);  // rounded before the zero point is added
  EXPECT_EQ(quantize(f32(1000), 1, 0, false), 127u);
  EXPECT_EQ(quantize(f32(-1000), 1, 0, false), 0x80u);
  EXPECT_EQ(quantize(f32(1000), 1, 0, true), 255u);
  EXPECT_EQ(quantize(f32(-5), 1, 0, true), 0u);
  EXPECT_EQ(quantize(f32(-5), 1, 128, true), 123u);
  EXPECT_EQ(quantize(f32(-130), 1, 10, false), 0x88u);  // clamped after the zero point is added: -120
  EXPECT_EQ(quantize(f32(nan), 1, -3, false), 0xfdu);
  EXPECT_EQ(quantize(f32(infinity), 1, -3, false), 127u);
  EXPECT_EQ(quantize(f32(-infinity), 1, 3, true), 0u);
  // 0.75 / 0.1f is 7.4999999: rounded to f32 it is 7.5, which goes to 8.
  EXPECT_EQ(quantize(f32(0.75f), 0.1f, 0, false), 8u);
  EXPECT_EQ(quantize(f32(3e38f), 0x1p-100f, 0, false), 127u);  // the quotient is infinity
  EXPECT_EQ(dequantize({5, 0.5f, 2}), f32(1.5f));
  EXPECT_EQ(dequantize({-128, 1, 127}), f32(-255));
  EXPECT_EQ(dequantize({5, 0.1f, 2}), 0x3e99999au);  // 3 * 0.1f rounded
}

TEST(ReferenceQuantized, Operations) {
  const reference::QuantizedNumber a{10, 0.5f, 2}, b{-6, 0.25f, 0}, zero{4, 1, 4};  // 4, -1.5, 0
  const auto of = [](O operation, const std::vector<reference::QuantizedNumber>& operands, float scale = 1) {
    return static_cast<int>(static_cast<std::int8_t>(quantized(operation, operands, scale, 5, false)));
  };
  EXPECT_EQ(of(O::add, {a, b}), 7);             // 2.5 -> 2
  EXPECT_EQ(of(O::sub, {a, b}), 11);            // 5.5 -> 6
  EXPECT_EQ(of(O::mul, {a, b}), -1);            // -6
  EXPECT_EQ(of(O::div, {a, b}), 2);             // -2.67 -> -3
  EXPECT_EQ(of(O::div, {a, b}, 0.25f), -6);     // -10.67 -> -11
  EXPECT_EQ(of(O::maximum, {a, b}), 9);         // 4
  EXPECT_EQ(of(O::minimum, {a, b}), 3);         // -1.5 -> -2
  EXPECT_EQ(of(O::pow, {a, b}, 0.0625f), 7);    // 0.125
  EXPECT_EQ(of(O::mod, {a, b}, 0.25f), 3);      // -0.5
  EXPECT_EQ(of(O::fmod, {a, b}, 0.25f), 9);     // 1
  EXPECT_EQ(of(O::prelu, {b, a}), -1);          // -6
  EXPECT_EQ(of(O::relu, {b}), 5);               // 0
  EXPECT_EQ(of(O::neg, {a}), 1);                // -4
  EXPECT_EQ(of(O::abs, {b}, 0.5f), 8);          // 1.5
  EXPECT_EQ(of(O::div, {zero, zero}), 5);       // NaN
  EXPECT_EQ(of(O::div, {a, zero}), 127);        // infinity
  EXPECT_EQ(of(O::div, {b, zero}), -128);       // -infinity
  EXPECT_EQ(of(O::clip, {a, b, zero}), 5);      // 4 between -1.5 and 0
  EXPECT_EQ(of(O::where, {b, a, zero}), 9);     // -1.5 is true
  EXPECT_EQ(of(O::where, {zero, a, zero}), 5);  // code 4 stands for 0
  EXPECT_EQ(of(O::less, {b, a}), 1);
  EXPECT_EQ(of(O::greater, {b, a}), 0);
  EXPECT_EQ(of(O::logical_and, {a, zero}), 0);
  EXPECT_EQ(quantized(O::add, {{200, 1, 100}, {255, 1, 0}}, 1, 0, true), 255u);
  EXPECT_EQ(quantized(O::sub, {{200, 1, 100}, {255, 1, 0}}, 1, 200, true), 45u);
  EXPECT_THROW(quantized(O::bit_and, {a, b}, 1, 0, false), std::invalid_argument);
}

TEST(ArithmeticInputs, HaveWhatTheyClaim) {
  const auto has = [](DType type, std::initializer_list<std::uint64_t> wanted) {
    const std::vector<std::uint64_t> bits = test::interesting(type);
    return std::all_of(wanted.begin(), wanted.end(), [&](std::uint64_t element) {
      return std::find(bits.begin(), bits.end(), element) != bits.end();
    });
  };
  EXPECT_EQ(test::interesting(DType::i8).size(), 256u);
  EXPECT_TRUE(has(DType::bool_, {0, 1, 255}));
  EXPECT_TRUE(has(DType::i32, {0, 1, 0xffffffff, 0x80000000, 0x7fffffff, 31, 32, 0xfffffffe}));
  EXPECT_TRUE(has(DType::u64, {0, 1, ~std::uint64_t{0}, std::uint64_t{1} << 63, 63, 64}));
  // Zeros, 1, -1.5, 0.5 and above, 2.5, extremes, subnormals, infinities, quiet and signalling NaN.
  EXPECT_TRUE(
      has(DType::f16, {0, 0x8000, 0x3c00, 0xbe00, 0x3801, 0x4100, 0x7bff, 1, 0x3ff, 0xfc00, 0x7e00, 0x7c01}));
  EXPECT_TRUE(has(DType::bf16, {0x3f80, 0xbf80, 0x7f7f, 0x7f80, 0x7f81, 0x7fc0, 0x0080, 0x007f}));
  EXPECT_TRUE(has(DType::f32, {0x3f800000, 0xc0200000, 0x7f7fffff, 0x4b000000, 0x7f800001, 0x7fc00000}));
  EXPECT_TRUE(
      has(DType::f64, {0x3ff0000000000000, 0x7fefffffffffffff, 0x4330000000000000, 0x7ff0000000000001}));
  EXPECT_TRUE(has(DType::tf32, {0x3f800000, 0x7f800000, 0x7f802000}));
  for (const DType type : test::kCastableTypes) {
    const std::vector<std::uint64_t> bits = test::interesting(type);
    EXPECT_GE(std::set<std::uint64_t>(bits.begin(), bits.end()).size(), type == DType::bool_ ? 5u : 200u)
        << name_of(type);
    if (size_of(type) == 8) continue;
    for (const std::uint64_t element : bits) EXPECT_EQ(element >> (8 * size_of(type)), 0u) << name_of(type);
  }
}

}  // namespace
}  // namespace relayout
