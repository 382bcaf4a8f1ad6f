// What the two depthwise kernels for channels-last data share.
#pragma once

#include "kernels/depthwise/depthwise_common.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// A thread's N neighbouring channels.
template <class T, int N>
struct ChannelGroup {
  std::int64_t batch, channel;
  const T* in;  // the sample of time 0
  T* out;
  int count;  // channels that exist, at most N

  __device__ __forceinline__ ChannelGroup(const DepthwiseParams& p, const DepthwiseGrid& grid,
                                          const DepthwisePlace& place)
      : batch(place.batch),
        channel(place.channel + grid.lane() * N),
        in(static_cast<const T*>(p.in) + batch * p.in_batch + channel),
        out(static_cast<T*>(p.out) + batch * p.out_batch + channel),
        count(p.channels - channel < N ? static_cast<int>(p.channels - channel) : N) {}

  /// One output at a time: fewer channels than a group, or samples of an initial state.
  __device__ __forceinline__ void store_border(const DepthwiseParams& p, std::int64_t time, int times) const {
#pragma unroll 1
    for (int i = 0; i < times && time + i < p.length; ++i) {
#pragma unroll 1
      for (int j = 0; j < count; ++j) store_output<T, false, 1>(p, batch, channel + j, time + i);
    }
  }
};

}  // namespace relayout::RELAYOUT_BACKEND
