// Oracles of img2col and of the weights' rearrangement.
#pragma once

#include <relayout/img2col.hpp>

#include "host/reference/pad.hpp"

namespace relayout::reference {

/// floor((length + left + right - span) / stride) + 1 by counting the windows that fit; 0 when none does.
inline std::int64_t count_positions(std::int64_t length, const Window& window, const PadSpec& pad) {
  const std::int64_t span = (window.taps - 1) * window.dilation + 1;
  const std::int64_t last = length + pad.right - span;
  std::int64_t count = 0, start = -pad.left;
  if (start > last) return 0;
  // The next start may lie beyond 2^63.
  for (count = 1; window.stride <= last - start; ++count) start += window.stride;
  return count;
}

/// Column of (tap, channel) in a row of taps * channels.
inline std::int64_t column(ColumnOrder order, std::int64_t tap, std::int64_t channel, std::int64_t taps,
                           std::int64_t channels) {
  return order == ColumnOrder::tap_outer ? tap * channels + channel : channel * taps + tap;
}

/// in [batch, channels, length] -> out [batch * ho, K] or, for more groups than one, [groups, batch * ho, K /
/// groups].
inline void img2col(const TensorView& in, const Window& window, const PadSpec& pad, const TensorView& out) {
  const std::int64_t positions = count_positions(in.extent(2), window, pad);
  const std::int64_t channels = in.extent(1) / window.groups;
  for (std::int64_t b = 0; b < in.extent(0); ++b) {
    for (std::int64_t g = 0; g < window.groups; ++g) {
      for (std::int64_t t = 0; t < positions; ++t) {
        for (std::int64_t k = 0; k < window.taps; ++k) {
          for (std::int64_t c = 0; c < channels; ++c) {
            const std::int64_t sample = t * window.stride + k * window.dilation - pad.left;
            const std::int64_t col = column(window.order, k, c, window.taps, channels);
            const Dims to =
                window.groups == 1 ? Dims{b * positions + t, col} : Dims{g, b * positions + t, col};
            store_bits(out, to, padded_sample(in, b, g * channels + c, pad, sample, out.dtype()));
          }
        }
      }
    }
  }
}

/// weights [co, ci/groups, taps] -> out [co, taps * ci/groups].
inline void rearrange_weights(const TensorView& weights, ColumnOrder order, const TensorView& out) {
  for_each_index(weights.shape(), [&](const Dims& index) {
    const std::int64_t col = column(order, index[2], index[1], weights.extent(2), weights.extent(1));
    store_bits(out, {index[0], col}, convert_bits(load_bits(weights, index), weights.dtype(), out.dtype()));
  });
}

}  // namespace relayout::reference
