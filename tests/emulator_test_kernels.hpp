// Kernels for emulator_test.cpp. Each is small and tests one promise of the kernel language.
#pragma once

#include <atomic>
#include <stdexcept>

#include "half.hpp"
#include "kernel_language.hpp"
#include "kernels/block_index.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {

struct Place {
  std::uint32_t thread[3], block[3], threads[3], blocks[3];
};

__device__ __forceinline__ std::int64_t thread_in_block() {
  return threadIdx.x + std::int64_t{blockDim.x} * (threadIdx.y + std::int64_t{blockDim.y} * threadIdx.z);
}
__device__ __forceinline__ std::int64_t thread_in_grid() {
  const std::int64_t block =
      blockIdx.x + std::int64_t{gridDim.x} * (blockIdx.y + std::int64_t{gridDim.y} * blockIdx.z);
  return block * blockDim.x * blockDim.y * blockDim.z + thread_in_block();
}

inline __global__ void report_place(Place* places) {
  places[thread_in_grid()] = {{threadIdx.x, threadIdx.y, threadIdx.z},
                              {blockIdx.x, blockIdx.y, blockIdx.z},
                              {blockDim.x, blockDim.y, blockDim.z},
                              {gridDim.x, gridDim.y, gridDim.z}};
}

/// Counts how often each block of `count` runs, and in counts[count] the spare ones.
inline __global__ void count_blocks(std::atomic<int>* counts, std::int64_t count) {
  if (threadIdx.x > 0) return;
  const std::int64_t number = block_index();
  ++counts[is_spare(number, count) ? count : number];
}

// A barrier in a called function, which is itself called in a loop.
inline __device__ std::int64_t value_before(std::int64_t* values, std::int64_t own, int distance) {
  values[threadIdx.x] = own;
  __syncthreads();
  const std::int64_t before =
      static_cast<int>(threadIdx.x) >= distance ? values[static_cast<int>(threadIdx.x) - distance] : 0;
  __syncthreads();
  return before;
}

/// Inclusive prefix sums of each block's elements.
inline __global__ void __launch_bounds__(1024) prefix_sums(const std::int32_t* in, std::int64_t* out) {
  RELAYOUT_DYNAMIC_SHARED(std::int64_t, values);
  const std::int64_t place = thread_in_grid();
  std::int64_t sum = in[place];
  for (int distance = 1; distance < static_cast<int>(blockDim.x); distance *= 2)
    sum += value_before(values, sum, distance);
  out[place] = sum;
}

/// Reverses each block's elements through static shared memory.
template <int N>
__global__ void reverse_block(const float* in, float* out) {
  __shared__ float tile[N];
  tile[threadIdx.x] = in[thread_in_grid()];
  __syncthreads();
  out[thread_in_grid()] = tile[N - 1 - threadIdx.x];
}

/// For each thread: the contents of dynamic shared memory before it writes there.
inline __global__ void find_in_shared(float* found) {
  RELAYOUT_DYNAMIC_SHARED(float, values);
  found[thread_in_grid()] = values[threadIdx.x];
  values[threadIdx.x] = 0.0f;
}

/// Each thread's turn, in two phases with a barrier between them.
inline __global__ void take_turns(std::atomic<int>* counter, int* first, int* second) {
  first[threadIdx.x] = counter->fetch_add(1, std::memory_order_relaxed);
  __syncthreads();
  second[threadIdx.x] = counter->fetch_add(1, std::memory_order_relaxed);
}

/// Writes the block's number at its turn among the blocks.
inline __global__ void note_block(std::atomic<int>* counter, std::int64_t* blocks) {
  blocks[counter->fetch_add(1, std::memory_order_relaxed)] = blockIdx.x;
}

struct WarpResults {
  int lane;
  float from_lane_3;
  double from_neighbour;
  std::int64_t sum;
  f16 from_fifth_ahead;
  std::uint64_t odd_lanes;
};

template <int W>
__global__ void warp_operations(WarpResults* results, int lanes_of_last_warp) {
  const std::int64_t thread = thread_in_block();
  const bool short_warp = thread / W == (blockDim.x * blockDim.y - 1) / W && lanes_of_last_warp < W;
  WarpResults result{};
  result.lane = lane_id<W>();
  result.from_lane_3 = warp_shuffle<W>(static_cast<float>(thread), 3);
  result.from_neighbour = warp_shuffle_xor<W>(static_cast<double>(thread) + 0.25, 1);
  result.sum = thread;
  if (!short_warp) {
    for (int mask = W / 2; mask > 0; mask /= 2) result.sum += warp_shuffle_xor<W>(result.sum, mask);
    result.from_fifth_ahead = warp_shuffle<W>(f16{static_cast<std::uint16_t>(thread)}, (result.lane + 5) % W);
  }
  result.odd_lanes = warp_ballot<W>(thread % 2 != 0);
  results[thread] = result;
}

/// Rotates values by one lane within each warp, through shared memory and without a block barrier.
template <int W>
__global__ void rotate_in_warp(const int* in, int* out) {
  __shared__ int values[1024];
  const int base = static_cast<int>(threadIdx.x) - lane_id<W>();
  int value = in[threadIdx.x];
  for (int round = 0; round < 3; ++round) {
    values[threadIdx.x] = value;
    warp_barrier<W>();
    value = values[base + (lane_id<W>() + 1) % W];
    warp_barrier<W>();
  }
  out[threadIdx.x] = value;
}

inline constexpr int kEarlyEndLine = __LINE__ + 2;
inline __global__ void some_end_early(std::uint32_t waiting) {
  if (threadIdx.x < waiting) __syncthreads();
}

inline constexpr int kTwoBarriersLine = __LINE__ + 3;
inline __global__ void two_barriers(std::uint32_t at_first) {
  if (threadIdx.x < at_first) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

inline constexpr int kMissingLanesLine = __LINE__ + 3;
template <int W>
__global__ void some_lanes_vote(std::uint64_t* votes, std::uint32_t voting) {
  if (threadIdx.x < voting) votes[threadIdx.x] = warp_ballot<W>(true);
}

inline constexpr int kBadShuffleLine = __LINE__ + 3;
template <int W>
__global__ void shuffle_from(int* out, int lane) {
  out[threadIdx.x] = warp_shuffle<W>(static_cast<int>(threadIdx.x), lane);
}

/// Blocks from `first` on throw their number, after a barrier.
inline __global__ void throw_number(std::uint32_t first) {
  __syncthreads();
  if (blockIdx.x >= first && threadIdx.x == 7) throw std::out_of_range(std::to_string(blockIdx.x));
  __syncthreads();
}

/// Adds to its own copy of the argument.
inline __global__ void use_argument(std::int64_t value, std::int64_t* out) {
  value += threadIdx.x;
  out[threadIdx.x] = value;
}

inline __global__ void use_much_stack(int* out) {
  volatile int values[8192];
  for (int i = 0; i < 8192; ++i) values[i] = i;
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < 8192; ++i) sum += values[i] - i + (i == 17);
  out[threadIdx.x] = sum;
}

}  // namespace relayout::RELAYOUT_BACKEND
