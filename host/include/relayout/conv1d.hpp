// Causal conv1d preprocessing: from fp32 [batch, channels, length] on the host to a GEMM operand on the
// device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <relayout/buffer.hpp>
#include <relayout/gemm.hpp>
#include <relayout/img2col.hpp>
#include <relayout/stream.hpp>

namespace relayout {

/// y[b, t, o] = bias[o] + sum_{k, c} w[o, c, k] * padded x[b, c, t * stride + k * dilation - left].
struct Conv1d {
  std::int64_t batch = 1, in_channels = 64, length = 2048, out_channels = 64;
  Window window;
  PadSpec pad;
  DType dtype = DType::f16;  // of both GEMM operands and of y: f16 or bf16
};

/// The matrices of a Conv1d. A is [groups, rows, depth] ([rows, depth] for one group), Bt [out_channels,
/// depth], y [batch, positions, out_channels].
struct Conv1dSizes {
  std::int64_t positions = 0;  // ho
  std::int64_t rows = 0;       // batch * ho: the GEMM's m
  std::int64_t depth = 0;      // taps * in_channels / groups: the GEMM's k
  std::int64_t columns = 0;    // out_channels / groups: the GEMM's n
  std::int64_t operand_elements = 0, weight_elements = 0, output_elements = 0;
};

/// Checks the whole problem; errors as img2col's, Error{invalid_shape} for a product beyond 63 bits.
Conv1dSizes sizes_of(const Conv1d& problem);

/// How y is computed. The routes' results differ in the order of fp32 sums.
enum class ConvRoute {
  operand,       // one kernel from the input to A, then the GEMM
  strided_gemm,  // the padded signal is written once, channels last; the GEMMs read A as views of it
  direct,        // one kernel of relayout's own from the input to y
};
/// "operand", "strided-gemm", "direct".
const char* name_of(ConvRoute route) noexcept;

/// How the input gets to the device, and where the work on the way runs. All give the same bits (apart from
/// NaN payloads) in A. device_staged and overlap end in A, so that they go with ConvRoute::operand only.
enum class Upload {
  host,           // cast + transpose by this machine's processor, 16-bit data copied
  device,         // the input copied as it is
  device_staged,  // the input copied as it is, then cast, transpose, pad and img2col one by one
  overlap,        // in chunks: the host's work, the copies and the fused kernel at the same time
};
/// "host", "device", "device-staged", "overlap".
const char* name_of(Upload upload) noexcept;

/// What the host does to a chunk of Upload::overlap before it is copied.
enum class HostWork {
  none,  // nothing: the input's own type crosses the link, from pinned memory directly, else by staging
  cast,  // to 16 bits, in the input's order
  cast_transpose,  // to 16 bits, channels last
};
/// "none", "cast", "cast-transpose".
const char* name_of(HostWork work) noexcept;

/// How Upload::overlap works.
struct OverlapOptions {
  HostWork host_work = HostWork::cast;
  std::int64_t chunk_bytes = 0;  // over the link; 0: chosen by the size of the input
  int buffers = 4;               // chunks on their way at a time, 2 or more
  /// The input lies in pinned memory: with HostWork::none and elements without gaps it is copied from there.
  bool pinned_input = false;
};

/// How a convolution is run from host memory.
struct Conv1dOptions {
  Upload upload = Upload::device;
  ConvRoute route = ConvRoute::operand;
  OverlapOptions overlap = {};
};

enum class StagePlace { host, transfer, device };
/// "host", "transfer", "device".
const char* name_of(StagePlace place) noexcept;

/// One step of a pipeline.
struct Stage {
  std::string name;
  StagePlace place = StagePlace::device;
  /// What the step must move at least: every element that it reads and every element that it writes once; for
  /// a transfer the bytes that cross from the host to the device.
  std::int64_t bytes = 0;
  /// Whether it leads from the input to A (route strided_gemm: to the padded signal; route direct: to the
  /// kernel's input); false for the weights, the bias, and the GEMM or the kernel in its place.
  bool of_operand = true;
  /// Queues the step on the pipeline's stream; a host step is done when run returns. Allocates nothing.
  std::function<void()> run;
};

class Conv1dOverlap;

/// A whole conv1d from host memory to y on the device. The constructor allocates everything; running
/// allocates nothing and, but for host steps, which wait until an earlier run's copy has left their buffer,
/// waits for nothing.
class Conv1dPipeline {
 public:
  /// Host memory that the caller keeps while work is queued (pinned memory is copied at full speed):
  /// input [batch, in_channels, length] and weights [out_channels, in_channels / groups, taps] are f16, bf16,
  /// f32 or f64 of any strides, each rounded once to problem.dtype; bias is f32 [out_channels], contiguous,
  /// or none (a default TensorView). Of strided views the whole byte range is copied to the device. Errors:
  /// those of sizes_of; shape, dtype, null_pointer, out_of_memory; unsupported for an upload and a route that
  /// do not go together.
  Conv1dPipeline(const Stream& stream, const Conv1d& problem, const Conv1dOptions& options,
                 const TensorView& input, const TensorView& weights, const TensorView& bias = TensorView());

  /// In order; usable while the pipeline or a copy of it lives.
  const std::vector<Stage>& stages() const noexcept { return stages_; }
  /// Queues all stages in order.
  void run() const;

  const Conv1dSizes& sizes() const noexcept { return sizes_; }
  /// What the kernels of the device do, in plain words: a paragraph for each of them.
  std::string explain() const;

  /// Device memory of the pipeline: A, Bt and y, contiguous, of the shapes that Conv1dSizes tells. Only route
  /// operand has an A (else a default TensorView). Bt of route strided_gemm is tap outer whatever the
  /// window's order; of route direct it is [out_channels, taps, in_channels / groups rounded up to 32],
  /// filled up with 0.
  const TensorView& operand() const noexcept { return operand_; }
  const TensorView& weight_operand() const noexcept { return weight_operand_; }
  const TensorView& result() const noexcept { return result_; }
  /// What stands behind the stage of Upload::overlap; null for other uploads.
  const Conv1dOverlap* overlap() const noexcept { return overlap_.get(); }

 private:
  TensorView allocate(DType dtype, const Dims& shape);
  TensorView upload(const std::string& name, const TensorView& host, bool of_operand);
  void check_bias(const TensorView& bias) const;
  TensorView add_upload(const TensorView& input);
  TensorView add_host_upload(const TensorView& input);
  void add_staged_upload(const TensorView& input);
  void add_img2col(const std::string& name, const TensorView& from, const PadSpec& pad);
  void add_overlap(const TensorView& input, const OverlapOptions& options);
  void add_operand(const Conv1dOptions& options, const TensorView& input, const TensorView& weights,
                   const TensorView& bias);
  void add_views(const TensorView& input, const std::string& cast, const TensorView& weights,
                 const TensorView& bias);
  void add_direct(const TensorView& input, const TensorView& weights, const TensorView& bias);
  void add_weights(const TensorView& weights, ColumnOrder order);
  TensorView add_bias(const TensorView& bias);
  void add_gemm(const TensorView& bias);

  Stream stream_;
  Conv1d problem_;
  Conv1dSizes sizes_;
  std::vector<Stage> stages_;
  std::vector<std::function<std::string()>> explanations_;
  std::vector<Buffer> buffers_;
  TensorView operand_, weight_operand_, result_;
  std::shared_ptr<const Conv1dOverlap> overlap_;
};

}  // namespace relayout
