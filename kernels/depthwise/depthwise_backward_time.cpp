// The depthwise backward pass where time is the fast axis of the input and of both gradients: up to
// kBackwardWalkTaps taps, any base and pitch, no sequence ids.
//
// A group of kBackwardGroup lanes takes p.run steps of one row (batch, channel); in a step each lane has 16
// bytes of samples, next to its neighbours'. The group walks from the end to the begin, with the next steps'
// loads under way. The samples before a lane's come from the lane before it, and lane 0 has those of the last
// lane in the step to come; the gradients behind it from the lane behind, and the last lane has those of lane
// 0 in the step before. So each rotation of the lanes serves two steps. A lane adds its products over all
// steps, and the group its lanes' sums in a fixed order, one row of partial sums.
// A row's vectors begin where those of d_in would be aligned if its base were, so the order of sums depends
// on strides, not on addresses. Rows of the other signals that lie otherwise are loaded by shifts.
// Global traffic: each element of the input and of both gradients once, and a little at a group's ends.
#include "kernels/backend_kernels.hpp"
#include "kernels/copy/unaligned.hpp"
#include "kernels/depthwise/depthwise_backward.hpp"
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
  /// The value of the lane before, or behind, around the group.
  template <class V>
  __device__ __forceinline__ V before(V value) const {
    return of(value, (lane + kBackwardGroup - 1) % kBackwardGroup);
  }
  template <class V>
  __device__ __forceinline__ V behind(V value) const {
    return of(value, (lane + 1) % kBackwardGroup);
  }
  __device__ __forceinline__ bool is_last() const { return lane == kBackwardGroup - 1; }
};

/// One signal's row: its samples are [low, high) behind `origin`, where the group's first vector begins.
template <class T>
struct VectorRow {
  static constexpr int kCount = Vector<T>::kCount;
  const T* origin;
  int low, high;
  int misaligned;  // elements behind a 16-byte boundary

  __device__ __forceinline__ VectorRow(const T* at, int low_, int high_)
      : origin(at), low(low_), high(high_), misaligned(static_cast<int>(misaligned_elements(at))) {}
  __device__ __forceinline__ bool has(int offset) const { return offset >= low && offset < high; }
  __device__ __forceinline__ bool has_vector(int offset) const {
    return offset >= low && offset + kCount <= high;
  }
  /// The vector of `offset`: zeros where the row has no samples. The aligned words around one that lies
  /// across a boundary are read where they are inside the row: there may be no memory behind it.
  __device__ __forceinline__ void load(int offset, std::uint32_t (&words)[kPackWords]) const {
    if (misaligned == 0 && has_vector(offset)) {
      load_global_16_bytes(words, origin + offset);
    } else if (misaligned != 0 && has_vector(offset - misaligned) &&
               has_vector(offset - misaligned + kCount)) {
      UnalignedLoad load;
      load.start(origin + offset);
      const Words joined = load.template words<sizeof(T)>();
#pragma unroll
      for (int i = 0; i < kPackWords; ++i) words[i] = joined.values[i];
    } else {
      load_elements(offset, words, [&](int at) { return has(at) ? origin[at] : T{}; });
    }
  }
  template <class At>
  static __device__ __forceinline__ void load_elements(int offset, std::uint32_t (&words)[kPackWords],
                                                       const At& at) {
#pragma unroll
    for (int i = 0; i < kPackWords; ++i) {
      words[i] = element_bits(at(offset + i * kPerWord<T>));
      if constexpr (kPerWord<T> == 2) words[i] |= element_bits(at(offset + i * kPerWord<T> + 1)) << 16;
    }
  }
};

/// The input's row, with the initial state before it.
template <class T, int Taps>
struct InputRow : VectorRow<T> {
  const T* initial;  // null: zeros; the sample before the row's first one
  std::int64_t initial_time;

  __device__ __forceinline__ InputRow(const DepthwiseParams& f, const SampleRow<T>& row, std::int64_t first,
                                      int low, int high)
      : VectorRow<T>(row.in + first, low, high),
        initial(row.initial == nullptr ? nullptr : row.initial + (Taps - 2) * f.initial_time),
        initial_time(f.initial_time) {}
  __device__ __forceinline__ void load(int offset, std::uint32_t (&words)[kPackWords]) const {
    if (initial != nullptr && offset<this->low&& this->low> - (1 << 20)) {
      this->load_elements(offset, words, [&](int at) {
        if (this->has(at)) return this->origin[at];
        const int back = this->low - 1 - at;  // behind the state's last column
        return back >= 0 && back < Taps - 1 ? initial[-back * initial_time] : T{};
      });
    } else {
      VectorRow<T>::load(offset, words);
    }
  }
};

template <class T, int Taps, int W>
struct TimeWalk {
  static constexpr int kCount = Vector<T>::kCount, kOlder = Taps - 1, kPer = kPerWord<T>;
  /// Words before a vector that hold its oldest samples.
  static constexpr int kBefore = (kOlder + kPer - 1) / kPer;
  static constexpr int kStep = kBackwardGroup * kCount;
  GroupLane<W> group;
  float weights[Taps], bias[1];
  std::uint32_t before[kBefore + 1];  // of the present step, but for lane 0
  float later[kOlder + 1] = {};       // of the last lane: g behind its vector
  float sums[Taps + 1] = {};

  __device__ __forceinline__ void turn_words(const std::uint32_t (&words)[kPackWords],
                                             std::uint32_t (&turned)[kBefore + 1]) const {
#pragma unroll
    for (int i = 0; i < kBefore; ++i) turned[i] = group.before(words[kPackWords - kBefore + i]);
  }

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

  /// words: of this step and, of the input, of the step to come. Inside: all lanes have whole vectors, and
  /// those of d_in are aligned.
  template <bool Inside>
  __device__ __forceinline__ void step(const std::uint32_t (&words)[kPackWords],
                                       const std::uint32_t (&next)[kPackWords],
                                       const std::uint32_t (&gradients)[kPackWords], const VectorRow<T>& row,
                                       T* d_in, bool stores_vectors, int offset, bool with_silu) {
    std::uint32_t window[kBefore + kPackWords], turned[kBefore + 1];
    turn_words(next, turned);
#pragma unroll
    for (int i = 0; i < kBefore; ++i) {
      window[i] = group.lane == 0 ? turned[i] : before[i];
      before[i] = turned[i];
    }
#pragma unroll
    for (int i = 0; i < kPackWords; ++i) window[kBefore + i] = words[i];
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

  /// Rows of the block's sums, in the same order in every run.
  __device__ __forceinline__ void store_sums(float* out, std::int64_t channels, bool there) {
#pragma unroll
    for (int row = 0; row <= Taps; ++row) {
      float sum = sums[row];
#pragma unroll
      for (int mask = kBackwardGroup / 2; mask > 0; mask /= 2) sum += warp_shuffle_xor<W>(sum, mask);
      if (there && group.lane == row) out[row * channels] = sum;
    }
  }
};

template <class T, int Taps, int W>
__global__ RELAYOUT_LAUNCH_BOUNDS(kBackwardWalkThreads,
                                  5) void depthwise_backward_time_kernel(DepthwiseBackwardParams p,
                                                                         DepthwiseGrid grid) {
  using Walk = TimeWalk<T, Taps, W>;
  constexpr int kCount = Walk::kCount;
  const DepthwiseParams& f = p.forward;
  const DepthwisePlace place = place_block<true>(grid);
  Walk walk;
  // Groups without a channel take part in the exchanges, on a row without samples.
  const std::int64_t own = place.channel + static_cast<int>(threadIdx.x) / kBackwardGroup;
  const bool there = own < f.channels;
  const std::int64_t channel = there ? own : f.channels - 1;
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
  ChannelNumbers<Taps> numbers;
  numbers.load(f, channel);

  // As many steps in all groups of a block, since lanes exchange in each.
  const std::int64_t left = f.length + p.slack - place.time;
  const int steps = left < p.tile_times ? static_cast<int>((left + Walk::kStep - 1) / Walk::kStep) : p.run;
  int offset = (steps - 1) * Walk::kStep + walk.group.lane * kCount;
  std::uint32_t samples[kPackWords] = {}, next[kPackWords] = {}, ahead[kPackWords] = {};
  std::uint32_t gradients[kPackWords] = {}, next_gradients[kPackWords] = {};
  // Only the last lane needs samples of the step before the first one.
  const auto load_samples = [&](int step, int at, std::uint32_t(&words)[kPackWords]) {
    if (step >= 0 || (step == -1 && walk.group.is_last())) in.load(at, words);
  };
  load_samples(steps - 1, offset, samples);
  d_out.load(offset, gradients);
  load_samples(steps - 2, offset - Walk::kStep, next);
  numbers.widen(f, walk.weights, walk.bias);
  walk.begin(in, d_out, steps * Walk::kStep, f.silu);
  walk.turn_words(samples, walk.before);
  const auto advance = [&](int step, auto inside) {
    constexpr bool kInside = decltype(inside)::value;
    if constexpr (kInside) {
      load_global_16_bytes(ahead, in.origin + offset - 2 * Walk::kStep);
      load_global_16_bytes(next_gradients, d_out.origin + offset - Walk::kStep);
    } else {
      load_samples(step - 2, offset - 2 * Walk::kStep, ahead);
      if (step > 0) d_out.load(offset - Walk::kStep, next_gradients);
    }
    walk.template step<kInside>(samples, next, gradients, in, d_in, stores_vectors, offset, f.silu);
#pragma unroll
    for (int i = 0; i < kPackWords; ++i) {
      samples[i] = next[i];
      next[i] = ahead[i];
      gradients[i] = next_gradients[i];
    }
    offset -= Walk::kStep;
  };
  // Steps of which, and of the two to come, all lanes of a warp have whole and aligned vectors take none of
  // the conditions of the others. A row's first vector begins before place.time by up to p.slack samples.
  const bool aligned = there && in.misaligned == 0 && d_out.misaligned == 0 && stores_vectors;
  const bool all_aligned = warp_ballot<W>(!aligned) == 0;
  const int first_inside = place.time >= p.slack ? 2 : 3;
  const std::int64_t sure = left - p.slack;
  const int end_inside = !all_aligned          ? 0
                         : sure < p.tile_times ? static_cast<int>(sure / Walk::kStep)
                                               : p.run;
#pragma unroll 1
  for (int step = steps - 1; step >= 0; --step) {
#pragma unroll 1
    for (; step < end_inside && step >= first_inside; --step) advance(step, std::true_type{});
    advance(step, std::false_type{});
  }
  if (p.sums == nullptr) return;
  const std::int64_t block = place.batch * grid.time_tiles + place.time / grid.tile_times;
  walk.store_sums(p.sums + block * (Taps + 1) * f.channels + channel, f.channels, there);
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
