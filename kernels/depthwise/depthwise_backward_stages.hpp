// Vectors of samples and gradients on their way to the steps of the backward pass along time, in shared
// memory.
#pragma once

#include "kernels/depthwise/depthwise_backward_rows.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// As many stages as leave room in shared memory for the blocks that the registers allow.
constexpr int kStages = kHasAsyncCopies ? 6 : 3;

/// What steps find in shared memory: of each stage the samples and the gradients of the block's threads, a
/// vector each. A stage is named by its distance from the first one, in words. Behind the stages lie the
/// samples before each group's first step.
struct Stages {
  static constexpr int kSignal = kBackwardWalkThreads * kPackWords, kStage = 2 * kSignal;
  static constexpr int kWords = kStages * kStage + kBackwardWalkThreads / kBackwardGroup * kPackWords;
  std::uint32_t *own, *before;  // the thread's vector of samples in the first stage; those before its group's

  __device__ __forceinline__ Stages(std::uint32_t* shared, int group)
      : own(shared + threadIdx.x * kPackWords), before(shared + kStages * kStage + group * kPackWords) {}
  __device__ __forceinline__ std::uint32_t* samples(int stage) const { return own + stage; }
  __device__ __forceinline__ std::uint32_t* gradients(int stage) const { return own + stage + kSignal; }
  /// Loads the gradients of the thread's vector and, where there is room, of the one behind it; of the
  /// samples likewise, with some before them. They are those of its neighbours or, of the group's first and
  /// last lane, of the steps to come and before. is_first: there is no step to come.
  template <int Window, int Gradients>
  __device__ __forceinline__ void load(int stage, int lane, bool is_first, std::uint32_t (&window)[Window],
                                       std::uint32_t (&gradients)[Gradients]) const {
    constexpr int kBefore = Window - Gradients, kEnd = (kBackwardGroup - 1) * kPackWords;
    if constexpr (kBefore > 0) {
      const std::uint32_t* const older = lane > 0    ? own + stage - kPackWords
                                         : !is_first ? own + next(stage) + kEnd
                                                     : before;
#pragma unroll
      for (int i = 0; i < kBefore; ++i) window[i] = older[kPackWords - kBefore + i];
    }
    load_16_bytes(window + kBefore, samples(stage));
    load_16_bytes(gradients, this->gradients(stage));
    if constexpr (Gradients > kPackWords) {
      const std::uint32_t* const newer =
          own + (lane < kBackwardGroup - 1 ? stage + kPackWords : last(stage) - kEnd);
      load_16_bytes(window + kBefore + kPackWords, newer);
      load_16_bytes(gradients + kPackWords, newer + kSignal);
    }
  }
  static __device__ __forceinline__ int next(int stage) {
    return stage == (kStages - 1) * kStage ? 0 : stage + kStage;
  }
  static __device__ __forceinline__ int last(int stage) {
    return stage == 0 ? (kStages - 1) * kStage : stage - kStage;
  }
};

/// A vector on its way to its place in shared memory. Where the copy does not go on beside the thread, it is
/// held in registers until finish().
struct VectorCopy {
  std::uint32_t words[kPackWords];
  bool held = false;  // in registers

  template <class Row>
  __device__ __forceinline__ void start(const Row& row, int offset, std::uint32_t* to) {
    if (kHasAsyncCopies && row.has_vector(offset)) {
      start_async_copy<16>(to, row.vector(offset));
      held = false;
    } else {
      held = true;
      row.load(offset, words);
    }
  }
  /// The same of a vector that is known to lie in the signal's memory.
  __device__ __forceinline__ void start(const void* vector, std::uint32_t* to) {
    held = !kHasAsyncCopies;
    if (kHasAsyncCopies) {
      start_async_copy<16>(to, vector);
    } else {
      load_global_16_bytes(words, vector);
    }
  }
  __device__ __forceinline__ void finish(std::uint32_t* to) const {
    if (held) store_16_bytes(to, words);
  }
};

}  // namespace relayout::RELAYOUT_BACKEND
