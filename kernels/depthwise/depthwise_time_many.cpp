// depthwise along time (see depthwise_time.cpp) with more than 8 taps.
//
// A thread takes, p.run times, two neighbouring packs of outputs. Their sums stay in registers while the
// samples, each widened once, pass by: a ring of packs, in which the next older one replaces the newest after
// 8 taps. Weights in shared memory, for all of a block's runs. Global traffic: each input element once, the
// older packs through the L1; each output element once.
#include <type_traits>

#include "kernels/depthwise/depthwise_time.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kPacks = kManyTapsPacks, kSlots = kPacks + 1;  // of a thread; of the ring

/// Any number of taps; weights lie in shared memory by distance, a row of `pitch` for each of the block's
/// channels.
template <class T>
__global__ RELAYOUT_LAUNCH_BOUNDS(kDepthwiseThreads, 2) void depthwise_time_many_kernel(DepthwiseParams p,
                                                                                        DepthwiseGrid grid,
                                                                                        int pitch) {
  constexpr int kCount = Vector<T>::kCount;
  RELAYOUT_DYNAMIC_SHARED(float, shared);
  const RowPlace<T> row(p, grid, kPacks);
  float* const weights = shared + grid.row() * pitch;
  float bias = 0.0f;
  // The samples of kPacks packs and the next older one.
  std::uint32_t newest[kPacks][kPackWords] = {}, next[kPackWords] = {};
  const auto load = [&](int offset) {
    if (!row.is_whole(p, offset, kPacks * kCount)) return;
#pragma unroll
    for (int i = 0; i < kPacks; ++i) load_words<kPackWords>(newest[i], row.in + offset + i * kCount);
#pragma unroll
    for (int i = 0; i < kPackWords; ++i) next[i] = 0;
    if (row.before + offset > 0) load_words<kPackWords>(next, row.in + offset - kCount);
  };
  load(0);  // before the weights: both come from afar
  if (row.place.channel < p.channels) {
    bias = load_bias(p, row.place.channel);
    for (int distance = grid.lane(); distance < pitch; distance += p.lanes)
      weights[distance] = distance < p.taps ? load_weight(p, row.place.channel, distance) : 0.0f;
  }
  __syncthreads();

  const int step = p.lanes * kPacks * kCount, taps = static_cast<int>(p.taps);
#pragma unroll 1
  for (int group = 0; group < p.run && group * step < row.left; ++group) {
    const int offset = group * step;
    if (!row.is_whole(p, offset, kPacks * kCount)) {
      row.store_border(p, offset, kPacks * kCount);
      if (group + 1 < p.run) load(offset + step);
      continue;
    }
    // A ring of packs: pack i before the newest of all, counted down from kPacks - 1, is in slot i mod
    // kSlots.
    float ring[kSlots][kCount], sums[kPacks][kCount] = {};
#pragma unroll
    for (int i = 0; i < kPacks; ++i) widen_words<T, kPackWords>(newest[kPacks - 1 - i], ring[i]);
    const T* in = row.in + offset - kCount;  // the oldest pack of `next`
    int before = row.before + offset - kCount;
    const float* own = weights;
    int rest = taps;
    const auto take = [&](auto phase_constant, auto whole) {
      constexpr int kPhase = decltype(phase_constant)::value;
      widen_words<T, kPackWords>(next, ring[(kPhase + kPacks) % kSlots]);
      if (rest > kCount) {
        in -= kCount;
        before -= kCount;
#pragma unroll
        for (int i = 0; i < kPackWords; ++i) next[i] = 0;
        if (before >= 0) load_words<kPackWords>(next, in);
      } else if (group + 1 < p.run) {
        load(offset + step);
      }
#pragma unroll
      for (int four = 0; four < kCount; four += 4) {
        const Vector<float> some = load_vector(own + four);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int distance = four + i;
          if (!decltype(whole)::value && distance >= rest) break;
#pragma unroll
          for (int pack = 0; pack < kPacks; ++pack) {
#pragma unroll
            for (int j = 0; j < kCount; ++j) {
              const float sample = j >= distance ? ring[(kPhase + pack) % kSlots][j - distance]
                                                 : ring[(kPhase + pack + 1) % kSlots][kCount + j - distance];
              sums[pack][j] = fmaf(some.values[i], sample, sums[pack][j]);
            }
          }
        }
      }
      own += kCount;
      rest -= kCount;
    };
    const auto turn = [&](auto phase) {
      if (rest >= kCount) {
        take(phase, std::true_type{});
      } else if (rest > 0) {
        take(phase, std::false_type{});
      }
      return rest > 0;
    };
    static_assert(kSlots == 3, "three turns bring every pack back to its slot");
    while (turn(std::integral_constant<int, 0>{}) && turn(std::integral_constant<int, 1>{}) &&
           turn(std::integral_constant<int, 2>{})) {
    }
#pragma unroll
    for (int i = 0; i < kPacks; ++i) {
      const Words result = finish_pack<T>(sums[i], bias, p.silu);
      store_global_16_bytes(row.out + offset + (kPacks - 1 - i) * kCount, &result, false);
    }
  }
}

}  // namespace

void launch_depthwise_time_many(const LaunchContext& context, const DepthwiseParams& p) {
  visit_signal_type(p.type, [&](auto type) {
    using T = typename decltype(type)::type;
    constexpr int kCount = Vector<T>::kCount;
    const DepthwiseGrid grid(p, kDepthwiseThreads / p.lanes, std::int64_t{p.lanes} * p.run * kPacks * kCount);
    const int pitch = (static_cast<int>(p.taps) + kCount - 1) / kCount * kCount;
    LaunchShape shape;
    shape.blocks_x = grid.blocks(p);
    shape.threads_x = kDepthwiseThreads;
    shape.shared_bytes = static_cast<std::size_t>(p.shared_bytes);
    launch("depthwise_conv1d", context, shape, depthwise_time_many_kernel<T>, p, grid, pitch);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
