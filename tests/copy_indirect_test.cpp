// Copies whose pointers are read from slots when they start.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "host/reference/permute.hpp"
#include "tests/cases/permute_shorthand.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/random_strides.hpp"
#include "tests/support/slots.hpp"

namespace relayout::test {
namespace {

using cases::identity;
using cases::kOneTypePerSize;
using cases::move_of;
using cases::PermuteCase;

const CopyPlanOptions kIndirect{{}, true};

PermuteCase indirect(PermuteCase c) {
  c.indirect = true;
  return c;
}

class CopyIndirectTest : public DeviceTest {
 protected:
  void check_by(CopyKernel gpu_kernel, const PermuteCase& c) {
    if (!is_native()) {
      EXPECT_STREQ(name_of(cases::plan_of(c, device().properties()).kernel), name_of(gpu_kernel)) << c;
    }
    check(stream(), c);
  }
  /// Tiles or rows take it, which of the two depends on the type and the device.
  void check_by_tiles_or_rows(const PermuteCase& c) {
    if (!is_native()) {
      const CopyKernel kernel = cases::plan_of(c, device().properties()).kernel;
      EXPECT_TRUE(kernel == CopyKernel::tile || kernel == CopyKernel::rows) << c << name_of(kernel);
      tiles_ += kernel == CopyKernel::tile ? 1 : 0;
    }
    check(stream(), c);
  }
  int tiles_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Devices, CopyIndirectTest, ::testing::ValuesIn(test_devices()), device_test_name);

TEST_P(CopyIndirectTest, EveryKernel) {
  for (const DType type : kOneTypePerSize) {
    check_by_tiles_or_rows(indirect(move_of(type, {64, 48}, {1, 0})));
    check_by_tiles_or_rows(indirect(move_of(type, {67, 131}, {1, 0})));
    check_by_tiles_or_rows(indirect(move_of(type, {17, 9, 5, 15}, {3, 1, 2, 0})));
    check_by_tiles_or_rows(indirect(move_of(type, {6, 40, 48}, {1, 0, 2})));
    check_by(CopyKernel::gather, indirect(move_of(type, {30, 20}, {1, 0}, {60, 3}, {70, 2})));
    // Backwards: the nest begins at another element than the view.
    check_by_tiles_or_rows(indirect(move_of(type, {33, 64}, {1, 0}, {-64, 1}, {33, -1})));
    check_by(CopyKernel::gather, indirect(move_of(type, {33, 20}, {1, 0}, {-60, -3}, {-70, -2})));
  }
  EXPECT_EQ(tiles_ > 0, !is_native());
  PermuteCase converted = indirect(move_of(DType::f32, {64, 48}, {1, 0}));
  converted.out_type = DType::f16;
  check_by_tiles_or_rows(converted);
  converted.scale = {0.5, 2};
  check_by(CopyKernel::gather, converted);
  converted.out_type = DType::f32;
  check_by(CopyKernel::tile, converted);
}

TEST_P(CopyIndirectTest, RandomLayouts) {
  for (const std::uint64_t seed : random_seeds(40)) {
    SCOPED_TRACE(reproduce(seed));
    Random random(seed);
    PermuteCase c = indirect(move_of(random.pick(kOneTypePerSize), {}, {}));
    const int rank = static_cast<int>(random.integer(1, 4));
    for (int axis = 0; axis < rank; ++axis) c.shape.push_back(random.integer(1, 12));
    c.axes = identity(rank);
    random.shuffle(c.axes);
    std::vector<int> order = identity(rank);
    random.shuffle(order);
    c.in_strides = random_strides(random, c.shape, order, true);
    c.out_strides = random_strides(random, c.out_shape(), order, false);
    c.in_misaligned = random.integer(0, 3);
    c.out_misaligned = random.integer(0, 3);
    check(stream(), c, seed);
  }
}

/// One recorded launch works on other tensors every time, when the pointers in the slots change.
TEST_P(CopyIndirectTest, AGraphReplaysOnOtherTensors) {
  const Slots slots(stream());
  const TensorView in(nullptr, DType::f16, {5, 24, 40}), out(nullptr, DType::f16, {40, 24, 5});
  const CopyPlan plan = plan_permute(device(), in, {2, 1, 0}, out, kIndirect);
  const Graph graph(stream(), [&] { plan.run_indirect(stream(), slots.in(), slots.out()); });
  std::vector<std::unique_ptr<GuardedBuffer>> kept;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    kept.push_back(std::make_unique<GuardedBuffer>(stream(), Role::input, DType::f16, in.shape()));
    kept.push_back(std::make_unique<GuardedBuffer>(stream(), Role::output, DType::f16, out.shape()));
  }
  for (std::size_t turn = 0; turn < kept.size(); turn += 2) {
    const GuardedBuffer &from = *kept[turn], &to = *kept[turn + 1];
    fill_bits(from.host(), turn);
    from.upload();
    slots.set(from.device().data(), to.device().data());
    graph.launch(stream());
    reference::permute(from.host(), {2, 1, 0}, to.host());
    for (const auto& each : kept) {
      if (each->host().shape() == out.shape()) {
        EXPECT_TRUE(each->check(NanRule::exact)) << "turn " << turn;
      }
    }
  }
}

/// The queued work reads the slot: the pointer counts that an earlier kernel of the stream put there.
TEST_P(CopyIndirectTest, EarlierWorkMaySetTheSlots) {
  GuardedBuffer in(stream(), Role::input, DType::u8, {50, 70}),
      out(stream(), Role::output, DType::u8, {70, 50});
  fill_bits(in.host());
  in.upload();
  const Slots slots(stream()), source(stream());
  source.set(in.device().data(), out.device().data());
  const CopyPlan plan =
      plan_transpose(device(), elsewhere(in.device(), 1), elsewhere(out.device(), 2), kIndirect);
  const TensorView from(source.in(), DType::u64, {2}), to(slots.in(), DType::u64, {2});
  copy(stream(), from, to);
  plan.run_indirect(stream(), slots.in(), slots.out());
  reference::permute(in.host(), {1, 0}, out.host());
  EXPECT_TRUE(out.check(NanRule::exact));
}

TEST_P(CopyIndirectTest, OneSlotAlone) {
  GuardedBuffer in(stream(), Role::input, DType::f32, {20, 36});
  fill_bits(in.host());
  in.upload();
  const Slots slots(stream());
  for (const bool from_slot : {true, false}) {
    GuardedBuffer out(stream(), Role::output, DType::f32, {36, 20});
    slots.set(in.device().data(), out.device().data());
    const TensorView from = from_slot ? elsewhere(in.device(), 1) : in.device(),
                     to = from_slot ? out.device() : elsewhere(out.device(), 1);
    plan_transpose(device(), from, to, kIndirect)
        .run_indirect(stream(), from_slot ? slots.in() : nullptr, from_slot ? nullptr : slots.out());
    reference::permute(in.host(), {1, 0}, out.host());
    EXPECT_TRUE(out.check(NanRule::exact));
  }
}

/// Such a plan is like any other, but never for the window kernel.
TEST_P(CopyIndirectTest, TheOtherRunsWorkToo) {
  GuardedBuffer in(stream(), Role::input, DType::f32, {256, 384}),
      out(stream(), Role::output, DType::f32, {384, 256});
  fill_bits(in.host());
  in.upload();
  const CopyPlan plan = plan_transpose(device(), in.device(), out.device(), kIndirect);
  if (!is_native()) {
    EXPECT_NE(plan.details().kernel, CopyKernel::window);
    DeviceProperties few_multiprocessors = device().properties();
    few_multiprocessors.multiprocessors = 4;
    const TensorView halves(nullptr, DType::f16, {256, 384}), numbers(nullptr, DType::f32, {384, 256});
    const auto kernel_with = [&](const CopyPlanOptions& options) {
      return plan_copy(few_multiprocessors, halves.permuted({1, 0}), numbers, options).details().kernel;
    };
    EXPECT_EQ(kernel_with({}), CopyKernel::window);
    EXPECT_EQ(kernel_with(kIndirect), CopyKernel::tile);
  }
  EXPECT_TRUE(plan.details().indirect);
  EXPECT_NE(plan.explain().find("slots"), std::string::npos);
  reference::permute(in.host(), {1, 0}, out.host());
  plan.run(stream());
  EXPECT_TRUE(out.check(NanRule::exact));
  plan.run(stream(), in.device().data(), out.device().data());
  plan.run_indirect(stream(), nullptr, nullptr);
  EXPECT_TRUE(out.check(NanRule::exact));
}

TEST_P(CopyIndirectTest, BetweenShapesAndOfPairs) {
  GuardedBuffer in(stream(), Role::input, DType::f32, {4, 6}, {-7, 1}),
      out(stream(), Role::output, DType::f32, {6, 4}, {5, 1});
  fill_bits(in.host());
  in.upload();
  const Slots slots(stream());
  slots.set(in.device().data(), out.device().data());
  plan_copy(device(), elsewhere(in.device(), 1), elsewhere(out.device(), 2), kIndirect)
      .run_indirect(stream(), slots.in(), slots.out());
  reference::copy(in.host(), out.host());
  EXPECT_TRUE(out.check(NanRule::exact));

  GuardedBuffer pairs(stream(), Role::input, DType::u64, {12, 2}),
      turned(stream(), Role::output, DType::u64, {12, 2});
  fill_bits(pairs.host());
  pairs.upload();
  slots.set(pairs.device().data(), turned.device().data());
  plan_transpose(device(), TensorView(nullptr, DType::b128, {3, 4}), TensorView(nullptr, DType::b128, {4, 3}),
                 kIndirect)
      .run_indirect(stream(), slots.in(), slots.out());
  const TensorView halves(pairs.host().data(), DType::u64, {3, 4, 2}),
      to(turned.host().data(), DType::u64, {4, 3, 2});
  reference::permute(halves, {1, 0, 2}, to);
  EXPECT_TRUE(turned.check(NanRule::exact));
}

TEST_P(CopyIndirectTest, NothingToDoReadsNoSlot) {
  const TensorView empty(nullptr, DType::f32, {0, 3});
  const CopyPlan plan = plan_cast(device(), empty, empty, kIndirect);
  EXPECT_NO_THROW(
      plan.run_indirect(stream(), reinterpret_cast<const void* const*>(std::uintptr_t{64}), nullptr));
}

TEST_P(CopyIndirectTest, Errors) {
  GuardedBuffer in(stream(), Role::input, DType::f32, {16, 32}),
      out(stream(), Role::output, DType::f32, {32, 16});
  in.upload();
  const Slots slots(stream());
  slots.set(in.device().data(), out.device().data());
  const auto run = [&](const CopyPlan& plan, const Stream& on, int shift_in, int shift_out) {
    const auto* from = reinterpret_cast<const char*>(slots.in()) + shift_in;
    const auto* to = reinterpret_cast<const char*>(slots.out()) + shift_out;
    plan.run_indirect(on, reinterpret_cast<const void* const*>(from), reinterpret_cast<void* const*>(to));
  };
  const CopyPlan plan = plan_transpose(device(), in.device(), out.device(), kIndirect),
                 direct = plan_transpose(device(), in.device(), out.device());
  expect_error(ErrorCode::invalid_argument, {"transpose", "indirect"}, [&] { run(direct, stream(), 0, 0); });
  expect_error(ErrorCode::invalid_argument, {"input", "slot", "8"}, [&] { run(plan, stream(), 4, 0); });
  expect_error(ErrorCode::invalid_argument, {"output", "slot"}, [&] { run(plan, stream(), 0, 1); });
  if (const auto other = another_device(device()))
    expect_error(ErrorCode::invalid_argument, {other->to_string()}, [&] { run(plan, Stream(*other), 0, 0); });
  const CopyPlan absent = plan_transpose(DeviceProperties::mi300x(), in.device(), out.device(), kIndirect);
  expect_error(ErrorCode::unsupported, {"MI300X"}, [&] { run(absent, stream(), 0, 0); });
  const CopyPlan no_memory =
      plan_transpose(device(), TensorView(nullptr, DType::f32, {16, 32}), out.device(), kIndirect);
  expect_error(ErrorCode::null_pointer, {"input"},
               [&] { no_memory.run_indirect(stream(), nullptr, slots.out()); });
  // A null slot stands for the planned pointer; a slot that holds null stands for nothing.
  slots.set(nullptr, out.device().data());
  if (device().kind() != DeviceKind::gpu) {
    expect_error(ErrorCode::null_pointer, {"input's slot"}, [&] { run(plan, stream(), 0, 0); });
    slots.set(in.device().data(), nullptr);
    expect_error(ErrorCode::null_pointer, {"output's slot"}, [&] { run(plan, stream(), 0, 0); });
  }
  EXPECT_TRUE(out.check()) << "something was written";
}

}  // namespace
}  // namespace relayout::test
