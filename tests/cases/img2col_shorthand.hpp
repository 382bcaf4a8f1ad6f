// img2col cases in few words.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/cases/img2col_case.hpp"
#include "tests/cases/pad_shorthand.hpp"

namespace relayout::cases {

inline const std::vector<ColumnOrder> kOrders{ColumnOrder::tap_outer, ColumnOrder::channel_outer};

inline Window window(std::int64_t taps, std::int64_t stride = 1, std::int64_t dilation = 1,
                     std::int64_t groups = 1, ColumnOrder order = ColumnOrder::tap_outer) {
  return {taps, stride, dilation, groups, order};
}

inline PadSpec zeros(std::int64_t left, std::int64_t right) { return {left, right}; }

inline Img2colCase make(std::int64_t batch, std::int64_t channels, std::int64_t length, const Window& w,
                        const PadSpec& pad) {
  return {batch, channels, length, w, pad};
}

}  // namespace relayout::cases
