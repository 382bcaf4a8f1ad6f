// The depthwise convolution from host memory to y on the device, stage by stage like the paths of
// Conv1dPipeline.
#pragma once

#include <string>
#include <vector>

#include <relayout/buffer.hpp>
#include <relayout/conv1d.hpp>
#include <relayout/depthwise.hpp>

#include "data.hpp"

namespace example {

/// y[b, c, t] = bias[c] + sum over k of w[c, k] * x[b, c, t - (hk-1-k)]: the convolution in as many groups as
/// channels, without an operand matrix. The constructor allocates everything.
class DepthwisePipeline {
 public:
  /// The problem has as many groups and output channels as input channels (one group without any).
  /// channels_last: the layout of y in memory, which should be the input's.
  DepthwisePipeline(const relayout::Stream& stream, const relayout::Conv1d& problem, const Data& data,
                    bool channels_last);

  const std::vector<relayout::Stage>& stages() const noexcept { return stages_; }
  /// What the convolution's kernel does, in plain words.
  std::string explain() const {
    return relayout::plan_depthwise_conv1d(stream_.device(), x_, weights_, bias_, relayout::Activation::none,
                                           relayout::TensorView(), result_)
        .explain();
  }

  /// Device memory: the weights as rounded, [ci, hk] contiguous, and y as a view [batch, ci, hi].
  const relayout::TensorView& weights() const noexcept { return weights_; }
  const relayout::TensorView& result() const noexcept { return result_; }

 private:
  relayout::TensorView allocate(relayout::DType dtype, const relayout::Dims& shape);
  relayout::TensorView upload(const std::string& name, const relayout::TensorView& host, bool of_operand);
  relayout::TensorView round(const std::string& name, const relayout::TensorView& from,
                             const relayout::TensorView& to, bool of_operand);

  relayout::Stream stream_;
  std::vector<relayout::Stage> stages_;
  std::vector<relayout::Buffer> buffers_;
  relayout::TensorView x_, weights_, bias_, result_;
};

}  // namespace example
