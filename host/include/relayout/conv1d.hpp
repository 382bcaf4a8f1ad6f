// Causal conv1d preprocessing: from fp32 [batch, channels, length] on the host to a GEMM operand on the
// device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <relayout/buffer.hpp>
#include <relayout/export.hpp>
#include <relayout/gemm.hpp>
#include <relayout/img2col.hpp>
#include <relayout/stream.hpp>

namespace relayout {

/// The problem: y[b, t, o] = bias[o] + sum_{k, c} w[o, c, k] * padded x[b, c, t * stride + k * dilation -
/// left].
struct RELAYOUT_API Conv1d {
  std::int64_t batch = 1;          ///< signals
  std::int64_t in_channels = 64;   ///< channels of x; a multiple of window.groups
  std::int64_t length = 2048;      ///< samples of a channel of x
  std::int64_t out_channels = 64;  ///< channels of y; a multiple of window.groups
  Window window;                   ///< taps, stride, dilation, groups, column order
  PadSpec pad;                     ///< samples around the signal; causal_padding() makes it
  DType dtype = DType::f16;        ///< the type of both GEMM operands and of y: f16 or bf16
};

/// The matrices of a Conv1d. A is [groups, rows, depth] ([rows, depth] for one group), Bt [out_channels,
/// depth], y [batch, positions, out_channels].
struct Conv1dSizes {
  std::int64_t positions = 0;         ///< output positions, ho
  std::int64_t rows = 0;              ///< batch * ho: the GEMM's m
  std::int64_t depth = 0;             ///< taps * in_channels / groups: the GEMM's k
  std::int64_t columns = 0;           ///< out_channels / groups: the GEMM's n
  std::int64_t operand_elements = 0;  ///< elements of A
  std::int64_t weight_elements = 0;   ///< elements of Bt
  std::int64_t output_elements = 0;   ///< elements of y
};

/// Checks the whole problem. Errors: those of img2col; invalid_shape for a product beyond 63 bits.
RELAYOUT_API Conv1dSizes sizes_of(const Conv1d& problem);

/// How y is computed (docs/conv1d.md says which is fast when). The results of all routes lie within the
/// GEMM's bound and differ only by the order of the fp32 sums.
enum class ConvRoute {
  operand,       ///< one kernel from the input to A, then the GEMM
  strided_gemm,  ///< the padded signal is written once, channels last; the GEMMs read A as views of it
  direct,        ///< one kernel of relayout's own from the input to y
};
/// The name of a route: "operand", "strided-gemm" or "direct".
RELAYOUT_API const char* name_of(ConvRoute route) noexcept;

/// How the input gets to the device, and where the work on the way runs. All give the same bits in A, except
/// for NaN payloads. device_staged and overlap end in A, so they go with ConvRoute::operand only.
enum class Upload {
  host,           ///< cast + transpose by this machine's processor, 16-bit data copied
  device,         ///< the input copied as it is
  device_staged,  ///< the input copied as it is, then cast, transpose, pad and img2col one by one
  overlap,        ///< in chunks: the host's work, the copies and the fused kernel at the same time
};
/// The name of an upload: "host", "device", "device-staged" or "overlap".
RELAYOUT_API const char* name_of(Upload upload) noexcept;

/// What the host does to a chunk of Upload::overlap before it is copied.
enum class HostWork {
  none,  ///< nothing: the input's own type crosses the link, directly from pinned memory, else through
         ///< staging
  cast,  ///< to 16 bits, in the input's order
  cast_transpose,  ///< to 16 bits, channels last
};
/// The name of the enumerator: "none", "cast" or "cast-transpose".
RELAYOUT_API const char* name_of(HostWork work) noexcept;

/// How Upload::overlap works.
struct OverlapOptions {
  HostWork host_work = HostWork::cast;  ///< what the host does to a chunk
  std::int64_t chunk_bytes = 0;         ///< bytes of a chunk on the link; 0: chosen by the size of the input
  int buffers = 4;                      ///< chunks that are on their way at a time, 2 or more
  /// The input lies in pinned memory: with HostWork::none and elements without gaps it is copied from there.
  bool pinned_input = false;
};

/// How a convolution is run from host memory.
struct Conv1dOptions {
  Upload upload = Upload::device;        ///< how the input gets to the device
  ConvRoute route = ConvRoute::operand;  ///< how y is computed
  OverlapOptions overlap = {};           ///< how Upload::overlap works
};

/// Where a stage does its work.
enum class StagePlace {
  host,      ///< this machine's processor
  transfer,  ///< the link between host and device
  device,    ///< the stream's device
};
/// The name of the enumerator: "host", "transfer" or "device".
RELAYOUT_API const char* name_of(StagePlace place) noexcept;

/// One step of a pipeline.
struct Stage {
  std::string name;                       ///< what it does, as reports print it
  StagePlace place = StagePlace::device;  ///< where it does it
  /// The least that the step must move: every element that it reads once and every element that it writes
  /// once; for a transfer, the bytes that cross from the host to the device.
  std::int64_t bytes = 0;
  /// Whether the step leads from the input to A (route strided_gemm: to the padded signal; route direct: to
  /// the kernel's input). It is false for the weights, the bias, and the GEMM or the kernel in its place.
  bool of_operand = true;
  /// Queues the step on the pipeline's stream; a host step is done when run returns. It allocates no
  /// device memory.
  std::function<void()> run;
};

class Conv1dOverlap;
class RouteSteps;    // the library's own
struct PlannedStep;  // the library's own

/// A whole conv1d from host memory to y on the device. The constructor allocates all device memory and all
/// pinned memory, and a run allocates neither. With Upload::host and Upload::overlap a run waits before the
/// processor writes into a pinned buffer that an earlier copy still reads. The vendor's runtime may wait,
/// too, while it copies from memory that is not pinned.
class RELAYOUT_API Conv1dPipeline {
 public:
  /// Host memory that the caller keeps while work is queued (pinned memory is copied at full speed):
  /// input [batch, in_channels, length] and weights [out_channels, in_channels / groups, taps] are f16, bf16,
  /// f32 or f64 of any strides, each rounded once to problem.dtype; bias is f32 [out_channels], contiguous,
  /// or none (a default TensorView). The whole byte range of a strided view is copied to the device. Errors:
  /// those of sizes_of; shape, dtype, null_pointer, out_of_memory; unsupported for an upload and a route that
  /// do not go together.
  Conv1dPipeline(const Stream& stream, const Conv1d& problem, const Conv1dOptions& options,
                 const TensorView& input, const TensorView& weights, const TensorView& bias = TensorView());

  /// The steps in order, usable while the pipeline or a copy of it lives.
  const std::vector<Stage>& stages() const noexcept { return stages_; }
  /// Queues all stages in order. Throws Error{invalid_argument} for a pipeline that was moved from.
  void run() const;

  /// The sizes of the problem.
  const Conv1dSizes& sizes() const noexcept { return sizes_; }
  /// What the kernels of the device do, in plain words: a paragraph for each of them.
  std::string explain() const;

  /// A in the device memory of the pipeline, contiguous, with the shape that Conv1dSizes gives. Only route
  /// operand has an A; on the others this is a default TensorView.
  const TensorView& operand() const noexcept { return operand_; }
  /// Bt, likewise. On route strided_gemm it is tap outer, whatever the window's order. On route direct it is
  /// [out_channels, taps, in_channels / groups rounded up to 32], and what is added is 0.
  const TensorView& weight_operand() const noexcept { return weight_operand_; }
  /// y, likewise.
  const TensorView& result() const noexcept { return result_; }
  /// The object that does the stage of Upload::overlap; null for other uploads.
  const Conv1dOverlap* overlap() const noexcept { return overlap_.get(); }

 private:
  TensorView allocate(DType dtype, const Dims& shape);
  TensorView upload(const std::string& name, const TensorView& host, bool of_operand);
  void add_step(const std::string& name, std::int64_t bytes, bool of_operand, const PlannedStep& step);
  TensorView add_input(const Conv1dOptions& options, const TensorView& input, const RouteSteps& steps);
  TensorView add_upload(const TensorView& input);
  TensorView add_host_upload(const TensorView& input);
  void add_staged_upload(const TensorView& input);
  void add_overlap(const TensorView& input, const OverlapOptions& options);

  Stream stream_;
  Conv1d problem_;
  Conv1dSizes sizes_;
  std::vector<Stage> stages_;
  std::vector<std::function<std::string()>> explanations_;
  std::vector<Buffer> buffers_;
  TensorView operand_, weight_operand_, result_;
  std::shared_ptr<const RouteSteps> route_;  // its buffers
  std::shared_ptr<const Conv1dOverlap> overlap_;
};

}  // namespace relayout
