// The depthwise backward pass where time is the fast axis of the input and of both gradients: up to
// kBackwardWalkTaps taps, any base and pitch, no sequence ids.
//
// A group of kBackwardGroup lanes takes p.run steps of one row (batch, channel); in a step each lane has 16
// bytes of samples, next to its neighbours'. The group walks from the end to the begin. What the next steps
// need is on its way to shared memory, where a lane finds the samples before its own: in the lane before it,
// or, lane 0, in the last lane of the step to come. The gradients behind a lane's come from the lane behind
// by a rotation; the last lane has those of lane 0 in the step before, so each rotation serves two steps. A
// lane adds its products over all steps, and the group its lanes' sums in a fixed order: one row of partial
// sums, or the gradients themselves where all groups that have the channel are in one block.
//
// A row's vectors begin where those of d_in would lie on a boundary of kBackwardBoundary bytes if its base
// did, so the order of sums depends on strides, not on addresses. All loads are of aligned vectors; where the
// rows of another signal lie otherwise, a lane takes its own out of two of them. Vectors at a row's ends are
// loaded whole, too, where they lie in the signal's memory, and what is not the row's is cleared or not used.
// A few samples behind a row's last step do not take another step: they are a lane's each.
// Global traffic: each element of the input and of both gradients once, and a little at a group's ends.
#include "core/bytes.hpp"
#include "kernels/backend_kernels.hpp"
#include "kernels/block_index.hpp"
#include "kernels/depthwise/depthwise_backward.hpp"
#include "kernels/depthwise/depthwise_backward_stages.hpp"
#include "kernels/depthwise/depthwise_backward_walk.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

/// Rows of a block.
constexpr int kGroups = kBackwardWalkThreads / kBackwardGroup;

/// The steps of the groups that have a row's end: the host's arithmetic.
struct LastSteps {
  std::int64_t begin;  // of their blocks' tile
  int steps, whole;    // whole: those that have samples only, wherever the row's first vector begins
  int left;            // samples from the tile's begin on
  bool has_tail;

  LastSteps(const DepthwiseBackwardParams& p, const DepthwiseGrid& grid, int step)
      : begin((grid.time_tiles - 1) * p.tile_times), left(static_cast<int>(p.forward.length - begin)) {
    steps = (left + p.slack - p.tail + step - 1) / step;
    whole = left / step < steps ? left / step : steps;
    has_tail = left + p.slack > steps * step;
  }
};

/// What is used once the walk has ended, each lane its own: AMD's GPUs have too few scalar registers for it
/// beside the walk's.
__device__ __forceinline__ void keep_per_lane(DepthwiseBackwardParams& p) {
  p.sums = per_lane(p.sums);
  p.d_weights = per_lane(p.d_weights);
  p.d_bias = per_lane(p.d_bias);
  p.d_weight_channel = per_lane(p.d_weight_channel);
  p.d_weight_tap = per_lane(p.d_weight_tap);
  p.d_bias_channel = per_lane(p.d_bias_channel);
  p.forward.channels = per_lane(p.forward.channels);
}

/// Shifted: there are rows of the input or of the output's gradient that lie otherwise than those of the
/// input's gradient. Six blocks a multiprocessor would leave too few registers for them.
template <class T, int Taps, int W, bool Shifted>
__global__ RELAYOUT_LAUNCH_BOUNDS(kBackwardWalkThreads, Shifted ? 5 : 6) void depthwise_backward_time_kernel(
    DepthwiseBackwardParams p, DepthwiseGrid grid, LastSteps at_end, MemorySpan in_span,
    MemorySpan d_out_span) {
  if constexpr (!kMayHaveWarpsOf<W>) return;
  using Walk = TimeWalk<T, Taps, W, Shifted>;
  constexpr int kCount = Walk::kCount, kWindow = Walk::kBefore + kPackWords;
  const DepthwiseParams& f = p.forward;
  const DepthwisePlace place = place_block<true>(grid);
  if (is_spare(place.batch * p.items(), f.batch)) return;
  keep_per_lane(p);
  Walk walk;
  // Groups without a channel take part in the exchanges, on a row without samples.
  const int group = static_cast<int>(threadIdx.x / kBackwardGroup), item = group & (p.items() - 1);
  const std::int64_t own = place.channel + (group >> p.items_shift), batch = place.batch + item;
  const bool there = own < f.channels;
  const std::int64_t channel = there ? own : f.channels - 1;
  ChannelNumbers<Taps> numbers;
  numbers.load(f, channel);
  RELAYOUT_DYNAMIC_SHARED(std::uint32_t, shared);
  const Stages stages(shared, group);
  const std::int64_t d_in_row = batch * p.d_in_batch + channel * p.d_in_channel;
  const bool is_first = place.time == 0, is_last = place.time == at_end.begin;
  const int before = static_cast<int>(d_in_row & p.slack);
  const std::int64_t first = place.time - before;
  constexpr int kFar = 1 << 28;
  const int low = is_first ? before : -kFar;
  const int high = !there ? low : is_last ? before + at_end.left : kFar;
  const InputRow<T, Taps, Shifted> in(f, SampleRow<T>(f, batch, channel), first, low, high);
  const VectorRow<T, Shifted> d_out(
      static_cast<const T*>(p.d_out) + batch * p.d_out_batch + channel * p.d_out_channel + first, low, high);
  T* const d_in = static_cast<T*>(p.d_in) + d_in_row + first;
  const bool stores_vectors = misaligned_elements(static_cast<const T*>(p.d_in)) == 0;
  // As many steps in all groups of a block, since lanes exchange in each; `whole` of them have samples only,
  // wherever the first vector begins.
  int steps = p.run, whole = p.run;
  if (is_last) {
    steps = at_end.steps;
    whole = at_end.whole;
  }
  const int end = steps * Walk::kStep;
  // In steps [begin_inside, end_inside) all lanes of a warp have samples only, and aligned vectors of d_in:
  // they take none of the conditions of the others. The groups of a larger warp differ in their rows' first
  // vectors. Shifted vectors may hold what lies before the row.
  const auto all = [](bool condition) { return warp_ballot<W>(!condition) == 0; };
  const bool clears = Shifted ? low >= 0 : low > 0;
  const int begin_inside = all(!clears) ? 0 : 1;
  const int end_row = whole < steps && all(high >= (whole + 1) * Walk::kStep) ? whole + 1 : whole;
  const int end_inside = stores_vectors && all(there) ? end_row : 0;
  // The vectors of steps [begin_whole, end_whole) are loaded whole, with what lies around the row.
  const int begin_whole = all(in.has_first(in_span) && d_out.has_first(d_out_span)) ? 0 : 1;
  const int end_whole = !all(there)                                                             ? 0
                        : all(in.has_before(end, in_span) && d_out.has_before(end, d_out_span)) ? steps
                                                                                                : end_row;

  const int lane_offset = walk.group.lane * kCount;
  VectorCopy own_samples, own_gradients;
  // The vectors of a step: those that lie in the signals' memory as they are, of any others what the row has.
  const auto start_whole = [&](int step, int stage) {
    const int at = step * Walk::kStep + lane_offset;
    own_samples.start(in.vector(at), stages.samples(stage));
    own_gradients.start(d_out.vector(at), stages.gradients(stage));
  };
  const auto start_some = [&](int step, int stage) {
    const int at = step * Walk::kStep + lane_offset;
    own_samples.held = own_gradients.held = false;
    if (step < 0) return;
    own_samples.start(in, at, stages.samples(stage));
    own_gradients.start(d_out, at, stages.gradients(stage));
  };
  const auto start = [&](int step, int stage) {
    if (step < end_whole && step >= begin_whole) {
      own_samples.held = own_gradients.held = false;
      // Nobody needs the vectors behind the row.
      const int behind = high + (Shifted ? kCount - 1 : 0);
      if (step * Walk::kStep + lane_offset < behind) start_whole(step, stage);
    } else {
      start_some(step, stage);
    }
  };
  const auto finish = [&](int stage) {
    own_samples.finish(stages.samples(stage));
    own_gradients.finish(stages.gradients(stage));
    commit_async_copies();
  };
  constexpr int kAhead = kStages - 1;
  int stage = 0, free_stage = 0;
  // The samples before the group's first vector, unless they are cleared.
  if (Taps > 1 && walk.group.lane == 0 && (!clears || in.initial != nullptr)) {
    own_samples.start(in, -kCount, stages.before);
    own_samples.finish(stages.before);
  }
  if constexpr (Shifted) {
    // Lane 0's vectors behind the last step.
    const int behind = Stages::last(stage);
    own_samples.held = own_gradients.held = false;
    if (walk.group.lane == 0) {
      own_samples.start(in, end, stages.samples(behind));
      own_gradients.start(d_out, end, stages.gradients(behind));
    }
    finish(behind);
  }
#pragma unroll 1
  for (int ahead = 1; ahead <= kAhead; ++ahead) {
    start(steps - ahead, free_stage);
    finish(free_stage);
    free_stage = Stages::next(free_stage);
  }
  numbers.widen(f, walk.weights, walk.bias);
  walk.begin(in, d_out, d_in, end, is_last && at_end.has_tail, f.silu);

  // start_ahead starts the copies of the step kAhead behind this one, into the stage that is free.
  const auto advance = [&](int step, bool is_first_step, auto inside, const auto& start_ahead) {
    wait_for_async_copies<kStages - 3>();
    warp_barrier<W>();
    std::uint32_t window[kWindow], gradients[kPackWords];
    if constexpr (Shifted) {
      std::uint32_t wide_window[kWindow + kPackWords], wide_gradients[2 * kPackWords];
      stages.load(stage, walk.group.lane, is_first_step, wide_window, wide_gradients);
      warp_barrier<W>();  // the stage of the step before is free now
      shift_words<T, kWindow>(wide_window, in.shift(), window);
      shift_words<T, kPackWords>(wide_gradients, d_out.shift(), gradients);
    } else {
      stages.load(stage, walk.group.lane, is_first_step, window, gradients);
    }
    start_ahead();
    walk.template step<decltype(inside)::value>(window, gradients, in, d_in, stores_vectors,
                                                step * Walk::kStep + lane_offset, f.silu);
    finish(free_stage);
    free_stage = stage;
    stage = Stages::next(stage);
  };
  const int begin_fast = begin_inside > begin_whole + kAhead ? begin_inside : begin_whole + kAhead;
  const int end_fast = end_inside < end_whole + kAhead ? end_inside : end_whole + kAhead;
  const int end_last = end_inside < kAhead ? end_inside : kAhead;
#pragma unroll 1
  for (int step = steps - 1; step >= 0; --step) {
#pragma unroll 1
    for (; step < end_fast && step >= begin_fast; --step) {
      advance(step, false, std::true_type{}, [&] { start_whole(step - kAhead, free_stage); });
    }
#pragma unroll 1
    for (; step < end_last && step >= begin_inside; --step) {
      advance(step, step == 0, std::true_type{}, [&] { own_samples.held = own_gradients.held = false; });
    }
    // Rows that lie alike have few such steps, whose copies begin in their row: the shorter code is faster.
    const auto start_any = [&] {
      if constexpr (Shifted) {
        start(step - kAhead, free_stage);
      } else {
        start_some(step - kAhead, free_stage);
      }
    };
    if (step >= 0) advance(step, step == 0, std::false_type{}, start_any);
  }
  if (!p.wants_sums) return;
  let_next_kernel_begin();  // the one that adds the sums of blocks
  float sum = walk.add_sums();
  const bool has_sum = there && walk.group.lane <= Taps;
  if (p.sums != nullptr) {  // then a block has one item of the batch
    const std::int64_t block = place.batch * grid.time_tiles + place.time / grid.tile_times;
    if (has_sum) p.sums[(block * (Taps + 1) + walk.group.lane) * f.channels + channel] = sum;
    return;
  }
  if (p.items() > 1) {
    auto* const sums = reinterpret_cast<float*>(shared + Stages::kWords) + walk.group.lane;
    if (has_sum) sums[group * (Taps + 1)] = sum;
    __syncthreads();
    if (!has_sum || item > 0) return;
    for (int i = 1; i < p.items(); ++i) sum += sums[(group + i) * (Taps + 1)];
  }
  if (has_sum) store_gradient(p, channel, walk.group.lane, sum);
}

/// Whether all rows of a signal begin as far behind a boundary of 16 bytes as those of d_in would if its base
/// lay on one.
bool lie_alike(const DepthwiseBackwardParams& p, const void* signal, std::int64_t batch,
               std::int64_t channel) {
  const std::int64_t bytes = bytes_of(p.forward.type);
  const auto base = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(signal));
  const std::int64_t of_batch = p.forward.batch > 1 ? batch - p.d_in_batch : 0;
  const std::int64_t of_channel = p.forward.channels > 1 ? channel - p.d_in_channel : 0;
  return (base | of_batch * bytes | of_channel * bytes) % 16 == 0;
}

}  // namespace

void launch_depthwise_backward_time(const LaunchContext& context, const DepthwiseBackwardParams& p) {
  const DepthwiseParams& f = p.forward;
  const DepthwiseGrid grid(f, kGroups / p.items(), p.tile_times, p.slack - p.tail);
  const MemorySpan in = input_span(f),
                   d_out = signal_span(f, p.d_out, p.d_out_batch, p.d_out_channel, p.d_out_time);
  const bool is_shifted =
      !lie_alike(p, f.in, f.in_batch, f.in_channel) || !lie_alike(p, p.d_out, p.d_out_batch, p.d_out_channel);
  visit_floats_up_to_f32(f.type, [&](auto type) {
    using T = typename decltype(type)::type;
    const LastSteps at_end(p, grid, kBackwardGroup * Vector<T>::kCount);
    visit_backward_walk_taps(f.taps, [&](auto taps) {
      constexpr int kTaps = decltype(taps)::value;
      const auto start = [&](auto shifted) {
        constexpr bool kShifted = decltype(shifted)::value;
        const NumberedBlocks shape =
            numbered_blocks(grid.blocks(f) / p.items(), kBackwardWalkThreads,
                            (Stages::kWords + kGroups * (kTaps + 1)) * sizeof(float));
        const auto start_kernel = [&](auto kernel) {
          launch("depthwise_conv1d_backward", context, shape, kernel, p, grid, at_end, in, d_out);
        };
        if constexpr (kHasWarpsOf64) {
          if (p.warp_size == 64) return start_kernel(depthwise_backward_time_kernel<T, kTaps, 64, kShifted>);
        }
        start_kernel(depthwise_backward_time_kernel<T, kTaps, 32, kShifted>);
      };
      is_shifted ? start(std::true_type{}) : start(std::false_type{});
    });
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
