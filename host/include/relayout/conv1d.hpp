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

/// Where the work up to the GEMM's operand A runs. All paths give the same bits (apart from NaN payloads) in
/// A; strided_gemm has no A, and its results differ in the order of fp32 sums.
enum class Conv1dPath {
  host,    // cast + transpose by this machine's processor, 16-bit data copied, pad + img2col on the device
  device,  // the input copied as it is, then one fused kernel
  device_staged,  // the input copied as it is, then cast, transpose, pad and img2col one by one
  strided_gemm,  // the input copied as it is, then one kernel to the padded signal; the GEMMs read A as views
                 // of it
  overlap,       // in chunks: the host's work, the copies and the fused kernel at the same time
};
/// "host", "device", "device-staged", "strided-gemm", "overlap".
const char* name_of(Conv1dPath path) noexcept;

/// What the host does to a chunk of Conv1dPath::overlap before it is copied.
enum class HostWork {
  none,  // nothing: the input's own type crosses the link, from pinned memory directly, else by staging
  cast,  // to 16 bits, in the input's order
  cast_transpose,  // to 16 bits, channels last
};
/// "none", "cast", "cast-transpose".
const char* name_of(HostWork work) noexcept;

/// How Conv1dPath::overlap works.
struct OverlapOptions {
  HostWork host_work = HostWork::cast;
  std::int64_t chunk_bytes = 0;  // over the link; 0: chosen by the size of the input
  int buffers = 4;               // chunks on their way at a time, 2 or more
  /// The input lies in pinned memory: with HostWork::none and elements without gaps it is copied from there.
  bool pinned_input = false;
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
  /// Whether it leads from the input to A (path view: to the padded signal); false for the weights, the bias
  /// and the GEMM, which all paths share.
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
  /// those of sizes_of; shape, dtype, null_pointer, out_of_memory.
  Conv1dPipeline(const Stream& stream, const Conv1d& problem, Conv1dPath path, const TensorView& input,
                 const TensorView& weights, const TensorView& bias = TensorView(),
                 const OverlapOptions& overlap = {});

  /// In order; usable while the pipeline or a copy of it lives.
  const std::vector<Stage>& stages() const noexcept { return stages_; }
  /// Queues all stages in order.
  void run() const;

  const Conv1dSizes& sizes() const noexcept { return sizes_; }
  /// Device memory of the pipeline: A, Bt and y, contiguous, of the shapes that Conv1dSizes tells. Path view
  /// has no A (a default TensorView), and its Bt is tap outer whatever the window's order.
  const TensorView& operand() const noexcept { return operand_; }
  const TensorView& weight_operand() const noexcept { return weight_operand_; }
  const TensorView& result() const noexcept { return result_; }
  /// What stands behind Conv1dPath::overlap's stage; null on other paths.
  const Conv1dOverlap* overlap() const noexcept { return overlap_.get(); }

 private:
  TensorView allocate(DType dtype, const Dims& shape);
  TensorView upload(const std::string& name, const TensorView& host, bool of_operand);
  void add_host_path(const TensorView& input);
  void add_device_path(const TensorView& input);
  void add_staged_path(const TensorView& input);
  void add_view_path(const TensorView& input, const TensorView& weights, const TensorView& bias);
  void add_overlap_path(const TensorView& input, const OverlapOptions& options);
  void add_weights(const TensorView& weights, ColumnOrder order);
  void add_gemm(const TensorView& bias);

  Stream stream_;
  Conv1d problem_;
  Conv1dSizes sizes_;
  std::vector<Stage> stages_;
  std::vector<Buffer> buffers_;
  TensorView operand_, weight_operand_, result_;
  std::shared_ptr<const Conv1dOverlap> overlap_;
};

}  // namespace relayout
