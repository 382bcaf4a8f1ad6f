#include "relayout/overlap.hpp"

#include <algorithm>
#include <vector>

#include "core/bytes.hpp"
#include "core/integer_math.hpp"
#include "host/api/plan_checks.hpp"
#include "host/api/window.hpp"
#include "host/conv1d/conv1d_views.hpp"
#include "host/conv1d/overlap_chunks.hpp"
#include "host/conv1d/route_steps.hpp"
#include "host/plan/plan_words.hpp"
#include "relayout/error.hpp"
#include "relayout/permute.hpp"

namespace relayout {
namespace {

/// Rows of staged samples start on 16-byte boundaries, so that the device reads them 16 bytes at a time.
constexpr std::int64_t kRowBytes = 16;

Dims strides_of(StagedOrder order, std::int64_t channels, std::int64_t samples, std::int64_t row) {
  return order == StagedOrder::channels_last ? Dims{samples * channels, 1, channels}
                                             : Dims{channels * row, row, 1};
}

/// Memory for one chunk on its way.
struct Slot {
  explicit Slot(const Device& device) : copied(device), consumed(device) {}
  PinnedBuffer staging;
  Buffer on_device;
  Event copied, consumed;
  bool was_copied = false, was_consumed = false;
};

/// One chunk's work, all views ready.
struct Step {
  plan::Conv1dChunk chunk;
  std::size_t slot = 0;
  bool direct = false;      // copied from the input itself
  Window window;            // of the chunk's groups
  TensorView input;         // the chunk's items and channels, all samples
  TensorView staged;        // [items, channels, samples]: in the slot's staging buffer, or of the input
  TensorView on_device;     // the same in the slot's device buffer
  std::size_t bytes = 0;    // over the link
  TensorView out;           // the first element of A that the chunk gives
  PadSpec kernel_pad, pad;  // of the device's kernel on the chunk; of the problem
};

WindowStrides operand_strides(const Conv1d& problem, const Conv1dSizes& sizes) {
  const bool tap_outer = problem.window.order == ColumnOrder::tap_outer;
  WindowStrides strides;
  strides.group = sizes.rows * sizes.depth;
  strides.batch = sizes.positions * sizes.depth;
  strides.position = sizes.depth;
  strides.tap = tap_outer ? problem.in_channels / problem.window.groups : 1;
  strides.channel = tap_outer ? 1 : problem.window.taps;
  return strides;
}

void check_operand(const TensorView& operand, const Conv1d& problem, const Conv1dSizes& sizes) {
  check_host_view(operand, operand_shape(problem, sizes), "the operand");
  if (operand.dtype() != problem.dtype || !operand.is_contiguous()) {
    throw Error(ErrorCode::dtype, "conv1d: the operand is " + operand.to_string() +
                                      ", but must be contiguous " + name_of(problem.dtype));
  }
}

/// Where a chunk's part of A begins, as a view of one element.
TensorView first_element(const TensorView& operand, const WindowStrides& strides,
                         const plan::Conv1dChunk& chunk, std::int64_t group_channels) {
  const std::int64_t offset = chunk.item * strides.batch + chunk.position * strides.position +
                              chunk.channel / group_channels * strides.group +
                              chunk.channel % group_channels * strides.channel;
  char* const memory = static_cast<char*>(operand.data());
  const std::int64_t element = bytes_of(operand.dtype());
  return TensorView(memory == nullptr ? nullptr : memory + offset * element, operand.dtype(), {1});
}

std::string describe(HostWork work, const OverlapChunks& cut) {
  std::string text;
  if (work == HostWork::cast) text = "cast | ";
  if (work == HostWork::cast_transpose) text = "cast + T | ";
  if (work == HostWork::none && !cut.direct) text = "stage | ";
  return text + "copy " + name_of(cut.type) + " | img2col";
}

}  // namespace

struct Conv1dOverlap::State {
  Stream stream, copies, host;
  Conv1d problem;
  StagedOrder order = StagedOrder::channels_first;
  WindowStrides strides;       // of A
  std::uint64_t pad_bits = 0;  // of the problem's constant
  mutable std::vector<Slot> slots;
  std::vector<Step> steps;
  std::int64_t direct = 0, link_bytes = 0, host_bytes = 0;
  std::string description;

  State(const Stream& stream_, const Conv1d& problem_)
      : stream(stream_), copies(stream_.device()), host(Device::cpu()), problem(problem_) {}

  void stage(const Step& step) const;
  void pad_staged(const Step& step, std::int64_t begin, std::int64_t end) const;
  void work_on_host(const Step& step) const;
  void copy(const Step& step) const;
  void run_kernel(const Step& step) const;
};

void Conv1dOverlap::State::pad_staged(const Step& step, std::int64_t begin, std::int64_t end) const {
  if (begin >= end) return;
  const TensorView out = step.staged.slice(2, begin, end);
  PadSpec pad = step.pad;
  pad.left = -(step.chunk.sample + begin);
  pad.right = std::max(step.pad.left, step.pad.right);  // tells reflect_zero_extended where to mirror
  WindowStrides strides_of_out;
  strides_of_out.batch = out.stride(0);
  strides_of_out.channel = out.stride(1);
  strides_of_out.position = out.stride(2);
  // A constant is never staged: the device's kernel knows it.
  run_window(host, window_params(step.input, Window(), pad, 0, end - begin, out, strides_of_out));
}

void Conv1dOverlap::State::stage(const Step& step) const {
  const plan::Conv1dChunk& chunk = step.chunk;
  if (step.staged.elements() == 0) return;
  const std::int64_t begin = std::clamp<std::int64_t>(-chunk.sample, 0, chunk.samples);
  const std::int64_t end = std::clamp(problem.length - chunk.sample, begin, chunk.samples);
  pad_staged(step, 0, begin);
  if (begin < end) {
    cast(host, step.input.slice(2, chunk.sample + begin, chunk.sample + end),
         step.staged.slice(2, begin, end));
  }
  pad_staged(step, end, chunk.samples);
}

void Conv1dOverlap::State::work_on_host(const Step& step) const {
  if (step.direct) return;
  const Slot& slot = slots[step.slot];
  if (slot.was_copied) slot.copied.synchronize();
  stage(step);
}

void Conv1dOverlap::State::copy(const Step& step) const {
  Slot& slot = slots[step.slot];
  if (slot.was_consumed) copies.wait(slot.consumed);
  if (!step.direct || order == StagedOrder::channels_last || step.chunk.whole) {
    copies.copy(step.on_device.data(), step.staged.data(), step.bytes);
  } else {
    const std::size_t element = size_of(step.staged.dtype());
    const auto pitch = [element](const TensorView& view) {
      return static_cast<std::size_t>(view.stride(1)) * element;
    };
    copies.copy_rows(step.on_device.data(), pitch(step.on_device), step.staged.data(), pitch(step.staged),
                     static_cast<std::size_t>(step.chunk.samples) * element,
                     static_cast<std::size_t>(step.chunk.items * step.chunk.channels));
  }
  slot.copied.record(copies);
  slot.was_copied = true;
}

void Conv1dOverlap::State::run_kernel(const Step& step) const {
  Slot& slot = slots[step.slot];
  stream.wait(slot.copied);
  run_window(stream, window_params(step.on_device, step.window, step.kernel_pad, pad_bits,
                                   step.chunk.positions, step.out, strides));
  slot.consumed.record(stream);
  slot.was_consumed = true;
}

Conv1dOverlap::Conv1dOverlap(const Stream& stream, const Conv1d& problem, const TensorView& input,
                             const TensorView& operand, const OverlapOptions& options)
    : state_(std::make_shared<State>(stream, problem)) {
  const Conv1dSizes sizes = sizes_of(problem);
  const std::int64_t channels = problem.in_channels, length = problem.length;
  check_host_view(input, {problem.batch, channels, length}, "the input");
  check_operand(operand, problem, sizes);
  const OverlapChunks cut = overlap_chunks(problem, sizes, input, options);

  State& s = *state_;
  s.order = cut.order;
  s.strides = operand_strides(problem, sizes);
  s.pad_bits = encode_pad_value("conv1d", problem.pad, problem.dtype);
  s.description = describe(options.host_work, cut);
  const DType type = cut.type;
  const std::int64_t element = bytes_of(type);
  // Axes of extent 1 may have had any strides.
  const TensorView source = cut.direct ? TensorView(input.data(), type, input.shape(),
                                                    strides_of(cut.order, channels, length, length))
                                       : input;
  const std::size_t slots = std::min(static_cast<std::size_t>(options.buffers), cut.chunks.size());
  std::size_t most_bytes = 0, most_staged = 0;
  for (const plan::Conv1dChunk& chunk : cut.chunks) {
    Step step;
    step.chunk = chunk;
    step.slot = s.steps.size() % slots;
    step.direct = cut.direct && chunk.inside;
    step.window = problem.window;
    step.window.groups = chunk.groups;
    step.input = source.slice(0, chunk.item, chunk.item + chunk.items)
                     .slice(1, chunk.channel, chunk.channel + chunk.channels);
    step.pad = step.kernel_pad = problem.pad;
    step.kernel_pad.left = chunk.pad_left(cut.request);
    if (!chunk.whole) step.kernel_pad.mode = PadMode::constant;
    const std::int64_t unit = step.direct && chunk.whole ? 1 : kRowBytes / element;
    const std::int64_t row = round_up(chunk.samples, unit);
    const Dims shape{chunk.items, chunk.channels, chunk.samples};
    const Dims strides = strides_of(cut.order, chunk.channels, chunk.samples, row);
    const std::int64_t elements = chunk.items * strides[0];
    step.on_device = TensorView(nullptr, type, shape, strides);
    step.staged =
        step.direct ? step.input.slice(2, chunk.sample, chunk.sample + chunk.samples) : step.on_device;
    step.bytes = static_cast<std::size_t>(elements * element);
    step.out = first_element(operand, s.strides, chunk, channels / problem.window.groups);
    most_bytes = std::max(most_bytes, step.bytes);
    s.direct += step.direct ? 1 : 0;
    if (!step.direct) {
      most_staged = std::max(most_staged, step.bytes);
      s.host_bytes +=
          unique_bytes(step.input.slice(2, 0, std::min(chunk.samples, length))) + unique_bytes(step.staged);
    }
    s.link_bytes += step.direct ? unique_bytes(step.staged) : static_cast<std::int64_t>(step.bytes);
    s.steps.push_back(step);
  }
  for (std::size_t i = 0; i < slots; ++i) {
    s.slots.emplace_back(stream.device());
    s.slots.back().staging = PinnedBuffer(stream.device(), most_staged);
    s.slots.back().on_device = Buffer(stream.device(), most_bytes);
    // Kernels read whole words, with them what lies between the rows.
    s.copies.fill(s.slots.back().on_device.data(), 0, most_bytes);
  }
  for (Step& step : s.steps) {
    const Slot& slot = s.slots[step.slot];
    step.on_device = at_address(step.on_device, slot.on_device.data());
    if (!step.direct) step.staged = at_address(step.staged, slot.staging.data());
  }
}

void Conv1dOverlap::run() const {
  for (const Step& step : state_->steps) {
    state_->work_on_host(step);
    state_->copy(step);
    state_->run_kernel(step);
  }
}

void Conv1dOverlap::run_host_work() const {
  for (const Step& step : state_->steps) state_->work_on_host(step);
}

void Conv1dOverlap::run_copies() const {
  for (const Step& step : state_->steps) state_->copy(step);
  // The stream's clock then tells when the last copy has ended.
  if (!state_->steps.empty()) state_->stream.wait(state_->slots[state_->steps.back().slot].copied);
}

std::int64_t Conv1dOverlap::chunks() const noexcept {
  return static_cast<std::int64_t>(state_->steps.size());
}
std::int64_t Conv1dOverlap::direct_chunks() const noexcept { return state_->direct; }
std::int64_t Conv1dOverlap::link_bytes() const noexcept { return state_->link_bytes; }
std::int64_t Conv1dOverlap::host_bytes() const noexcept { return state_->host_bytes; }
std::string Conv1dOverlap::explain() const {
  const State& s = *state_;
  if (s.steps.empty()) return "Overlap: no chunks.\n";
  const Step& first = s.steps[0];
  const Device& device = s.stream.device();
  const WindowParams window = window_params(first.on_device, first.window, first.kernel_pad, s.pad_bits,
                                            first.chunk.positions, first.out, s.strides);
  return "Overlap: " + s.description + ", " + plan::plural(chunks(), "chunk") + ", " +
         plan::plural(s.link_bytes, "byte") + " over the link; of the first chunk's kernel:\n" +
         plan::explain_window(device.properties(),
                              plan::plan_window(device.properties(), is_native(device), window));
}

const std::string& Conv1dOverlap::description() const noexcept { return state_->description; }

}  // namespace relayout
