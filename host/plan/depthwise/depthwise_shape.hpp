// What the planners of the depthwise kernels share.
#pragma once

#include <cstdint>

#include "core/bytes.hpp"
#include "core/depthwise_params.hpp"
#include "core/sector.hpp"

namespace relayout::plan {

constexpr std::int64_t kWordBytes = 4;
/// Shared memory that holds the weights of a block's channels.
constexpr std::int64_t kWeightBytes = 48 * 1024, kWeightBytesEach = 4;

// What may be in the way of a kernel.
constexpr const char* kIds = "it knows no sequence ids";
constexpr const char* kUnrolls = "it unrolls at most 8 taps";
constexpr const char* kManyTaps = "it is for more than 8 taps";
constexpr const char* kTooManyTaps = "the weights of so many taps do not fit into its shared memory";

/// The smallest power of two that covers `count`, up to `most`.
inline int covering(std::int64_t count, int most) {
  int lanes = 1;
  while (lanes < most && lanes < count) lanes *= 2;
  return lanes;
}

/// The elements of a pack.
inline std::int64_t pack_of(const DepthwiseParams& p) { return kVectorBytes / bytes_of(p.type); }

}  // namespace relayout::plan
