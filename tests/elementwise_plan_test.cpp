// Element-wise chains against one operation after the other; results in place; plans on other memory and in
// graphs.
#include <gtest/gtest.h>

#include <vector>

#include "host/plan/elementwise/elementwise_nest.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/elementwise_case.hpp"
#include "tests/support/expect_error.hpp"

namespace relayout::test {
namespace {

class ElementwisePlanTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, ElementwisePlanTest, ::testing::ValuesIn(test_devices()), device_test_name);

constexpr DType kF32 = DType::f32;

TensorSpec spec(DType type, const Dims& shape, std::int64_t misaligned = 0) {
  return {type, shape, {}, misaligned};
}

/// A value for each channel of an image.
ElementwiseCase biased(DType type, const std::vector<Operation>& operations,
                       const std::vector<OperandSpec>& more = {}) {
  const Dims shape{3, 10, 7, 9};
  ElementwiseCase c;
  c.operations = operations;
  c.operands = {spec(type, shape, 1), spec(type, {10, 1, 1})};
  c.operands.insert(c.operands.end(), more.begin(), more.end());
  c.out = {type, shape, strides_in(Layout::nhwc16, shape), 0};
  c.common = type;
  return c;
}

TEST_P(ElementwisePlanTest, ChainsGiveWhatOneOperationAfterTheOtherGives) {
  for (const DType type : {DType::i8, DType::u16, DType::i64, DType::f16, DType::bf16, kF32, DType::f64}) {
    check(stream(), biased(type, {Operation::add, Operation::relu}));
    check(stream(),
          biased(type, {Operation::mul, Operation::add, Operation::square}, {spec(type, {3, 10, 7, 9})}));
    check(stream(), biased(type, {Operation::mul, Operation::add, Operation::clip},
                           {Literal(1), Literal(2), Literal(5)}));
    ElementwiseCase compared =
        biased(type, {Operation::sub, Operation::mul, Operation::less}, {Literal(3), spec(type, {})});
    compared.out.type = DType::bool_;
    check(stream(), compared);
  }
}

TEST_P(ElementwisePlanTest, ChainsOfManyTypesRoundToOneBetweenTheSteps) {
  ElementwiseCase c = biased(DType::f16, {Operation::mul, Operation::add}, {spec(DType::i8, {9})});
  c.operands[0] = spec(DType::u8, {3, 10, 7, 9});
  c.out.type = DType::e4m3fn;
  c.options.cast_out = true;
  check(stream(), c);
  c = biased(DType::f32, {Operation::where, Operation::add}, {Literal(2.5), Literal(1)});
  c.operands[1] = spec(kF32, {10, 1, 1});
  check(stream(), c);
}

TEST_P(ElementwisePlanTest, WritesInPlace) {
  for (const DType type : {DType::i8, DType::f16, kF32, DType::f64}) {
    const TensorSpec out{type, {23, 37}, {41, 1}, 1}, other{type, {37}, {}, 0};
    ElementwiseCase c{{Operation::sub}, {out, other}, out, type};
    c.in_place = 0;
    check(stream(), c, 5);
    c.operands = {other, out};
    c.in_place = 1;
    check(stream(), c, 5);
  }
}

/// Rows of a block behind the nest's last one must not be made once more, from what is there by then.
TEST_P(ElementwisePlanTest, WritesRowsInNoVectorsInPlace) {
  const TensorSpec out{kF32, {130, 37}, {41, 1}, 1}, other{kF32, {130, 37}, {43, 1}, 0};
  ElementwiseCase c{{Operation::sub, Operation::maximum}, {out, other, Literal(-100)}, out, kF32};
  c.in_place = 0;
  check(stream(), c, 5);
}

/// ThreadSanitizer sees here whether threads without an element read what another one writes.
TEST_P(ElementwisePlanTest, WritesOneElementInPlace) {
  for (const DType type : {DType::i8, DType::i32, DType::f16, kF32, DType::f64}) {
    for (const Operation operation : {Operation::sub, Operation::pow}) {
      for (const std::int64_t misaligned : {0, 3}) {
        const TensorSpec out{type, {1, 1}, {}, misaligned};
        ElementwiseCase c{{operation}, {out, Literal(2)}, out, type};
        c.in_place = 0;
        check(stream(), c, 5);
        c.operations = {operation, Operation::relu};
        check(stream(), c, 5);
      }
    }
  }
}

TEST(ElementwisePlan, AnElementAloneIsNoRepeatedOne) {
  if (!has_emulated_devices()) GTEST_SKIP() << "this build has no emulated devices";
  float element = 0;
  ElementwiseParams params;
  params.tensors = 1;
  params.out_type = params.common = params.result = params.tensor[0].type = kF32;
  params.out_bytes = params.tensor[0].bytes = 4;
  const plan::LoopNest nest =
      plan::normalise(plan::make_nest(TensorView(&element, kF32, {1}), {TensorView(&element, kF32, {1})}));
  plan::set_nest(nest, params);
  plan::set_memory(nest, {&element}, &element, params);
  plan::set_kernel(Device::emulated(32).properties(), params);
  EXPECT_EQ(params.tensor[0].access, Access::aligned);
}

TEST_P(ElementwisePlanTest, WritesInPlaceOverElementsOfAnotherTypeOfThatSize) {
  const TensorSpec floats{kF32, {19, 5}, {-7, 1}, 0};
  ElementwiseCase c{{Operation::add}, {floats, Literal(1.5)}, {DType::i32, {19, 5}, {-7, 1}, 0}, kF32};
  c.options.cast_out = true;
  c.in_place = 0;
  check(stream(), c, 5);
}

TEST_P(ElementwisePlanTest, PlansRunOnOtherMemoryOfAnotherAlignment) {
  for (const DType type : {DType::u8, DType::f16, kF32}) {
    const auto at = [&](std::int64_t a, std::int64_t b, std::int64_t out) {
      ElementwiseCase c;
      c.operations = {Operation::mul, Operation::add};
      c.operands = {spec(type, {13, 48}, a), Literal(3), spec(type, {13, 48}, b)};
      c.out = spec(type, {13, 48}, out);
      c.common = type;
      return c;
    };
    const ElementwiseCase planned = at(0, 0, 0);
    const ElementwiseTensors there(stream(), planned);
    const ElementwisePlan plan =
        plan_chain(device(), planned.operations, there.operands(), there.out(), planned.options);
    EXPECT_EQ(plan.common_type(), type);
    EXPECT_EQ(plan.result_type(), type);
    plan.run(stream());
    there.expect_right();
    for (const ElementwiseCase& c : {at(1, 1, 1), at(0, 3, 1), at(2, 0, 5)}) {
      const ElementwiseTensors here(stream(), c, 9);
      plan.run(stream(), here.inputs(), here.out().data());
      here.expect_right();
    }
  }
}

/// Cases whose kernels number the tensors in all their ways: by operands, with a constant first, one across
/// the others, and as the plan has them.
std::vector<ElementwiseCase> cases_of_kernels() {
  const Dims shape{32, 64};
  const TensorSpec rows = spec(kF32, shape), across{kF32, shape, {1, 32}, 0}, apart{kF32, shape, {192, 3}, 0};
  std::vector<ElementwiseCase> cases;
  const auto add = [&](const std::vector<Operation>& operations, const std::vector<OperandSpec>& operands,
                       const TensorSpec& out) {
    ElementwiseCase c{operations, operands, out, kF32};
    c.values = Values::small;
    cases.push_back(c);
  };
  add({Operation::sub}, {rows, rows}, rows);
  add({Operation::sub}, {Literal(3), rows}, rows);
  add({Operation::pow}, {rows, rows}, rows);
  add({Operation::sub}, {across, rows}, rows);
  add({Operation::sub}, {rows, across}, rows);
  add({Operation::sub}, {rows, apart}, apart);
  add({Operation::sub}, {TensorSpec{kF32, {33, 7}, {14, 2}, 0}, spec(kF32, {33, 7})}, spec(kF32, {33, 7}));
  add({Operation::sub}, {spec(DType::i8, shape), rows}, rows);
  add({Operation::mul, Operation::sub}, {rows, spec(kF32, {64}), rows}, rows);
  add({Operation::where}, {spec(DType::bool_, shape), rows, rows}, rows);
  add({Operation::mul, Operation::sub, Operation::add}, {rows, spec(kF32, {64}), across, rows}, rows);
  return cases;
}

/// The kernel was chosen for the planned memory; for memory that lies otherwise it is chosen anew.
TEST_P(ElementwisePlanTest, PlansOfAllKernelsRunOnOtherMemory) {
  for (const ElementwiseCase& apart : cases_of_kernels()) {
    ElementwiseCase shifted = apart, shifted_input = apart, in_place = apart;
    shifted.out.misaligned = 1;
    std::get<TensorSpec>(shifted_input.operands.back()).misaligned = 3;
    in_place.in_place = static_cast<int>(apart.operands.size()) - 1;
    const std::vector<Dims> strides{std::get<TensorSpec>(apart.operands.back()).strides, apart.out.strides};
    std::vector<const ElementwiseCase*> all{&apart, &shifted, &shifted_input};
    if (strides[0] == strides[1]) all.push_back(&in_place);
    for (const ElementwiseCase* planned : all) {
      const ElementwiseTensors there(stream(), *planned);
      const ElementwisePlan plan = plan_chain(device(), planned->steps(), there.operands(), there.out());
      for (const ElementwiseCase* c : all) {
        SCOPED_TRACE(::testing::Message() << *c << ", planned as " << *planned);
        const ElementwiseTensors here(stream(), *c, 9);
        EXPECT_NO_THROW(plan.run(stream(), here.inputs(), here.out().data()));
        here.expect_right();
      }
    }
  }
}

TEST_P(ElementwisePlanTest, PlansMadeWithoutMemoryGetItLater) {
  const TensorView nothing(nullptr, kF32, {100});
  const ElementwisePlan plan = plan_elementwise(device(), Operation::sub, {nothing, 1.5}, nothing);
  expect_error(ErrorCode::null_pointer, {"sub", "operand 1"}, [&] { plan.run(stream()); });
  const ElementwiseCase c{{Operation::sub}, {spec(kF32, {100}), Literal(1.5)}, spec(kF32, {100}), kF32};
  const ElementwiseTensors tensors(stream(), c);
  plan.run(stream(), tensors.inputs(), tensors.out().data());
  tensors.expect_right();
}

TEST_P(ElementwisePlanTest, PlansAreRecordedInGraphs) {
  const ElementwiseCase c = biased(DType::f16, {Operation::add, Operation::relu});
  ElementwiseTensors tensors(stream(), c);
  const ElementwisePlan plan = plan_chain(device(), c.operations, tensors.operands(), tensors.out());
  const Graph graph(stream(), [&] { plan.run(stream()); });
  for (const std::uint64_t seed : {11, 12, 13}) {
    tensors.refill(seed);
    graph.launch(stream());
    stream().synchronize();
    tensors.expect_right();
  }
}

TEST_P(ElementwisePlanTest, ExplainsItself) {
  const ElementwiseCase c = biased(DType::f16, {Operation::add, Operation::relu});
  const ElementwiseTensors tensors(stream(), c);
  const std::string text = plan_chain(device(), c.operations, tensors.operands(), tensors.out()).explain();
  for (const char* words : {"add+relu in f16, to f16", "extents [3, 63, 10]", "tensor 2's (f16)"})
    EXPECT_NE(text.find(words), std::string::npos) << text;
  const TensorView none(nullptr, kF32, {0});
  EXPECT_NE(plan_elementwise(device(), Operation::neg, {none}, none).explain().find("nothing to do"),
            std::string::npos);
}

}  // namespace
}  // namespace relayout::test
