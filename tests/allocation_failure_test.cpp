// Every function with the n-th allocation failing, for each n: std::bad_alloc or a result, nothing lost, and
// the next call works.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <relayout/map.hpp>
#include <relayout/relayout.hpp>

#include "tests/support/failing_allocations.hpp"
#include "tests/support/files.hpp"

namespace relayout {
namespace {

using test::text_of;

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

  /// What is said is said whole, or not at all.
  template <class Explain>
  void check_words(const char* what, const Explain& explain) {
    const std::string words = explain();
    EXPECT_GT(words.size(), 60u) << what;
    check(what, [&] {
      if (explain() != words) throw std::logic_error("a part of the sentences is missing");
    });
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
  check("broadcast_shapes", [&] { broadcast_shapes({5, 1, 4}, {3, 1}); });
  check("contiguous_strides", [&] { to_string(contiguous_strides({5, 1, 4})); });
  check("from_ggml", [&] { TensorView::from_ggml(nullptr, DType::f16, {4, 3}, {2, 8}); });
  check("strides_in", [&] { strides_in(Layout::nhwc8, {1, 3, 4}); });
  check("elements_in", [&] { elements_in(Layout::nhwc8, {1, 3, 4}); });
  check("view_in", [&] { view_in(Layout::nhwc8, nullptr, DType::f16, {1, 3, 4}); });
  check("tile_space", [&] { tile_space<2>(TensorView(nullptr, DType::f32, {8, 8}), {4, 4}); });
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
  check("event", [&] { Event(device()).record(stream_), Event(device()).is_done(); });
  check("built_with", [&] { Device::built_with(); });
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

/// Operands across each other, which several threads put into boxes where there are several. The first one is
/// this thread.
TEST_P(AllocationFailure, ThreadsOfNativeCode) {
  if (device().kind() != DeviceKind::cpu) GTEST_SKIP() << "an emulated GPU has one worker here";
  std::vector<float> a(512 * 512, 1.0f), b(a.size(), 2.0f), sum(a.size());
  const Dims shape{512, 512};
  const TensorView across(b.data(), DType::f32, shape, {1, 512}), out(sum.data(), DType::f32, shape);
  check("add", [&] {
    add(stream_, TensorView(a.data(), DType::f32, shape), across, out);
    if (sum.back() != 3.0f) throw std::logic_error("the sum is wrong");
    sum.back() = 0.0f;
  });
}

TEST_P(AllocationFailure, Copies) {
  const TensorView in = view(DType::f16, {6, 10}), out = view(DType::f16, {10, 6}),
                   wide = view(DType::f32, {10, 6});
  check("permute", [&] { permute(stream_, in, {1, 0}, out); });
  check("plan_transpose", [&] { plan_transpose(device(), in, out).run(stream_); });
  check_words("explain", [&] { return plan_transpose(DeviceProperties::h200(), in, out).explain(); });
  check("plan_permute", [&] { plan_permute(device(), in, {1, 0}, out).run(stream_); });
  check("transpose", [&] { transpose(stream_, in, out); });
  check("cast", [&] { cast(stream_, out, wide); });
  check("plan_cast", [&] { plan_cast(device(), out, wide).run(stream_); });
  check("copy", [&] { copy(stream_, in.permuted({1, 0}), out); });
  check("plan_copy", [&] { plan_copy(device(), in.permuted({1, 0}), out).run(stream_); });
  check("plan_contiguous", [&] { plan_contiguous(device(), in.permuted({1, 0}), out.data()).run(stream_); });
  check("contiguous", [&] { contiguous(stream_, in.permuted({1, 0}), out.data()); });
  check("copy with scale", [&] { copy(stream_, in, wide, {2.0, 0.5}); });
  check("plan cache",
        [&] { PlanCache().measure(stream_, plan_transpose(device(), in, out), in.data(), out.data()); });
  const std::string file =
      std::filesystem::temp_directory_path() / ("relayout_allocations_" + std::to_string(getpid()));
  PlanCache cache;
  cache.measure(stream_, plan_transpose(device(), in, out), in.data(), out.data());
  cache.save(file);
  const std::string saved = text_of(file);
  check("PlanCache::save", [&] { cache.save(file); });
  for (long n = 0, left = 0; left == 0; ++n) {  // no failure leaves a part of the file
    left_until_failure = n;
    try {
      cache.save(file);
    } catch (const std::bad_alloc&) {
    }
    left = left_until_failure + 1;
    left_until_failure = -1;
    ASSERT_EQ(text_of(file), saved) << n;
  }
  check("PlanCache::load", [&] { PlanCache().load(file); });
  check("PlanCache::find", [&] { cache.find(plan_transpose(device(), in, out)).explain(); });
  EXPECT_TRUE(std::filesystem::remove(file));
}

TEST_P(AllocationFailure, Redistributions) {
  const Group group({stream_, stream_});
  const Distribution rows = Distribution::split({6, 10}, 0, 2), columns = Distribution::split({10, 6}, 0, 2);
  const std::vector<TensorView> in{view(DType::f32, {3, 10}), view(DType::f32, {3, 10})},
      out{view(DType::f16, {5, 6}), view(DType::f16, {5, 6})};
  const auto planned = [&] { return plan_redistribute(group, rows, in, {1, 0}, columns, out); };
  check("plan_redistribute", [&] { planned().run(); });
  check("redistribute", [&] { redistribute(group, rows, in, {1, 0}, columns, out); });
  check_words("explain", [&] { return planned().explain(); });
}

TEST_P(AllocationFailure, Windows) {
  const TensorView in = view(DType::f32, {1, 4, 9}), padded = view(DType::f32, {1, 4, 12});
  Window window;
  window.taps = 3;
  PadSpec spec;
  spec.left = 3;
  const TensorView operand = view(DType::f16, {10, 12}), weights = view(DType::f32, {5, 4, 3});
  check("pad", [&] { pad(stream_, in, spec, padded); });
  check_words("plan_pad", [&] { return plan_pad(DeviceProperties::h200(), in, spec, padded).explain(); });
  check("img2col", [&] { img2col(stream_, in, window, spec, operand); });
  check("plan_img2col", [&] { plan_img2col(device(), in, window, spec, operand).run(stream_); });
  check("output_length", [&] { output_length(9, window, spec); });
  check("check_padding", [&] { check_padding(DType::f32, TilePadding::nan); });
  check("causal_padding", [&] { causal_padding(Causal::frame, 9, window); });
  const TensorView rows = view(DType::f16, {5, 12});
  check("rearrange_weights", [&] { rearrange_weights(stream_, weights, ColumnOrder::tap_outer, rows); });
  check("plan_rearrange_weights",
        [&] { plan_rearrange_weights(device(), weights, ColumnOrder::channel_outer, rows).run(stream_); });
  const TensorView taps = view(DType::f32, {4, 3}), state = view(DType::f32, {1, 4, 2});
  const TensorView out = view(DType::f32, {1, 4, 9});
  check("depthwise_conv1d", [&] {
    depthwise_conv1d(stream_, in, taps, TensorView(), Activation::silu, TensorView(), out, state);
  });
  check("plan_depthwise_conv1d", [&] {
    plan_depthwise_conv1d(device(), in, taps, TensorView(), Activation::silu, TensorView(), out).run(stream_);
  });
  const TensorView d_out = view(DType::f32, {1, 4, 9}), d_taps = view(DType::f32, {4, 3}),
                   workspace = view(DType::f32, {160});
  const DepthwiseForward forward{in, taps, TensorView(), Activation::silu, state, TensorView()};
  const DepthwiseGradients gradients{d_out, TensorView(), out, d_taps, TensorView(), TensorView()};
  check("depthwise_conv1d_backward",
        [&] { depthwise_conv1d_backward(stream_, forward, gradients, workspace); });
  check_words("plan_depthwise_conv1d_backward", [&] {
    return plan_depthwise_conv1d_backward(DeviceProperties::h200(), forward, gradients, workspace).explain();
  });
  check("depthwise_conv1d_backward_workspace_bytes",
        [&] { depthwise_conv1d_backward_workspace_bytes(device(), forward, gradients); });
  check("plan_depthwise_update", [&] {
    plan_depthwise_update(device(), state, in, taps, TensorView(), Activation::none, out).run(stream_);
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
  check_words("plan_depthwise_varlen", [&] {
    return plan_depthwise_varlen(DeviceProperties::h200(), samples, starts, taps, TensorView(),
                                 Activation::none, state, results)
        .explain();
  });
  check_words("plan_depthwise_conv1d", [&] {
    return plan_depthwise_conv1d(DeviceProperties::h200(), in, taps, TensorView(), Activation::none,
                                 TensorView(), out)
        .explain();
  });
  check("plan_depthwise_varlen", [&] {
    plan_depthwise_varlen(device(), samples, starts, taps, TensorView(), Activation::none, state, results)
        .run(stream_);
  });
  check("depthwise_varlen_states", [&] { depthwise_varlen_states(stream_, samples, starts, state); });
  check("plan_depthwise_varlen_states",
        [&] { plan_depthwise_varlen_states(device(), samples, starts, state).run(stream_); });
}

TEST_P(AllocationFailure, Elementwise) {
  const TensorView x = view(DType::f32, {3, 20}), y = view(DType::f32, {20}), out = view(DType::f32, {3, 20}),
                   codes = view(DType::i8, {3, 20});
  check("add", [&] { add(stream_, x, y, out); });
  check("chain", [&] { chain(stream_, {Operation::add, {Operation::truediv, 1}}, {x, 2, y}, out); });
  check_words("plan_gelu", [&] { return plan_gelu(DeviceProperties::mi300x(), x, out).explain(); });
  check_words("plan_map", [&] {
    return plan_map<float(float, float)>(device(), functors::Subtract(), {x, y}, out).explain();
  });
  check("elementwise", [&] { elementwise(stream_, Operation::sub, {x, y}, out); });
  check("plan_elementwise", [&] { plan_elementwise(device(), Operation::sub, {x, y}, out).run(stream_); });
  check("plan_chain", [&] {
    plan_chain(device(), {Operation::add, Operation::exp}, {x, 2}, out).run(stream_, {x.data()}, out.data());
  });
  check("result_type", [&] { result_type(OperationClass::arithmetic, DType::f16, Literal(2)); });
  check("common_type", [&] { common_type(DType::u8, DType::f16); });
  check("support_table", [&] { support_table(); });
  check("fill", [&] { fill(stream_, 1, out); });
  check("plan_fill", [&] { plan_fill(device(), 1, out).run(stream_); });
  check("quantize", [&] { quantize(stream_, x, QuantizedTensor{codes, 0.5f, 1}); });
  check("plan_quantize", [&] { plan_quantize(device(), x, QuantizedTensor{codes, 0.5f, 1}).run(stream_); });
  check("dequantize", [&] { dequantize(stream_, QuantizedTensor{codes, 0.5f, 1}, out); });
  check("plan_dequantize", [&] {
    plan_dequantize(device(), QuantizedTensor{codes, 0.5f, 1}, out).run(stream_);
  });
  check("plan_quantized", [&] {
    plan_quantized(device(), Operation::mul, {QuantizedTensor{codes, 0.5f, 1}, x},
                   QuantizedTensor{codes, 0.5f, 1})
        .run(stream_);
  });
  check("quantized", [&] {
    quantized(stream_, Operation::mul, {QuantizedTensor{codes, 0.5f, 1}, x}, QuantizedTensor{codes, 0.5f, 1});
  });
  check("map", [&] { map<float(float, float)>(stream_, functors::Subtract(), {x, y}, out); });
}

TEST_P(AllocationFailure, Convolutions) {
  const TensorView a = view(DType::f16, {6, 8}), bt = view(DType::f16, {5, 8}), y = view(DType::f16, {6, 5});
  check("gemm", [&] { gemm(stream_, a, bt, TensorView(), y); });
  check_words("plan_gemm",
              [&] { return plan_gemm(DeviceProperties::h200(), a, bt, TensorView(), y).explain(); });
  check("plan_gemm", [&] { plan_gemm(device(), a, bt, TensorView(), y).run(stream_); });
  check("prepare_gemm", [&] { prepare_gemm(stream_); });
  check("gemm_workspace_bytes", [&] { gemm_workspace_bytes(device(), y, true); });
  Conv1d problem;
  problem.in_channels = problem.out_channels = 4;
  problem.length = 9;
  problem.window.taps = 2;
  problem.pad.left = 1;
  const TensorView input = view(DType::f32, {1, 4, 9}), weights = view(DType::f32, {4, 4, 2}),
                   bias = view(DType::f32, {4}), result = view(DType::f16, {1, 9, 4});
  const ConvPlan direct(stream_, problem, ConvRoute::direct, weights, bias);
  check_words("ConvPlan::explain", [&] { return direct.explain(input, result); });
  for (const ConvRoute route : {ConvRoute::operand, ConvRoute::strided_gemm, ConvRoute::direct})
    check(name_of(route),
          [&] { ConvPlan(stream_, problem, route, weights, bias).run(stream_, input, result); });
  for (const Upload upload : {Upload::host, Upload::device_staged, Upload::overlap}) {
    Conv1dOptions options;
    options.upload = upload;
    check(name_of(upload), [&] { Conv1dPipeline(stream_, problem, options, input, weights, bias).run(); });
  }
  check("sizes_of", [&] { sizes_of(problem); });
  check("measure_rates", [&] { measure_rates(stream_, problem, input); });
  check("choose_upload", [&] { choose_upload(problem, input, Conv1dRates()).explain(); });
}

}  // namespace
}  // namespace relayout
