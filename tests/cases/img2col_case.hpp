#pragma once

#include <cstdint>
#include <ostream>

#include "tests/cases/pad_case.hpp"

#include <relayout/img2col.hpp>

namespace relayout::cases {

/// img2col(in [batch, channels, length]) to one matrix [batch * ho, K / groups] per group.
struct Img2colCase {
  std::int64_t batch = 1, channels = 1, length = 1;
  Window window;
  PadSpec pad;
  DType in_type = DType::f32, out_type = DType::f16;
  Layout in_layout = Layout::ncl;
  std::int64_t row_gap = 0, group_gap = 0;  // elements left free after each row, after each group's matrix
  std::int64_t in_misaligned = 0, out_misaligned = 0;

  Dims in_shape() const { return {batch, channels, length}; }
  std::int64_t rows() const { return batch * output_length(length, window, pad); }
  std::int64_t depth() const { return window.taps * channels / window.groups; }
  Dims out_shape() const {
    return window.groups == 1 ? Dims{rows(), depth()} : Dims{window.groups, rows(), depth()};
  }
  Dims out_strides() const {
    const std::int64_t pitch = depth() + row_gap;
    return window.groups == 1 ? Dims{pitch, 1} : Dims{rows() * pitch + group_gap, pitch, 1};
  }
};

inline std::ostream& operator<<(std::ostream& out, const Img2colCase& c) {
  out << relayout::name_of(c.in_type) << " " << c.in_layout << " " << to_string(c.in_shape()) << " taps "
      << c.window.taps << " stride " << c.window.stride << " dilation " << c.window.dilation << " groups "
      << c.window.groups << (c.window.order == ColumnOrder::tap_outer ? " tap_outer " : " channel_outer ");
  return print(out, c.pad) << " to " << relayout::name_of(c.out_type) << " row gap " << c.row_gap
                           << " group gap " << c.group_gap << " misaligned by " << c.in_misaligned << ", "
                           << c.out_misaligned;
}

}  // namespace relayout::cases
