// The plans of pad, img2col, rearrange_weights, gemm and the depthwise convolutions: the same bits as the
// functions, on planned and on other memory; what they say of themselves; their errors.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"

namespace relayout::test {
namespace {

/// Memory on the device that begins `shift` bytes behind a boundary of 16.
class Memory {
 public:
  Memory(const Stream& stream, std::size_t bytes, std::size_t shift = 0)
      : stream_(stream), bytes_(bytes), shift_(shift), buffer_(stream.device(), bytes + 32) {}

  void* data() const { return static_cast<char*>(buffer_.data()) + shift_; }
  TensorView view(DType type, const Dims& shape) const { return TensorView(data(), type, shape); }
  /// Small numbers of the type, by a count that tells one memory from another.
  void fill(DType type, int first) const {
    std::vector<unsigned char> host(bytes_);
    const std::size_t size = size_of(type);
    for (std::size_t i = 0; i < bytes_ / size; ++i) {
      const int number = (static_cast<int>(i) * 7 + first) % 23 - 11;
      const f16 half = to_f16(static_cast<float>(number));
      const float single = static_cast<float>(number);
      std::memcpy(&host[i * size], type == DType::f16 ? static_cast<const void*>(&half) : &single, size);
    }
    stream_.copy(data(), host.data(), bytes_);
    stream_.synchronize();
  }
  void clear() const { stream_.fill(data(), 0x5A, bytes_); }
  std::vector<unsigned char> bytes() const {
    std::vector<unsigned char> host(bytes_);
    stream_.copy(host.data(), data(), bytes_);
    stream_.synchronize();
    return host;
  }

 private:
  Stream stream_;
  std::size_t bytes_, shift_;
  Buffer buffer_;
};

void expect_explanation(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words)
    EXPECT_NE(text.find(word), std::string::npos) << word << " in\n" << text;
  EXPECT_EQ(text.back(), '\n');
}

class ConvFamilyPlanTest : public DeviceTest {
 protected:
  /// The plan gives what `run` gives, on the planned memory and on another signal. Both signals have `in`.
  template <class Plan, class Run>
  void check(const Plan& plan, const Run& run, const Memory& in, const Memory& out, const Memory& other_in,
             const Memory& other_out, DType type) {
    in.fill(type, 1);
    out.clear();
    run(in, out);
    const std::vector<unsigned char> first = out.bytes();
    out.clear();
    plan.run(stream());
    EXPECT_EQ(out.bytes(), first);

    other_in.fill(type, 5);
    out.clear();
    run(other_in, out);
    const std::vector<unsigned char> second = out.bytes();
    EXPECT_NE(second, first);
    other_out.clear();
    plan.run(stream(), other_in.data(), other_out.data());
    EXPECT_EQ(other_out.bytes(), second);
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, ConvFamilyPlanTest, ::testing::ValuesIn(test_devices()), device_test_name);

TEST_P(ConvFamilyPlanTest, Pad) {
  PadSpec spec;
  spec.left = 3;
  spec.right = 2;
  spec.mode = PadMode::reflect;
  const auto bytes = [](std::int64_t length) { return static_cast<std::size_t>(2 * 3 * length) * 4; };
  const Memory in(stream(), bytes(40)), out(stream(), bytes(45)), other_in(stream(), bytes(40), 4),
      other_out(stream(), bytes(45), 12);
  const auto input = [](const Memory& m) { return m.view(DType::f32, {2, 3, 40}); };
  const auto output = [](const Memory& m) { return m.view(DType::f32, {2, 3, 45}); };
  const WindowPlan plan = plan_pad(device(), input(in), spec, output(out));
  check(
      plan, [&](const Memory& a, const Memory& b) { pad(stream(), input(a), spec, output(b)); }, in, out,
      other_in, other_out, DType::f32);
  expect_explanation(plan.explain(),
                     {"pad: ", is_native() ? "Kernel native" : "Kernel pad_rows", "[2, 3, 45]"});
  if (!is_native()) {
    // Two multiples of 16 bytes are what the kernel with a tile would need.
    expect_explanation(plan.explain(), {"Not window_vector: ", "Not window: ", "256 threads"});
  }
}

TEST_P(ConvFamilyPlanTest, Img2colOfAlignedRows) {
  Window window;
  window.taps = 4;
  PadSpec spec;
  spec.left = 3;
  const std::size_t in_bytes = 64 * 80 * 4, out_bytes = 80 * 256 * 2;
  const Memory in(stream(), in_bytes), out(stream(), out_bytes), other_in(stream(), in_bytes),
      other_out(stream(), out_bytes);
  const auto input = [](const Memory& m) { return m.view(DType::f32, {1, 64, 80}); };
  const auto output = [](const Memory& m) { return m.view(DType::f16, {80, 256}); };
  const WindowPlan plan = plan_img2col(device(), input(in), window, spec, output(out));
  check(
      plan, [&](const Memory& a, const Memory& b) { img2col(stream(), input(a), window, spec, output(b)); },
      in, out, other_in, other_out, DType::f32);
  if (is_native()) return expect_explanation(plan.explain(), {"img2col: ", "Kernel native"});
  expect_explanation(plan.explain(),
                     {"img2col: ", "Kernel window_vector: ", "Not pad_rows: it converts nothing.",
                      "Not window: it could run this too", "16 bytes an access", "bytes of shared memory",
                      "Shared memory, predicted for "});
  const Memory shifted(stream(), out_bytes, 2);
  shifted.clear();
  const std::vector<unsigned char> before = shifted.bytes();
  expect_error(ErrorCode::invalid_argument, {"output", "16 bytes"},
               [&] { plan.run(stream(), in.data(), shifted.data()); });
  EXPECT_EQ(shifted.bytes(), before);
}

TEST_P(ConvFamilyPlanTest, Img2colOfRowsThatStartAnywhere) {
  Window window;
  window.taps = 3;
  window.order = ColumnOrder::channel_outer;
  const std::size_t in_bytes = 5 * 21 * 4, out_bytes = 19 * 15 * 2;
  // No window meets padding, so all positions are a copy, whose plan is for addresses like these.
  const Memory in(stream(), in_bytes, 4), out(stream(), out_bytes, 2), other_in(stream(), in_bytes, 20),
      other_out(stream(), out_bytes, 18);
  const auto input = [](const Memory& m) { return m.view(DType::f32, {1, 5, 21}); };
  const auto output = [](const Memory& m) { return m.view(DType::f16, {19, 15}); };
  const WindowPlan plan = plan_img2col(device(), input(in), window, {}, output(out));
  check(
      plan, [&](const Memory& a, const Memory& b) { img2col(stream(), input(a), window, {}, output(b)); }, in,
      out, other_in, other_out, DType::f32);
  if (is_native()) return;
  expect_explanation(plan.explain(),
                     {"the windows of 19 positions from 0 on lie inside the signal", "Predicted: "});
  const Memory aligned_in(stream(), in_bytes), aligned_out(stream(), out_bytes);
  const WindowPlan aligned = plan_img2col(device(), input(aligned_in), window, {}, output(aligned_out));
  expect_error(ErrorCode::invalid_argument, {"input", "on a multiple of 16 bytes, as in the plan"},
               [&] { aligned.run(stream(), in.data(), aligned_out.data()); });
}

TEST_P(ConvFamilyPlanTest, RearrangeWeights) {
  const std::size_t in_bytes = 6 * 4 * 3 * 4, out_bytes = 6 * 12 * 2;
  const Memory in(stream(), in_bytes), out(stream(), out_bytes), other_in(stream(), in_bytes),
      other_out(stream(), out_bytes);
  for (const ColumnOrder order : {ColumnOrder::tap_outer, ColumnOrder::channel_outer}) {
    const auto input = [](const Memory& m) { return m.view(DType::f32, {6, 4, 3}); };
    const auto output = [](const Memory& m) { return m.view(DType::f16, {6, 12}); };
    const CopyPlan plan = plan_rearrange_weights(device(), input(in), order, output(out));
    check(
        plan,
        [&](const Memory& a, const Memory& b) { rearrange_weights(stream(), input(a), order, output(b)); },
        in, out, other_in, other_out, DType::f32);
    expect_explanation(plan.explain(), {"Kernel "});
  }
  expect_error(ErrorCode::shape, {"rearrange_weights", "[6, 12]"}, [&] {
    plan_rearrange_weights(device(), in.view(DType::f32, {6, 4, 3}), ColumnOrder::tap_outer,
                           out.view(DType::f16, {6, 11}));
  });
}

TEST_P(ConvFamilyPlanTest, Gemm) {
  const std::int64_t m = 9, n = 7, k = 20;
  const Memory a(stream(), m * k * 2), y(stream(), m * n * 2), other_a(stream(), m * k * 2),
      other_y(stream(), m * n * 2), bt(stream(), n * k * 2), bias(stream(), n * 4),
      workspace(stream(), m * n * 4);
  bt.fill(DType::f16, 3);
  bias.fill(DType::f32, 2);
  const auto left = [&](const Memory& memory) { return memory.view(DType::f16, {m, k}); };
  const auto result = [&](const Memory& memory) { return memory.view(DType::f16, {m, n}); };
  const TensorView weights = bt.view(DType::f16, {n, k}), biases = bias.view(DType::f32, {n});
  for (const TensorView& room : {TensorView(), workspace.view(DType::f32, {m * n})}) {
    const GemmPlan plan = plan_gemm(device(), left(a), weights, biases, result(y), room);
    check(
        plan,
        [&](const Memory& in, const Memory& out) {
          gemm(stream(), left(in), weights, biases, result(out), room);
        },
        a, y, other_a, other_y, DType::f16);
    const bool by_library = std::string(plan.library()) != "relayout";
    EXPECT_STREQ(plan.library(), by_library ? gemm_library(device()) : "relayout");
    expect_explanation(plan.explain(),
                       {"gemm: ", "m 9, n 7, k 20", by_library ? gemm_library(device()) : "Not "});
    expect_error(ErrorCode::partial_overlap, {"gemm"}, [&] { plan.run(stream(), y.data(), y.data()); });
  }
  const GemmPlan later =
      plan_gemm(device(), TensorView(nullptr, DType::f16, {m, k}), weights, biases, result(y));
  expect_error(ErrorCode::null_pointer, {"gemm"}, [&] { later.run(stream()); });
  later.run(stream(), a.data(), y.data());
  EXPECT_STREQ(plan_gemm(DeviceProperties::h200(), left(a), weights, biases, result(y)).library(),
               "relayout");
}

TEST_P(ConvFamilyPlanTest, DepthwiseAlongTimeAndChannels) {
  const std::int64_t channels = 64, length = 512, taps = 4;
  const std::size_t bytes = channels * length * 2;
  const Memory in(stream(), bytes), out(stream(), bytes), other_in(stream(), bytes),
      other_out(stream(), bytes), w(stream(), channels * taps * 4),
      state(stream(), channels * (taps - 1) * 2);
  w.fill(DType::f32, 4);
  state.fill(DType::f16, 6);
  const TensorView weights = w.view(DType::f32, {channels, taps}),
                   initial = state.view(DType::f16, {1, channels, taps - 1});
  for (const bool last : {false, true}) {
    const auto signal = [&](const Memory& m) {
      return last ? m.view(DType::f16, {1, length, channels}).permuted({0, 2, 1})
                  : m.view(DType::f16, {1, channels, length});
    };
    const DepthwisePlan plan = plan_depthwise_conv1d(device(), signal(in), weights, TensorView(),
                                                     Activation::silu, initial, signal(out));
    check(
        plan,
        [&](const Memory& a, const Memory& b) {
          depthwise_conv1d(stream(), signal(a), weights, TensorView(), Activation::silu, initial, signal(b));
        },
        in, out, other_in, other_out, DType::f16);
    if (is_native()) {
      expect_explanation(plan.explain(), {"depthwise_conv1d: ", "Kernel native"});
      continue;
    }
    expect_explanation(plan.explain(), {last ? "Kernel depthwise_channel: " : "Kernel depthwise_time: ",
                                        last ? "Not depthwise_time: time is not the fast axis"
                                             : "Not depthwise_channel: channels are not the fast axis",
                                        "Predicted: ", "Runner-up: depthwise", "128 threads",
                                        last ? "4 bytes an access" : "16 bytes an access"});
    if (last)  // along time any base will do
      expect_error(ErrorCode::invalid_argument, {"input", "4 bytes"},
                   [&] { plan.run(stream(), static_cast<const char*>(in.data()) + 2, other_out.data()); });
  }
}

/// A lane of a matrix unit stores four neighbours on NVIDIA GPUs; on AMD's results go through shared memory.
TEST(ConvFamilyPlan, DepthwiseByMatrixUnits) {
  const TensorView signal(nullptr, DType::bf16, {8, 2048, 8192}), weights(nullptr, DType::bf16, {2048, 31});
  const auto explanation = [&](const DeviceProperties& device) {
    return plan_depthwise_conv1d(device, signal, weights, TensorView(), Activation::none, TensorView(),
                                 signal)
        .explain();
  };
  expect_explanation(explanation(DeviceProperties::h200()),
                     {"Kernel depthwise_time_matrix: ", "Not depthwise_time: it unrolls at most 8 taps",
                      "Runner-up: depthwise_time_many", " 16 bytes an access", " 8 bytes an access"});
  const std::string amd = explanation(DeviceProperties::mi300x());
  expect_explanation(amd, {"Kernel depthwise_time_matrix: "});
  EXPECT_EQ(amd.find(" 8 bytes an access"), std::string::npos) << amd;
  const TensorView rows = TensorView(nullptr, DType::bf16, {8, 8192, 2048}).permuted({0, 2, 1});
  expect_explanation(
      plan_depthwise_conv1d(DeviceProperties::h200(), rows, weights, TensorView(), Activation::none,
                            TensorView(), signal)
          .explain(),
      {"Kernel depthwise_tile_matrix: it takes any layouts", "Not depthwise_time_matrix: time is not",
       "Runner-up: depthwise_tile", "512 samples of one batch, a warp takes 256 samples of a channel",
       "16 bytes an access", " 2 bytes an access", "The input must lie on boundaries of 16 bytes"});
}

TEST_P(ConvFamilyPlanTest, DepthwiseUpdate) {
  const std::int64_t channels = 6, taps = 4, columns = 5, samples = 2;
  const std::size_t bytes = channels * samples * 4;
  const Memory in(stream(), bytes), out(stream(), bytes), w(stream(), channels * taps * 4),
      state(stream(), channels * columns * 4), same_out(stream(), bytes),
      same_state(stream(), channels * columns * 4);
  in.fill(DType::f32, 1);
  w.fill(DType::f32, 4);
  const auto signal = [&](const Memory& m) { return m.view(DType::f32, {1, channels, samples}); };
  const auto columns_of = [&](const Memory& m) { return m.view(DType::f32, {1, channels, columns}); };
  const TensorView weights = w.view(DType::f32, {channels, taps});
  const DepthwisePlan plan = plan_depthwise_update(device(), columns_of(state), signal(in), weights,
                                                   TensorView(), Activation::none, signal(out));
  state.fill(DType::f32, 6);
  same_state.fill(DType::f32, 6);
  for (int i = 0; i < 3; ++i) {
    depthwise_update(stream(), columns_of(same_state), signal(in), weights, TensorView(), Activation::none,
                     signal(same_out));
    plan.run(stream());
    EXPECT_EQ(out.bytes(), same_out.bytes());
    EXPECT_EQ(state.bytes(), same_state.bytes());
  }
  expect_explanation(plan.explain(),
                     {"depthwise_update: ", is_native() ? "Kernel native" : "Kernel depthwise_update"});
}

TEST_P(ConvFamilyPlanTest, ErrorsOfPlansAndRuns) {
  const Memory in(stream(), 64 * 4), out(stream(), 64 * 4);
  in.fill(DType::f32, 1);
  const TensorView x = in.view(DType::f32, {1, 4, 8}), y = out.view(DType::f32, {1, 4, 8});
  const TensorView none(nullptr, DType::f32, {1, 4, 8});
  expect_error(ErrorCode::shape, {"pad", "[1, 4, 8]"}, [&] {
    plan_pad(device(), x, {}, out.view(DType::f32, {1, 4, 9}));
  });
  expect_error(ErrorCode::partial_overlap, {"pad"}, [&] { plan_pad(device(), x, {}, x); });
  expect_error(ErrorCode::invalid_argument, {"pad", "4 bytes"}, [&] {
    plan_pad(device(), TensorView(static_cast<char*>(in.data()) + 1, DType::f32, {1, 4, 8}), {}, y);
  });
  const WindowPlan plan = plan_pad(device(), none, {}, y);
  expect_error(ErrorCode::null_pointer, {"pad", "input"}, [&] { plan.run(stream()); });
  expect_error(ErrorCode::partial_overlap, {"pad"}, [&] { plan.run(stream(), out.data(), out.data()); });
  if (const auto other = another_device(device()))
    expect_error(ErrorCode::invalid_argument, {"pad"},
                 [&] { plan.run(Stream(*other), in.data(), out.data()); });
  const TensorView wider(nullptr, DType::f32, {1, 4, 9});
  const WindowPlan abstract = plan_pad(DeviceProperties::h200(), none, {1, 0}, wider);
  expect_error(ErrorCode::unsupported, {"pad"}, [&] { abstract.run(stream(), in.data(), out.data()); });
  expect_explanation(abstract.explain(), {"Kernel pad_rows", "NVIDIA H200"});
  // Without padding it is a copy.
  expect_explanation(plan_pad(DeviceProperties::h200(), none, {}, none).explain(), {"Kernel stream"});
  plan.run(stream(), in.data(), out.data());
}

TEST_P(ConvFamilyPlanTest, NothingToDo) {
  const WindowPlan plan = plan_pad(device(), TensorView(nullptr, DType::f32, {0, 4, 8}), {},
                                   TensorView(nullptr, DType::f32, {0, 4, 8}));
  plan.run(stream());
  expect_explanation(plan.explain(), {"Kernel nothing: there are no outputs."});
}

}  // namespace
}  // namespace relayout::test
