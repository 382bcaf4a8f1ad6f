#include "relayout/pad.hpp"

#include "host/api/checks.hpp"
#include "host/api/window.hpp"
#include "relayout/error.hpp"

namespace relayout {

const char* name_of(PadMode mode) noexcept {
  switch (mode) {
    case PadMode::constant:
      return "constant";
    case PadMode::replicate:
      return "replicate";
    case PadMode::reflect:
      return "reflect";
    case PadMode::symmetric:
      return "symmetric";
    case PadMode::circular:
      return "circular";
    default:
      return "reflect_zero_extended";
  }
}

WindowParams pad_problem(const TensorView& in, const PadSpec& spec, const TensorView& out) {
  check_cast("pad", in.dtype(), out.dtype());
  check_rank("pad", "the input", in, 3);
  check_rank("pad", "the output", out, 3);
  check_reach("pad", "the input", in);
  check_reach("pad", "the output", out);
  const std::int64_t length = in.extent(2);
  const std::int64_t padded = padded_length("pad", length, spec);
  check_shape("pad", out, {in.extent(0), in.extent(1), padded});
  check_padding("pad", length, spec);
  WindowStrides strides;
  strides.batch = window_stride(out, 0);
  strides.channel = window_stride(out, 1);
  strides.position = window_stride(out, 2);
  // A window of one tap and stride 1.
  return window_params(in, Window(), spec, encode_pad_value("pad", spec, out.dtype()), padded, out, strides);
}

void pad(const Stream& stream, const TensorView& in, const PadSpec& spec, const TensorView& out) {
  const WindowParams problem = pad_problem(in, spec, out);
  check_memory("pad", in, out);
  run_window(stream, problem);
}

WindowPlan plan_pad(const PlanTarget& target, const TensorView& in, const PadSpec& spec,
                    const TensorView& out) {
  return keep_window("pad", target, pad_problem(in, spec, out), in, out);
}

}  // namespace relayout
