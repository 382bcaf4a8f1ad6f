// Depthwise causal conv1d, alone and with bias and SiLU, its backward pass, and its update by a few samples.
#include <relayout/depthwise_backward.hpp>
#include <utility>

#include "bench/bench_case.hpp"
#include "bench/case_json.hpp"
#include "bench/rotation.hpp"

namespace relayout::bench {
namespace {

using cases::Layout;
using Views = std::vector<TensorView>;

/// In and out have one type and one layout.
Json parameters_of(const char* operation, DType type, const Dims& shape, std::int64_t taps, Layout layout,
                   bool bias_and_silu) {
  return {{"operation", operation},
          {"in_type", name_of(type)},
          {"out_type", name_of(type)},
          {"shape", shape},
          {"in_layout", cases::name_of(layout)},
          {"out_layout", cases::name_of(layout)},
          {"taps", taps},
          {"bias", bias_and_silu},
          {"silu", bias_and_silu}};
}

/// In, weights, bias and out have one type; there are no states.
BenchCase depthwise_case(DType type, const Dims& shape, std::int64_t taps, Layout layout,
                         bool bias_and_silu) {
  const Operand signal{type, shape, cases::strides_of(layout, shape)};
  const Operand weights = contiguous_operand(type, {shape[1], taps});
  const Operand bias = contiguous_operand(type, {shape[1]});
  std::vector<Operand> operands{signal, weights};
  if (bias_and_silu) operands.push_back(bias);
  operands.push_back(signal);
  std::int64_t bytes = 0;
  for (const Operand& operand : operands) bytes += operand.bytes();

  const Json parameters = parameters_of("depthwise", type, shape, taps, layout, bias_and_silu);
  const std::string name = std::string(name_of(type)) + "-" + cases::name_of(layout) + "/" + joined(shape) +
                           "/hk" + std::to_string(taps) + (bias_and_silu ? "-bias-silu" : "");
  const Activation activation = bias_and_silu ? Activation::silu : Activation::none;
  return {"depthwise",
          name,
          bytes,
          parameters,
          "depthwise " + name,
          [operands, activation](const Stream& stream) {
            return prepare_rotated(stream, operands, [stream, activation](const Views& views) {
              const TensorView given_bias = views.size() == 4 ? views[2] : TensorView();
              depthwise_conv1d(stream, views[0], views[1], given_bias, activation, TensorView(),
                               views.back());
            });
          }};
}

/// A step of decoding, as Mamba does it: the state moves on by `samples`, with bias and SiLU. The state holds
/// all samples that the outputs need, so that they can be checked with the state that the update leaves.
BenchCase update_case(std::int64_t batch, std::int64_t channels, std::int64_t taps, std::int64_t samples) {
  const DType type = DType::f16;
  const Operand state = contiguous_operand(type, {batch, channels, taps - 1 + samples});
  const Operand weights = contiguous_operand(type, {channels, taps});
  const Operand bias = contiguous_operand(type, {channels});
  const Operand signal = contiguous_operand(type, {batch, channels, samples});
  const std::int64_t bytes = 2 * state.bytes() + weights.bytes() + bias.bytes() + 2 * signal.bytes();
  Json parameters = parameters_of("depthwise_update", type, state.shape, taps, Layout::ncl, true);
  parameters["samples"] = samples;
  const std::string name = std::string("update-") + name_of(type) + "/" + joined(signal.shape) + "/hk" +
                           std::to_string(taps) + "-bias-silu";
  return {
      "depthwise",
      name,
      bytes,
      parameters,
      "depthwise " + name,
      [state, weights, bias, signal](const Stream& stream) {
        return prepare_rotated(stream, {state, weights, bias, signal, signal}, [stream](const Views& views) {
          depthwise_update(stream, views[0], views[3], views[1], views[2], Activation::silu, views[4]);
        });
      }};
}

/// A step of training: the gradients of the input, of the weights and of the bias, through SiLU. The bytes
/// are those of the input, of both gradients, and of weights and bias with theirs; the workspace does not
/// count.
BenchCase backward_case(DType type, const Dims& shape, std::int64_t taps, Layout layout) {
  const Operand signal{type, shape, cases::strides_of(layout, shape)};
  const Operand weights = contiguous_operand(type, {shape[1], taps});
  const Operand bias = contiguous_operand(type, {shape[1]});
  const Operand d_weights = contiguous_operand(DType::f32, {shape[1], taps});
  const Operand d_bias = contiguous_operand(DType::f32, {shape[1]});
  const std::int64_t bytes =
      3 * signal.bytes() + weights.bytes() + bias.bytes() + d_weights.bytes() + d_bias.bytes();
  const Json parameters = parameters_of("depthwise_backward", type, shape, taps, layout, true);
  const std::string name = std::string("backward-") + name_of(type) + "-" + cases::name_of(layout) + "/" +
                           joined(shape) + "/hk" + std::to_string(taps) + "-bias-silu";
  return {"depthwise", name, bytes, parameters, "depthwise " + name, [=](const Stream& stream) {
            const auto arguments_of = [](const Views& v) {
              DepthwiseForward forward;
              forward.in = v[0];
              forward.weights = v[1];
              forward.bias = v[2];
              forward.activation = Activation::silu;
              DepthwiseGradients gradients;
              gradients.d_out = v[3];
              gradients.d_weights = v[4];
              gradients.d_bias = v[5];
              gradients.d_in = v.back();
              return std::make_pair(forward, gradients);
            };
            Views shapes;
            for (const Operand& operand : {signal, weights, bias, signal, d_weights, d_bias, signal})
              shapes.emplace_back(nullptr, operand.dtype, operand.shape, operand.strides);
            const auto [forward, gradients] = arguments_of(shapes);
            const Operand workspace = contiguous_operand(
                DType::u8, {static_cast<std::int64_t>(depthwise_conv1d_backward_workspace_bytes(
                               stream.device(), forward, gradients))});
            return prepare_rotated(stream,
                                   {signal, weights, bias, signal, d_weights, d_bias, workspace, signal},
                                   [stream, arguments_of](const Views& views) {
                                     const auto [operands, results] = arguments_of(views);
                                     depthwise_conv1d_backward(stream, operands, results, views[6]);
                                   });
          }};
}

struct Decoding {
  std::int64_t batch, channels;
};
struct DepthwiseSizes {
  std::vector<Dims> shapes;
  std::vector<std::int64_t> taps;
  Dims long_shape;
  std::vector<Dims> mamba_shapes;  // in f16 and bf16
  std::vector<Decoding> decoding;
};

DepthwiseSizes table_of(Sizes sizes) {
  switch (sizes) {
    case Sizes::gpu:
      return {{{8, 2048, 8192}, {2, 4096, 2048}},
              {2, 3, 4},
              {8, 2048, 8192},
              {{8, 2048, 8191}},
              {{1, 5120}, {64, 4096}, {128, 5120}, {256, 5120}}};
    case Sizes::cpu:
      return {{{4, 1024, 4096}}, {4}, {4, 1024, 4096}, {}, {{128, 5120}}};
    default:
      return {{{2, 9, 41}}, {2, 4}, {1, 3, 70}, {{1, 3, 41}}, {{2, 9}}};
  }
}

}  // namespace

BenchCases depthwise_cases(Sizes sizes) {
  const DepthwiseSizes table = table_of(sizes);
  constexpr std::int64_t kMambaTaps = 4, kLongTaps = 31, kBackwardTaps = 3;
  BenchCases list;
  for (const Layout layout : {Layout::ncl, Layout::nlc}) {
    for (const Dims& shape : table.shapes) {
      for (const std::int64_t taps : table.taps)
        list.push_back(depthwise_case(DType::f16, shape, taps, layout, false));
      list.push_back(depthwise_case(DType::f16, shape, kMambaTaps, layout, true));
    }
    list.push_back(depthwise_case(DType::f16, table.long_shape, kLongTaps, layout, false));
    for (const Dims& shape : table.mamba_shapes) {
      for (const DType type : {DType::f16, DType::bf16})
        list.push_back(depthwise_case(type, shape, kMambaTaps, layout, true));
    }
    for (const DType type : {DType::bf16, DType::f32})
      list.push_back(backward_case(type, table.shapes[0], kMambaTaps, layout));
    list.push_back(backward_case(DType::f16, table.shapes[0], kBackwardTaps, layout));
    list.push_back(depthwise_case(DType::bf16, table.long_shape, kMambaTaps, layout, true));
  }
  for (const Decoding& decoding : table.decoding) {
    for (const std::int64_t samples : {1, 4})
      list.push_back(update_case(decoding.batch, decoding.channels, kMambaTaps, samples));
  }
  return list;
}

}  // namespace relayout::bench
