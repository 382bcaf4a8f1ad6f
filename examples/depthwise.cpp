#include "depthwise.hpp"

#include <relayout/depthwise.hpp>
#include <relayout/permute.hpp>

namespace example {
namespace {

using relayout::DType;
using relayout::StagePlace;
using relayout::TensorView;

std::int64_t bytes_of(const TensorView& view) {
  return view.elements() * static_cast<std::int64_t>(relayout::size_of(view.dtype()));
}

}  // namespace

DepthwisePipeline::DepthwisePipeline(const relayout::Stream& stream, const relayout::Conv1d& problem,
                                     const Data& data, bool channels_last)
    : stream_(stream) {
  const TensorView& input = data.input.view;
  const auto signal = [&] {
    if (!channels_last) return allocate(problem.dtype, input.shape());
    return allocate(problem.dtype, {problem.batch, problem.length, problem.in_channels}).permuted({0, 2, 1});
  };
  x_ = round("cast", upload(std::string("copy ") + relayout::name_of(input.dtype()) + " input", input, true),
             signal(), true);
  weights_ = allocate(problem.dtype, {problem.in_channels, problem.window.taps});
  const TensorView& given = data.weights.view;
  round("cast weights",
        upload("copy weights",
               TensorView(given.data(), given.dtype(), weights_.shape(), {given.stride(0), given.stride(2)}),
               false),
        weights_, false);
  const bool with_bias = data.bias.view.rank() > 0;
  bias_ = with_bias ? upload("copy bias", data.bias.view, false) : TensorView();
  result_ = signal();
  const std::int64_t bytes = 2 * bytes_of(result_) + bytes_of(weights_) + (with_bias ? bytes_of(bias_) : 0);
  stages_.push_back({"depthwise conv1d", StagePlace::device, bytes, false,
                     [stream, x = x_, weights = weights_, bias = bias_, y = result_] {
                       relayout::depthwise_conv1d(stream, x, weights, bias, relayout::Activation::none,
                                                  TensorView(), y);
                     }});
}

TensorView DepthwisePipeline::allocate(DType dtype, const relayout::Dims& shape) {
  const TensorView sized(nullptr, dtype, shape);
  buffers_.emplace_back(stream_.device(), static_cast<std::size_t>(bytes_of(sized)));
  return TensorView(buffers_.back().data(), dtype, shape);
}

/// The whole byte range of a host view.
TensorView DepthwisePipeline::upload(const std::string& name, const TensorView& host, bool of_operand) {
  const TensorView::ByteRange range = host.byte_range();
  const std::size_t bytes = static_cast<std::size_t>(range.end - range.begin);
  buffers_.emplace_back(stream_.device(), bytes);
  char* const target = static_cast<char*>(buffers_.back().data());
  const char* const source = bytes > 0 ? static_cast<const char*>(host.data()) + range.begin : nullptr;
  stages_.push_back({name, StagePlace::transfer, static_cast<std::int64_t>(bytes), of_operand,
                     [stream = stream_, target, source, bytes] {
                       if (bytes > 0) stream.copy(target, source, bytes);
                     }});
  return TensorView(bytes > 0 ? target - range.begin : nullptr, host.dtype(), host.shape(), host.strides());
}

/// `to`, which a stage rounds `from` into.
TensorView DepthwisePipeline::round(const std::string& name, const TensorView& from, const TensorView& to,
                                    bool of_operand) {
  stages_.push_back({name, StagePlace::device, bytes_of(from) + bytes_of(to), of_operand,
                     [stream = stream_, from, to] { relayout::cast(stream, from, to); }});
  return to;
}

}  // namespace example
