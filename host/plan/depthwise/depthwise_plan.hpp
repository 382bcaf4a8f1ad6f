// How the depthwise kernels walk a signal: the axis of 16-byte accesses, and what one thread takes.
#pragma once

#include <cstdint>

#include "relayout/device.hpp"

namespace relayout::plan {

/// What alignment depends on. Strides count elements.
struct DepthwiseAccess {
  std::uintptr_t in = 0, out = 0;  // addresses
  std::int64_t element_bytes = 2;
  std::int64_t batch = 1, channels = 1, length = 1, taps = 1;
  std::int64_t in_batch = 0, in_channel = 0, in_time = 0;
  std::int64_t out_batch = 0, out_channel = 0, out_time = 0;
};

enum class DepthwiseAxis {
  none,     // single elements
  time,     // packs of 16 bytes along time
  channel,  // packs of 16 bytes along channels
};

/// A block has kDepthwiseThreads threads: `lanes` (a power of two) along the fast axis, the others along the
/// other one.
struct DepthwisePlan {
  DepthwiseAxis axis = DepthwiseAxis::none;
  int lanes = 1;
  /// time: packs a thread takes, `lanes` apart (two packs each for more than 8 taps). channel: neighbouring
  /// samples a thread walks, a multiple of 8; for more than 8 taps tiles of 20 samples. none: outputs along
  /// time a thread takes.
  int run = 1;
  bool along_time = true;  // none: lanes lie along time, because out is faster along it than along channels
};

constexpr int kDepthwiseThreads = 256;
/// Up to here the taps are unrolled; beyond, both vector kernels keep weights in shared memory.
constexpr std::int64_t kUnrolledTaps = 8;
/// Of the vector kernels: the weights of a block's channels fit into 48 KiB.
constexpr std::int64_t kMaxVectorTaps = 128;

/// `ids`: the problem has sequence ids, which only the kernel for single elements knows.
DepthwisePlan plan_depthwise(const DepthwiseAccess& access, bool ids, const DeviceProperties& device);

}  // namespace relayout::plan
