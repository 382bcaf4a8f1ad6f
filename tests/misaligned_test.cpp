// Views whose pointer is no multiple of their element size: an error of every operation, before anything is
// written.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"

namespace relayout::test {
namespace {

/// Any number of views in one piece of memory; one of them may be shifted by some bytes.
class MisalignedTest : public DeviceTest {
 protected:
  static constexpr std::size_t kRoom = 1024;
  static constexpr int kViews = 8;
  MisalignedTest() : memory_(device(), kViews * kRoom) {
    stream().fill(memory_.data(), 0, memory_.bytes());
    stream().synchronize();
  }

  /// The view number `number`.
  TensorView view(int number, DType type, const Dims& shape) const {
    const std::size_t shift = number == shifted_ ? bytes_ : 0;
    return TensorView(static_cast<char*>(memory_.data()) + static_cast<std::size_t>(number) * kRoom + shift,
                      type, shape);
  }
  /// The call works with aligned views, and refuses each of these when it is shifted by `bytes`.
  void expect_errors(const std::vector<std::string>& names, const std::function<void()>& call,
                     std::size_t bytes = 1) {
    shifted_ = -1;
    EXPECT_NO_THROW(call());
    const std::vector<char> before = download();
    bytes_ = bytes;
    for (shifted_ = 0; shifted_ < static_cast<int>(names.size()); ++shifted_) {
      SCOPED_TRACE(names[static_cast<std::size_t>(shifted_)]);
      expect_error(ErrorCode::invalid_argument, {names[static_cast<std::size_t>(shifted_)], "multiple"},
                   call);
    }
    EXPECT_EQ(download(), before) << "something was written before the error";
  }

 private:
  std::vector<char> download() const {
    std::vector<char> bytes(memory_.bytes());
    stream().copy(bytes.data(), memory_.data(), bytes.size());
    stream().synchronize();
    return bytes;
  }
  Buffer memory_;
  int shifted_ = -1;
  std::size_t bytes_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Devices, MisalignedTest, ::testing::ValuesIn(test_devices()), device_test_name);

TEST_P(MisalignedTest, Copies) {
  for (const DType type : {DType::f16, DType::i32, DType::f64}) {
    const Dims shape{3, 5}, swapped{5, 3};
    for (const std::size_t bytes : {std::size_t{1}, size_of(type) - 1}) {
      const std::vector<std::string> names{"input", "output"};
      expect_errors(
          names,
          [&] {
            permute(stream(), view(0, type, shape), {1, 0}, view(1, type, swapped));
          },
          bytes);
      expect_errors(
          names, [&] { transpose(stream(), view(0, type, shape), view(1, type, swapped)); }, bytes);
      expect_errors(
          names, [&] { copy(stream(), view(0, type, shape), view(1, type, swapped)); }, bytes);
      expect_errors(
          names, [&] { cast(stream(), view(0, type, shape), view(1, type, shape)); }, bytes);
      expect_errors(
          names, [&] { contiguous(stream(), view(0, type, shape), view(1, type, shape).data()); }, bytes);
      expect_errors(
          names, [&] { plan_transpose(device(), view(0, type, shape), view(1, type, swapped)); }, bytes);
    }
    const CopyPlan plan = plan_transpose(device(), view(0, type, shape), view(1, type, swapped));
    expect_errors({"input", "output"},
                  [&] { plan.run(stream(), view(0, type, shape).data(), view(1, type, swapped).data()); });
  }
}

/// Elements of 16 bytes move as two of 8.
TEST_P(MisalignedTest, PairsNeedEightBytes) {
  const auto move = [&] { transpose(stream(), view(0, DType::b128, {2, 3}), view(1, DType::b128, {3, 2})); };
  expect_errors({"input", "output"}, move, 4);
  const TensorView in(static_cast<char*>(view(0, DType::u8, {1}).data()) + 8, DType::b128, {2, 3}),
      out(static_cast<char*>(view(1, DType::u8, {1}).data()) + 8, DType::b128, {3, 2});
  EXPECT_NO_THROW(transpose(stream(), in, out));
}

TEST_P(MisalignedTest, BytesAndNothingLieAnywhere) {
  const auto* odd = static_cast<const char*>(view(0, DType::u8, {1}).data()) + 1;
  EXPECT_NO_THROW(cast(stream(), TensorView(odd, DType::u8, {4}), view(1, DType::u8, {4})));
  EXPECT_NO_THROW(cast(stream(), TensorView(odd, DType::f32, {0}), view(1, DType::f32, {0})));
}

TEST_P(MisalignedTest, PaddingAndWindows) {
  PadSpec pads;
  pads.left = 2;
  Window window;
  window.taps = 3;
  const DType type = DType::f32;
  expect_errors({"input", "output"}, [&] {
    pad(stream(), view(0, type, {2, 3, 5}), pads, view(1, type, {2, 3, 7}));
  });
  expect_errors({"input", "output"}, [&] {
    img2col(stream(), view(0, type, {2, 3, 5}), window, pads, view(1, DType::f16, {10, 9}));
  });
  expect_errors({"input", "output"}, [&] {
    rearrange_weights(stream(), view(0, type, {2, 3, 3}), ColumnOrder::tap_outer,
                      view(1, DType::f16, {2, 9}));
  });
}

TEST_P(MisalignedTest, Gemm) {
  std::vector<std::string> names{"f16[4, 5]", "f16[3, 5]", "f32[3]", "output"};
  const TensorView y = view(3, DType::f16, {4, 3});
  const auto workspace = static_cast<std::int64_t>(gemm_workspace_bytes(device(), y, true));
  if (workspace > 0) names.push_back("workspace");
  expect_errors(names, [&] {
    gemm(stream(), view(0, DType::f16, {4, 5}), view(1, DType::f16, {3, 5}), view(2, DType::f32, {3}),
         view(3, DType::f16, {4, 3}), view(4, DType::u8, {workspace}));
  });
}

TEST_P(MisalignedTest, Depthwise) {
  const DType type = DType::f16;
  expect_errors({"f16[2, 6, 8]", "f16[6, 4]", "f32[6]", "f16[2, 6, 3]", "output", "output"}, [&] {
    depthwise_conv1d(stream(), view(0, type, {2, 6, 8}), view(1, type, {6, 4}), view(2, DType::f32, {6}),
                     Activation::none, view(3, type, {2, 6, 3}), view(4, type, {2, 6, 8}),
                     view(5, type, {2, 6, 3}));
  });
  expect_errors({"f16[2, 6, 8]", "output", "i32[2, 8]"}, [&] {
    depthwise_conv1d(stream(), view(0, type, {2, 6, 8}), view(3, type, {6, 4}), TensorView(),
                     Activation::none, TensorView(), view(1, type, {2, 6, 8}), TensorView(),
                     view(2, DType::i32, {2, 8}));
  });
  expect_errors({"output", "f16[2, 6, 1]", "f16[6, 4]", "f32[6]", "output"}, [&] {
    depthwise_update(stream(), view(0, type, {2, 6, 3}), view(1, type, {2, 6, 1}), view(2, type, {6, 4}),
                     view(3, DType::f32, {6}), Activation::none, view(4, type, {2, 6, 1}));
  });
}

TEST_P(MisalignedTest, DepthwiseSequences) {
  const DType type = DType::f16;
  expect_errors({"output", "f16[2, 6, 1]", "f16[6, 4]", "i32[2]", "i32[2]"}, [&] {
    DepthwiseUpdateOptions options;
    options.null_index = 0;  // which all are: two sequences may not share a state
    options.state_indices = view(3, DType::i32, {2});
    options.cache_seqlens = view(4, DType::i32, {2});
    depthwise_update(stream(), view(0, type, {5, 6, 3}), view(1, type, {2, 6, 1}), view(2, type, {6, 4}),
                     TensorView(), Activation::none, view(5, type, {2, 6, 1}), options);
  });
  expect_errors({"f16[6, 9]", "i32[3]", "f16[6, 4]", "output", "output", "i32[2]"}, [&] {
    DepthwiseVarlenOptions options;
    options.null_index = 0;
    options.state_indices = view(5, DType::i32, {2});
    depthwise_varlen(stream(), view(0, type, {6, 9}), view(1, DType::i32, {3}), view(2, type, {6, 4}),
                     TensorView(), Activation::none, view(3, type, {4, 6, 3}), view(4, type, {6, 9}),
                     options);
  });
  expect_errors({"f16[6, 9]", "i32[3]", "output"}, [&] {
    depthwise_varlen_states(stream(), view(0, type, {6, 9}), view(1, DType::i32, {3}),
                            view(2, type, {2, 6, 3}));
  });
}

TEST_P(MisalignedTest, DepthwiseBackward) {
  const DType type = DType::f16;
  const auto forward = [&](bool ids) {
    return DepthwiseForward{view(0, type, {2, 6, 8}),
                            view(1, type, {6, 4}),
                            view(2, DType::f32, {6}),
                            Activation::none,
                            ids ? TensorView() : view(3, type, {2, 6, 3}),
                            ids ? view(3, DType::i32, {2, 8}) : TensorView()};
  };
  DepthwiseGradients aligned;
  aligned.d_out = aligned.d_in = TensorView(nullptr, type, {2, 6, 8});
  aligned.d_weights = TensorView(nullptr, type, {6, 4});
  const auto workspace =
      static_cast<std::int64_t>(depthwise_conv1d_backward_workspace_bytes(device(), forward(true), aligned));
  expect_errors({"f16[2, 6, 8]", "f16[6, 4]", "f32[6]", "f16[2, 6, 3]", "f16[2, 6, 8]", "output", "output"},
                [&] {
                  DepthwiseGradients d = aligned;
                  d.d_out = view(4, type, {2, 6, 8});
                  d.d_in = view(5, type, {2, 6, 8});
                  d.d_weights = view(6, DType::f32, {6, 4});
                  depthwise_conv1d_backward(stream(), forward(false), d, view(7, DType::u8, {workspace}));
                });
  expect_errors({"f16[2, 6, 8]", "f16[6, 4]", "f32[6]", "i32[2, 8]", "f16[2, 6, 8]", "output", "output"},
                [&] {
                  DepthwiseGradients d = aligned;
                  d.d_out = view(4, type, {2, 6, 8});
                  d.d_in = view(5, type, {2, 6, 8});
                  d.d_weights = TensorView();
                  d.d_bias = view(7, DType::f32, {6});
                  depthwise_conv1d_backward(stream(), forward(true), d, view(6, DType::u8, {workspace}));
                });
}

TEST_P(MisalignedTest, Convolutions) {
  Conv1d problem;
  problem.batch = 2;
  problem.in_channels = 4;
  problem.length = 8;
  problem.out_channels = 3;
  problem.window.taps = 3;
  problem.pad.left = 2;
  for (const ConvRoute route : {ConvRoute::operand, ConvRoute::strided_gemm}) {
    const auto plan = [&] {
      return ConvPlan(stream(), problem, route, view(0, DType::f32, {3, 4, 3}), view(1, DType::f32, {3}));
    };
    expect_errors({"weights", "bias"}, [&] {
      plan();
      stream().synchronize();
    });
    // The plan's views are aligned again: shifts are of the two below.
    const ConvPlan ready(stream(), problem, route, view(6, DType::f32, {3, 4, 3}), view(7, DType::f32, {3}));
    expect_errors({"input", "y"}, [&] {
      ready.run(stream(), view(0, DType::f32, {2, 4, 8}), view(1, problem.dtype, {2, 8, 3}));
    });
  }
}

TEST_P(MisalignedTest, OverlappedConvolution) {
  Conv1d problem;
  problem.batch = 1;
  problem.in_channels = 2;
  problem.length = 8;
  problem.out_channels = 1;
  problem.window.taps = 1;
  const std::vector<float> host(17);
  const auto overlap = [&](std::size_t in_shift, std::size_t out_shift) {
    const TensorView in(reinterpret_cast<const char*>(host.data()) + in_shift, DType::f32, {1, 2, 8});
    const TensorView a = view(0, problem.dtype, {8, 2});
    Conv1dOverlap(stream(), problem, in,
                  TensorView(static_cast<char*>(a.data()) + out_shift, a.dtype(), a.shape()));
  };
  EXPECT_NO_THROW(overlap(0, 0));
  expect_error(ErrorCode::invalid_argument, {"input", "multiple of 4"}, [&] { overlap(2, 0); });
  expect_error(ErrorCode::invalid_argument, {"operand", "multiple of 2"}, [&] { overlap(0, 1); });
}

}  // namespace
}  // namespace relayout::test
