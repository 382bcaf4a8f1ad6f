// Plans of copies run on the planned memory, on other memory, and recorded; and what they refuse. What plans
// say is tested in tests/copy_details_test.cpp.
#include <gtest/gtest.h>

#include "host/reference/permute.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"

namespace relayout::test {
namespace {

class CopyPlanTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, CopyPlanTest, ::testing::ValuesIn(test_devices()), device_test_name);

TEST_P(CopyPlanTest, RunsOnWhatTheMemoryHoldsThen) {
  GuardedBuffer in(stream(), Role::input, DType::f32, {33, 66}),
      out(stream(), Role::output, DType::f16, {66, 33});
  const CopyPlan plan = plan_permute(device(), in.device(), {1, 0}, out.device());
  const CopyPlan same = plan;
  for (const std::uint64_t seed : {1, 2}) {
    fill_values(in.host(), seed);
    in.upload();
    (seed == 1 ? plan : same).run(stream());
    reference::permute(in.host(), {1, 0}, out.host());
    EXPECT_TRUE(out.check());
  }
}

TEST_P(CopyPlanTest, EveryPlannedFunction) {
  GuardedBuffer in(stream(), Role::input, DType::f32, {2, 12, 20}, {300, 25, 1}),
      transposed(stream(), Role::output, DType::f32, {2, 20, 12}),
      same(stream(), Role::output, DType::f32, {2, 12, 20}),
      without_gaps(stream(), Role::output, DType::f32, {2, 12, 20}),
      crossing(stream(), Role::output, DType::f32, {15, 32}, {33, 1});
  fill_bits(in.host());
  in.upload();
  plan_transpose(device(), in.device(), transposed.device()).run(stream());
  plan_cast(device(), in.device(), same.device()).run(stream());
  plan_copy(device(), in.device(), crossing.device()).run(stream());
  plan_contiguous(device(), in.device(), without_gaps.device().data()).run(stream());
  reference::permute(in.host(), {0, 2, 1}, transposed.host());
  reference::cast(in.host(), same.host());
  reference::cast(in.host(), without_gaps.host());
  reference::copy(in.host(), crossing.host());
  for (const GuardedBuffer* out : {&transposed, &same, &without_gaps, &crossing})
    EXPECT_TRUE(out->check(NanRule::exact));
}

/// Planned for an odd address and run on others; backwards, so that the nest begins at another element than
/// the view.
TEST_P(CopyPlanTest, RunsOnOtherMemory) {
  for (const DType type : {DType::u8, DType::f16, DType::f64}) {
    for (const std::int64_t planned_at : {0, 1}) {
      const Dims shape{35, 64}, out_shape{64, 35}, backwards{-64, 1};
      GuardedBuffer planned_in(stream(), Role::input, type, shape, backwards, planned_at),
          planned_out(stream(), Role::output, type, out_shape, {}, planned_at);
      const CopyPlan plan = plan_transpose(device(), planned_in.device(), planned_out.device());
      for (const std::int64_t at : {0, 2}) {
        if (planned_at == 0 && (at != 0 && size_of(type) < 8)) continue;  // less aligned than planned
        GuardedBuffer in(stream(), Role::input, type, shape, backwards, at),
            out(stream(), Role::output, type, out_shape, {}, at);
        fill_bits(in.host(), 5);
        in.upload();
        plan.run(stream(), in.device().data(), out.device().data());
        reference::permute(in.host(), {1, 0}, out.host());
        EXPECT_TRUE(out.check(NanRule::exact))
            << name_of(type) << " planned at " << planned_at << ", run at " << at;
      }
      EXPECT_TRUE(planned_out.check()) << "the planned memory was written";
    }
  }
}

TEST_P(CopyPlanTest, PlansWithoutMemory) {
  const CopyPlan plan = plan_transpose(device(), TensorView(nullptr, DType::f32, {40, 36}),
                                       TensorView(nullptr, DType::f32, {36, 40}));
  GuardedBuffer in(stream(), Role::input, DType::f32, {40, 36}),
      out(stream(), Role::output, DType::f32, {36, 40});
  fill_bits(in.host());
  in.upload();
  plan.run(stream(), in.device().data(), out.device().data());
  reference::permute(in.host(), {1, 0}, out.host());
  EXPECT_TRUE(out.check(NanRule::exact));
  expect_error(ErrorCode::null_pointer, {"transpose", "input"}, [&] { plan.run(stream()); });
  expect_error(ErrorCode::null_pointer, {"output"}, [&] { plan.run(stream(), in.device().data(), nullptr); });
}

TEST_P(CopyPlanTest, CanBeRecorded) {
  GuardedBuffer in(stream(), Role::input, DType::f16, {5, 24, 40}),
      out(stream(), Role::output, DType::f16, {40, 24, 5});
  const CopyPlan plan = plan_permute(device(), in.device(), {2, 1, 0}, out.device());
  const Graph graph(stream(), [&] { plan.run(stream()); });
  for (const std::uint64_t seed : {3, 4}) {
    fill_bits(in.host(), seed);
    in.upload();
    graph.launch(stream());
    reference::permute(in.host(), {2, 1, 0}, out.host());
    EXPECT_TRUE(out.check(NanRule::exact));
  }
}

TEST_P(CopyPlanTest, Errors) {
  GuardedBuffer in(stream(), Role::input, DType::f16, {16, 32}),
      out(stream(), Role::output, DType::f16, {32, 16});
  in.upload();
  const CopyPlan plan = plan_transpose(device(), in.device(), out.device());
  auto* const from = static_cast<unsigned char*>(in.device().data());
  auto* const to = static_cast<unsigned char*>(out.device().data());
  expect_error(ErrorCode::invalid_argument, {"input", "16 bytes"}, [&] { plan.run(stream(), from + 2, to); });
  expect_error(ErrorCode::invalid_argument, {"output", "16 bytes"},
               [&] { plan.run(stream(), from, to + 8); });
  expect_error(ErrorCode::partial_overlap, {}, [&] { plan.run(stream(), to + 16, to); });
  expect_error(ErrorCode::partial_overlap, {}, [&] { plan.run(stream(), to, to + 1008); });
  if (const auto other = another_device(device()))
    expect_error(ErrorCode::invalid_argument, {other->to_string(), device().to_string()},
                 [&] { plan.run(Stream(*other)); });
  if (device().kind() == DeviceKind::emulated) {
    const int lanes = device().properties().warp_size;
    expect_error(ErrorCode::invalid_argument, {"emulated"},
                 [&] { plan.run(Stream(Device::emulated(lanes == 64 ? 32 : 64))); });
  }
  const CopyPlan absent = plan_transpose(DeviceProperties::mi300x(), in.device(), out.device());
  expect_error(ErrorCode::unsupported, {"MI300X"}, [&] { absent.run(stream()); });
  expect_error(ErrorCode::shape, {"[32, 16]", "[16, 32]"}, [&] {
    plan_transpose(device(), in.device(), TensorView(to, DType::f16, {16, 32}));
  });
  EXPECT_TRUE(out.check()) << "something was written";
}

}  // namespace
}  // namespace relayout::test
