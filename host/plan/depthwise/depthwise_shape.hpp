// What the planners of the depthwise kernels share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include "core/bytes.hpp"
#include "core/depthwise_params.hpp"
#include "core/sector.hpp"
#include "host/plan/device_rates.hpp"

namespace relayout::plan {

constexpr std::int64_t kWordBytes = 4;
/// Shared memory that holds the weights of a block's channels.
constexpr std::int64_t kWeightBytes = 48 * 1024, kWeightBytesEach = 4;

// What may be in the way of a kernel.
constexpr const char* kIds = "it knows no sequence ids";
constexpr const char* kUnrolls = "it unrolls at most 8 taps";
constexpr const char* kManyTaps = "it is for more than 8 taps";
constexpr const char* kTooManyTaps = "the weights of so many taps do not fit into its shared memory";

/// What is in the way of the kernels by matrix units.
inline const char* refusal_of_matrix_units(const DeviceProperties& device, const DepthwiseParams& p) {
  if (p.ids != nullptr) return kIds;
  if (p.taps <= kUnrolledTaps) return kManyTaps;
  if (p.taps > kMaxMatrixTaps) return "rows of so many taps are longer than it multiplies";
  if (bytes_of(p.type) != 2) return "it is for elements of 16 bits";
  if (p.weight_type != p.type) return "the weights are of another type than the signal";
  if (!has_matrix_units(device)) return "the device has no matrix units that keep all numbers of 16 bits";
  return nullptr;
}

/// The smallest power of two that covers `count`, up to `most`.
inline int covering(std::int64_t count, int most) {
  int lanes = 1;
  while (lanes < most && lanes < count) lanes *= 2;
  return lanes;
}

/// Whether the base and the strides of an operand are multiples of so many bytes. Strides of axes with one
/// index are 0.
inline bool rows_aligned(const void* base, std::int64_t boundary, std::int64_t bytes,
                         std::initializer_list<std::int64_t> strides) {
  return reinterpret_cast<std::uintptr_t>(base) % boundary == 0 &&
         std::all_of(strides.begin(), strides.end(),
                     [=](std::int64_t stride) { return stride * bytes % boundary == 0; });
}

/// The elements of a pack.
inline std::int64_t pack_of(const DepthwiseParams& p) { return kVectorBytes / bytes_of(p.type); }

}  // namespace relayout::plan
