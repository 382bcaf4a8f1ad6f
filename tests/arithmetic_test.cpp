// Every named function does its operation, and so does its plan; and fill.
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/support/devices.hpp"
#include "tests/support/element_types.hpp"
#include "tests/support/elementwise_case.hpp"
#include "tests/support/expect_error.hpp"

namespace relayout::test {
namespace {

class ArithmeticTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, ArithmeticTest, ::testing::ValuesIn(test_devices()), device_test_name);

/// A pair of functions, called with as many of the operands as they take.
struct Named {
  Operation operation;
  std::function<void(const Stream&, const std::vector<Operand>&, const TensorView&)> call;
  std::function<ElementwisePlan(const PlanTarget&, const std::vector<Operand>&, const TensorView&)> plan;
};

#define RELAYOUT_NAMED(name, ...)                                                       \
  Named {                                                                               \
    Operation::name,                                                                    \
        [](const Stream& s, const std::vector<Operand>& x, const TensorView& out) {     \
          relayout::name(s, __VA_ARGS__, out);                                          \
        },                                                                              \
        [](const PlanTarget& t, const std::vector<Operand>& x, const TensorView& out) { \
          return relayout::plan_##name(t, __VA_ARGS__, out);                            \
        }                                                                               \
  }
#define RELAYOUT_NAMED_1(name) RELAYOUT_NAMED(name, x[0])
#define RELAYOUT_NAMED_2(name) RELAYOUT_NAMED(name, x[0], x[1])
#define RELAYOUT_NAMED_3(name) RELAYOUT_NAMED(name, x[0], x[1], x[2])

const std::vector<Named>& named() {
  static const std::vector<Named> all{
#define RELAYOUT_OPERATION(name, operands, kind, cost, meaning) RELAYOUT_NAMED_##operands(name),
#include <relayout/operations.def>
  };
  return all;
}

TEST_P(ArithmeticTest, EveryOperationHasItsFunctions) {
  std::set<std::string> seen;
  for (const Named& function : named()) {
    const Operation operation = function.operation;
    SCOPED_TRACE(name_of(operation));
    seen.insert(name_of(operation));
    const bool bits = operation >= Operation::bit_and && operation <= Operation::shift_right;
    const DType type = bits || operation == Operation::bit_not ? DType::i32 : DType::f32;
    std::vector<std::unique_ptr<GuardedBuffer>> inputs;
    std::vector<Operand> operands;
    for (int i = 0; i < operands_of(operation); ++i) {
      inputs.push_back(std::make_unique<GuardedBuffer>(stream(), Role::input, type, Dims{400}));
      fill_operand(inputs.back()->host(), Values::interesting, static_cast<std::uint64_t>(i) + 1);
      inputs.back()->upload();
      operands.emplace_back(inputs.back()->device());
    }
    const DType result = reference::result_type(operation, type);
    GuardedBuffer by_operation(stream(), Role::output, result, {400});
    GuardedBuffer by_name(stream(), Role::output, result, {400}),
        by_plan(stream(), Role::output, result, {400});
    elementwise(stream(), operation, operands, by_operation.device());
    function.call(stream(), operands, by_name.device());
    const ElementwisePlan plan = function.plan(device(), operands, by_plan.device());
    plan.run(stream());
    EXPECT_EQ(plan.explain().rfind(name_of(operation), 0), 0u) << plan.explain();
    EXPECT_EQ(by_name.download(), by_operation.download());
    EXPECT_EQ(by_plan.download(), by_operation.download());
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(kOperations));
}

TEST_P(ArithmeticTest, LeakyReluIsPreluWithAConstant) {
  GuardedBuffer x(stream(), Role::input, DType::f16, {400}), out(stream(), Role::output, DType::f16, {400});
  fill_operand(x.host(), Values::interesting, 1);
  x.upload();
  prelu(stream(), x.device(), 0.01, out.device());
  GuardedBuffer leaky(stream(), Role::output, DType::f16, {400}),
      planned(stream(), Role::output, DType::f16, {400});
  leaky_relu(stream(), x.device(), 0.01, leaky.device());
  plan_leaky_relu(device(), x.device(), 0.01, planned.device()).run(stream());
  EXPECT_EQ(leaky.download(), out.download());
  EXPECT_EQ(planned.download(), out.download());
}

TEST_P(ArithmeticTest, OptionsArrive) {
  GuardedBuffer x(stream(), Role::input, DType::f32, {400}), out(stream(), Role::output, DType::f16, {400});
  fill_operand(x.host(), Values::small, 1);
  x.upload();
  ElementwiseOptions options;
  options.cast_out = true;
  reference::elementwise(Operation::square, {x.host()}, DType::f32, out.host());
  square(stream(), x.device(), out.device(), options);
  EXPECT_TRUE(out.check());
}

TEST_P(ArithmeticTest, FillsEveryType) {
  const Literal values[] = {0, 1, -3, 300, 1e300, -2.5, 0.1, true, 0xffffffffffffffffull};
  for (const DType type : kCastableTypes) {
    for (const Literal& value : values) {
      SCOPED_TRACE(name_of(type));
      const bool floating = value.kind() == Literal::Kind::floating, huge = value.magnitude() >> 63 != 0;
      const DType from = floating ? DType::f64 : huge ? DType::u64 : DType::i64;
      const std::uint64_t bits = floating ? detail::bit_cast<std::uint64_t>(value.floating())
                                          : (value.is_negative() ? 0 - value.magnitude() : value.magnitude());
      for (const Dims& strides : {Dims{}, Dims{13, 1}, Dims{1, -9}}) {
        GuardedBuffer out(stream(), Role::output, type, {7, 11}, strides, 1);
        for_each_element(out.host(), [&](const Dims&, std::int64_t offset) {
          store_bits(element_at(out.host(), offset), type, reference::convert_bits(bits, from, type));
        });
        fill(stream(), value, out.device());
        EXPECT_TRUE(out.check(NanRule::exact));
      }
    }
  }
}

TEST_P(ArithmeticTest, FillsAsTheCastSays) {
  GuardedBuffer out(stream(), Role::output, DType::e5m2, {1000});
  for_each_element(out.host(), [&](const Dims&, std::int64_t offset) {
    store_bits(element_at(out.host(), offset), DType::e5m2, 0x7c);  // infinity
  });
  CastOptions options;
  options.saturate_fp8 = false;
  fill(stream(), 1e9, out.device(), options);
  EXPECT_TRUE(out.check(NanRule::exact));
}

TEST_P(ArithmeticTest, FillsByPlansAndInGraphs) {
  GuardedBuffer out(stream(), Role::output, DType::bf16, {5, 333});
  fill_with(out.host(), [](std::uint64_t) { return 1.5; });
  const ElementwisePlan plan = plan_fill(device(), 1.5, TensorView(nullptr, DType::bf16, {5, 333}));
  EXPECT_EQ(plan.result_type(), DType::bf16);
  EXPECT_EQ(plan.explain().rfind("fill in bf16, to bf16.", 0), 0u) << plan.explain();
  const Graph graph(stream(), [&] { plan.run(stream(), {}, out.device().data()); });
  graph.launch(stream());
  EXPECT_TRUE(out.check());
  EXPECT_NO_THROW(fill(stream(), 0, TensorView(nullptr, DType::f32, {0, 4})));
}

TEST_P(ArithmeticTest, FillsThatAreRefused) {
  GuardedBuffer out(stream(), Role::output, DType::f32, {4, 6});
  const TensorView to = out.device();
  expect_error(ErrorCode::dtype, {"fill", "b128"},
               [&] { fill(stream(), 0, TensorView(to.data(), DType::b128, {2})); });
  CastOptions saturating;
  saturating.integer_overflow = IntegerOverflow::saturate;
  expect_error(ErrorCode::dtype, {"fill"}, [&] { fill(stream(), 0, to, saturating); });
  expect_error(ErrorCode::output_overlap, {"fill"}, [&] {
    fill(stream(), 0, TensorView(to.data(), DType::f32, {4, 6}, {0, 1}));
  });
  expect_error(ErrorCode::null_pointer, {"fill", "the output"},
               [&] { fill(stream(), 0, TensorView(nullptr, DType::f32, {4})); });
  const TensorView odd(static_cast<char*>(to.data()) + 1, DType::f32, {4});
  expect_error(ErrorCode::invalid_argument, {"fill", "multiple of 4"}, [&] { fill(stream(), 0, odd); });
  EXPECT_TRUE(out.check(NanRule::exact));
}

}  // namespace
}  // namespace relayout::test
