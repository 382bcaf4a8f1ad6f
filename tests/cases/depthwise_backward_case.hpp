#pragma once

#include <ostream>

#include "tests/cases/depthwise_case.hpp"

namespace relayout::cases {

/// depthwise_conv1d_backward: the forward's case, in whose out_layout d_out lies and whose final_state says
/// whether there is a gradient of it.
struct DepthwiseBackwardCase : DepthwiseCase {
  DepthwiseBackwardCase() = default;
  explicit DepthwiseBackwardCase(const DepthwiseCase& forward)
      : DepthwiseCase(forward), d_in_layout(forward.in_layout) {}
  Layout d_in_layout = Layout::ncl;
  std::int64_t d_in_misaligned = 0;
  DType d_weights_type = DType::f32, d_bias_type = DType::f32;
  bool d_weights = true, d_bias = true, d_initial_state = false;

  Dims d_in_strides() const { return strides_of(d_in_layout, shape()); }
};

inline std::ostream& operator<<(std::ostream& out, const DepthwiseBackwardCase& c) {
  out << "backward of " << static_cast<const DepthwiseCase&>(c) << " d_in " << c.d_in_layout
      << " misaligned by " << c.d_in_misaligned;
  if (c.d_weights) out << " d_weights " << relayout::name_of(c.d_weights_type);
  if (c.d_bias) out << " d_bias " << relayout::name_of(c.d_bias_type);
  return out << (c.d_initial_state ? " d_initial" : "");
}

}  // namespace relayout::cases
