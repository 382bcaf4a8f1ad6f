// Precision: quotients, roots, exponentials and hyperbolic tangents of f32 within the bounds that
// relayout/operation.hpp states, wherever operands lie, alone and in chains.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "host/reference/accuracy.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/elementwise_case.hpp"
#include "tests/support/expect_error.hpp"

namespace relayout::test {
namespace {

constexpr DType kType = DType::f32;
constexpr std::int64_t kRows = 33, kColumns = 64;

/// Numbers of any sign with exponents from -126 to 125, or with magnitudes around 1, from 2^-12 to 2^7.
enum class Magnitudes { any, moderate };

void fill_numbers(const TensorView& view, Magnitudes magnitudes, std::uint64_t seed) {
  std::uint64_t i = 0;
  for_each_element(view, [&](const Dims&, std::int64_t offset) {
    const std::uint64_t pick = hash(i++, seed);
    const std::uint64_t exponent =
        magnitudes == Magnitudes::any ? 1 + (pick >> 40) % 252 : 115 + (pick >> 40) % 19;
    store_bits(element_at(view, offset), kType, (pick & 0x807fffff) | exponent << 23);
  });
}

bool is_in_range(std::uint64_t bits) {
  const long double magnitude = std::fabs(reference::exact_value(kType, bits));
  return magnitude >= 0x1p-126L && magnitude <= 0x1p126L;
}

/// Whether `got` is near enough to `exact`, the correctly rounded result.
bool is_within_bound(Operation operation, Precision precision, std::uint64_t got, std::uint64_t exact) {
  if (operation == Operation::tanh && precision == Precision::approximate) {
    const long double right = reference::exact_value(kType, exact);
    return std::fabs(reference::exact_value(kType, got) - right) <= std::fabs(right) * 0x1p-10L;
  }
  return reference::ulps_between(kType, got, exact) <= 2;
}

struct Approximation {
  Precision precision;
  Operation operation;
};
constexpr Approximation kApproximations[] = {
    {Precision::full, Operation::truediv},     {Precision::full, Operation::tanh},
    {Precision::full, Operation::exp},         {Precision::approximate, Operation::truediv},
    {Precision::approximate, Operation::sqrt}, {Precision::approximate, Operation::tanh},
    {Precision::approximate, Operation::exp},
};

class PrecisionTest : public DeviceTest {
 protected:
  /// How many results the bounds apply to; the others are not checked.
  int check(const Approximation& how, Magnitudes magnitudes, const Dims& strides) {
    GuardedBuffer a(stream(), Role::input, kType, {kRows, kColumns}, strides, 0);
    GuardedBuffer b(stream(), Role::input, kType, {kRows, kColumns}),
        out(stream(), Role::output, kType, {kRows, kColumns});
    fill_numbers(a.host(), magnitudes, 1);
    fill_numbers(b.host(), magnitudes, 2);
    a.upload();
    b.upload();
    ElementwiseOptions options;
    options.precision = how.precision;
    std::vector<Operand> operands{a.device()};
    if (operands_of(how.operation) == 2) operands.emplace_back(b.device());
    elementwise(stream(), how.operation, operands, out.device(), options);
    const std::vector<unsigned char> bytes = out.download();
    int wrong = 0, checked = 0;
    reference::for_each_index({kRows, kColumns}, [&](const Dims& index) {
      const std::uint64_t x = reference::load_bits(a.host(), index),
                          y = reference::load_bits(b.host(), index);
      const std::uint64_t exact = reference::apply(how.operation, kType, x, y);
      const std::uint64_t got = reference::load_bits(out.view_of(bytes), index);
      if (how.precision == Precision::approximate && !is_in_range(exact)) return;
      ++checked;
      wrong += is_within_bound(how.operation, how.precision, got, exact) ? 0 : 1;
    });
    EXPECT_EQ(wrong, 0) << name_of(how.operation) << ", of " << checked;
    EXPECT_TRUE(out.check_outside());
    return checked;
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, PrecisionTest, ::testing::ValuesIn(test_devices()), device_test_name);

TEST_P(PrecisionTest, ResultsAreWithinTheirBounds) {
  for (const Approximation& how : kApproximations) {
    EXPECT_GT(check(how, Magnitudes::moderate, {kColumns, 1}), 500) << name_of(how.operation);
    EXPECT_GT(check(how, Magnitudes::any, {kColumns, 1}), 100) << name_of(how.operation);
  }
}

TEST_P(PrecisionTest, OperandsMayLieAnywhere) {
  for (const Approximation& how : kApproximations) {
    check(how, Magnitudes::moderate, {kColumns + 1, 1});
    check(how, Magnitudes::moderate, {1, kRows});
  }
}

TEST_P(PrecisionTest, FullPrecisionTakesAllOperands) {
  const std::vector<std::uint64_t> values = interesting(kType);
  const auto count = static_cast<std::int64_t>(values.size());
  GuardedBuffer a(stream(), Role::input, kType, {count, 1}), b(stream(), Role::input, kType, {count});
  GuardedBuffer out(stream(), Role::output, kType, {count, count});
  for (std::int64_t i = 0; i < count; ++i) {
    reference::store_bits(a.host(), {i, 0}, values[static_cast<std::size_t>(i)]);
    reference::store_bits(b.host(), {i}, values[static_cast<std::size_t>(i)]);
  }
  a.upload();
  b.upload();
  ElementwiseOptions options;
  options.precision = Precision::full;
  truediv(stream(), a.device(), b.device(), out.device(), options);
  const std::vector<unsigned char> bytes = out.download();
  int wrong = 0;
  reference::for_each_index({count, count}, [&](const Dims& index) {
    const std::uint64_t x = reference::load_bits(a.host(), {index[0], 0});
    const std::uint64_t exact =
        reference::apply(Operation::truediv, kType, x, reference::load_bits(b.host(), {index[1]}));
    wrong +=
        reference::ulps_between(kType, reference::load_bits(out.view_of(bytes), index), exact) <= 2 ? 0 : 1;
  });
  EXPECT_EQ(wrong, 0);
}

/// tanh(x * scale + bias); and tanh together with an operation that keeps the chain accurate.
TEST_P(PrecisionTest, ChainsApproximateWhatTheyCan) {
  GuardedBuffer x(stream(), Role::input, kType, {kRows, kColumns}),
      bias(stream(), Role::input, kType, {kColumns});
  GuardedBuffer out(stream(), Role::output, kType, {kRows, kColumns});
  fill_numbers(x.host(), Magnitudes::moderate, 3);
  fill_numbers(bias.host(), Magnitudes::moderate, 4);
  x.upload();
  bias.upload();
  ElementwiseOptions options;
  options.precision = Precision::approximate;
  for (const bool with_costly : {false, true}) {
    std::vector<Operation> operations{Operation::mul, Operation::add, Operation::tanh};
    if (with_costly) operations.push_back(Operation::sin);
    chain(stream(), operations, {x.device(), 0.25, bias.device()}, out.device(), options);
    const std::vector<unsigned char> bytes = out.download();
    reference::for_each_index({kRows, kColumns}, [&](const Dims& index) {
      const std::uint64_t quarter = 0x3e800000;
      std::uint64_t value =
          reference::apply(Operation::mul, kType, reference::load_bits(x.host(), index), quarter);
      value = reference::apply(Operation::add, kType, value, reference::load_bits(bias.host(), {index[1]}));
      const long double tangent = std::tanh(reference::exact_value(kType, value));
      const long double right = with_costly ? std::sin(tangent) : tangent;
      const long double got = reference::exact_value(kType, reference::load_bits(out.view_of(bytes), index));
      ASSERT_LE(std::fabs(got - right), std::fabs(right) * 0x1p-10L + 0x1p-126L);
    });
  }
}

TEST_P(PrecisionTest, OnlyWhatHasThePrecisionIsTaken) {
  const Buffer memory(device(), 256);
  const TensorView f32(memory.data(), kType, {8}), f16(memory.data(), DType::f16, {8});
  ElementwiseOptions full, approximate, rounded;
  full.precision = Precision::full;
  approximate.precision = rounded.precision = Precision::approximate;
  rounded.rounding = Rounding::down;
  const auto refuses = [&](const std::vector<std::string>& words, Operation operation, const TensorView& view,
                           const ElementwiseOptions& options) {
    std::vector<Operand> operands(static_cast<std::size_t>(operands_of(operation)), Operand(view));
    expect_error(ErrorCode::rounding_mode, words,
                 [&] { elementwise(stream(), operation, operands, view, options); });
  };
  refuses({"full", "truediv", "f32"}, Operation::truediv, f16, full);
  refuses({"full", "tanh"}, Operation::sqrt, f32, full);
  refuses({"approximate", "sqrt"}, Operation::add, f32, approximate);
  refuses({"approximate", "nearest"}, Operation::truediv, f32, rounded);
  expect_error(ErrorCode::rounding_mode, {"approximate"}, [&] {
    chain(stream(), {Operation::add, Operation::relu}, {f32, 1}, f32, approximate);
  });
}

}  // namespace
}  // namespace relayout::test
