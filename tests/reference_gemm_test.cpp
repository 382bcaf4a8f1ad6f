// The GEMM's oracle and its gates: right results pass all three, each kind of wrong result is stopped by one
// of them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "host/reference/gemm.hpp"
#include "tests/support/fill.hpp"

namespace relayout::reference {
namespace {

/// A tensor with its memory.
struct Tensor {
  std::vector<std::uint64_t> memory;
  TensorView view;
  Tensor(DType type, Dims shape) {
    view = TensorView(nullptr, type, shape);
    memory.resize(static_cast<std::size_t>(view.elements()) + 1);
    view = TensorView(memory.data(), type, std::move(shape));
  }
};

double round16(double value) { return round_to_format(value, format_of(DType::f16)); }

/// One element of y from one row of a and one of bt.
using Multiply = std::function<double(const std::vector<double>&, const std::vector<double>&)>;

double sum_fp32(const std::vector<double>& a, const std::vector<double>& b) {
  float sum = 0.0f;
  for (std::size_t k = 0; k < a.size(); ++k) sum += static_cast<float>(a[k]) * static_cast<float>(b[k]);
  return sum;
}

/// As matrix units do: groups of 8 products, added exactly and truncated to fp32.
double sum_truncating(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); k += 8) {
    for (std::size_t i = k; i < k + 8 && i < a.size(); ++i) sum += a[i] * b[i];
    int exponent = 0;
    std::frexp(sum, &exponent);
    sum = std::ldexp(std::trunc(std::ldexp(sum, 24 - exponent)), exponent - 24);
  }
  return sum;
}

double sum_fp16(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum = round16(sum + a[k] * b[k]);
  return sum;
}

double truncated16(double value) {
  const double rounded = round16(value);
  if (std::fabs(rounded) <= std::fabs(value)) return rounded;
  const std::uint64_t bits = encode(DType::f16, rounded);
  return decode(DType::f16, bits - 1);
}

/// A problem with random data, its result computed by `multiply` and stored with the one rounding.
struct Problem {
  Tensor a, bt, y;
  Problem(std::int64_t m, std::int64_t n, std::int64_t k, DType operands, DType result,
          const Multiply& multiply, bool positive = false)
      : a(operands, {m, k}), bt(operands, {n, k}), y(result, {m, n}) {
    if (positive) {
      test::fill_with(a.view, [](std::uint64_t i) { return 1.0 + test::uniform(i, 1); });
      test::fill_with(bt.view, [](std::uint64_t i) { return 1.0 + test::uniform(i, 2); });
    } else {
      test::fill_normal(a.view, 1);
      test::fill_normal(bt.view, 2, 1.0 / std::sqrt(static_cast<double>(k)));
    }
    compute(multiply);
  }
  void compute(const Multiply& multiply) {
    const std::vector<std::vector<double>> as = rows(a), bs = rows(bt);
    for (std::size_t i = 0; i < as.size(); ++i) {
      for (std::size_t j = 0; j < bs.size(); ++j) {
        store_bits(y.view, {static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)},
                   encode(y.view.dtype(), multiply(as[i], bs[j])));
      }
    }
  }
  static std::vector<std::vector<double>> rows(const Tensor& matrix) {
    std::vector<std::vector<double>> result(static_cast<std::size_t>(matrix.view.extent(0)));
    for_each_index(matrix.view.shape(), [&](const Dims& index) {
      result[static_cast<std::size_t>(index[0])].push_back(load(matrix.view, index));
    });
    return result;
  }
  GemmCheck check() const { return check_gemm(a.view, bt.view, TensorView(), y.view); }
};

std::string describe(const GemmCheck& check) {
  return "worst " + std::to_string(check.worst) + ", rms " + std::to_string(check.rms) + ", share " +
         std::to_string(check.share);
}

TEST(Gemm, HandWritten) {
  Tensor a(DType::f16, {2, 3}), bt(DType::f16, {2, 3}), bias(DType::f32, {2}), y(DType::f16, {2, 2});
  test::fill_with(a.view, [](std::uint64_t i) { return static_cast<double>(i + 1); });  // 1 2 3 | 4 5 6
  test::fill_with(bt.view,
                  [](std::uint64_t i) { return i < 3 ? 1.0 : (i == 4 ? -2.0 : 0.5); });  // 1 1 1 | .5 -2 .5
  test::fill_with(bias.view, [](std::uint64_t i) { return i == 0 ? 0.25 : 100.0; });
  gemm(a.view, bt.view, bias.view, y.view);
  EXPECT_EQ(load(y.view, {0, 0}), 6.25);
  EXPECT_EQ(load(y.view, {0, 1}), 98.0);
  EXPECT_EQ(load(y.view, {1, 0}), 15.25);
  EXPECT_EQ(load(y.view, {1, 1}), 95.0);
  EXPECT_TRUE(check_gemm(a.view, bt.view, bias.view, y.view).ok());
  gemm(a.view, bt.view, TensorView(), y.view);
  EXPECT_EQ(load(y.view, {1, 1}), -5.0);
}

TEST(Gemm, GroupsAndEmptySums) {
  Tensor a(DType::bf16, {2, 1, 2}), bt(DType::bf16, {2, 1, 2}), bias(DType::f32, {2}),
      y(DType::f32, {2, 1, 1});
  test::fill_with(a.view, [](std::uint64_t i) { return static_cast<double>(i + 1); });
  test::fill_with(bt.view, [](std::uint64_t i) { return static_cast<double>(i + 1); });
  test::fill_with(bias.view, [](std::uint64_t i) { return i == 0 ? 10.0 : 20.0; });
  gemm(a.view, bt.view, bias.view, y.view);
  EXPECT_EQ(load(y.view, {0, 0, 0}), 15.0);
  EXPECT_EQ(load(y.view, {1, 0, 0}), 45.0);
  const TensorView none(a.memory.data(), DType::bf16, {2, 1, 0});
  gemm(none, none, bias.view, y.view);
  EXPECT_EQ(load(y.view, {1, 0, 0}), 20.0);
}

TEST(Bound, HandWritten) {
  GemmElement element;
  element.sum = -2.0;
  element.magnitude = 16.0;
  element.squares = 4.0;
  const double sums = 16.0 * 16.0 / 67108864.0 + 8.0 / 2097152.0;  // K 2^-26 S + 2^-21 sqrt(K Q), K = 16
  EXPECT_DOUBLE_EQ(error_bound(element, 16, DType::f16, false), sums + 2.0 / 2048.0 + 1.0 / 33554432.0);
  EXPECT_DOUBLE_EQ(error_bound(element, 16, DType::bf16, false), sums + 2.0 / 256.0);
  EXPECT_DOUBLE_EQ(error_bound(element, 16, DType::f32, false), sums + 2.0 / 8388608.0);
  EXPECT_DOUBLE_EQ(error_bound(element, 16, DType::f32, true), sums + 3.0 / 16777216.0 * 2.0);
}

TEST(Gates, RightResultsPass) {
  for (const std::int64_t k : {1, 4, 64, 1024}) {
    for (const bool positive : {false, true}) {
      for (const Multiply& multiply : {Multiply(sum_fp32), Multiply(sum_truncating)}) {
        SCOPED_TRACE("k " + std::to_string(k) + (positive ? ", U[1, 2]" : ", N(0, 1)"));
        const GemmCheck f16 = Problem(32, 36, k, DType::f16, DType::f16, multiply, positive).check();
        EXPECT_EQ(f16.elements, 32 * 36);
        EXPECT_GT(f16.worst, 0.0);
        EXPECT_TRUE(f16.ok()) << describe(f16);
        EXPECT_EQ(f16.rms_limit, 2.8e-4);
        const GemmCheck bf16 = Problem(32, 36, k, DType::bf16, DType::bf16, multiply, positive).check();
        EXPECT_TRUE(bf16.ok()) << describe(bf16);
        const GemmCheck f32 = Problem(32, 36, k, DType::f16, DType::f32, multiply, positive).check();
        EXPECT_TRUE(f32.ok()) << describe(f32);
      }
    }
  }
}

TEST(Gates, SmallIntegersAreExact) {
  Problem problem(16, 16, 512, DType::f16, DType::f16, sum_fp32);
  test::fill_small_integers(problem.a.view, 3);
  test::fill_small_integers(problem.bt.view, 4);
  problem.compute(sum_fp32);
  const GemmCheck check = problem.check();
  EXPECT_EQ(check.share, 1.0);
  EXPECT_TRUE(check.ok()) << describe(check);
}

TEST(Gates, Fp16SumsAreRejected) {
  for (const std::int64_t k : {4, 64, 1024}) {
    for (const bool positive : {false, true}) {
      const GemmCheck check = Problem(32, 36, k, DType::f16, DType::f16, sum_fp16, positive).check();
      EXPECT_FALSE(check.bound_ok()) << k << ": " << describe(check);
      if (k >= 64) {
        EXPECT_FALSE(check.rms_ok()) << k << ": " << describe(check);
        EXPECT_FALSE(check.share_ok()) << k << ": " << describe(check);
      }
    }
  }
}

TEST(Gates, TruncatingStoresAreRejected) {
  const auto truncating = [](const std::vector<double>& a, const std::vector<double>& b) {
    return truncated16(sum_fp32(a, b));
  };
  const GemmCheck check = Problem(32, 40, 256, DType::f16, DType::f16, truncating).check();
  EXPECT_FALSE(check.bound_ok()) << describe(check);
  EXPECT_FALSE(check.rms_ok()) << describe(check);
  EXPECT_FALSE(check.share_ok()) << describe(check);
}

/// Wrong operands: products that are left out, doubled or taken from a neighbour.
TEST(Gates, WrongProductsAreRejected) {
  const auto without_last = [](std::vector<double> a, const std::vector<double>& b) {
    a.back() = 0.0;
    return sum_fp32(a, b);
  };
  EXPECT_FALSE(Problem(32, 40, 256, DType::f16, DType::f16, without_last).check().ok());
  EXPECT_FALSE(Problem(32, 40, 256, DType::f16, DType::f16, without_last, true).check().ok());
  EXPECT_FALSE(Problem(32, 40, 256, DType::bf16, DType::bf16, without_last).check().ok());
  const auto swapped = [](std::vector<double> a, const std::vector<double>& b) {
    std::swap(a[0], a[1]);
    return sum_fp32(a, b);
  };
  EXPECT_FALSE(Problem(32, 40, 256, DType::f16, DType::f16, swapped).check().ok());
}

TEST(Gates, OneWrongElementIsRejected) {
  Problem problem(32, 40, 256, DType::f16, DType::f16, sum_fp32);
  ASSERT_TRUE(problem.check().ok());
  const std::uint64_t right = load_bits(problem.y.view, {31, 39});
  store_bits(problem.y.view, {31, 39}, right + 2);
  EXPECT_FALSE(problem.check().bound_ok());
  store_bits(problem.y.view, {31, 39}, 0x7e00);
  EXPECT_FALSE(problem.check().bound_ok()) << "NaN";
  store_bits(problem.y.view, {31, 39}, 0x7c00);
  EXPECT_FALSE(problem.check().bound_ok()) << "infinity";
  store_bits(problem.y.view, {31, 39}, right);
  EXPECT_TRUE(problem.check().ok());
}

/// One element through the gates.
GemmCheck gate(double y, double r, DType type = DType::f16) {
  GemmElement element;
  element.sum = r;
  element.magnitude = std::fabs(r);
  element.squares = r * r;
  GemmGates gates(type, 1, false);
  gates.add(y, element);
  return gates.check();
}

TEST(Gates, OverflowAndNaN) {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
  EXPECT_TRUE(gate(infinity, 70000.0).ok());
  EXPECT_TRUE(gate(-infinity, -70000.0).ok());
  EXPECT_FALSE(gate(-infinity, 70000.0).ok());
  EXPECT_FALSE(gate(65504.0, 70000.0).ok()) << "saturated";
  EXPECT_TRUE(gate(65504.0, 65520.0).bound_ok()) << "at the threshold either is right";
  EXPECT_TRUE(gate(infinity, 65519.999).bound_ok()) << "at the threshold either is right";
  EXPECT_FALSE(gate(infinity, 65000.0).ok());
  EXPECT_TRUE(gate(nan, nan).ok());
  EXPECT_FALSE(gate(0.0, nan).ok());
  EXPECT_FALSE(gate(nan, 0.0).ok());
  EXPECT_TRUE(gate(infinity, infinity).ok());
  EXPECT_FALSE(gate(65504.0, infinity).ok());
  EXPECT_TRUE(gate(0.0, 0.0).ok());
  EXPECT_TRUE(gate(std::ldexp(1.0, -24), std::ldexp(0.7, -24)).ok()) << "half a unit of the subnormals";
  EXPECT_FALSE(gate(std::ldexp(2.0, -24), std::ldexp(0.7, -24)).ok());
}

TEST(Gates, UnluckyDataMayRoundAsBadlyAsItMust) {
  // All results just above a power of two, next to a tie: the perfect rounding has an RMS of 4.9e-4.
  GemmElement element;
  element.sum = 1.0 + std::ldexp(0.999, -11);
  GemmGates perfect(DType::f16, 0, false), wrong(DType::f16, 0, false);
  for (int i = 0; i < 1000; ++i) {
    perfect.add(1.0, element);
    wrong.add(1.0 + std::ldexp(i % 2 == 0 ? 1.0 : 0.0, -10), element);
  }
  EXPECT_TRUE(perfect.check().ok());
  EXPECT_FALSE(wrong.check().share_ok());
}

TEST(Limits, HandWritten) {
  EXPECT_EQ(rms_limit(DType::f16, 2.0e-4), 2.8e-4);
  EXPECT_EQ(rms_limit(DType::bf16, 2.0e-4), 2.3e-3);
  EXPECT_DOUBLE_EQ(rms_limit(DType::f16, 4.0e-4), 4.2e-4);
  EXPECT_EQ(share_limit(DType::f16, 1000), 0.85);
  EXPECT_EQ(share_limit(DType::bf16, 524288), 0.85);
  EXPECT_NEAR(share_limit(DType::f16, 100), 0.732, 0.001);
  EXPECT_LT(share_limit(DType::f16, 1), 0.0);
  EXPECT_EQ(share_limit(DType::f32, 1000), 0.0);
}

}  // namespace
}  // namespace relayout::reference
