// How much of a thread's stack calls on Device::cpu() need: small threads, as those of other languages'
// runtimes are, have 128 KiB or less. The stack is filled with a pattern; what a call leaves of it was not
// needed.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <relayout/map.hpp>
#include <relayout/relayout.hpp>

namespace relayout::test {
namespace {

constexpr std::size_t kStack = std::size_t{1} << 20, kMax = std::size_t{64} << 10;
constexpr unsigned char kPattern = 0xA5;

void* call_function(void* function) {
  (*static_cast<const std::function<void()>*>(function))();
  return nullptr;
}

/// Bytes of stack that a thread needs that does nothing else.
std::size_t stack_of(const std::function<void()>& function) {
  void* const memory = mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(memory, MAP_FAILED);
  std::memset(memory, kPattern, kStack);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, memory, kStack);
  pthread_t thread;
  EXPECT_EQ(
      pthread_create(&thread, &attributes, call_function, const_cast<std::function<void()>*>(&function)), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  const auto* const bytes = static_cast<const unsigned char*>(memory);
  const auto* const used = std::find_if(bytes, bytes + kStack, [](unsigned char b) { return b != kPattern; });
  const auto needed = static_cast<std::size_t>(bytes + kStack - used);
  munmap(memory, kStack);
  return needed;
}

class StackTest : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers have larger frames";
#endif
  }
  void expect_small(const std::string& what, const std::function<void()>& call) {
    // The first call on a thread may load functions, and has the dynamic linker on the stack; a second one
    // shows the same need on a thread that keeps its memory.
    const std::size_t needed = stack_of([&] { call(), call(); }) - idle_;
    EXPECT_LE(needed, kMax) << what;
    most_ = std::max(most_, needed);
  }
  void TearDown() override { RecordProperty("most_bytes", std::to_string(most_)); }

  TensorView view(DType type, const Dims& shape, const Dims& strides = {}) {
    memory_.emplace_back(std::size_t{1} << 20);
    return TensorView(memory_.back().data(), type, shape,
                      strides.empty() ? contiguous_strides(shape) : strides);
  }

  const Device cpu_ = Device::cpu();
  const Stream stream_{cpu_};

 private:
  // What a thread takes that does nothing: its thread_local objects lie on the stack, too.
  const std::size_t idle_ = stack_of([] {});
  std::size_t most_ = 0;
  std::vector<std::vector<std::uint64_t>> memory_;
};

const std::vector<DType> kTypes{DType::u8, DType::f16, DType::f32, DType::f64};

TEST_F(StackTest, Copies) {
  for (const DType in : kTypes) {
    for (const DType out : kTypes) {
      const std::string what = std::string(name_of(in)) + " to " + name_of(out);
      const Dims shape{37, 70, 90};
      const TensorView from = view(in, shape), to = view(out, {90, 37, 70}),
                       gaps = view(out, shape, {6300, 1, 70}), wide = view(in, shape, {2 * 6300, 180, 2});
      expect_small("permute " + what, [&] { permute(stream_, from, {2, 0, 1}, to); });
      expect_small("copy " + what, [&] { copy(stream_, from, view(out, {900, 259})); });
      expect_small("strided copy " + what, [&] { copy(stream_, wide, gaps); });
      expect_small("cast " + what, [&] { cast(stream_, from, gaps); });
      if (is_floating(in) && is_floating(out))
        expect_small("scaled " + what, [&] { permute(stream_, from, {2, 0, 1}, to, {2.0, 0.5}); });
    }
  }
}

TEST_F(StackTest, Windows) {
  for (const DType type : kTypes) {
    const TensorView in = view(type, {2, 48, 120}), last = view(type, {2, 48, 120}, {5760, 1, 48});
    Window window;
    window.taps = 3;
    PadSpec spec;
    spec.left = spec.right = 5;
    for (const TensorView& from : {in, last}) {
      for (const ColumnOrder order : {ColumnOrder::tap_outer, ColumnOrder::channel_outer}) {
        window.order = order;
        const TensorView operand = view(type, {2 * 128, 144});
        expect_small(std::string("img2col ") + name_of(type),
                     [&] { img2col(stream_, from, window, spec, operand); });
      }
      const TensorView padded = view(type, {2, 48, 130});
      expect_small(std::string("pad ") + name_of(type), [&] { pad(stream_, from, spec, padded); });
    }
  }
}

TEST_F(StackTest, Depthwise) {
  for (const DType type : {DType::f16, DType::bf16, DType::f32}) {
    for (const std::int64_t taps : {4, 40, 600}) {
      const TensorView time = view(type, {2, 300, 200}), time_out = view(type, {2, 300, 200}),
                       last = view(type, {2, 300, 200}, {60000, 1, 300}),
                       last_out = view(type, {2, 300, 200}, {60000, 1, 300}),
                       weights = view(DType::f32, {300, taps}), bias = view(DType::f32, {300}),
                       ids = view(DType::i32, {2, 200}), state = view(type, {2, 300, taps + 2});
      const std::string what = std::string("depthwise ") + name_of(type) + ", taps " + std::to_string(taps);
      expect_small(what + " along time", [&] {
        depthwise_conv1d(stream_, time, weights, bias, Activation::silu, TensorView(), time_out);
      });
      expect_small(what + " along channels", [&] {
        depthwise_conv1d(stream_, last, weights, bias, Activation::silu, TensorView(), last_out);
      });
      expect_small(what + " of sequences", [&] {
        depthwise_conv1d(stream_, time, weights, bias, Activation::none, TensorView(), time_out, TensorView(),
                         ids);
      });
      const TensorView samples = view(type, {2, 300, 2}), results = view(type, {2, 300, 2});
      expect_small(what + " update", [&] {
        depthwise_update(stream_, state, samples, weights, bias, Activation::silu, results);
      });
      DepthwiseUpdateOptions options;
      options.state_indices = view(DType::i32, {2});
      expect_small(what + " update by index", [&] {
        depthwise_update(stream_, state, samples, weights, bias, Activation::silu, results, options);
      });
      const TensorView all = view(type, {300, 200}), all_out = view(type, {300, 200}),
                       starts = view(DType::i32, {3}), states = view(type, {2, 300, taps - 1});
      expect_small(what + " of any lengths", [&] {
        depthwise_varlen(stream_, all, starts, weights, bias, Activation::silu, states, all_out);
      });
    }
  }
}

TEST_F(StackTest, DepthwiseBackward) {
  for (const DType type : {DType::f16, DType::bf16, DType::f32}) {
    for (const std::int64_t taps : {4, 40, 600}) {
      for (const Dims& strides : {Dims{60000, 200, 1}, Dims{60000, 1, 300}}) {
        DepthwiseForward forward;
        forward.in = view(type, {2, 300, 200}, strides);
        forward.weights = view(DType::f32, {300, taps});
        forward.activation = Activation::silu;
        DepthwiseGradients d;
        d.d_out = view(type, {2, 300, 200}, strides);
        d.d_in = view(type, {2, 300, 200}, strides);
        d.d_weights = view(DType::f32, {300, taps});
        const TensorView workspace = view(DType::f32, {2 * 300 * (taps + 1)});
        expect_small(std::string("depthwise backward ") + name_of(type) + ", taps " + std::to_string(taps),
                     [&] { depthwise_conv1d_backward(stream_, forward, d, workspace); });
      }
    }
  }
}

TEST_F(StackTest, Elementwise) {
  for (const DType type : {DType::i16, DType::f16, DType::f32, DType::f64}) {
    const Dims shape{30, 40, 50};
    const TensorView x = view(type, shape), y = view(type, shape, {50, 1500, 1}), out = view(type, shape),
                     row = view(type, {50}), column = view(type, {40, 1});
    const std::string what = name_of(type);
    expect_small("add " + what, [&] { add(stream_, x, y, out); });
    expect_small("mul " + what, [&] { mul(stream_, x, row, out); });
    expect_small("div_floor " + what, [&] { div_floor(stream_, x, column, out); });
    expect_small("pow " + what, [&] { pow(stream_, x, y, out); });
    if (is_floating(type)) expect_small("gelu " + what, [&] { gelu(stream_, x, out); });
    const Program program({Operation::add, Operation::mul, Operation::sub, Operation::maximum, Operation::add,
                           Operation::mul, Operation::minimum});
    expect_small("chain " + what, [&] { chain(stream_, program, {x, y, row, column, x, y, x, row}, out); });
    expect_small("fill " + what, [&] { fill(stream_, 3, y); });
  }
  const TensorView codes = view(DType::i8, {40, 60}), numbers = view(DType::f32, {40, 60}),
                   scales = view(DType::f32, {40, 1});
  const QuantizedTensor x{codes, 0.5f, 1}, out{view(DType::i8, {40, 60}), 0.25f, -3};
  expect_small("quantized add", [&] { quantized(stream_, Operation::add, {x, numbers}, out); });
  expect_small("quantize", [&] { quantize(stream_, numbers, out); });
  expect_small("dequantize", [&] { dequantize(stream_, QuantizedTensor{codes, 0.5f, 2}, numbers); });
  expect_small("map", [&] {
    map<float(float, float)>(stream_, functors::Subtract(), {numbers, scales}, view(DType::f32, {40, 60}));
  });
}

TEST_F(StackTest, MatricesAndConvolutions) {
  const TensorView a = view(DType::f16, {300, 200}), bt = view(DType::f16, {150, 200}),
                   y = view(DType::f16, {300, 150});
  expect_small("gemm", [&] { gemm(stream_, a, bt, TensorView(), y); });
  Conv1d problem;
  problem.in_channels = problem.out_channels = 48;
  problem.length = 200;
  problem.window.taps = 3;
  problem.pad = causal_padding(Causal::sample, 200, problem.window);
  const TensorView input = view(DType::f32, {1, 48, 200}), weights = view(DType::f32, {48, 48, 3});
  for (const ConvRoute route : {ConvRoute::operand, ConvRoute::strided_gemm, ConvRoute::direct}) {
    const TensorView result = view(DType::f16, {1, 200, 48});
    expect_small(std::string("convolution ") + name_of(route),
                 [&] { ConvPlan(stream_, problem, route, weights).run(stream_, input, result); });
  }
}

TEST_F(StackTest, PlansForGpus) {
  const TensorView in = view(DType::f16, {31, 65, 97}), out = view(DType::f16, {97, 31, 65});
  for (const DeviceProperties& device : {DeviceProperties::h200(), DeviceProperties::mi300x()})
    expect_small("plan_permute", [&] { plan_permute(device, in, {2, 0, 1}, out).explain(); });
}

}  // namespace
}  // namespace relayout::test
