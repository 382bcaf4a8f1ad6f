// Every function with the n-th allocation failing, for each n: std::bad_alloc or a result, nothing lost, and
// the next call works.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include <relayout/map.hpp>
#include <relayout/relayout.hpp>

namespace {

/// Allocations of this thread until one fails; below 0: none does. And what was not freed yet, of all
/// threads.
thread_local long left_until_failure = -1;
std::atomic<long> alive{0};

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (left_until_failure >= 0 && left_until_failure-- == 0) return nullptr;
  void* const memory = std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
  if (memory != nullptr) ++alive;
  return memory;
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  if (void* const memory = allocate(bytes, alignment)) return memory;
  throw std::bad_alloc();
}

void release(void* memory) noexcept {
  if (memory == nullptr) return;
  --alive;
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate_or_throw(bytes, 16); }
void* operator new[](std::size_t bytes) { return allocate_or_throw(bytes, 16); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, 16); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, 16); }
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept { release(memory); }

namespace relayout {
namespace {

/// Devices whose work runs on this thread alone, so that what fails is known.
std::vector<Device> devices() {
  std::vector<Device> result{Device::cpu()};
  for (const std::string& backend : Device::built_with()) {
    if (backend != "emulator") continue;
    EmulationOptions options;
    options.workers = 1;
    result.push_back(Device::emulated(options));
  }
  return result;
}

class AllocationFailure : public ::testing::TestWithParam<Device> {
 protected:
  /// Runs the call once as it is, so that what is kept for good is there, then with each allocation failing
  /// in turn.
  void check(const char* what, const std::function<void()>& call) {
    SCOPED_TRACE(what);
    call(), call();
    int failed = 0;
    for (long n = 0;; ++n) {
      ASSERT_LT(n, 20000) << "it never ends";
      const long before = alive;
      bool is_refused = false;
      left_until_failure = n;
      try {
        call();
      } catch (const std::bad_alloc&) {
        is_refused = true;
      } catch (const Error& error) {
        is_refused = error.code() == ErrorCode::out_of_memory;
        left_until_failure = -1;
        EXPECT_TRUE(is_refused) << error.what();
      }
      const bool reached = left_until_failure < 0;
      left_until_failure = -1;
      EXPECT_LE(alive.load(), before) << "memory is lost where allocation " << n << " fails";
      if (is_refused) ++failed;
      if (!reached) break;  // there were fewer allocations
    }
    EXPECT_NO_THROW(call());
    RecordProperty(what, failed);
  }

  TensorView view(DType type, const Dims& shape, const Dims& strides = {}) {
    memory_.emplace_back(4096);
    return TensorView(memory_.back().data(), type, shape,
                      strides.empty() ? contiguous_strides(shape) : strides);
  }
  const Device& device() const { return GetParam(); }
  const Stream stream_{GetParam()};

 private:
  std::vector<std::vector<std::uint64_t>> memory_;
};
INSTANTIATE_TEST_SUITE_P(Devices, AllocationFailure, ::testing::ValuesIn(devices()), [](const auto& info) {
  return info.param.kind() == DeviceKind::cpu ? "cpu" : "emulated32";
});

TEST_P(AllocationFailure, Views) {
  const TensorView v = view(DType::f32, {2, 3, 4});
  check("constructor", [&] { TensorView(nullptr, DType::f16, {3, 4}); });
  check("from_bytes", [&] { TensorView::from_bytes(nullptr, DType::f16, {3, 4}, {8, 2}); });
  check("permuted", [&] { v.permuted({2, 0, 1}); });
  check("reshaped", [&] { v.reshaped({6, 4}); });
  check("broadcast_to", [&] { v.broadcast_to({5, 2, 3, 4}); });
  check("slice", [&] { v.slice(1, 0, 2); });
  check("an error's sentence", [&] {
    try {
      v.slice(1, 0, 9);
    } catch (const Error&) {
    }
  });
}

TEST_P(AllocationFailure, DevicesAndMemory) {
  check("device", [&] { Device::best(), Device(device()); });
  check("stream", [&] { Stream(device()).synchronize(); });
  check("event", [&] { Event(device()).record(stream_); });
  check("buffer", [&] { Buffer(device(), 100), PinnedBuffer(device(), 100); });
  check("graph", [&] { Graph(stream_, [] {}).launch(stream_); });
}

/// Each launch has one worker more than all before it, whose thread and runner are made then.
TEST_P(AllocationFailure, WorkersOfTheEmulator) {
  if (device().kind() == DeviceKind::cpu) GTEST_SKIP() << "native code has no workers";
  std::vector<std::int32_t> in(256 * 256), out(in.size());
  const CopyPlan plan = plan_transpose(device(), TensorView(in.data(), DType::i32, {256, 256}),
                                       TensorView(out.data(), DType::i32, {256, 256}));
  EmulationOptions options = device().emulation();
  alarm(120);  // a launch that waits for ever
  bool reached = true;
  for (long n = 0; reached; ++n) {
    ASSERT_LT(n, 200) << "it never ends";
    ++options.workers;
    const Stream stream(Device::emulated(options));
    left_until_failure = n;
    try {
      plan.run(stream);
    } catch (const std::bad_alloc&) {
    } catch (const Error& error) {
      left_until_failure = -1;
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
    }
    reached = left_until_failure < 0;
    left_until_failure = -1;
    in[1] = static_cast<std::int32_t>(n);
    plan.run(stream);  // does not wait for a thread that could not be made
    ASSERT_EQ(out[256], in[1]);
  }
  alarm(0);
}

TEST_P(AllocationFailure, Copies) {
  const TensorView in = view(DType::f16, {6, 10}), out = view(DType::f16, {10, 6}),
                   wide = view(DType::f32, {10, 6});
  check("permute", [&] { permute(stream_, in, {1, 0}, out); });
  check("plan_transpose", [&] { plan_transpose(device(), in, out).run(stream_); });
  check("explain", [&] { plan_transpose(DeviceProperties::h200(), in, out).explain(); });
  check("cast", [&] { cast(stream_, out, wide); });
  check("contiguous", [&] { contiguous(stream_, in.permuted({1, 0}), out.data()); });
  check("copy with scale", [&] { copy(stream_, in, wide, {2.0, 0.5}); });
  check("plan cache",
        [&] { PlanCache().measure(stream_, plan_transpose(device(), in, out), in.data(), out.data()); });
}

TEST_P(AllocationFailure, Windows) {
  const TensorView in = view(DType::f32, {1, 4, 9}), padded = view(DType::f32, {1, 4, 12});
  Window window;
  window.taps = 3;
  PadSpec spec;
  spec.left = 3;
  const TensorView operand = view(DType::f16, {10, 12}), weights = view(DType::f32, {5, 4, 3});
  check("pad", [&] { pad(stream_, in, spec, padded); });
  check("plan_pad", [&] { plan_pad(DeviceProperties::h200(), in, spec, padded).explain(); });
  check("img2col", [&] { img2col(stream_, in, window, spec, operand); });
  const TensorView rows = view(DType::f16, {5, 12});
  check("rearrange_weights", [&] { rearrange_weights(stream_, weights, ColumnOrder::tap_outer, rows); });
  const TensorView taps = view(DType::f32, {4, 3}), state = view(DType::f32, {1, 4, 2});
  const TensorView out = view(DType::f32, {1, 4, 9});
  check("depthwise_conv1d", [&] {
    depthwise_conv1d(stream_, in, taps, TensorView(), Activation::silu, TensorView(), out, state);
  });
  const TensorView d_out = view(DType::f32, {1, 4, 9}), d_taps = view(DType::f32, {4, 3}),
                   workspace = view(DType::f32, {160});
  const DepthwiseForward forward{in, taps, TensorView(), Activation::silu, state, TensorView()};
  const DepthwiseGradients gradients{d_out, TensorView(), out, d_taps, TensorView(), TensorView()};
  check("depthwise_conv1d_backward",
        [&] { depthwise_conv1d_backward(stream_, forward, gradients, workspace); });
  check("plan_depthwise_conv1d_backward", [&] {
    plan_depthwise_conv1d_backward(DeviceProperties::h200(), forward, gradients, workspace).explain();
  });
  check("depthwise_update",
        [&] { depthwise_update(stream_, state, in, taps, TensorView(), Activation::none, out); });
  const TensorView samples = view(DType::f32, {4, 9}, {1, 4}), results = view(DType::f32, {4, 9}, {1, 4});
  DepthwiseUpdateOptions options;
  options.state_indices = view(DType::i32, {1});
  check("depthwise_update by index",
        [&] { depthwise_update(stream_, state, in, taps, TensorView(), Activation::none, out, options); });
  const TensorView starts = view(DType::i32, {2});
  check("depthwise_varlen", [&] {
    depthwise_varlen(stream_, samples, starts, taps, TensorView(), Activation::none, state, results);
  });
  check("depthwise_varlen_states", [&] { depthwise_varlen_states(stream_, samples, starts, state); });
}

TEST_P(AllocationFailure, Elementwise) {
  const TensorView x = view(DType::f32, {3, 20}), y = view(DType::f32, {20}), out = view(DType::f32, {3, 20}),
                   codes = view(DType::i8, {3, 20});
  check("add", [&] { add(stream_, x, y, out); });
  check("chain", [&] { chain(stream_, {Operation::add, {Operation::truediv, 1}}, {x, 2, y}, out); });
  check("plan_gelu", [&] { plan_gelu(DeviceProperties::mi300x(), x, out).explain(); });
  check("fill", [&] { fill(stream_, 1, out); });
  check("quantize", [&] { quantize(stream_, x, QuantizedTensor{codes, 0.5f, 1}); });
  check("quantized", [&] {
    quantized(stream_, Operation::mul, {QuantizedTensor{codes, 0.5f, 1}, x}, QuantizedTensor{codes, 0.5f, 1});
  });
  check("map", [&] { map<float(float, float)>(stream_, functors::Subtract(), {x, y}, out); });
}

TEST_P(AllocationFailure, Convolutions) {
  const TensorView a = view(DType::f16, {6, 8}), bt = view(DType::f16, {5, 8}), y = view(DType::f16, {6, 5});
  check("gemm", [&] { gemm(stream_, a, bt, TensorView(), y); });
  Conv1d problem;
  problem.in_channels = problem.out_channels = 4;
  problem.length = 9;
  problem.window.taps = 2;
  problem.pad.left = 1;
  const TensorView input = view(DType::f32, {1, 4, 9}), weights = view(DType::f32, {4, 4, 2}),
                   bias = view(DType::f32, {4}), result = view(DType::f16, {1, 9, 4});
  for (const ConvRoute route : {ConvRoute::operand, ConvRoute::strided_gemm, ConvRoute::direct})
    check(name_of(route),
          [&] { ConvPlan(stream_, problem, route, weights, bias).run(stream_, input, result); });
  for (const Upload upload : {Upload::host, Upload::device_staged, Upload::overlap}) {
    Conv1dOptions options;
    options.upload = upload;
    check(name_of(upload), [&] { Conv1dPipeline(stream_, problem, options, input, weights, bias).run(); });
  }
  check("choose_upload", [&] { choose_upload(problem, input, Conv1dRates()).explain(); });
}

}  // namespace
}  // namespace relayout
