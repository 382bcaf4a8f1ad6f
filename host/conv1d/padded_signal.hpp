// The path without A: the padded, channels-last signal, which is written once, and the GEMMs that read A as
// views of it.
#pragma once

#include <string>

#include "core/window_params.hpp"
#include "host/plan/conv/strided_gemms.hpp"
#include "relayout/buffer.hpp"
#include "relayout/conv1d.hpp"

namespace relayout {

/// Copies share the memory.
class PaddedSignal {
 public:
  /// Allocates everything. The problem has been checked by sizes_of.
  PaddedSignal(const Device& device, const Conv1d& problem, bool with_bias);

  /// Queues cast + transpose + padding of input [batch, in_channels, length] in one pass: every sample is
  /// read once and written once.
  void fill(const Stream& stream, const TensorView& input) const;
  /// Queues y = bias + the convolution of what fill left. bt [out_channels, taps * in_channels / groups], tap
  /// outer; bias f32 [out_channels] if and only if announced; y [batch, positions, out_channels], all
  /// contiguous.
  void multiply(const Stream& stream, const TensorView& bt, const TensorView& bias,
                const TensorView& y) const;

  /// What fill would do, in sentences, a line each.
  std::string explain_fill(const Device& device, const TensorView& input) const;
  /// The same of multiply.
  std::string explain_multiply(const Device& device) const;

  /// Bytes of the padded signal.
  std::int64_t bytes() const noexcept { return static_cast<std::int64_t>(signal_.bytes()); }
  /// Bytes of all device memory that it holds.
  std::int64_t device_bytes() const noexcept { return bytes() + static_cast<std::int64_t>(sums_.bytes()); }

 private:
  /// The padding that fill is, as a window.
  WindowParams window_of(const TensorView& input) const;
  /// A of one GEMM.
  TensorView rows_of(const plan::StridedGemm& g) const;

  Conv1d problem_;
  plan::ViewPlan plan_;
  std::uint64_t pad_bits_;
  Buffer signal_;
  /// y in f32, where the library cannot add the bias before the one rounding.
  Buffer sums_;
};

}  // namespace relayout
