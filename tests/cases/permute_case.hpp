#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "tests/cases/layout.hpp"

#include <relayout/permute.hpp>

namespace relayout::cases {

/// permute(in, axes): out has extent shape[axes[j]] along axis j. Empty strides: contiguous.
struct PermuteCase {
  DType in_type = DType::f32, out_type = DType::f32;
  Dims shape;
  std::vector<int> axes;
  Dims in_strides, out_strides;
  std::int64_t in_misaligned = 0, out_misaligned = 0;  // elements from an aligned address
  CopyScale scale = {};
  bool indirect = false;  // pointers from slots
  CastOptions options = {};

  Dims out_shape() const {
    Dims out;
    for (const int axis : axes) out.push_back(shape[static_cast<std::size_t>(axis)]);
    return out;
  }
};

inline std::ostream& operator<<(std::ostream& out, const PermuteCase& c) {
  out << "permute " << describe(c.in_type, c.shape, c.in_strides, c.in_misaligned) << " by "
      << to_string(Dims(c.axes.begin(), c.axes.end())) << " to "
      << describe(c.out_type, c.out_shape(), c.out_strides, c.out_misaligned);
  if (c.scale.alpha != 1 || c.scale.beta != 0)
    out << " times " << c.scale.alpha << " + " << c.scale.beta << " * out";
  if (c.indirect) out << ", indirect";
  if (c.options.rounding) out << ", rounded " << relayout::name_of(*c.options.rounding);
  if (!c.options.saturate_fp8) out << ", fp8 not saturated";
  if (c.options.integer_overflow == IntegerOverflow::saturate) out << ", integers saturated";
  return out;
}

}  // namespace relayout::cases
