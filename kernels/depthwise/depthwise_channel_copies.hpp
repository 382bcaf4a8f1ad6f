// Words of neighbouring channels on their way to shared memory, where the platform copies there beside the
// threads.
#pragma once

#include "core/depthwise_params.hpp"
#include "kernel_language.hpp"
#include "kernels/words.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// So many lanes, a part of one warp, keep their words side by side: a sample of all of them, then the next.
/// Where their words of a sample lie side by side in memory, too, on a boundary of 16 bytes, a lane copies
/// four of them, of every kVectorSamples-th sample, which takes a quarter of the instructions. Otherwise each
/// copies its own, and nobody else reads it.
constexpr int kCopyLanes = 32, kVectorLanes = kCopyLanes / 4, kVectorSamples = kCopyLanes / kVectorLanes;

/// The part of a lane in the copies of its group.
template <bool Vectors>
struct CopyLane {
  int number = static_cast<int>(threadIdx.x % kCopyLanes);  // in the group

  /// From the lane's own word to the one that it copies, or the first of four.
  __device__ __forceinline__ int words() const { return Vectors ? number % kVectorLanes * 4 - number : 0; }
  /// The first sample that it copies.
  __device__ __forceinline__ int sample() const { return Vectors ? number / kVectorLanes : 0; }
  /// Starts the lane's copies of Count samples, of which `left` are there from sample() on, to the group's
  /// stage.
  template <int Count, class T>
  __device__ __forceinline__ void start(std::uint32_t* stage, const T* from, int pitch, int left) const {
    constexpr int kEach = Vectors ? kVectorSamples : 1;
    std::uint32_t* const to = stage + (Vectors ? number * 4 : number);
#pragma unroll
    for (int i = 0; i < Count; i += kEach) {
      if (i < left) start_async_copy<Vectors ? 16 : 4>(to + i * kCopyLanes, from);
      from += kEach * pitch;
    }
  }
};

/// Whether all lanes of every group have a word, and four words lie on their boundary at every time.
/// words: of a sample.
inline bool has_copy_vectors(std::int64_t words, const void* base, std::int64_t batch_bytes,
                             std::int64_t time_bytes) {
  return words % kCopyLanes == 0 &&
         (static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(base)) | batch_bytes | time_bytes) %
                 16 ==
             0;
}

}  // namespace relayout::RELAYOUT_BACKEND
