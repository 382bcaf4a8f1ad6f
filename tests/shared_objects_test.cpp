// Threads that share devices, streams, plans and caches: right results, and nothing that ThreadSanitizer
// objects to.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "tests/support/devices.hpp"

namespace relayout::test {
namespace {

constexpr int kThreads = 4, kTurns = 3;

class SharedObjectsTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, SharedObjectsTest, ::testing::ValuesIn(host_memory_devices()),
                         device_test_name);

/// Calls work(thread) on all threads at once. Failures of GoogleTest may come from any of them.
template <class Work>
void on_threads(const Work& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back([&work, i] { work(i); });
  for (std::thread& thread : threads) thread.join();
}

/// A transposition of numbers that are a thread's own.
struct Transposed {
  static constexpr std::int64_t kRows = 24, kColumns = 40;
  std::vector<std::int32_t> in, out;

  explicit Transposed(int thread) : in(kRows * kColumns), out(in.size()) {
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::int32_t>(i) + 10000 * thread;
  }
  TensorView from() const { return TensorView(in.data(), DType::i32, {kRows, kColumns}); }
  TensorView to() const { return TensorView(out.data(), DType::i32, {kColumns, kRows}); }
  void expect() const {
    for (std::int64_t row = 0; row < kRows; ++row)
      for (std::int64_t column = 0; column < kColumns; ++column)
        ASSERT_EQ(out[static_cast<std::size_t>(column * kRows + row)],
                  in[static_cast<std::size_t>(row * kColumns + column)]);
  }
};

TEST_P(SharedObjectsTest, OnePlanOneStream) {
  const Transposed planned(0);
  const CopyPlan plan = plan_transpose(device(), planned.from(), planned.to());
  on_threads([&](int thread) {
    for (int turn = 0; turn < kTurns; ++turn) {
      Transposed own(thread);
      const CopyPlan copied = plan;
      copied.run(stream(), own.from().data(), own.to().data());
      own.expect();
      EXPECT_EQ(plan.explain(), copied.explain());
    }
  });
}

TEST_P(SharedObjectsTest, DevicesAndStreamsOfTheirOwn) {
  on_threads([&](int thread) {
    for (int turn = 0; turn < kTurns; ++turn) {
      const Device own_device = device();
      const Stream own(own_device);
      Transposed numbers(thread);
      transpose(own, numbers.from(), numbers.to());
      numbers.expect();
      Event event(own_device);
      event.record(own);
      stream().wait(event);
      EXPECT_EQ(Buffer(own_device, 64).bytes(), 64u);
    }
  });
}

TEST_P(SharedObjectsTest, OneCache) {
  PlanCache cache;
  const std::string file =
      std::filesystem::temp_directory_path() / ("relayout_shared_" + std::to_string(getpid()));
  on_threads([&](int thread) {
    for (int turn = 0; turn < kTurns; ++turn) {
      Transposed own(thread);
      const CopyPlan plan = plan_transpose(device(), own.from(), own.to());
      cache.measure(stream(), plan, own.from().data(), own.to().data());
      cache.find(plan).run(stream());
      own.expect();
      cache.save(file);
      PlanCache loaded;
      loaded.load(file);
      cache.load(file);
      EXPECT_EQ(loaded.size() > 0, !is_native());
    }
  });
  std::filesystem::remove(file);
}

TEST_P(SharedObjectsTest, OnePlanOfEveryKind) {
  const std::vector<float> x(96, 1.5f), weights(12, 1.0f);
  std::vector<float> planned(104), sums(36);
  const std::vector<f16> a(48, to_f16(1.0)), bt(48, to_f16(2.0));
  const TensorView in(x.data(), DType::f32, {2, 4, 12}), out(planned.data(), DType::f32, {2, 4, 12});
  PadSpec spec;
  spec.left = 1;
  const ElementwisePlan chained = plan_chain(device(), {Operation::add, Operation::relu}, {in, 1}, out);
  const WindowPlan padded = plan_pad(device(), in, spec, TensorView(planned.data(), DType::f32, {2, 4, 13}));
  const DepthwisePlan convolved =
      plan_depthwise_conv1d(device(), in, TensorView(weights.data(), DType::f32, {4, 3}), TensorView(),
                            Activation::none, TensorView(), out);
  const GemmPlan multiplied =
      plan_gemm(device(), TensorView(a.data(), DType::f16, {6, 8}), TensorView(bt.data(), DType::f16, {6, 8}),
                TensorView(), TensorView(sums.data(), DType::f32, {6, 6}));
  on_threads([&](int) {
    std::vector<float> own(104), y(36);
    chained.run(stream(), {x.data()}, own.data());
    ASSERT_EQ(own[95], 2.5f);
    padded.run(stream(), x.data(), own.data());
    ASSERT_EQ(own[13], 0.0f);
    convolved.run(stream(), x.data(), own.data());
    ASSERT_EQ(own[11], 4.5f);
    multiplied.run(stream(), a.data(), y.data());
    ASSERT_EQ(y[35], 16.0f);
    EXPECT_EQ(chained.explain().empty() || padded.explain().empty() || convolved.explain().empty() ||
                  multiplied.explain().empty(),
              false);
  });
}

TEST_P(SharedObjectsTest, EveryKindOfWorkAtOnce) {
  const std::vector<float> x(96, 1.5f), weights(12, 1.0f);
  const std::vector<f16> a(48, to_f16(1.0)), bt(48, to_f16(2.0));
  on_threads([&](int thread) {
    for (int turn = 0; turn < kTurns; ++turn) {
      std::vector<float> out(96), padded(96 + 8), y(36);
      const TensorView in(x.data(), DType::f32, {2, 4, 12}), to(out.data(), DType::f32, {2, 4, 12});
      switch ((thread + turn) % 4) {
        case 0:
          add(stream(), in, 1, to);
          for (const float value : out) ASSERT_EQ(value, 2.5f);
          break;
        case 1: {
          PadSpec spec;
          spec.left = 1;
          pad(stream(), in, spec, TensorView(padded.data(), DType::f32, {2, 4, 13}));
          ASSERT_EQ(padded[0], 0.0f);
          ASSERT_EQ(padded[1], 1.5f);
          break;
        }
        case 2:
          depthwise_conv1d(stream(), in, TensorView(weights.data(), DType::f32, {4, 3}), TensorView(),
                           Activation::none, TensorView(), to);
          ASSERT_EQ(out[11], 4.5f);
          break;
        default:
          gemm(stream(), TensorView(a.data(), DType::f16, {6, 8}), TensorView(bt.data(), DType::f16, {6, 8}),
               TensorView(), TensorView(y.data(), DType::f32, {6, 6}));
          for (const float value : y) ASSERT_EQ(value, 16.0f);
      }
    }
  });
}

}  // namespace
}  // namespace relayout::test
