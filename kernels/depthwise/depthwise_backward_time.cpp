// The depthwise backward pass where time is the fast axis of the input and of both gradients: up to
// kBackwardWalkTaps taps, any base and pitch, no sequence ids.
//
// A group of kBackwardGroup lanes takes p.run steps of one row (batch, channel); in a step each lane has 16
// bytes of samples, next to its neighbours'. The group walks from the end to the begin. What the next steps
// need is on its way to shared memory, where a lane finds the samples before its own: in the lane before it,
// or, lane 0, in the last lane of the step to come. The gradients behind a lane's come from the lane behind
// by a rotation; the last lane has those of lane 0 in the step before, so each rotation serves two steps. A
// lane adds its products over all steps, and the group its lanes' sums in a fixed order: one row of partial
// sums, or the gradients themselves where all groups that have the channel are in one block. A row's vectors
// begin where those of d_in would be aligned if its base were, so the order of sums depends on strides, not
// on addresses. Rows of the other signals that lie otherwise are loaded by shifts. Global traffic: each
// element of the input and of both gradients once, and a little at a group's ends.
#include "kernels/backend_kernels.hpp"
#include "kernels/depthwise/depthwise_backward.hpp"
#include "kernels/depthwise/depthwise_backward_walk.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

/// Rows of a block.
constexpr int kGroups = kBackwardWalkThreads / kBackwardGroup;

/// What steps find in shared memory: of each stage the samples and the gradients of the block's threads, a
/// vector each. A stage is named by its distance from the first one, in words.
template <int kStages>
struct Stages {
  static constexpr int kSignal = kBackwardWalkThreads * kPackWords, kStage = 2 * kSignal;
  static constexpr std::size_t kBytes = std::size_t{kStages} * kStage * 4;
  std::uint32_t* own;  // the thread's vector of samples in the first stage

  __device__ __forceinline__ std::uint32_t* samples(int stage) const { return own + stage; }
  __device__ __forceinline__ std::uint32_t* gradients(int stage) const { return own + stage + kSignal; }
  /// The samples before the thread's own: of the lane before it or, for lane 0, of the last lane in the step
  /// to come.
  __device__ __forceinline__ const std::uint32_t* older(int stage, int lane) const {
    return own + (lane > 0 ? stage - kPackWords : next(stage) + (kBackwardGroup - 1) * kPackWords);
  }
  static __device__ __forceinline__ int next(int stage) {
    return stage == (kStages - 1) * kStage ? 0 : stage + kStage;
  }
};

/// A vector on its way to its place in shared memory. Where the copy does not go on beside the thread, it is
/// held in registers until finish().
struct VectorCopy {
  std::uint32_t words[kPackWords];
  bool held = false;  // in registers

  template <class Row>
  __device__ __forceinline__ void start(const Row& row, int offset, std::uint32_t* to) {
    if (kHasAsyncCopies && row.has_aligned_vector(offset)) {
      start_async_copy<16>(to, row.origin + offset);
    } else {
      held = true;
      row.load(offset, words);
    }
  }
  /// The same of a vector that is known to be whole and aligned.
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

/// As many stages as leave room in shared memory for the blocks that the registers allow.
template <class T>
constexpr int kStagesOf = kHasAsyncCopies ? (sizeof(T) == 2 ? 4 : 6) : 3;

template <class T, int Taps, int W>
__global__ RELAYOUT_LAUNCH_BOUNDS(kBackwardWalkThreads,
                                  6) void depthwise_backward_time_kernel(DepthwiseBackwardParams p,
                                                                         DepthwiseGrid grid) {
  using Walk = TimeWalk<T, Taps, W>;
  constexpr int kCount = Walk::kCount, kStages = kStagesOf<T>;
  const DepthwiseParams& f = p.forward;
  const DepthwisePlace place = place_block<true>(grid);
  Walk walk;
  // Groups without a channel take part in the exchanges, on a row without samples.
  const int group = static_cast<int>(threadIdx.x) / kBackwardGroup, item = group & (p.items() - 1);
  const std::int64_t own = place.channel + (group >> p.items_shift), batch = place.batch + item;
  const bool there = own < f.channels;
  const std::int64_t channel = there ? own : f.channels - 1;
  ChannelNumbers<Taps> numbers;
  numbers.load(f, channel);
  RELAYOUT_DYNAMIC_SHARED(std::uint32_t, shared);
  using Shared = Stages<kStages>;
  const Shared stages{shared + threadIdx.x * kPackWords};
  const std::int64_t d_in_row = batch * p.d_in_batch + channel * p.d_in_channel;
  const std::int64_t first = place.time - (p.slack > 0 ? static_cast<int>(d_in_row & (kCount - 1)) : 0);
  constexpr std::int64_t kFar = 1 << 28;
  const int low = static_cast<int>(first < kFar ? -first : -kFar);
  const int high = !there ? low : static_cast<int>(f.length - first < kFar ? f.length - first : kFar);
  const InputRow<T, Taps> in(f, SampleRow<T>(f, batch, channel), first, low, high);
  const VectorRow<T> d_out(
      static_cast<const T*>(p.d_out) + batch * p.d_out_batch + channel * p.d_out_channel + first, low, high);
  T* const d_in = static_cast<T*>(p.d_in) + d_in_row + first;
  const bool stores_vectors = misaligned_elements(d_in) == 0;
  // As many steps in all groups of a block, since lanes exchange in each.
  const std::int64_t left = f.length + p.slack - place.time;
  const int steps = left < p.tile_times ? static_cast<int>((left + Walk::kStep - 1) / Walk::kStep) : p.run;
  // In steps [begin_inside, end_inside) all lanes of a warp have whole and aligned vectors: they take none of
  // the conditions of the others. The groups of a larger warp differ in their rows' first vectors.
  const bool aligned = there && in.misaligned == 0 && d_out.misaligned == 0 && stores_vectors;
  const auto all = [](bool condition) { return warp_ballot<W>(!condition) == 0; };
  const int begin_inside = all(low <= 0) ? 0 : 1;
  const auto sure = static_cast<int>(left - p.slack < p.tile_times ? (left - p.slack) / Walk::kStep : p.run);
  const int end_inside = !all(aligned)                                           ? 0
                         : sure < steps && all(high >= (sure + 1) * Walk::kStep) ? sure + 1
                                                                                 : sure;

  const int lane_offset = walk.group.lane * kCount;
  VectorCopy own_samples, own_gradients;
  // The step before the first one needs only the last lane's samples.
  const auto start = [&](int step, int stage) {
    const int at = step * Walk::kStep + lane_offset;
    own_samples.held = own_gradients.held = false;
    if (step >= 0 || (step == -1 && walk.group.is_last())) own_samples.start(in, at, stages.samples(stage));
    if (step >= 0) own_gradients.start(d_out, at, stages.gradients(stage));
  };
  const auto start_inside = [&](int step, int stage) {
    const auto at = static_cast<std::uint32_t>(step * Walk::kStep + lane_offset);
    own_samples.start(in.origin + at, stages.samples(stage));
    own_gradients.start(d_out.origin + at, stages.gradients(stage));
  };
  const auto finish = [&](int stage) {
    own_samples.finish(stages.samples(stage));
    own_gradients.finish(stages.gradients(stage));
    commit_async_copies();
  };
  constexpr int kAhead = kStages - 1;
  int stage = 0, free_stage = 0;
#pragma unroll 1
  for (int ahead = 1; ahead <= kAhead; ++ahead) {
    const int step = steps - ahead;
    if (step < end_inside && step >= begin_inside) {
      start_inside(step, free_stage);
    } else {
      start(step, free_stage);
    }
    finish(free_stage);
    free_stage = Shared::next(free_stage);
  }
  numbers.widen(f, walk.weights, walk.bias);
  walk.begin(in, d_out, steps * Walk::kStep, f.silu);

  // start_ahead starts the copies of the step kAhead behind this one, into the stage that is free.
  const auto advance = [&](int step, auto inside, const auto& start_ahead) {
    wait_for_async_copies<kStages - 3>();
    warp_barrier<W>();
    std::uint32_t window[Walk::kBefore + kPackWords], gradients[kPackWords];
    if constexpr (Walk::kBefore > 0) {
      const std::uint32_t* const older = stages.older(stage, walk.group.lane);
#pragma unroll
      for (int i = 0; i < Walk::kBefore; ++i) window[i] = older[kPackWords - Walk::kBefore + i];
    }
    load_16_bytes(window + Walk::kBefore, stages.samples(stage));
    load_16_bytes(gradients, stages.gradients(stage));
    start_ahead();
    walk.template step<decltype(inside)::value>(window, gradients, in, d_in, stores_vectors,
                                                step * Walk::kStep + lane_offset, f.silu);
    finish(free_stage);
    free_stage = stage;
    stage = Shared::next(stage);
  };
#pragma unroll 1
  for (int step = steps - 1; step >= 0; --step) {
#pragma unroll 1
    for (; step < end_inside && step - kAhead >= begin_inside; --step) {
      advance(step, std::true_type{}, [&] { start_inside(step - kAhead, free_stage); });
    }
    const auto start_any = [&] { start(step - kAhead, free_stage); };
#pragma unroll 1
    for (; step < end_inside && step >= begin_inside; --step) advance(step, std::true_type{}, start_any);
    if (step >= 0) advance(step, std::false_type{}, start_any);
  }
  if (!p.wants_sums) return;
  float sum = walk.add_sums();
  const bool has_sum = there && walk.group.lane <= Taps;
  if (p.sums != nullptr) {  // then a block has one item of the batch
    const std::int64_t block = place.batch * grid.time_tiles + place.time / grid.tile_times;
    if (has_sum) p.sums[(block * (Taps + 1) + walk.group.lane) * f.channels + channel] = sum;
    return;
  }
  if (p.items() > 1) {
    auto* const sums = reinterpret_cast<float*>(shared + Shared::kBytes / 4) + walk.group.lane;
    if (has_sum) sums[group * (Taps + 1)] = sum;
    __syncthreads();
    if (!has_sum || item > 0) return;
    for (int i = 1; i < p.items(); ++i) sum += sums[(group + i) * (Taps + 1)];
  }
  if (has_sum) store_gradient(p, channel, walk.group.lane, sum);
}

}  // namespace

void launch_depthwise_backward_time(const LaunchContext& context, const DepthwiseBackwardParams& p) {
  const DepthwiseParams& f = p.forward;
  const DepthwiseGrid grid(f, kGroups / p.items(), p.tile_times, p.slack);
  LaunchShape shape;
  shape.blocks_x = grid.blocks(f) / p.items();
  shape.threads_x = kBackwardWalkThreads;
  visit_signal_type(f.type, [&](auto type) {
    using T = typename decltype(type)::type;
    visit_backward_walk_taps(f.taps, [&](auto taps) {
      constexpr int kTaps = decltype(taps)::value;
      shape.shared_bytes = Stages<kStagesOf<T>>::kBytes + kGroups * (kTaps + 1) * sizeof(float);
      if constexpr (kHasWarpsOf64) {
        if (p.warp_size == 64)
          return launch("depthwise_conv1d_backward", context, shape,
                        depthwise_backward_time_kernel<T, kTaps, 64>, p, grid);
      }
      launch("depthwise_conv1d_backward", context, shape, depthwise_backward_time_kernel<T, kTaps, 32>, p,
             grid);
    });
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
