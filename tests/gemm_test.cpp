// gemm: exactly on small integers, within the three gates of the reference on real numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/devices.hpp"
#include "tests/support/fill.hpp"
#include "tests/support/gemm_operands.hpp"
#include "tests/support/reserved_memory.hpp"

namespace relayout::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

void check_integers(const Stream& stream, const GemmCase& c) {
  SCOPED_TRACE(::testing::Message() << c);
  GemmOperands operands(stream, c);
  fill_small_integers(operands.a.host(), 1);
  fill_small_integers(operands.bt.host(), 2);
  fill_small_integers(operands.bias.host(), 3);
  operands.run();
  operands.expect_exact();
}

class GemmTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, GemmTest, ::testing::ValuesIn(test_devices()), device_test_name);

class GemmOrderTest : public DeviceTest {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GemmOrderTest);
INSTANTIATE_TEST_SUITE_P(Devices, GemmOrderTest, ::testing::ValuesIn(reordered_devices()), device_test_name);

TEST_P(GemmTest, SmallIntegersAreExactForEveryTail) {
  const std::vector<GemmCase> shapes{
      make(1, 1, 1),    make(1, 1, 1000),  make(15, 17, 16),   make(16, 16, 16),  make(17, 15, 33),
      make(63, 65, 64), make(64, 64, 64),  make(65, 63, 17),   make(129, 65, 15), make(1, 129, 63),
      make(129, 1, 65), make(64, 17, 129), make(1000, 16, 15), make(15, 1000, 17)};
  int turn = 0;
  for (GemmCase c : shapes) {
    c.in_type = turn % 2 == 0 ? DType::f16 : DType::bf16;
    c.out_type = turn % 3 == 0 ? DType::f32 : c.in_type;
    c.bias = turn / 2 % 2 == 0;
    c.workspace = turn % 4 < 3;
    c.misaligned = turn % 5 == 0 ? 1 : 0;
    ++turn;
    check_integers(stream(), c);
  }
}

TEST_P(GemmTest, EveryTypeWithAndWithoutBiasWorkspaceAndPitches) {
  for (const DType in : {DType::f16, DType::bf16})
    for (const DType out : {in, DType::f32})
      for (const bool bias : {false, true})
        for (const bool workspace : {false, true})
          for (const std::int64_t gap : {0, 3}) {
            GemmCase c = make(33, 18, 35);
            c.in_type = in;
            c.out_type = out;
            c.bias = bias;
            c.workspace = workspace;
            c.a_gap = gap;
            c.b_gap = gap == 0 ? 0 : 5;
            c.y_gap = gap == 0 ? 0 : 7;
            check_integers(stream(), c);
          }
}

TEST_P(GemmTest, Groups) {
  for (const bool side_by_side : {false, true})
    for (const bool bias : {false, true})
      for (const bool workspace : {false, true}) {
        GemmCase c = make(21, 19, 23);
        c.groups = 3;
        c.side_by_side = side_by_side;
        c.bias = bias;
        c.workspace = workspace;
        check_integers(stream(), c);
        c.a_gap = 1;
        c.b_gap = 9;
        c.y_gap = 4;
        c.out_type = DType::f32;
        check_integers(stream(), c);
      }
  GemmCase depthwise = make(40, 1, 4);
  depthwise.groups = 30;
  depthwise.side_by_side = true;
  check_integers(stream(), depthwise);
}

TEST_P(GemmTest, WithoutDepthYIsTheBias) {
  for (const DType out : {DType::f16, DType::f32})
    for (const bool bias : {false, true}) {
      GemmCase c = make(17, 35, 0);
      c.out_type = out;
      c.bias = bias;
      check_integers(stream(), c);
    }
}

TEST_P(GemmTest, NothingToDo) {
  check_integers(stream(), make(0, 5, 7));
  check_integers(stream(), make(5, 0, 7));
  GemmCase c = make(5, 3, 7);
  c.groups = 0;
  SCOPED_TRACE(::testing::Message() << c);
  EXPECT_NO_THROW(gemm(stream(), TensorView(nullptr, DType::f16, {0, 5, 7}),
                       TensorView(nullptr, DType::f16, {0, 3, 7}), TensorView(),
                       TensorView(nullptr, DType::f16, {0, 5, 3})));
  // Strides between elements that are not there do not matter.
  EXPECT_NO_THROW(gemm(stream(), TensorView(nullptr, DType::f16, {0, 4}, {1, 9}),
                       TensorView(nullptr, DType::f16, {0, 4}, {1, 2}), TensorView(),
                       TensorView(nullptr, DType::f16, {0, 0})));
}

/// A pitch that no row uses may be anything.
TEST_P(GemmTest, OneRow) {
  GemmCase c = make(1, 1, 37);
  GemmOperands operands(stream(), c);
  fill_small_integers(operands.a.host(), 1);
  fill_small_integers(operands.bt.host(), 2);
  fill_small_integers(operands.bias.host(), 3);
  operands.run();
  operands.expect_exact();
  const auto with_pitch = [](const TensorView& view, std::int64_t pitch) {
    return TensorView(view.data(), view.dtype(), view.shape(), {pitch, 1});
  };
  EXPECT_NO_THROW(gemm(stream(), with_pitch(operands.a.device(), 0), with_pitch(operands.bt.device(), 1),
                       operands.bias.device(), with_pitch(operands.y.device(), 0)));
  operands.expect_exact();
}

TEST_P(GemmTest, RealNumbersPassTheGates) {
  struct Data {
    const char* name;
    std::function<void(const TensorView&, std::uint64_t, double)> fill;
  };
  const std::vector<Data> all{
      {"N(0, 1)",
       [](const TensorView& view, std::uint64_t seed, double scale) { fill_normal(view, seed, scale); }},
      {"U[1, 2]", [](const TensorView& view, std::uint64_t seed, double scale) {
         fill_with(view, [&](std::uint64_t i) { return scale * (1.0 + uniform(i, seed)); });
       }}};
  std::vector<GemmCase> shapes;
  for (const DType type : {DType::f16, DType::bf16})
    for (const DType out : {type, DType::f32}) {
      shapes.push_back(make(63, 48, out == type ? 900 : 100));
      shapes.back().in_type = type;
      shapes.back().out_type = out;
    }
  for (const Data& data : all)
    for (const GemmCase& c : shapes) {
      SCOPED_TRACE(::testing::Message() << c << " with " << data.name);
      GemmOperands operands(stream(), c);
      data.fill(operands.a.host(), 4, 1.0);
      data.fill(operands.bt.host(), 5, 1.0 / std::sqrt(static_cast<double>(c.k)));
      fill_normal(operands.bias.host(), 6);
      operands.run();
      operands.expect_within_gates();
    }
}

/// Small cases with chosen numbers: a is [m, k], bt [n, k], f16.
class GemmNumbersTest : public GemmTest {
 protected:
  /// y = a * bt^T + bias with the given values, row by row; expects the exact results rounded once.
  void expect(GemmCase c, const std::vector<double>& a, const std::vector<double>& bt,
              const std::vector<double>& bias) {
    c.bias = !bias.empty();
    for (const bool workspace : {false, true}) {
      c.workspace = workspace;
      SCOPED_TRACE(::testing::Message() << c);
      GemmOperands operands(stream(), c);
      fill_with(operands.a.host(), [&](std::uint64_t i) { return a[i]; });
      fill_with(operands.bt.host(), [&](std::uint64_t i) { return bt[i]; });
      if (c.bias) fill_with(operands.bias.host(), [&](std::uint64_t i) { return bias[i]; });
      operands.run();
      operands.expect_exact();
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, GemmNumbersTest, ::testing::ValuesIn(test_devices()), device_test_name);

TEST_P(GemmNumbersTest, OneRoundingAfterTheBias) {
  // 2049 is a tie in f16: rounding the sum first loses the half that the bias adds.
  expect(make(1, 1, 2), {2048, 1}, {1, 1}, {0.5});
  expect(make(1, 1, 2), {2048, 1}, {1, 1}, {-0.5});
  expect(make(1, 1, 2), {2048, 3}, {1, 1}, {-0.25});
}

TEST_P(GemmNumbersTest, OverflowGivesInfinity) {
  expect(make(1, 1, 2), {32768, 32736}, {1, 1}, {});      // 65504
  expect(make(1, 1, 2), {32768, 32752}, {1, 1}, {});      // 65520
  expect(make(1, 1, 2), {-32768, -32752}, {1, 1}, {});    // -65520
  expect(make(1, 1, 2), {32768, 32736}, {1, 1}, {15.0});  // 65519: still finite
  expect(make(1, 1, 2), {32768, 32736}, {1, 1}, {16.0});
  expect(make(1, 1, 2), {65504, 65504}, {65504, 65504}, {});
  expect(make(1, 1, 3), {65504, 65504, -65504}, {1, 1, 1}, {});  // beyond f16 on the way only
}

TEST_P(GemmNumbersTest, InfinitiesAndNans) {
  expect(make(2, 2, 2), {kInf, 1, 2, 3}, {1, 2, 3, -4}, {});
  expect(make(2, 2, 2), {kInf, -kInf, 2, 3}, {1, 1, 1, 2}, {});
  expect(make(2, 2, 2), {kInf, 1, 2, 3}, {0, 1, 1, 1}, {});
  expect(make(2, 2, 1), {1, 2}, {3, 4}, {kInf, kNan});
}

/// On MI200 the matrix instructions of the vendor's library take subnormal inputs as 0.
TEST_P(GemmNumbersTest, SubnormalsCountInFull) {
  GemmCase c = make(33, 17, 20);
  c.bias = false;
  GemmOperands operands(stream(), c);
  fill_with(operands.a.host(),
            [](std::uint64_t i) { return std::ldexp(static_cast<double>(hash(i) % 11) - 5.0, -24); });
  fill_small_integers(operands.bt.host(), 2);
  operands.run();
  if (device().properties().architecture.rfind("gfx90a", 0) == 0 &&
      gemm_library(device()) != std::string("relayout"))
    fill_with(operands.a.host(), [](std::uint64_t) { return 0.0; });
  reference::gemm(operands.a.host(), operands.bt.host(), TensorView(), operands.y.host());
  EXPECT_TRUE(operands.y.check());
}

TEST_P(GemmTest, ANanStaysInItsRowAndColumn) {
  for (const bool in_a : {true, false})
    for (const double poison : {kNan, kInf}) {
      GemmCase c = make(70, 67, 18);
      SCOPED_TRACE(::testing::Message() << c << (in_a ? " poison in a" : " poison in bt"));
      GemmOperands operands(stream(), c);
      fill_small_integers(operands.a.host(), 1);
      fill_small_integers(operands.bt.host(), 2);
      fill_small_integers(operands.bias.host(), 3);
      store_value(in_a ? operands.a.host() : operands.bt.host(), {65, 17}, poison);
      operands.run();
      operands.expect_exact();
    }
}

/// The rows of a matrix that the problem does not use are NaN, which masked loads must not use.
TEST_P(GemmTest, UnusedRowsAreNotRead) {
  const GemmCase used = make(17, 18, 19);
  GuardedBuffer a(stream(), Role::input, DType::f16, {40, 19}),
      bt(stream(), Role::input, DType::f16, {40, 19});
  GuardedBuffer y(stream(), Role::output, DType::f16, {17, 18});
  for (const GuardedBuffer* operand : {&a, &bt}) {
    fill_with(operand->host(), [](std::uint64_t) { return kNan; });
    fill_small_integers(operand->host().slice(0, 10, 10 + (operand == &a ? used.m : used.n)));
    operand->upload();
  }
  gemm(stream(), a.device().slice(0, 10, 27), bt.device().slice(0, 10, 28), TensorView(), y.device());
  reference::gemm(a.host().slice(0, 10, 27), bt.host().slice(0, 10, 28), TensorView(), y.host());
  EXPECT_TRUE(y.check());
}

/// A window that slides over a signal: each row of a begins a few elements after the one before, and the
/// groups share bt and the bias.
TEST_P(GemmTest, RowsOfAMayOverlapAndGroupsShareBtAndBias) {
  for (const std::int64_t pitch : {0, 1, 7, 29, 30, 44}) {
    SCOPED_TRACE(pitch);
    const std::int64_t groups = 3, m = 70, n = 19, k = 30;
    GuardedBuffer signal(stream(), Role::input, DType::f16, {groups, (m - 1) * pitch + k}),
        bt(stream(), Role::input, DType::f16, {n, k}), bias(stream(), Role::input, DType::f32, {n}),
        y(stream(), Role::output, DType::f16, {groups, m, n});
    fill_small_integers(signal.host(), 1);
    fill_small_integers(bt.host(), 2);
    fill_small_integers(bias.host(), 3);
    for (const GuardedBuffer* operand : {&signal, &bt, &bias}) operand->upload();
    const auto rows = [&](const TensorView& view) {
      return TensorView(view.data(), view.dtype(), {groups, m, k}, {view.stride(0), pitch, 1});
    };
    const auto shared = [&](const TensorView& view) { return view.broadcast_to({groups, n, k}); };
    gemm(stream(), rows(signal.device()), shared(bt.device()), bias.device().broadcast_to({groups, n}),
         y.device());
    // The reference takes one bias for each group's column.
    GuardedBuffer repeated(stream(), Role::input, DType::f32, {groups * n});
    fill_with(repeated.host(),
              [&](std::uint64_t i) { return load_value(bias.host(), {static_cast<std::int64_t>(i) % n}); });
    reference::gemm(rows(signal.host()), shared(bt.host()), repeated.host(), y.host());
    EXPECT_TRUE(y.check());
  }
}

class GemmFarTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, GemmFarTest, ::testing::ValuesIn(host_memory_devices()), device_test_name);

/// Rows further apart than 2^31 elements in all three matrices.
TEST_P(GemmFarTest, PitchesBeyondThirtyTwoBits) {
  constexpr std::int64_t kFar = (std::int64_t{1} << 31) + 16;
  const std::int64_t m = 3, n = 2, k = 5;
  const auto matrix = [](const ReservedMemory& memory, std::int64_t rows, std::int64_t columns) {
    return TensorView(memory.data(), DType::f16, {rows, columns}, {kFar, 1});
  };
  const ReservedMemory a_memory(static_cast<std::size_t>(2 * m * kFar)),
      bt_memory(static_cast<std::size_t>(2 * n * kFar)), y_memory(static_cast<std::size_t>(2 * m * kFar));
  const TensorView a = matrix(a_memory, m, k), bt = matrix(bt_memory, n, k), y = matrix(y_memory, m, n);
  fill_small_integers(a, 1);
  fill_small_integers(bt, 2);
  std::vector<std::uint16_t> expected(static_cast<std::size_t>(m * n));
  const TensorView oracle(expected.data(), DType::f16, {m, n});
  gemm(stream(), a, bt, TensorView(), y);
  stream().synchronize();
  reference::gemm(a, bt, TensorView(), oracle);
  EXPECT_TRUE(same_elements(oracle, y));
}

TEST_P(GemmTest, ATooSmallWorkspaceIsNoError) {
  GemmCase c = make(33, 18, 35);
  c.workspace = false;
  GemmOperands operands(stream(), c);
  fill_small_integers(operands.a.host(), 1);
  fill_small_integers(operands.bt.host(), 2);
  fill_small_integers(operands.bias.host(), 3);
  operands.workspace = Buffer(device(), 4);
  operands.run();
  operands.expect_exact();
}

TEST_P(GemmTest, LibraryAndWorkspace) {
  const std::string library = gemm_library(device());
  EXPECT_TRUE(library == "cuBLAS" || library == "hipBLAS" || library == "OpenBLAS" || library == "relayout")
      << library;
  EXPECT_TRUE(device().kind() != DeviceKind::emulated || library == "relayout") << library;
  const TensorView y(nullptr, DType::f16, {3, 5, 7});
  for (const bool bias : {false, true}) {
    const std::size_t bytes = gemm_workspace_bytes(device(), y, bias);
    EXPECT_TRUE(bytes == 0 || bytes == 4u * 3 * 5 * 7) << bytes;
    EXPECT_TRUE(bytes == 0 || library != "relayout") << bytes;
  }
}

TEST_P(GemmOrderTest, TheOrderOfThreadsDoesNotMatter) {
  check_integers(stream(), make(66, 67, 35));
  GemmCase c = make(21, 19, 23);
  c.groups = 2;
  c.side_by_side = true;
  check_integers(stream(), c);
}

}  // namespace
}  // namespace relayout::test
