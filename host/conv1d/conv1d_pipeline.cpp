// The stages of Conv1dPipeline. Views of one tensor are always [batch, channels, samples]; what changes from
// stage to stage is their strides: channels-last data ("nlc") is a permuted view of [batch, samples,
// channels] memory.
#include <memory>

#include "core/bytes.hpp"
#include "host/api/checks.hpp"
#include "host/conv1d/conv1d_views.hpp"
#include "host/conv1d/route_steps.hpp"
#include "relayout/conv1d.hpp"
#include "relayout/error.hpp"
#include "relayout/overlap.hpp"
#include "relayout/pad.hpp"
#include "relayout/permute.hpp"

namespace relayout {
namespace {

TensorView channels_first(const TensorView& nlc) { return nlc.permuted({0, 2, 1}); }

/// Uploads that end in A leave nothing to the other routes.
void check_options(const Conv1dOptions& options) {
  check_enumerator("conv1d", "the upload", options.upload, Upload::overlap);
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

std::string multiplication_name(ConvRoute route, const Device& device) {
  if (route == ConvRoute::direct) return "convolution";
  return std::string(route == ConvRoute::operand ? "GEMM (" : "GEMM on views (") + gemm_library(device) + ")";
}

/// The first part of a stage's name: what a kernel does to an input that was copied as it is.
std::string cast_of(const TensorView& input) {
  return is_channels_last(input) ? "cast + " : "cast + transpose + ";
}

}  // namespace

Conv1dPipeline::Conv1dPipeline(const Stream& stream, const Conv1d& problem, const Conv1dOptions& options,
                               const TensorView& input, const TensorView& weights, const TensorView& bias)
    : stream_(stream), problem_(problem), sizes_(sizes_of(problem)) {
  check_host_view(input, {problem.batch, problem.in_channels, problem.length}, "the input");
  check_host_view(weights,
                  {problem.out_channels, problem.in_channels / problem.window.groups, problem.window.taps},
                  "the weights");
  if (is_given(bias)) check_conv_bias("conv1d", bias, problem.out_channels);
  check_options(options);
  route_ = std::make_shared<const RouteSteps>(stream_.device(), problem, options.route, is_given(bias));
  if (options.route != ConvRoute::direct) prepare_gemm(stream_);  // else the first run would allocate
  const RouteSteps& steps = *route_;
  operand_ = steps.operand();
  weight_operand_ = steps.weights();
  result_ = allocate(problem.dtype, {problem.batch, sizes_.positions, problem.out_channels});
  const TensorView input_on_device = add_input(options, input, steps);
  const TensorView weights_on_device = upload("copy weights", weights, false);
  add_step("rearrange weights", unique_bytes(weights_on_device) + unique_bytes(weight_operand_), false,
           steps.plan_weights(weights_on_device));
  const TensorView bias_on_device = is_given(bias) ? upload("copy bias", bias, false) : TensorView();
  const std::int64_t input_bytes =
      options.route == ConvRoute::direct ? unique_bytes(input_on_device) : steps.input_step_bytes();
  add_step(multiplication_name(options.route, stream_.device()),
           input_bytes + unique_bytes(weight_operand_) + unique_bytes(result_) + bias_bytes(bias), false,
           steps.plan_multiply(input_on_device, bias_on_device, result_));
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
  return allocate_in(buffers_, stream_.device(), dtype, shape);
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

void Conv1dPipeline::add_step(const std::string& name, std::int64_t bytes, bool of_operand,
                              const PlannedStep& step) {
  stages_.push_back(
      {name, StagePlace::device, bytes, of_operand, [stream = stream_, run = step.run] { run(stream); }});
  explanations_.push_back(step.explain);
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
    add_step(name, unique_bytes(in) + unique_bytes(out), true, step_of(plan));
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
  add("img2col", padded, operand_,
      plan_img2col(stream_.device(), padded, problem_.window, PadSpec(), operand_));
}

/// Everything up to A at once. Its bytes are those over the link, the slowest of the three as a rule.
void Conv1dPipeline::add_overlap(const TensorView& input, const OverlapOptions& options) {
  const auto overlap = std::make_shared<const Conv1dOverlap>(stream_, problem_, input, operand_, options);
  overlap_ = overlap;
  stages_.push_back({overlap->description(), StagePlace::transfer, overlap->link_bytes(), true,
                     [overlap] { overlap->run(); }});
  explanations_.push_back([overlap] { return overlap->explain(); });
}

/// All that leads to what the multiplication reads. Returns the input on the device, where it lies there
/// whole.
TensorView Conv1dPipeline::add_input(const Conv1dOptions& options, const TensorView& input,
                                     const RouteSteps& steps) {
  if (options.upload == Upload::device_staged) {
    add_staged_upload(input);
    return {};
  }
  if (options.upload == Upload::overlap) {
    add_overlap(input, options.overlap);
    return {};
  }
  const bool on_host = options.upload == Upload::host;
  const TensorView on_device = on_host ? add_host_upload(input) : add_upload(input);
  if (options.route == ConvRoute::direct) return on_device;
  const char* const window = options.route == ConvRoute::operand ? "pad + img2col" : "pad";
  add_step((on_host ? "" : cast_of(input)) + window, unique_bytes(on_device) + steps.input_step_bytes(), true,
           steps.plan_input(on_device));
  return on_device;
}

}  // namespace relayout
