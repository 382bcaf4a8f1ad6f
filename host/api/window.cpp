#include "host/api/window.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "core/bytes.hpp"
#include "core/kernel_table.hpp"
#include "host/api/checks.hpp"
#include "host/api/copy.hpp"
#include "host/api/plan_checks.hpp"
#include "host/api/planned_for.hpp"
#include "host/plan/copy/cast_rule.hpp"
#include "host/plan/plan_words.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

template <class T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

template <class T>
std::uint64_t integer_bits(const char* operation, double value, DType type) {
  // 2^digits is exact in a double where the largest integer itself may not be.
  const double above = std::ldexp(1.0, std::numeric_limits<T>::digits);
  const double least = static_cast<double>(std::numeric_limits<T>::min());
  if (!(value >= least && value < above) || value != std::trunc(value)) {
    fail(operation, ErrorCode::literal_range,
         "the pad value " + shortest(value) + " is no value of " + name_of(type));
  }
  return bits_of(static_cast<T>(value));
}

WriteOrder write_order(const WindowStrides& strides, const Window& window, std::int64_t channels) {
  // Axes of extent 1 do not decide.
  const std::int64_t far = std::numeric_limits<std::int64_t>::max();
  const std::int64_t channel = channels > 1 ? std::abs(strides.channel) : far;
  const std::int64_t tap = window.taps > 1 ? std::abs(strides.tap) : far;
  const std::int64_t position = std::abs(strides.position);
  if (channel <= tap && channel <= position) return WriteOrder::channel;
  return tap <= position ? WriteOrder::tap : WriteOrder::position;
}

}  // namespace

struct WindowPlan::State {
  const char* operation = "";
  plan::PlannedWindow window;
  TensorView in, out;
  PlannedFor target;
};

void launch_window(const Stream& stream, const plan::PlannedWindow& window, const void* in, void* out) {
  if (window.inside) {
    const plan::InsidePart& inside = *window.inside;
    launch_copy(stream, inside.copy, {at_bytes(in, inside.in_offset), at_bytes(out, inside.out_offset)});
  }
  for (int i = 0; i < window.count; ++i) {
    WindowParams params = window.parts[i].params;
    params.in = in;
    params.out = at_bytes(out, window.parts[i].out_offset);
    kernels_of(stream).window(context_of(stream), params);
  }
}

void run_window(const Stream& stream, const WindowParams& problem) {
  const Device& device = stream.device();
  launch_window(stream, plan::plan_window(device.properties(), is_native(device), problem), problem.in,
                problem.out);
}

WindowPlan keep_window(const char* operation, const PlanTarget& target, const WindowParams& problem,
                       const TensorView& in, const TensorView& out) {
  check_planned_memory(operation, in, out);
  auto state = std::make_shared<WindowPlan::State>();
  state->operation = operation;
  state->in = in;
  state->out = out;
  state->target = PlannedFor(target);
  state->window = plan::plan_window(target.properties(), is_native(target), problem);
  return WindowPlan(std::move(state));
}

void WindowPlan::run(const Stream& stream) const {
  state_->target.check(state_->operation, stream);
  check_pointer(state_->operation, "the input", state_->in);
  check_pointer(state_->operation, "the output", state_->out);
  launch_window(stream, state_->window, state_->in.data(), state_->out.data());
}

void WindowPlan::run(const Stream& stream, const void* in, void* out) const {
  const State& state = *state_;
  state.target.check(state.operation, stream);
  const plan::WindowAlignment alignment = plan::alignment_of(state.window);
  check_plan_alignment(state.operation, "input", alignment.in, in, state.in.data());
  check_plan_alignment(state.operation, "output", alignment.out, out, state.out.data());
  const TensorView read = at_address(state.in, in), written = at_address(state.out, out);
  check_pointer(state.operation, "the input", read);
  check_pointer(state.operation, "the output", written);
  check_disjoint(state.operation, read, written);
  launch_window(stream, state.window, in, out);
}

std::string WindowPlan::explain() const {
  const State& state = *state_;
  return plan::heading(state.operation, {&state.in}, state.out, state.target.name(),
                       state.target.properties()) +
         plan::explain_window(state.target.properties(), state.window);
}

std::int64_t window_stride(const TensorView& view, int axis) {
  constexpr std::int64_t kMax = std::int64_t{1} << 57;
  const std::int64_t stride = view.stride(axis);
  if (view.elements() == 0) return 0;
  return stride >= -kMax && stride <= kMax ? stride : used_stride(view, axis);
}

void check_padding(const char* operation, std::int64_t length, const PadSpec& pad) {
  check_enumerator(operation, "the pad mode", pad.mode, PadMode::reflect_zero_extended);
  check_enumerator(operation, "the pad policy", pad.policy, PadPolicy::extended);
  const std::int64_t larger = std::max(pad.left, pad.right);
  const std::string described = std::string(operation) + ": " + name_of(pad.mode) + " padding of " +
                                std::to_string(pad.left) + " and " + std::to_string(pad.right) +
                                " samples on a signal of length " + std::to_string(length);
  if (length == 0 && pad.mode != PadMode::constant) {
    throw Error(ErrorCode::invalid_shape, described + " has nothing to read; use constant padding");
  }
  if (pad.policy == PadPolicy::extended) return;
  if (pad.mode == PadMode::reflect && larger >= length) {
    throw Error(ErrorCode::pad_too_large, described +
                                              " is too large: the strict policy needs pads < length; "
                                              "use PadPolicy::extended for numpy's result");
  }
  if (pad.mode == PadMode::circular && larger > length) {
    throw Error(ErrorCode::pad_too_large, described +
                                              " is too large: the strict policy needs pads <= length; "
                                              "use PadPolicy::extended for numpy's result");
  }
}

std::uint64_t encode_pad_value(const char* operation, const PadSpec& pad, DType type) {
  if (pad.mode != PadMode::constant) return 0;
  const double value = pad.value;
  switch (type) {
    case DType::f16:
      return bits_of(to_f16(value));
    case DType::bf16:
      return bits_of(to_bf16(value));
    case DType::f32:
      return bits_of(static_cast<float>(value));
    case DType::f64:
      return bits_of(value);
    case DType::bool_:
      return value != 0.0 ? 1 : 0;
    case DType::u8:
      return integer_bits<std::uint8_t>(operation, value, type);
    case DType::u16:
      return integer_bits<std::uint16_t>(operation, value, type);
    case DType::u32:
      return integer_bits<std::uint32_t>(operation, value, type);
    case DType::u64:
      return integer_bits<std::uint64_t>(operation, value, type);
    case DType::i8:
      return integer_bits<std::int8_t>(operation, value, type);
    case DType::i16:
      return integer_bits<std::int16_t>(operation, value, type);
    case DType::i32:
      return integer_bits<std::int32_t>(operation, value, type);
    case DType::i64:
      return integer_bits<std::int64_t>(operation, value, type);
    case DType::b128:
      fail(operation, ErrorCode::dtype, std::string("no constant padding of ") + name_of(type));
    default:
      return converted_bits(DType::f64, type, {}, bits_of(value));
  }
}

WindowParams window_params(const TensorView& in, const Window& window, const PadSpec& pad,
                           std::uint64_t pad_bits, std::int64_t positions, const TensorView& out,
                           const WindowStrides& strides) {
  WindowParams params;
  params.in = in.data();
  params.out = out.data();
  params.in_type = in.dtype();
  params.out_type = out.dtype();
  params.batch = in.extent(0);
  params.groups = window.groups;
  params.channels = in.extent(1) / window.groups;
  params.length = in.extent(2);
  params.positions = positions;
  params.taps = window.taps;
  // A single tap or position has no step. The caller's may be any number, too large to multiply.
  params.stride = positions > 1 ? window.stride : 1;
  params.dilation = window.taps > 1 ? window.dilation : 1;
  params.pad_left = pad.left;
  params.mode = pad.mode;
  params.pad_bits = pad_bits;
  params.reflect_length = pad.mode == PadMode::reflect_zero_extended
                              ? std::max(params.length, std::max(pad.left, pad.right) + 1)
                              : params.length;
  params.in_batch = window_stride(in, 0);
  params.in_channel = window_stride(in, 1);
  params.in_time = window_stride(in, 2);
  params.out_batch = strides.batch;
  params.out_group = strides.group;
  params.out_position = strides.position;
  params.out_tap = strides.tap;
  params.out_channel = strides.channel;
  params.order = write_order(strides, window, params.channels);
  return params;
}

}  // namespace relayout
