// img2col cases in few words.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/cases/img2col_case.hpp"

namespace relayout::cases {

inline const std::vector<PadMode> kModes{PadMode::constant, PadMode::replicate,
                                         PadMode::reflect,  PadMode::symmetric,
                                         PadMode::circular, PadMode::reflect_zero_extended};
inline const std::vector<ColumnOrder> kOrders{ColumnOrder::tap_outer, ColumnOrder::channel_outer};

inline Window window(std::int64_t taps, std::int64_t stride = 1, std::int64_t dilation = 1,
                     std::int64_t groups = 1, ColumnOrder order = ColumnOrder::tap_outer) {
  Window w;
  w.taps = taps;
  w.stride = stride;
  w.dilation = dilation;
  w.groups = groups;
  w.order = order;
  return w;
}

inline PadSpec zeros(std::int64_t left, std::int64_t right) {
  PadSpec pad;
  pad.left = left;
  pad.right = right;
  return pad;
}

inline Img2colCase make(std::int64_t batch, std::int64_t channels, std::int64_t length, const Window& w,
                        const PadSpec& pad) {
  Img2colCase c;
  c.batch = batch;
  c.channels = channels;
  c.length = length;
  c.window = w;
  c.pad = pad;
  return c;
}

}  // namespace relayout::cases
