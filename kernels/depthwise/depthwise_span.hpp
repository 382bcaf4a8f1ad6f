// Accesses of aligned words of 16 bytes to rows that begin anywhere. Such a word may hold elements of the
// next row, or of a gap between rows, which nobody uses; it is loaded as long as it lies in the input's
// memory.
#pragma once

#include <cstdint>

#include "core/bytes.hpp"
#include "core/depthwise_params.hpp"

namespace relayout::RELAYOUT_BACKEND {

constexpr int kPackWords = 4;  // of 16 bytes

/// All bytes from an operand's first element in memory to its last one.
struct MemorySpan {
  const char *begin, *end;
};

/// The span of a signal of p's shape.
inline MemorySpan signal_span(const DepthwiseParams& p, const void* signal, std::int64_t batch_stride,
                              std::int64_t channel_stride, std::int64_t time_stride) {
  const std::int64_t bytes = bytes_of(p.type);
  std::int64_t least = 0, most = 0;
  const auto reach = [&](std::int64_t extent, std::int64_t stride) {
    (stride < 0 ? least : most) += (extent - 1) * stride;
  };
  reach(p.batch, batch_stride);
  reach(p.channels, channel_stride);
  reach(p.length, time_stride);
  const auto* first = static_cast<const char*>(signal);
  return {first + least * bytes, first + (most + 1) * bytes};
}
inline MemorySpan input_span(const DepthwiseParams& p) {
  return signal_span(p, p.in, p.in_batch, p.in_channel, p.in_time);
}

/// An offset in 32 bits. One that is out of a block's reach stays so.
__device__ __forceinline__ int near_offset(std::int64_t offset) {
  constexpr int kFar = 1 << 28;
  return static_cast<int>(offset < -kFar ? -kFar : offset < kFar ? offset : kFar);
}

/// Elements between an address and the boundary of so many bytes before it.
template <int kBoundary = 16, class T>
__device__ __forceinline__ int misaligned_elements(const T* address) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(address) & (kBoundary - 1)) /
         static_cast<int>(sizeof(T));
}

/// The bits of an element, zeros above them.
template <class T>
__device__ __forceinline__ std::uint32_t element_bits(T value) {
  if constexpr (sizeof(T) == 2) {
    return value.bits;
  } else {
    return __float_as_uint(value);
  }
}
/// Stores element `place` of a word.
template <class T>
__device__ __forceinline__ void store_element(T* to, std::uint32_t word, int place) {
  if constexpr (sizeof(T) == 2) {
    *to = T{static_cast<std::uint16_t>(place == 0 ? word : word >> 16)};
  } else {
    *to = __uint_as_float(word);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
