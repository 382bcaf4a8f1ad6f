// The example's verification must find wrong results, and must not reject degenerate but right ones.
#include "examples/verify.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "host/reference/img2col.hpp"
#include "tests/support/fill.hpp"

namespace relayout::test {
namespace {

using example::Data;
using example::GemmReport;
using example::Halves;
using example::HostTensor;
using example::Job;
using example::OperandCheck;
using example::Verifier;

HostTensor host_tensor(const Dims& shape) {
  const TensorView sized(nullptr, DType::f32, shape);
  HostTensor tensor{PinnedBuffer(Device::cpu(), static_cast<std::size_t>(sized.elements()) * 4), {}};
  tensor.view = TensorView(tensor.memory.data(), DType::f32, shape);
  return tensor;
}

/// A problem with its right operands and result, as a device would have computed them.
struct Right {
  Job job;
  Data data;
  Halves a, bt, y;

  explicit Right(
      DType dtype, std::int64_t groups = 1,
      const std::function<void(const TensorView&, std::uint64_t)>& fill =
          [](const TensorView& view, std::uint64_t seed) { fill_normal(view, seed, 0.5); }) {
    job.problem.batch = 2;
    job.problem.in_channels = 16;
    job.problem.length = 64;
    job.problem.out_channels = 8;
    job.problem.window.taps = 4;
    job.problem.window.groups = groups;
    job.problem.pad.left = 3;
    job.problem.dtype = dtype;
    job.sizes = sizes_of(job.problem);
    data.input = host_tensor({2, 16, 64});
    data.weights = host_tensor({8, 16 / groups, 4});
    data.bias = host_tensor({8});
    fill(data.input.view, 1);
    fill(data.weights.view, 2);
    fill(data.bias.view, 3);
    a.resize(static_cast<std::size_t>(job.sizes.operand_elements));
    bt.resize(static_cast<std::size_t>(job.sizes.weight_elements));
    y.resize(static_cast<std::size_t>(job.sizes.output_elements));
    const Conv1dSizes& s = job.sizes;
    const TensorView matrix(a.data(), dtype,
                            groups > 1 ? Dims{groups, s.rows, s.depth} : Dims{s.rows, s.depth});
    reference::img2col(data.input.view, job.problem.window, job.problem.pad, matrix);
    const TensorView weights(bt.data(), dtype, {groups, s.columns, s.depth});
    reference::rearrange_weights(data.weights.view, job.problem.window.order,
                                 TensorView(bt.data(), dtype, {8, s.depth}));
    reference::gemm(matrix, weights, data.bias.view,
                    TensorView(y.data(), dtype, {groups, s.rows, s.columns}, {s.columns, 8, 1}));
  }

  Verifier verifier(double most_multiplications = 2e9) const {
    return Verifier(job, data, most_multiplications);
  }
  GemmReport report(const Halves& result) const { return verifier().check_gemm({result}, 0).at(0); }
  double value(std::size_t i) const { return value_of(y[i], job.problem.dtype); }
  std::uint16_t rounded(double value) const {
    return static_cast<std::uint16_t>(bits_of(value, job.problem.dtype));
  }
};

class VerifyTest : public ::testing::TestWithParam<DType> {};

TEST_P(VerifyTest, AcceptsRightOperandsAndResults) {
  for (const std::int64_t groups : {1, 4}) {
    const Right right(GetParam(), groups);
    const OperandCheck operands = right.verifier().check_operands(right.a, right.bt);
    EXPECT_TRUE(operands.ok());
    EXPECT_EQ(operands.input_total, 128 * 64);
    EXPECT_EQ(operands.weight_total, 8 * 64 / groups);
    const GemmReport report = right.report(right.y);
    EXPECT_TRUE(report.ok());
    EXPECT_EQ(report.statistics_skipped, "");
    EXPECT_EQ(report.checked_rows, 128);
    EXPECT_EQ(report.m, 128);
    EXPECT_EQ(report.n, 8 / groups);
    EXPECT_EQ(report.k, 64 / groups);
    EXPECT_EQ(report.lda, 64 / groups);
    EXPECT_EQ(report.ldb, 64 / groups);
    EXPECT_EQ(report.ldc, 8);
  }
}

TEST_P(VerifyTest, CountsEveryWrongBitOfTheOperands) {
  const Right right(GetParam());
  Halves a = right.a, bt = right.bt;
  a.front() ^= 1u;
  a[1000] ^= 0x8000u;
  a.back() ^= 1u;
  bt.back() ^= 1u;
  const OperandCheck check = right.verifier().check_operands(a, bt);
  EXPECT_EQ(check.input_errors, 3);
  EXPECT_EQ(check.weight_errors, 1);
  EXPECT_FALSE(check.ok());
}

TEST_P(VerifyTest, FindsOneWrongResult) {
  const Right right(GetParam());
  for (const std::size_t i : {std::size_t{0}, std::size_t{517}, right.y.size() - 1}) {
    for (const double wrong : {right.value(i) * 1.01 + 0.01, 0.0, HUGE_VAL, std::nan("")}) {
      Halves y = right.y;
      y[i] = right.rounded(wrong);
      EXPECT_FALSE(right.report(y).ok()) << "element " << i << ": " << wrong << " for " << right.value(i);
    }
  }
}

TEST_P(VerifyTest, FindsResultsWithoutBiasAndShiftedRows) {
  const Right right(GetParam());
  Halves without = right.y, shifted = right.y;
  for (std::size_t i = 0; i < without.size(); ++i) {
    without[i] =
        right.rounded(right.value(i) - static_cast<const float*>(right.data.bias.view.data())[i % 8]);
    shifted[i] = right.y[(i + 8) % right.y.size()];
  }
  EXPECT_FALSE(right.report(without).ok());
  EXPECT_FALSE(right.report(shifted).ok());
}

TEST_P(VerifyTest, FindsTruncationInsteadOfRounding) {
  const Right right(GetParam());
  const GemmReport good = right.report(right.y);
  Halves low = right.y;
  for (std::size_t i = 0; i < low.size(); i += 3) low[i] = static_cast<std::uint16_t>(low[i] - 1);
  const GemmReport report = right.report(low);
  EXPECT_FALSE(report.ok());
  EXPECT_GT(report.gates.rms, good.gates.rms);
  EXPECT_FALSE(report.gates.share_ok());
}

TEST_P(VerifyTest, JudgesDegenerateResultsByTheBoundAlone) {
  const std::vector<std::function<void(const TensorView&, std::uint64_t)>> fills = {
      [](const TensorView& view, std::uint64_t) { fill_with(view, [](std::uint64_t) { return 0.0; }); },
      [](const TensorView& view, std::uint64_t) { fill_with(view, [](std::uint64_t) { return 0.1; }); },
  };
  for (const auto& fill : fills) {
    const Right right(GetParam(), 1, fill);
    const GemmReport report = right.report(right.y);
    EXPECT_TRUE(report.ok());
    EXPECT_NE(report.statistics_skipped, "");
    Halves y = right.y;
    y[77] = right.rounded(right.value(77) * 1.02 + 0.01);
    EXPECT_FALSE(right.report(y).ok());
  }
}

TEST_P(VerifyTest, KeepsNanWhereItBelongs) {
  Right right(GetParam(), 1, [](const TensorView& view, std::uint64_t seed) {
    fill_normal(view, seed);
    if (seed == 1) store_value(view, {1, 3, 20}, std::nan(""));
  });
  EXPECT_TRUE(right.report(right.y).ok());
  const auto is_nan = [&](std::size_t i) { return std::isnan(right.value(i)); };
  std::size_t first = 0;
  while (first < right.y.size() && !is_nan(first)) ++first;
  ASSERT_EQ(first, static_cast<std::size_t>((64 + 20) * 8));
  Halves y = right.y;
  y[first] = right.rounded(1.0);
  EXPECT_FALSE(right.report(y).ok());
  y = right.y;
  y[first - 1] = right.y[first];
  EXPECT_FALSE(right.report(y).ok());
}

TEST_P(VerifyTest, SamplesRowsOfLargeProblems) {
  const Right right(GetParam());
  const Verifier verifier = right.verifier(8.0 * 64.0 * 10.0);  // ten rows' worth
  EXPECT_TRUE(verifier.check_operands(right.a, right.bt).ok());
  EXPECT_EQ(verifier.check_operands(right.a, right.bt).input_total, 128 * 64);
  const Halves wrong(right.y.size(), right.rounded(100.0));
  const std::vector<GemmReport> reports = verifier.check_gemm({right.y, wrong}, 5);
  ASSERT_EQ(reports.size(), 2u);
  for (const GemmReport& report : reports) {
    EXPECT_EQ(report.checked_rows, 10);
    EXPECT_EQ(report.gates.elements, 80);
    EXPECT_EQ(report.m, 128);
  }
  EXPECT_TRUE(reports[0].ok());
  EXPECT_FALSE(reports[1].ok());
}

INSTANTIATE_TEST_SUITE_P(Types, VerifyTest, ::testing::Values(DType::f16, DType::bf16),
                         [](const ::testing::TestParamInfo<DType>& info) {
                           return std::string(name_of(info.param));
                         });

}  // namespace
}  // namespace relayout::test
