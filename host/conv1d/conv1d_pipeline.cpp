// The stages of Conv1dPipeline. Views of one tensor are always [batch, channels, samples]; what changes from
// stage to stage is their strides: channels-last data ("nlc") is a permuted view of [batch, samples,
// channels] memory.
#include <memory>

#include "core/bytes.hpp"
#include "host/api/checks.hpp"
#include "host/conv1d/conv1d_views.hpp"
#include "host/conv1d/direct_conv.hpp"
#include "host/conv1d/padded_signal.hpp"
#include "relayout/conv1d.hpp"
#include "relayout/error.hpp"
#include "relayout/overlap.hpp"
#include "relayout/permute.hpp"

namespace relayout {
namespace {

TensorView channels_first(const TensorView& nlc) { return nlc.permuted({0, 2, 1}); }

/// Uploads that end in A leave nothing to the other routes.
void check_options(const Conv1dOptions& options) {
  const bool ends_in_operand = options.upload == Upload::device_staged || options.upload == Upload::overlap;
  if (!ends_in_operand || options.route == ConvRoute::operand) return;
  throw Error(ErrorCode::unsupported, std::string("conv1d: upload ") + name_of(options.upload) +
                                          " ends in A, which route " + name_of(options.route) +
                                          " has not; use upload host or device, or route operand");
}

/// Pinned memory between a host step and the copy after it; the host step of a second run waits for the first
/// copy.
struct Staging {
  Staging(const Device& device, std::size_t bytes) : memory(device, bytes), copied(device) {}
  PinnedBuffer memory;
  Event copied;
  bool in_flight = false;
};

std::int64_t bias_bytes(const TensorView& bias) { return is_given(bias) ? unique_bytes(bias) : 0; }

/// The first part of a stage's name: what a kernel does to an input that was copied as it is.
std::string cast_of(const TensorView& input) {
  return is_channels_last(input) ? "cast + " : "cast + transpose + ";
}

}  // namespace

Conv1dPipeline::Conv1dPipeline(const Stream& stream, const Conv1d& problem, const Conv1dOptions& options,
                               const TensorView& input, const TensorView& weights, const TensorView& bias)
    : stream_(stream), problem_(problem), sizes_(sizes_of(problem)) {
  const std::int64_t groups = problem.window.groups;
  check_host_view(input, {problem.batch, problem.in_channels, problem.length}, "the input");
  check_host_view(weights, {problem.out_channels, problem.in_channels / groups, problem.window.taps},
                  "the weights");
  if (is_given(bias)) check_bias(bias);
  check_options(options);
  if (options.route != ConvRoute::direct) prepare_gemm(stream_);  // else the first run would allocate

  result_ = allocate(problem.dtype, {problem.batch, sizes_.positions, problem.out_channels});
  if (options.route == ConvRoute::operand) {
    add_operand(options, input, weights, bias);
    return;
  }
  const bool on_host = options.upload == Upload::host;
  const TensorView on_device = on_host ? add_host_upload(input) : add_upload(input);
  if (options.route == ConvRoute::direct) {
    add_direct(on_device, weights, bias);
  } else {
    add_views(on_device, on_host ? "" : cast_of(input), weights, bias);
  }
}

void Conv1dPipeline::check_bias(const TensorView& bias) const {
  check_host_view(bias, {problem_.out_channels}, "the bias");
  if (bias.dtype() != DType::f32 || !bias.is_contiguous()) {
    throw Error(ErrorCode::dtype, "conv1d: the bias is " + bias.to_string() + ", but must be contiguous f32");
  }
}

std::string Conv1dPipeline::explain() const {
  std::string text;
  for (const auto& explanation : explanations_) text += (text.empty() ? "" : "\n") + explanation();
  return text;
}

void Conv1dPipeline::run() const {
  if (stages_.empty())
    throw Error(ErrorCode::invalid_argument, "conv1d: this pipeline was moved from and has nothing to run");
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

/// The input as it is; A, the padded signal or the kernel's input are made from it on the device.
TensorView Conv1dPipeline::add_upload(const TensorView& input) {
  return upload(std::string("copy ") + name_of(input.dtype()) + " input", input, true);
}

/// A kernel that is planned once, and says how it was chosen.
template <class Plan>
void Conv1dPipeline::add_planned(const std::string& name, std::int64_t bytes, bool of_operand,
                                 const Plan& plan) {
  stages_.push_back(
      {name, StagePlace::device, bytes, of_operand, [stream = stream_, plan] { plan.run(stream); }});
  explanations_.push_back([plan] { return plan.explain(); });
}

/// fp32 in host memory -> 16-bit nlc in pinned memory -> the same on the device: the link carries half the
/// bytes.
TensorView Conv1dPipeline::add_host_upload(const TensorView& input) {
  const TensorView on_device =
      allocate(problem_.dtype, {problem_.batch, problem_.length, problem_.in_channels});
  const std::size_t bytes = static_cast<std::size_t>(on_device.elements()) * size_of(problem_.dtype);
  const auto staging = std::make_shared<Staging>(stream_.device(), bytes);
  const TensorView staged(staging->memory.data(), problem_.dtype, on_device.shape());
  const Stream host_stream(Device::cpu());
  const CopyPlan transposed = plan_permute(host_stream.device(), input, {0, 2, 1}, staged);

  stages_.push_back({is_channels_last(input) ? "cast" : "cast + transpose", StagePlace::host,
                     unique_bytes(input) + unique_bytes(staged), true, [host_stream, staging, transposed] {
                       if (staging->in_flight) staging->copied.synchronize();
                       transposed.run(host_stream);
                     }});
  stages_.push_back({std::string("copy ") + name_of(problem_.dtype) + " input", StagePlace::transfer,
                     static_cast<std::int64_t>(bytes), true, [stream = stream_, staging, on_device, bytes] {
                       if (bytes == 0) return;
                       stream.copy(on_device.data(), staging->memory.data(), bytes);
                       staging->copied.record(stream);
                       staging->in_flight = true;
                     }});
  return channels_first(on_device);
}

/// fp32 on the device -> 16-bit ncl -> nlc -> padded nlc -> A. Channels-last input needs no transpose.
void Conv1dPipeline::add_staged_upload(const TensorView& input) {
  const std::int64_t batch = problem_.batch, channels = problem_.in_channels, length = problem_.length;
  const auto add = [this](const char* name, const TensorView& in, const TensorView& out, const auto& plan) {
    add_planned(name, unique_bytes(in) + unique_bytes(out), true, plan);
  };
  const TensorView on_device = add_upload(input);
  const TensorView nlc = channels_first(allocate(problem_.dtype, {batch, length, channels}));
  const bool transposed = !is_channels_last(input);
  const TensorView half = transposed ? allocate(problem_.dtype, {batch, channels, length}) : nlc;
  add("cast", on_device, half, plan_cast(stream_.device(), on_device, half));
  if (transposed) {
    const TensorView target = channels_first(nlc);
    add("transpose", half, target, plan_transpose(stream_.device(), half, target));
  }
  const PadSpec& spec = problem_.pad;
  const TensorView padded =
      channels_first(allocate(problem_.dtype, {batch, length + spec.left + spec.right, channels}));
  add("pad", nlc, padded, plan_pad(stream_.device(), nlc, spec, padded));
  add_img2col("img2col", padded, PadSpec());
}

/// One kernel from a signal on the device to A.
void Conv1dPipeline::add_img2col(const std::string& name, const TensorView& from, const PadSpec& pad) {
  add_planned(name, unique_bytes(from) + unique_bytes(operand_), true,
              plan_img2col(stream_.device(), from, problem_.window, pad, operand_));
}

/// Everything up to A at once. Its bytes are those over the link, the slowest of the three as a rule.
void Conv1dPipeline::add_overlap(const TensorView& input, const OverlapOptions& options) {
  const auto overlap = std::make_shared<const Conv1dOverlap>(stream_, problem_, input, operand_, options);
  overlap_ = overlap;
  stages_.push_back({overlap->description(), StagePlace::transfer, overlap->link_bytes(), true,
                     [overlap] { overlap->run(); }});
  explanations_.push_back([overlap] { return overlap->explain(); });
}

/// Route operand: A by any upload, then one GEMM.
void Conv1dPipeline::add_operand(const Conv1dOptions& options, const TensorView& input,
                                 const TensorView& weights, const TensorView& bias) {
  const std::int64_t groups = problem_.window.groups;
  operand_ = allocate(problem_.dtype, groups == 1 ? Dims{sizes_.rows, sizes_.depth}
                                                  : Dims{groups, sizes_.rows, sizes_.depth});
  switch (options.upload) {
    case Upload::host:
      add_img2col("pad + img2col", add_host_upload(input), problem_.pad);
      break;
    case Upload::device:
      add_img2col(cast_of(input) + "pad + img2col", add_upload(input), problem_.pad);
      break;
    case Upload::device_staged:
      add_staged_upload(input);
      break;
    case Upload::overlap:
      add_overlap(input, options.overlap);
      break;
  }
  add_weights(weights, problem_.window.order);
  add_gemm(bias);
}

/// Route strided_gemm: the padded signal in one pass; its GEMMs take the place of the one on A.
void Conv1dPipeline::add_views(const TensorView& input, const std::string& cast, const TensorView& weights,
                               const TensorView& bias) {
  const PaddedSignal signal(stream_.device(), problem_, is_given(bias));
  stages_.push_back({cast + "pad", StagePlace::device, unique_bytes(input) + signal.bytes(), true,
                     [stream = stream_, signal, input] { signal.fill(stream, input); }});
  explanations_.push_back(
      [device = stream_.device(), signal, input] { return signal.explain(device, input); });
  add_weights(weights, ColumnOrder::tap_outer);
  const TensorView bias_on_device = add_bias(bias);
  stages_.push_back(
      {std::string("GEMM on views (") + gemm_library(stream_.device()) + ")", StagePlace::device,
       signal.bytes() + unique_bytes(weight_operand_) + unique_bytes(result_) + bias_bytes(bias), false,
       [stream = stream_, signal, bt = weight_operand_, bias_on_device, y = result_] {
         signal.multiply(stream, bt, bias_on_device, y);
       }});
}

/// Route direct: one kernel from the input to y.
void Conv1dPipeline::add_direct(const TensorView& input, const TensorView& weights, const TensorView& bias) {
  const DirectConv direct(stream_.device(), problem_);
  weight_operand_ = direct.weights();
  const TensorView weights_on_device = upload("copy weights", weights, false);
  stages_.push_back(
      {"rearrange weights", StagePlace::device,
       unique_bytes(weights_on_device) + unique_bytes(weight_operand_), false,
       [stream = stream_, direct, weights_on_device] { direct.rearrange(stream, weights_on_device); }});
  const TensorView bias_on_device = add_bias(bias);
  stages_.push_back(
      {"convolution", StagePlace::device,
       unique_bytes(input) + unique_bytes(weight_operand_) + unique_bytes(result_) + bias_bytes(bias), false,
       [stream = stream_, direct, input, bias_on_device, y = result_] {
         direct.run(stream, input, bias_on_device, y);
       }});
  explanations_.push_back(
      [device = stream_.device(), direct, input, y = result_] { return direct.explain(device, input, y); });
}

void Conv1dPipeline::add_weights(const TensorView& weights, ColumnOrder order) {
  weight_operand_ = allocate(problem_.dtype, {problem_.out_channels, sizes_.depth});
  const TensorView on_device = upload("copy weights", weights, false);
  const CopyPlan plan = plan_rearrange_weights(stream_.device(), on_device, order, weight_operand_);
  stages_.push_back({"rearrange weights", StagePlace::device,
                     unique_bytes(on_device) + unique_bytes(weight_operand_), false,
                     [stream = stream_, plan] { plan.run(stream); }});
}

TensorView Conv1dPipeline::add_bias(const TensorView& bias) {
  return is_given(bias) ? upload("copy bias", bias, false) : TensorView();
}

void Conv1dPipeline::add_gemm(const TensorView& bias) {
  const std::int64_t groups = problem_.window.groups, n = sizes_.columns, k = sizes_.depth;
  const TensorView bias_on_device = add_bias(bias);
  // The groups' results lie side by side in each row of y.
  const TensorView y(result_.data(), result_.dtype(), {groups, sizes_.rows, n},
                     {n, problem_.out_channels, 1});
  const TensorView a(operand_.data(), operand_.dtype(), {groups, sizes_.rows, k});
  const TensorView bt(weight_operand_.data(), weight_operand_.dtype(), {groups, n, k});
  const std::size_t bytes = gemm_workspace_bytes(stream_.device(), y, is_given(bias));
  const TensorView workspace =
      bytes > 0 ? allocate(DType::u8, {static_cast<std::int64_t>(bytes)}) : TensorView();
  add_planned(std::string("GEMM (") + gemm_library(stream_.device()) + ")",
              unique_bytes(a) + unique_bytes(bt) + unique_bytes(result_) + bias_bytes(bias), false,
              plan_gemm(stream_.device(), a, bt, bias_on_device, y, workspace));
}

}  // namespace relayout
