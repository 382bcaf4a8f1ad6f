// The depthwise backward pass where time is the fast axis of the input and of both gradients: up to
// kBackwardWalkTaps taps, any base and pitch, no sequence ids.
//
// A group of kBackwardGroup lanes takes p.run steps of one row (batch, channel); in a step each lane has 16
// bytes of samples, next to its neighbours'. The group walks from the end to the begin. What the next steps
// need is on its way to shared memory, where a lane finds the samples before its own: in the lane before it,
// or, lane 0, in the last lane of the step to come. The gradients behind a lane's come from the lane behind
// by a rotation; the last lane has those of lane 0 in the step before, so each rotation serves two steps. A
// lane adds its products over all steps, and the group its lanes' sums in a fixed order: one row of partial
// sums, or the gradients themselves where no other group has the channel. A row's vectors begin where those
// of d_in would be aligned if its base were, so the order of sums depends on strides, not on addresses. Rows
// of the other signals that lie otherwise are loaded by shifts. Global traffic: each element of the input and
// of both gradients once, and a little at a group's ends.
#include "kernels/backend_kernels.hpp"
#include "kernels/depthwise/depthwise_backward.hpp"
#include "kernels/depthwise/depthwise_backward_rows.hpp"
#include "kernels/depthwise/depthwise_time.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

/// Rows of a block.
constexpr int kGroups = kBackwardWalkThreads / kBackwardGroup;

/// A lane's place in its group, and the group's exchanges. All lanes of a warp take part.
template <int W>
struct GroupLane {
  int lane, first;  // first: lane 0's number in the warp

  __device__ __forceinline__ GroupLane() : lane(lane_id<W>() % kBackwardGroup), first(lane_id<W>() - lane) {}
  template <class V>
  __device__ __forceinline__ V of(V value, int other) const {
    return warp_shuffle<W>(value, first + other);
  }
  /// The value of the lane behind, around the group.
  template <class V>
  __device__ __forceinline__ V behind(V value) const {
    return of(value, (lane + 1) % kBackwardGroup);
  }
  __device__ __forceinline__ bool is_last() const { return lane == kBackwardGroup - 1; }
};

template <class T, int Taps, int W>
struct TimeWalk {
  static constexpr int kCount = Vector<T>::kCount, kOlder = Taps - 1, kPer = kPerWord<T>;
  /// Words before a vector that hold its oldest samples.
  static constexpr int kBefore = (kOlder + kPer - 1) / kPer;
  static constexpr int kStep = kBackwardGroup * kCount;
  GroupLane<W> group;
  float weights[Taps], bias[1];
  float later[kOlder + 1] = {};  // of the last lane: g behind its vector
  float sums[Taps + 1] = {};

  /// The gradients behind the walk's last step, which other groups write: a lane computes one.
  __device__ __forceinline__ void begin(const InputRow<T, Taps>& in, const VectorRow<T>& d_out, int end,
                                        bool with_silu) {
    if constexpr (kOlder > 0) {
      const int at = end + group.lane;
      float g = 0.0f;
      if (group.lane < kOlder && d_out.has(at)) {
        float samples[Taps];
#pragma unroll
        for (int distance = 0; distance < Taps; ++distance)
          samples[distance] = convert<float>(in.origin[at - distance]);
        g = convert<float>(d_out.origin[at]);
        if (with_silu) {
          float sum = 0.0f;
#pragma unroll
          for (int distance = 0; distance < Taps; ++distance)
            sum = fmaf(weights[distance], samples[distance], sum);
          g *= silu_derivative(sum + bias[0]);
        }
      }
#pragma unroll
      for (int i = 0; i < kOlder; ++i) later[i] = group.of(g, i);
    }
  }

  /// window: the words of the samples, from the oldest one that a lane's vector needs. Inside: all lanes have
  /// whole vectors, and those of d_in are aligned.
  template <bool Inside>
  __device__ __forceinline__ void step(const std::uint32_t (&window)[kBefore + kPackWords],
                                       const std::uint32_t (&gradients)[kPackWords], const VectorRow<T>& row,
                                       T* d_in, bool stores_vectors, int offset, bool with_silu) {
    float samples[(kBefore + kPackWords) * kPer], g[kCount + kOlder];
    widen_words<T, kBefore + kPackWords>(window, samples);
    widen_words<T, kPackWords>(gradients, g);
    const float* const newest = samples + kBefore * kPer;
    if (with_silu) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        float sum = 0.0f;
#pragma unroll
        for (int distance = 0; distance < Taps; ++distance)
          sum = fmaf(weights[distance], newest[i - distance], sum);
        g[i] *= silu_derivative(sum + bias[0]);
      }
    }
    const bool whole = Inside || row.has_vector(offset);
    if (whole) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) add_products(g[i], newest + i);
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        if (row.has(offset + i)) {
          add_products(g[i], newest + i);
        } else {
          g[i] = 0.0f;
        }
      }
    }
#pragma unroll
    for (int i = 0; i < kOlder; ++i) {
      const float behind = group.behind(g[i]);
      g[kCount + i] = group.is_last() ? later[i] : behind;
      later[i] = behind;
    }
    Words result;
#pragma unroll
    for (int i = 0; i < kPackWords; ++i) {
      float values[kPer];
#pragma unroll
      for (int j = 0; j < kPer; ++j) {
        values[j] = 0.0f;
#pragma unroll
        for (int distance = 0; distance < Taps; ++distance)
          values[j] = fmaf(weights[distance], g[i * kPer + j + distance], values[j]);
      }
      result.values[i] = narrow_word<T>(values);
    }
    if (Inside || (whole && stores_vectors)) {
      store_global_16_bytes(d_in + offset, &result, false);
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i)
        if (row.has(offset + i)) store_element(d_in + offset + i, result.values[i / kPer], i % kPer);
    }
  }

  __device__ __forceinline__ void add_products(float g, const float* newest) {
#pragma unroll
    for (int distance = 0; distance < Taps; ++distance)
      sums[distance] = fmaf(g, newest[-distance], sums[distance]);
    sums[Taps] += g;
  }

  /// Calls store(row, sum) by one lane for each row of the group's sums, in the same order in every run.
  template <class Store>
  __device__ __forceinline__ void add_sums(const Store& store) {
#pragma unroll
    for (int row = 0; row <= Taps; ++row) {
      float sum = sums[row];
#pragma unroll
      for (int mask = kBackwardGroup / 2; mask > 0; mask /= 2) sum += warp_shuffle_xor<W>(sum, mask);
      if (group.lane == row) store(row, sum);
    }
  }
};

/// What steps find in shared memory: of each stage the samples and the gradients of the block's threads, a
/// vector each.
template <int kStages>
struct Stages {
  std::uint32_t* words;

  __device__ __forceinline__ std::uint32_t* samples(int stage, int thread) const {
    return words + (stage * 2 * kBackwardWalkThreads + thread) * kPackWords;
  }
  __device__ __forceinline__ std::uint32_t* gradients(int stage, int thread) const {
    return samples(stage, thread + kBackwardWalkThreads);
  }
  static __device__ __forceinline__ int next(int stage) { return stage + 1 == kStages ? 0 : stage + 1; }
  static constexpr std::size_t kBytes = std::size_t{kStages} * 2 * kBackwardWalkThreads * 16;
};

/// A vector on its way to its place in shared memory. Where the copy does not go on beside the thread, it is
/// held in registers until finish().
struct VectorCopy {
  std::uint32_t words[kPackWords];
  bool held = false;  // in registers

  /// Plain: it is known to be whole and aligned.
  template <bool Plain, class Row>
  __device__ __forceinline__ void start(const Row& row, int offset, std::uint32_t* to) {
    if (kHasAsyncCopies && (Plain || row.has_aligned_vector(offset))) {
      start_async_copy<16>(to, row.origin + offset);
    } else {
      held = true;
      if constexpr (Plain) {
        load_global_16_bytes(words, row.origin + offset);
      } else {
        row.load(offset, words);
      }
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
  const std::int64_t own = place.channel + static_cast<int>(threadIdx.x) / kBackwardGroup;
  const bool there = own < f.channels;
  const std::int64_t channel = there ? own : f.channels - 1;
  ChannelNumbers<Taps> numbers;
  numbers.load(f, channel);
  RELAYOUT_DYNAMIC_SHARED(std::uint32_t, shared);
  const Stages<kStages> stages{shared};
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t d_in_row = place.batch * p.d_in_batch + channel * p.d_in_channel;
  const std::int64_t first = place.time - (p.slack > 0 ? static_cast<int>(d_in_row & (kCount - 1)) : 0);
  constexpr std::int64_t kFar = 1 << 28;
  const int low = static_cast<int>(first < kFar ? -first : -kFar);
  const int high = !there ? low : static_cast<int>(f.length - first < kFar ? f.length - first : kFar);
  const InputRow<T, Taps> in(f, SampleRow<T>(f, place.batch, channel), first, low, high);
  const VectorRow<T> d_out(
      static_cast<const T*>(p.d_out) + place.batch * p.d_out_batch + channel * p.d_out_channel + first, low,
      high);
  T* const d_in = static_cast<T*>(p.d_in) + d_in_row + first;
  const bool stores_vectors = misaligned_elements(d_in) == 0;
  // As many steps in all groups of a block, since lanes exchange in each.
  const std::int64_t left = f.length + p.slack - place.time;
  const int steps = left < p.tile_times ? static_cast<int>((left + Walk::kStep - 1) / Walk::kStep) : p.run;
  // Steps of which all lanes of a warp have whole and aligned vectors take none of the conditions of the
  // others. A row's first vector begins before place.time by up to p.slack samples.
  const bool aligned = there && in.misaligned == 0 && d_out.misaligned == 0 && stores_vectors;
  const bool all_aligned = warp_ballot<W>(!aligned) == 0;
  const int first_inside = place.time >= p.slack ? 0 : 1;
  const std::int64_t sure = left - p.slack;
  const int end_inside = !all_aligned          ? 0
                         : sure < p.tile_times ? static_cast<int>(sure / Walk::kStep)
                                               : p.run;

  const int lane_offset = walk.group.lane * kCount;
  VectorCopy own_samples, own_gradients;
  // The step before the first one needs only the last lane's samples.
  const auto start = [&](int step, int stage, auto inside) {
    constexpr bool kInside = decltype(inside)::value;
    const int at = step * Walk::kStep + lane_offset;
    own_samples.held = own_gradients.held = false;
    if (kInside || step >= 0 || (step == -1 && walk.group.is_last()))
      own_samples.template start<kInside>(in, at, stages.samples(stage, thread));
    if (kInside || step >= 0)
      own_gradients.template start<kInside>(d_out, at, stages.gradients(stage, thread));
  };
  const auto finish = [&](int stage) {
    own_samples.finish(stages.samples(stage, thread));
    own_gradients.finish(stages.gradients(stage, thread));
    commit_async_copies();
  };
#pragma unroll 1
  for (int stage = 0; stage < kStages - 1; ++stage) {
    start(steps - 1 - stage, stage, std::false_type{});
    finish(stage);
  }
  numbers.widen(f, walk.weights, walk.bias);
  walk.begin(in, d_out, steps * Walk::kStep, f.silu);

  int stage = 0, free_stage = kStages - 1;
  const auto advance = [&](int step, auto inside) {
    constexpr bool kInside = decltype(inside)::value;
    wait_for_async_copies<kStages - 3>();
    warp_barrier<W>();
    std::uint32_t window[Walk::kBefore + kPackWords], gradients[kPackWords];
    if constexpr (Walk::kBefore > 0) {
      const std::uint32_t* const older =
          walk.group.lane > 0 ? stages.samples(stage, thread - 1)
                              : stages.samples(Stages<kStages>::next(stage), thread + kBackwardGroup - 1);
#pragma unroll
      for (int i = 0; i < Walk::kBefore; ++i) window[i] = older[kPackWords - Walk::kBefore + i];
    }
    load_16_bytes(window + Walk::kBefore, stages.samples(stage, thread));
    load_16_bytes(gradients, stages.gradients(stage, thread));
    start(step - (kStages - 1), free_stage, inside);
    walk.template step<kInside>(window, gradients, in, d_in, stores_vectors, step * Walk::kStep + lane_offset,
                                f.silu);
    finish(free_stage);
    free_stage = stage;
    stage = Stages<kStages>::next(stage);
  };
#pragma unroll 1
  for (int step = steps - 1; step >= 0; --step) {
#pragma unroll 1
    for (; step < end_inside && step - (kStages - 1) >= first_inside; --step) advance(step, std::true_type{});
    advance(step, std::false_type{});
  }
  if (!p.wants_sums) return;
  if (p.sums == nullptr) {
    walk.add_sums([&](int row, float sum) {
      if (there) store_gradient(p, channel, row, sum);
    });
  } else {
    const std::int64_t block = place.batch * grid.time_tiles + place.time / grid.tile_times;
    float* const sums = p.sums + block * (Taps + 1) * f.channels + channel;
    walk.add_sums([&](int row, float sum) {
      if (there) sums[row * f.channels] = sum;
    });
  }
}

}  // namespace

void launch_depthwise_backward_time(const LaunchContext& context, const DepthwiseBackwardParams& p) {
  const DepthwiseParams& f = p.forward;
  const DepthwiseGrid grid(f, kGroups, p.tile_times, p.slack);
  LaunchShape shape;
  shape.blocks_x = grid.blocks(f);
  shape.threads_x = kBackwardWalkThreads;
  visit_signal_type(f.type, [&](auto type) {
    using T = typename decltype(type)::type;
    visit_backward_walk_taps(f.taps, [&](auto taps) {
      constexpr int kTaps = decltype(taps)::value;
      shape.shared_bytes = Stages<kStagesOf<T>>::kBytes;
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
