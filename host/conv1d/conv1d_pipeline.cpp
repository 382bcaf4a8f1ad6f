// The stages of Conv1dPipeline. Views of one tensor are always [batch, channels, samples]; what changes from
// stage to stage is their strides: channels-last data ("nlc") is a permuted view of [batch, samples,
// channels] memory.
#include <memory>

#include "host/conv1d/conv1d_views.hpp"
#include "host/conv1d/padded_signal.hpp"
#include "relayout/conv1d.hpp"
#include "relayout/error.hpp"
#include "relayout/overlap.hpp"
#include "relayout/permute.hpp"

namespace relayout {
namespace {

TensorView channels_first(const TensorView& nlc) { return nlc.permuted({0, 2, 1}); }

void check_bias(const TensorView& bias, std::int64_t out_channels) {
  check_host_view(bias, {out_channels}, "the bias");
  if (bias.dtype() != DType::f32 || !bias.is_contiguous()) {
    throw Error(ErrorCode::dtype, "conv1d: the bias is " + bias.to_string() + ", but must be contiguous f32");
  }
}

/// Pinned memory between a host step and the copy after it; the host step of a second run waits for the first
/// copy.
struct Staging {
  Staging(const Device& device, std::size_t bytes) : memory(device, bytes), copied(device) {}
  PinnedBuffer memory;
  Event copied;
  bool in_flight = false;
};

bool has_bias(const TensorView& bias) { return bias.rank() > 0; }

}  // namespace

Conv1dPipeline::Conv1dPipeline(const Stream& stream, const Conv1d& problem, Conv1dPath path,
                               const TensorView& input, const TensorView& weights, const TensorView& bias,
                               const OverlapOptions& overlap)
    : stream_(stream), problem_(problem), sizes_(sizes_of(problem)) {
  const std::int64_t groups = problem.window.groups;
  check_host_view(input, {problem.batch, problem.in_channels, problem.length}, "the input");
  check_host_view(weights, {problem.out_channels, problem.in_channels / groups, problem.window.taps},
                  "the weights");
  if (has_bias(bias)) check_bias(bias, problem.out_channels);

  if (path != Conv1dPath::strided_gemm) {
    operand_ = allocate(problem.dtype, groups == 1 ? Dims{sizes_.rows, sizes_.depth}
                                                   : Dims{groups, sizes_.rows, sizes_.depth});
  }
  weight_operand_ = allocate(problem.dtype, {problem.out_channels, sizes_.depth});
  result_ = allocate(problem.dtype, {problem.batch, sizes_.positions, problem.out_channels});
  switch (path) {
    case Conv1dPath::host:
      add_host_path(input);
      break;
    case Conv1dPath::device:
      add_device_path(input);
      break;
    case Conv1dPath::device_staged:
      add_staged_path(input);
      break;
    case Conv1dPath::strided_gemm:
      add_view_path(input, weights, bias);
      return;
    case Conv1dPath::overlap:
      add_overlap_path(input, overlap);
      break;
  }
  add_weights(weights, problem.window.order);
  add_gemm(bias);
}

void Conv1dPipeline::run() const {
  for (const Stage& stage : stages_) stage.run();
}

TensorView Conv1dPipeline::allocate(DType dtype, const Dims& shape) {
  const TensorView sized(nullptr, dtype, shape);
  const Buffer buffer(stream_.device(), static_cast<std::size_t>(sized.elements()) * size_of(dtype));
  buffers_.push_back(buffer);
  return TensorView(buffer.data(), dtype, shape);
}

TensorView Conv1dPipeline::upload(const std::string& name, const TensorView& host, bool of_operand) {
  const TensorView::ByteRange range = host.byte_range();
  const std::size_t bytes = static_cast<std::size_t>(range.end - range.begin);
  const Buffer buffer(stream_.device(), bytes);
  buffers_.push_back(buffer);
  char* const target = static_cast<char*>(buffer.data());
  const char* const source = static_cast<const char*>(host.data()) + range.begin;
  stages_.push_back({name, StagePlace::transfer, range.end - range.begin, of_operand,
                     [stream = stream_, target, source, bytes] {
                       if (bytes > 0) stream.copy(target, source, bytes);
                     }});
  return TensorView(bytes > 0 ? target - range.begin : nullptr, host.dtype(), host.shape(), host.strides());
}

/// fp32 in host memory -> 16-bit nlc in pinned memory -> the same on the device -> A: the link carries half
/// the bytes.
void Conv1dPipeline::add_host_path(const TensorView& input) {
  const TensorView on_device =
      allocate(problem_.dtype, {problem_.batch, problem_.length, problem_.in_channels});
  const std::size_t bytes = static_cast<std::size_t>(on_device.elements()) * size_of(problem_.dtype);
  const auto staging = std::make_shared<Staging>(stream_.device(), bytes);
  const TensorView staged(staging->memory.data(), problem_.dtype, on_device.shape());
  const Stream host_stream(Device::cpu());

  stages_.push_back({is_channels_last(input) ? "cast" : "cast + transpose", StagePlace::host,
                     unique_bytes(input) + unique_bytes(staged), true, [host_stream, staging, input, staged] {
                       if (staging->in_flight) staging->copied.synchronize();
                       permute(host_stream, input, {0, 2, 1}, staged);
                     }});
  stages_.push_back({std::string("copy ") + name_of(problem_.dtype) + " input", StagePlace::transfer,
                     static_cast<std::int64_t>(bytes), true, [stream = stream_, staging, on_device, bytes] {
                       if (bytes == 0) return;
                       stream.copy(on_device.data(), staging->memory.data(), bytes);
                       staging->copied.record(stream);
                       staging->in_flight = true;
                     }});
  stages_.push_back({"pad + img2col", StagePlace::device, unique_bytes(on_device) + unique_bytes(operand_),
                     true, [stream = stream_, problem = problem_, on_device, out = operand_] {
                       img2col(stream, channels_first(on_device), problem.window, problem.pad, out);
                     }});
}

/// fp32 on the device -> A in one pass.
void Conv1dPipeline::add_device_path(const TensorView& input) {
  const TensorView on_device = upload(std::string("copy ") + name_of(input.dtype()) + " input", input, true);
  stages_.push_back({is_channels_last(input) ? "cast + pad + img2col" : "cast + transpose + pad + img2col",
                     StagePlace::device, unique_bytes(on_device) + unique_bytes(operand_), true,
                     [stream = stream_, problem = problem_, on_device, out = operand_] {
                       img2col(stream, on_device, problem.window, problem.pad, out);
                     }});
}

/// fp32 on the device -> 16-bit ncl -> nlc -> padded nlc -> A. Channels-last input needs no transpose.
void Conv1dPipeline::add_staged_path(const TensorView& input) {
  const std::int64_t batch = problem_.batch, channels = problem_.in_channels, length = problem_.length;
  const auto add = [this](const char* name, const TensorView& in, const TensorView& out,
                          std::function<void()> run) {
    stages_.push_back({name, StagePlace::device, unique_bytes(in) + unique_bytes(out), true, std::move(run)});
  };
  const TensorView on_device = upload(std::string("copy ") + name_of(input.dtype()) + " input", input, true);
  const TensorView nlc = channels_first(allocate(problem_.dtype, {batch, length, channels}));
  const bool transposed = !is_channels_last(input);
  const TensorView half = transposed ? allocate(problem_.dtype, {batch, channels, length}) : nlc;
  add("cast", on_device, half, [stream = stream_, on_device, half] { cast(stream, on_device, half); });
  if (transposed) {
    const TensorView target = channels_first(nlc);
    add("transpose", half, target, [stream = stream_, half, target] { transpose(stream, half, target); });
  }
  const PadSpec& spec = problem_.pad;
  const TensorView padded =
      channels_first(allocate(problem_.dtype, {batch, length + spec.left + spec.right, channels}));
  add("pad", nlc, padded, [stream = stream_, spec, nlc, padded] { pad(stream, nlc, spec, padded); });
  add("img2col", padded, operand_, [stream = stream_, window = problem_.window, padded, out = operand_] {
    img2col(stream, padded, window, PadSpec(), out);
  });
}

/// fp32 on the device -> the padded signal in one pass; its GEMMs take the place of the one on A.
void Conv1dPipeline::add_view_path(const TensorView& input, const TensorView& weights,
                                   const TensorView& bias) {
  const PaddedSignal signal(stream_.device(), problem_, has_bias(bias));
  const TensorView on_device = upload(std::string("copy ") + name_of(input.dtype()) + " input", input, true);
  stages_.push_back({is_channels_last(input) ? "cast + pad" : "cast + transpose + pad", StagePlace::device,
                     unique_bytes(on_device) + signal.bytes(), true,
                     [stream = stream_, signal, on_device] { signal.fill(stream, on_device); }});
  add_weights(weights, ColumnOrder::tap_outer);
  const TensorView bias_on_device = has_bias(bias) ? upload("copy bias", bias, false) : TensorView();
  const std::int64_t bias_bytes = has_bias(bias) ? unique_bytes(bias) : 0;
  stages_.push_back({std::string("GEMM on views (") + gemm_library(stream_.device()) + ")",
                     StagePlace::device,
                     signal.bytes() + unique_bytes(weight_operand_) + unique_bytes(result_) + bias_bytes,
                     false, [stream = stream_, signal, bt = weight_operand_, bias_on_device, y = result_] {
                       signal.multiply(stream, bt, bias_on_device, y);
                     }});
}

/// Everything up to A at once. Its bytes are those over the link, the slowest of the three as a rule.
void Conv1dPipeline::add_overlap_path(const TensorView& input, const OverlapOptions& options) {
  const auto overlap = std::make_shared<const Conv1dOverlap>(stream_, problem_, input, operand_, options);
  overlap_ = overlap;
  stages_.push_back({overlap->description(), StagePlace::transfer, overlap->link_bytes(), true,
                     [overlap] { overlap->run(); }});
}

void Conv1dPipeline::add_weights(const TensorView& weights, ColumnOrder order) {
  const TensorView on_device = upload("copy weights", weights, false);
  stages_.push_back({"rearrange weights", StagePlace::device,
                     unique_bytes(on_device) + unique_bytes(weight_operand_), false,
                     [stream = stream_, on_device, order, out = weight_operand_] {
                       rearrange_weights(stream, on_device, order, out);
                     }});
}

void Conv1dPipeline::add_gemm(const TensorView& bias) {
  const std::int64_t groups = problem_.window.groups, n = sizes_.columns, k = sizes_.depth;
  const TensorView bias_on_device = has_bias(bias) ? upload("copy bias", bias, false) : TensorView();
  // The groups' results lie side by side in each row of y.
  const TensorView y(result_.data(), result_.dtype(), {groups, sizes_.rows, n},
                     {n, problem_.out_channels, 1});
  const TensorView a(operand_.data(), operand_.dtype(), {groups, sizes_.rows, k});
  const TensorView bt(weight_operand_.data(), weight_operand_.dtype(), {groups, n, k});
  const std::size_t bytes = gemm_workspace_bytes(stream_.device(), y, has_bias(bias));
  const TensorView workspace =
      bytes > 0 ? allocate(DType::u8, {static_cast<std::int64_t>(bytes)}) : TensorView();
  const std::int64_t bias_bytes = has_bias(bias) ? unique_bytes(bias) : 0;
  stages_.push_back({std::string("GEMM (") + gemm_library(stream_.device()) + ")", StagePlace::device,
                     unique_bytes(a) + unique_bytes(bt) + unique_bytes(result_) + bias_bytes, false,
                     [stream = stream_, a, bt, bias_on_device, y, workspace] {
                       gemm(stream, a, bt, bias_on_device, y, workspace);
                     }});
}

}  // namespace relayout
