// A convolution whose weights are prepared once and which then runs many times.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <relayout/conv1d.hpp>
#include <relayout/export.hpp>

namespace relayout {

/// y = bias + the convolution of an input on the device. The results of all routes lie within the GEMM's
/// bound and differ only by the order of the fp32 sums. Copies of a plan share its memory, and moving one
/// copies it.
class RELAYOUT_API ConvPlan {
 public:
  /// Allocates all that running needs, and queues on `stream` the rearrangement of the weights and a copy of
  /// the bias: both may change or be freed when that work has finished. weights [out_channels, in_channels /
  /// groups, taps], any strides, f16, bf16, f32 or f64, each rounded once to problem.dtype; bias f32
  /// [out_channels], contiguous, or none (as in gemm: a default TensorView); both on the device. Errors:
  /// those of sizes_of; shape, dtype, null_pointer, out_of_memory.
  ConvPlan(const Stream& stream, const Conv1d& problem, ConvRoute route, const TensorView& weights,
           const TensorView& bias = TensorView());
  /// A copy.
  ConvPlan(const ConvPlan&) = default;
  /// A copy.
  ConvPlan& operator=(const ConvPlan&) = default;

  /// Queues the whole convolution: allocates nothing on the device, waits for nothing, can be recorded into a
  /// Graph. input [batch, in_channels, length], any strides, of a type that casts; y [batch, positions,
  /// out_channels] of problem.dtype, contiguous; both on the device. Runs share the plan's memory, so they
  /// follow each other: on one stream, or ordered by events; overlapping runs need plans of their own. On
  /// another stream than the constructor's the first run, outside a graph, makes that stream's BLAS handle,
  /// which allocates (prepare_gemm does it ahead). Errors: shape, dtype, null_pointer, partial_overlap, and
  /// invalid_argument for another device or a y that is not contiguous.
  void run(const Stream& stream, const TensorView& input, const TensorView& y) const;

  /// What run would do with such an input and y, in plain words: a paragraph for each kernel. Their pointers
  /// are looked at for alignment only, and may be null. Errors: shape.
  std::string explain(const TensorView& input, const TensorView& y) const;

  /// The problem that the plan is for.
  const Conv1d& problem() const noexcept;
  /// The route that it takes.
  ConvRoute route() const noexcept;
  /// The sizes of its matrices.
  const Conv1dSizes& sizes() const noexcept;
  /// A of the last run, in device memory (route `operand`; a default TensorView on the other routes).
  const TensorView& operand() const noexcept;
  /// Bt, in device memory. On route `strided_gemm` it is tap outer, whatever the window's order. On route
  /// `direct` it is [out_channels, taps, in_channels / groups rounded up to 32], and what is added is 0.
  const TensorView& weight_operand() const noexcept;
  /// Bytes of device memory that the plan holds, without the BLAS library's own.
  std::int64_t device_bytes() const noexcept;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace relayout
