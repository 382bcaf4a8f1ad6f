#pragma once

#include <cstdint>
#include <ostream>

#include "tests/cases/layout.hpp"

namespace relayout::cases {

/// depthwise_conv1d of a signal [batch, channels, length].
struct DepthwiseCase {
  std::int64_t batch = 1, channels = 1, length = 1, taps = 4;
  DType type = DType::f16, weight_type = DType::f16, bias_type = DType::f32;
  Layout in_layout = Layout::ncl, out_layout = Layout::ncl, state_layout = Layout::ncl,
         weight_layout = Layout::ncl;
  /// Elements left free after each row of the fast axis, of in and of out: a slice of a wider tensor.
  std::int64_t in_gap = 0, out_gap = 0;
  std::int64_t in_misaligned = 0, out_misaligned = 0;
  bool bias = true, silu = false, initial_state = false, final_state = false, ids = false;

  Dims shape() const { return {batch, channels, length}; }
  Dims state_shape() const { return {batch, channels, taps - 1}; }
  Dims weight_shape() const { return {channels, taps}; }
  Dims in_strides() const { return strides(in_layout, in_gap); }
  Dims out_strides() const { return strides(out_layout, out_gap); }

 private:
  Dims strides(Layout layout, std::int64_t gap) const {
    if (gap == 0) return strides_of(layout, shape());
    const std::vector<int> order =
        layout == Layout::nlc ? std::vector<int>{0, 2, 1} : std::vector<int>{0, 1, 2};
    return strides_in_order(shape(), order, {0, 0, gap});
  }
};

inline std::ostream& operator<<(std::ostream& out, const DepthwiseCase& c) {
  return out << "depthwise " << relayout::name_of(c.type) << " " << to_string(c.shape()) << " taps " << c.taps
             << " weights " << relayout::name_of(c.weight_type) << " " << c.weight_layout << " in "
             << c.in_layout << " gap " << c.in_gap << " misaligned by " << c.in_misaligned << " out "
             << c.out_layout << " gap " << c.out_gap << " misaligned by " << c.out_misaligned
             << (c.bias ? " bias " : " no bias ") << (c.bias ? relayout::name_of(c.bias_type) : "")
             << (c.silu ? " silu" : "") << (c.initial_state ? " initial" : "")
             << (c.final_state ? " final" : "") << " states " << c.state_layout
             << (c.ids ? " sequence ids" : "");
}

}  // namespace relayout::cases
