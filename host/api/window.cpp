#include "host/api/window.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "core/kernel_table.hpp"
#include "host/api/checks.hpp"
#include "host/plan/window/window_plan.hpp"
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
    throw Error(ErrorCode::literal_range, std::string(operation) + ": the pad value " +
                                              std::to_string(value) + " is no value of " + name_of(type));
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

void launch_window(const Stream& stream, WindowParams params) {
  const KernelTable& kernels = kernels_of(stream);
  switch (plan::plan_window(stream.device().properties(), params)) {
    case plan::WindowKernel::rows:
      return kernels.pad_rows(context_of(stream), params);
    case plan::WindowKernel::vector:
      return kernels.window_vector(context_of(stream), params);
    case plan::WindowKernel::general:
      return kernels.window(context_of(stream), params);
  }
}

void check_padding(const char* operation, std::int64_t length, const PadSpec& pad) {
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
    default:
      throw Error(ErrorCode::dtype, std::string(operation) + ": no constant padding of " + name_of(type));
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
  params.stride = window.stride;
  params.dilation = window.dilation;
  params.pad_left = pad.left;
  params.mode = pad.mode;
  params.pad_bits = pad_bits;
  params.reflect_length = pad.mode == PadMode::reflect_zero_extended
                              ? std::max(params.length, std::max(pad.left, pad.right) + 1)
                              : params.length;
  params.in_batch = in.stride(0);
  params.in_channel = in.stride(1);
  params.in_time = in.stride(2);
  params.out_batch = strides.batch;
  params.out_group = strides.group;
  params.out_position = strides.position;
  params.out_tap = strides.tap;
  params.out_channel = strides.channel;
  params.order = write_order(strides, window, params.channels);
  return params;
}

void run_window(const Stream& stream, const TensorView& in, const Window& window, const PadSpec& pad,
                std::uint64_t pad_bits, std::int64_t positions, const TensorView& out,
                const WindowStrides& strides) {
  launch_window(stream, window_params(in, window, pad, pad_bits, positions, out, strides));
}

}  // namespace relayout
