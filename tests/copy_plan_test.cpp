// Plans of copies: which kernel and why, what they promise about memory, and running them again on other
// memory.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/checks.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"

namespace relayout::test {
namespace {

/// A contiguous [shape] of planned, aligned memory permuted by `axes`.
CopyPlan plan_of(const PlanTarget& target, DType type, const Dims& shape, const std::vector<int>& axes) {
  Dims out;
  for (const int axis : axes) out.push_back(shape[static_cast<std::size_t>(axis)]);
  return plan_permute(target, TensorView(nullptr, type, shape), axes, TensorView(nullptr, type, out));
}

const std::vector<DeviceProperties> kGpus{DeviceProperties::h200(), DeviceProperties::mi300x()};

void expect_words(const CopyPlan& plan, const std::vector<std::string>& words) {
  const std::string text = plan.explain();
  for (const std::string& word : words)
    EXPECT_NE(text.find(word), std::string::npos) << "no '" << word << "' in:\n" << text;
}

TEST(CopyPlan, AlignedTransposesTakeTheWindowKernel) {
  for (const DeviceProperties& gpu : kGpus) {
    const CopyPlan plan = plan_of(gpu, DType::f32, {8192, 8192}, {1, 0});
    const CopyDetails details = plan.details();
    EXPECT_EQ(details.kernel, CopyKernel::window);
    for (const CopySide& side : {details.in, details.out}) {
      EXPECT_EQ(side.vector_bytes, 16);
      EXPECT_TRUE(side.aligned_vectors);
      EXPECT_EQ(side.bytes, std::int64_t{8192} * 8192 * 4);
      EXPECT_EQ(side.alignment, 16);
      EXPECT_GE(side.run_bytes, 128);
      EXPECT_EQ(side.sectors_touched, side.sectors_needed);
    }
    EXPECT_LE(details.shared_bytes, gpu.shared_memory_per_block);
    EXPECT_EQ(details.tile.size(), 2u);
    EXPECT_EQ(details.blocks * details.tile[0] * details.tile[1], 8192 * 8192);
    expect_words(plan, {"window", gpu.name, "f32[8192, 8192]", "16 bytes an access", "268435456 bytes",
                        std::to_string(details.blocks) + " blocks"});
  }
}

TEST(CopyPlan, BytesAndManyAxesTakeTiles) {
  for (const DeviceProperties& gpu : kGpus) {
    for (const CopyPlan& plan : {plan_of(gpu, DType::u8, {4096, 4096}, {1, 0}),
                                 plan_of(gpu, DType::f32, {48, 30, 28, 26, 24}, {4, 3, 2, 1, 0}),
                                 plan_of(gpu, DType::f16, {64, 64, 64}, {1, 0, 2})}) {
      const CopyDetails details = plan.details();
      EXPECT_EQ(details.kernel, CopyKernel::tile);
      EXPECT_EQ(details.in.vector_bytes, 16);
      EXPECT_EQ(details.out.vector_bytes, 16);
      EXPECT_LE(details.shared_bytes, gpu.shared_memory_per_block);
      EXPECT_LE(details.threads, gpu.max_threads_per_block);
      EXPECT_GE(details.in.sectors_touched, details.in.sectors_needed);
      EXPECT_GE(details.out.sectors_touched, details.out.sectors_needed);
      expect_words(plan, {"Kernel tile", gpu.name, "shared memory", "sectors"});
    }
  }
}

TEST(CopyPlan, OddPitchesReadRowsThatStartAnywhere) {
  const CopyPlan plan = plan_of(DeviceProperties::h200(), DType::f32, {12345, 6789}, {1, 0});
  const CopyDetails details = plan.details();
  EXPECT_EQ(details.kernel, CopyKernel::tile);
  EXPECT_FALSE(details.in.aligned_vectors);
  EXPECT_FALSE(details.out.aligned_vectors);
  EXPECT_GT(details.in.sectors_touched, details.in.sectors_needed);
  expect_words(plan, {"start anywhere"});
}

TEST(CopyPlan, WhatHasNoRunIsGathered) {
  const TensorView out(nullptr, DType::f32, {64, 64});
  const CopyPlan plan =
      plan_cast(DeviceProperties::h200(), TensorView(nullptr, DType::f32, {64, 64}, {128, 2}), out);
  const CopyDetails details = plan.details();
  EXPECT_EQ(details.kernel, CopyKernel::gather);
  EXPECT_EQ(details.in.run_bytes, 4);
  EXPECT_EQ(details.out.run_bytes, 4096);
  EXPECT_EQ(details.in.sectors_touched, 2 * details.in.sectors_needed);
  EXPECT_EQ(details.blocks, 4);
  expect_words(plan, {"gather", "4 blocks", "no run"});
}

TEST(CopyPlan, CrossingShapesHaveAxesOfTheirOwn) {
  const CopyPlan plan = plan_copy(DeviceProperties::mi300x(), TensorView(nullptr, DType::f32, {4, 6}, {7, 1}),
                                  TensorView(nullptr, DType::f32, {6, 4}, {5, 1}));
  EXPECT_EQ(plan.details().kernel, CopyKernel::gather);
  EXPECT_TRUE(plan.details().in_strides.empty());
  expect_words(plan, {"axes of its own", "no loop nest in common"});
}

TEST(CopyPlan, TheProcessorRunsItsOwnCode) {
  const CopyPlan plan = plan_of(Device::cpu(), DType::f32, {64, 64}, {1, 0});
  EXPECT_EQ(plan.details().kernel, CopyKernel::native);
  expect_words(plan, {"native", "cpu"});
}

TEST(CopyPlan, NothingToDo) {
  const CopyPlan plan = plan_of(DeviceProperties::h200(), DType::f32, {0, 64}, {1, 0});
  EXPECT_EQ(plan.details().kernel, CopyKernel::nothing);
  expect_words(plan, {"no elements"});
}

/// A repeated row is read once.
TEST(CopyPlan, BytesCountDifferentElements) {
  const CopyPlan plan =
      plan_cast(DeviceProperties::h200(), TensorView(nullptr, DType::f16, {100, 64}, {0, 1}),
                TensorView(nullptr, DType::f32, {100, 64}));
  EXPECT_EQ(plan.details().in.bytes, 128);
  EXPECT_EQ(plan.details().out.bytes, 25600);
}

/// A plan is for any memory that is as aligned as the planned one; by how much, it says.
TEST(CopyPlan, Alignment) {
  alignas(64) static char memory[64];
  const auto alignment_of = [&](std::ptrdiff_t offset) {
    const TensorView in(memory + offset, DType::u8, {4, 4});
    return plan_cast(DeviceProperties::h200(), in, TensorView(nullptr, DType::u8, {4, 4}))
        .details()
        .in.alignment;
  };
  EXPECT_EQ(alignment_of(0), 16);
  EXPECT_EQ(alignment_of(8), 8);
  EXPECT_EQ(alignment_of(6), 2);
  EXPECT_EQ(alignment_of(3), 1);
}

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
      crossing(stream(), Role::output, DType::f32, {15, 32}, {33, 1});
  fill_bits(in.host());
  in.upload();
  plan_transpose(device(), in.device(), transposed.device()).run(stream());
  plan_cast(device(), in.device(), same.device()).run(stream());
  plan_copy(device(), in.device(), crossing.device()).run(stream());
  reference::permute(in.host(), {0, 2, 1}, transposed.host());
  reference::cast(in.host(), same.host());
  reference::copy(in.host(), crossing.host());
  for (const GuardedBuffer* out : {&transposed, &same, &crossing}) EXPECT_TRUE(out->check(NanRule::exact));
}

/// Planned for an odd address, run on others; backwards, so that the nest starts elsewhere than the view.
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
  const CopyPlan plan = plan_of(device(), DType::f32, {40, 36}, {1, 0});
  GuardedBuffer in(stream(), Role::input, DType::f32, {40, 36}),
      out(stream(), Role::output, DType::f32, {36, 40});
  fill_bits(in.host());
  in.upload();
  plan.run(stream(), in.device().data(), out.device().data());
  reference::permute(in.host(), {1, 0}, out.host());
  EXPECT_TRUE(out.check(NanRule::exact));
  expect_error(ErrorCode::null_pointer, {"permute", "input"}, [&] { plan.run(stream()); });
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
  const Device other = device().kind() == DeviceKind::cpu ? Device::emulated(32) : Device::cpu();
  expect_error(ErrorCode::invalid_argument, {other.to_string(), device().to_string()},
               [&] { plan.run(Stream(other)); });
  const CopyPlan absent = plan_transpose(DeviceProperties::mi300x(), in.device(), out.device());
  expect_error(ErrorCode::unsupported, {"MI300X"}, [&] { absent.run(stream()); });
  expect_error(ErrorCode::shape, {"[32, 16]", "[16, 32]"}, [&] {
    plan_transpose(device(), in.device(), TensorView(to, DType::f16, {16, 32}));
  });
  EXPECT_TRUE(out.check()) << "something was written";
}

}  // namespace
}  // namespace relayout::test
