#pragma once

#include <cstdint>
#include <ostream>

#include "tests/cases/layout.hpp"

#include <relayout/img2col.hpp>

namespace relayout::cases {

/// rearrange_weights([out_channels, channels, taps]) to [out_channels, taps * channels]; channels of one
/// group.
struct WeightsCase {
  std::int64_t out_channels = 1, channels = 1, taps = 1;
  ColumnOrder order = ColumnOrder::tap_outer;
  DType in_type = DType::f32, out_type = DType::f16;
  Layout in_layout = Layout::ncl;
  std::int64_t row_gap = 0;
  std::int64_t in_misaligned = 0, out_misaligned = 0;

  Dims in_shape() const { return {out_channels, channels, taps}; }
  Dims out_shape() const { return {out_channels, taps * channels}; }
  Dims out_strides() const { return {taps * channels + row_gap, 1}; }
};

inline std::ostream& operator<<(std::ostream& out, const WeightsCase& c) {
  return out << relayout::name_of(c.in_type) << " " << c.in_layout << " " << to_string(c.in_shape())
             << (c.order == ColumnOrder::tap_outer ? " tap_outer" : " channel_outer") << " to "
             << relayout::name_of(c.out_type) << " row gap " << c.row_gap << " misaligned by "
             << c.in_misaligned << ", " << c.out_misaligned;
}

}  // namespace relayout::cases
