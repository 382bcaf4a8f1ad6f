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

void pad(const Stream& stream, const TensorView& in, const PadSpec& spec, const TensorView& out) {
  check_cast("pad", in.dtype(), out.dtype());
  check_rank("pad", "the input", in, 3);
  check_rank("pad", "the output", out, 3);
  const Window window;  // one tap, stride 1
  const std::int64_t length = in.extent(2);
  const std::int64_t padded = padded_length("pad", length, spec);
  check_shape("pad", out, {in.extent(0), in.extent(1), padded});
  check_padding("pad", length, spec);
  const std::uint64_t pad_bits = encode_pad_value("pad", spec, out.dtype());
  check_memory("pad", in, out);
  if (out.elements() == 0) return;
  WindowStrides strides;
  strides.batch = out.stride(0);
  strides.channel = out.stride(1);
  strides.position = out.stride(2);
  run_window(stream, in, window, spec, pad_bits, padded, out, strides);
}

}  // namespace relayout
