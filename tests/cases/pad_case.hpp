#pragma once

#include <cstdint>
#include <ostream>

#include "tests/cases/layout.hpp"

#include <relayout/pad.hpp>

namespace relayout::cases {

inline std::ostream& print(std::ostream& out, const PadSpec& pad) {
  out << "pad " << pad.left << ".." << pad.right << " " << relayout::name_of(pad.mode);
  if (pad.mode == PadMode::constant) out << " " << pad.value;
  return out << (pad.policy == PadPolicy::strict ? " strict" : " extended");
}

/// pad(in [batch, channels, length]) to [batch, channels, length + left + right].
struct PadCase {
  std::int64_t batch = 1, channels = 1, length = 1;
  PadSpec pad;
  DType in_type = DType::f32, out_type = DType::f32;
  Layout in_layout = Layout::ncl, out_layout = Layout::ncl;
  std::int64_t in_misaligned = 0, out_misaligned = 0;

  Dims in_shape() const { return {batch, channels, length}; }
  Dims out_shape() const { return {batch, channels, length + pad.left + pad.right}; }
};

inline std::ostream& operator<<(std::ostream& out, const PadCase& c) {
  out << relayout::name_of(c.in_type) << " " << c.in_layout << " " << to_string(c.in_shape()) << " ";
  return print(out, c.pad) << " to " << relayout::name_of(c.out_type) << " " << c.out_layout
                           << " misaligned by " << c.in_misaligned << ", " << c.out_misaligned;
}

}  // namespace relayout::cases
