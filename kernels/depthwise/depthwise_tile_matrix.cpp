// depthwise through shared memory with more than 8 taps on elements of 16 bits, by matrix units: any layouts
// of in and out, which may differ, any strides.
//
// A block takes p.tile_channels channels and kMatrixTimes samples of one batch. Shared memory has a row along
// time for each channel: its samples, from the taps-1 that come before the block's times on. A thread moves
// two neighbouring times of side.width channels at a time, and so turns rows along channels by pairs of
// elements. A warp takes whole channels, tile by tile of 256 outputs (see depthwise_matrix.hpp), and leaves
// the outputs where the tile's first samples were.
// Global traffic: each input element once, and again the taps-1 samples before a tile; each output element
// once.
#include <type_traits>

#include "kernels/backend_kernels.hpp"
#include "kernels/block_index.hpp"
#include "kernels/depthwise/depthwise_matrix.hpp"
#include "kernels/depthwise/depthwise_span.hpp"
#include "kernels/divide.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

/// Two neighbouring times of kWidth channels as words: of each channel both times, or of each time the
/// channels in twos. The second half of words is that of the later time, or of the odd channels.
template <int kWidth>
struct Pairs {
  static constexpr int kWords = kWidth < 2 ? 1 : kWidth / 2;
  std::uint32_t words[2][kWords];

  /// Its own inverse.
  __device__ __forceinline__ void turn() {
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      const std::uint32_t first = words[0][i], second = words[1][i];
      words[0][i] = permute_bytes<0x5410>(first, second);
      words[1][i] = permute_bytes<0x7632>(first, second);
    }
  }
};

template <int kWidth, class T>
__device__ __forceinline__ void load_channels(std::uint32_t (&words)[Pairs<kWidth>::kWords], const T* from) {
  if constexpr (kWidth == 1) {
    words[0] = element_bits(*from);
  } else if constexpr (kWidth == kMatrixPack) {
    load_global_16_bytes(words, from);
  } else {
    load_words<Pairs<kWidth>::kWords>(words, from);
  }
}
template <int kWidth, class T>
__device__ __forceinline__ void store_channels(const std::uint32_t (&words)[Pairs<kWidth>::kWords], T* to) {
  if constexpr (kWidth == 1) {
    store_element(to, words[0], 0);
  } else if constexpr (kWidth == kMatrixPack) {
    store_global_16_bytes(to, words, false);
  } else {
    store_global(reinterpret_cast<std::uint32_t*>(to), words[0]);
  }
}

/// Calls visit(width, along_time), constants, with what the plan says of a side.
template <class Visit>
__device__ __forceinline__ void visit_pairs(const DepthwiseTileSide& side, Visit&& visit) {
  using Channels = std::false_type;
  if (side.lanes_along_time) {
    visit(std::integral_constant<int, 1>{}, std::true_type{});
  } else if (side.width == kMatrixPack) {
    visit(std::integral_constant<int, kMatrixPack>{}, Channels{});
  } else if (side.width == 2) {
    visit(std::integral_constant<int, 2>{}, Channels{});
  } else {
    visit(std::integral_constant<int, 1>{}, Channels{});
  }
}

/// A side of a block's tile: elements are counted from its first channel and from time 0 of its rows in
/// shared memory.
template <class T>
struct MatrixSide {
  const DepthwiseTileSide& plan;
  T* first;
  std::int64_t channel_stride, time_stride;
  int channels, times;  // that exist

  __device__ __forceinline__ T* at(int channel, int time) const {
    return first + channel * channel_stride + time * time_stride;
  }
  /// Calls visit(channel, first_time, step) with the channels of the thread, whose pairs of times are
  /// first_time, first_time + step, ... Of kWidth channels, `channel` is the first. Neighbouring threads lie
  /// along the axis that is fast in memory, `lanes` of them, and `rows` such along the other one.
  template <int kWidth, bool kAlongTime, class Visit>
  __device__ __forceinline__ void each_row(Visit&& visit) const {
    std::uint32_t lane = threadIdx.x;
    const auto row = static_cast<int>(split(lane, plan.by_words));
    const auto lanes = static_cast<int>(plan.by_words.value);
    const int rows = kDepthwiseThreads / lanes;
    if constexpr (kAlongTime) {
#pragma unroll 1
      for (int channel = row; channel < channels; channel += rows)
        visit(channel, 2 * static_cast<int>(lane), 2 * lanes);
    } else {
      const int channel = static_cast<int>(lane) * kWidth;
      if (channel < channels && row < rows) visit(channel, 2 * row, 2 * rows);
    }
  }
};

/// A side whose numbers lie in vector registers, since an AMD GPU has too few scalar ones for them.
template <class T>
__device__ __forceinline__ MatrixSide<T> matrix_side(const DepthwiseTileSide& plan, T* first,
                                                     std::int64_t channel_stride, std::int64_t time_stride,
                                                     int channels, int times) {
  return {
      plan,           per_lane(first), per_lane(channel_stride), per_lane(time_stride), per_lane(channels),
      per_lane(times)};
}

/// Pairs in flight of a thread.
template <int kWidth>
constexpr int kInFlight = kWidth == kMatrixPack ? 4 : 8;

/// Fills the rows up to time `samples` with those that exist, from `oldest` on, and with zeros.
template <int kWidth, bool kAlongTime, int kDepth, class T>
__device__ __forceinline__ void fill_rows(const MatrixSide<const T>& side, int oldest, int samples, T* rows) {
  side.template each_row<kWidth, kAlongTime>([&](int channel, int time, int step) {
    T* to = rows + matrix_row(channel, kDepth) + time;
    const T* from = side.at(channel, time);
    const std::int64_t from_step = step * side.time_stride;
#pragma unroll 1
    while (time < samples) {
      constexpr int kCount = kInFlight<kWidth>;
      Pairs<kWidth> loaded[kCount] = {};
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        const int first = time + i * step;
        if (first >= oldest && first < side.times) load_channels<kWidth>(loaded[i].words[0], from);
        if (first + 1 >= oldest && first + 1 < side.times)
          load_channels<kWidth>(loaded[i].words[1], from + side.time_stride);
        from += from_step;
      }
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        if (time >= samples) break;
        loaded[i].turn();
#pragma unroll
        for (int j = 0; j < kWidth; ++j)
          *reinterpret_cast<std::uint32_t*>(to + j * matrix_pitch(kDepth)) = loaded[i].words[j % 2][j / 2];
        to += step;
        time += step;
      }
    }
  });
}

/// Stores the outputs of the rows.
template <int kWidth, bool kAlongTime, int kDepth, class T>
__device__ __forceinline__ void store_rows(const MatrixSide<T>& side, const T* rows) {
  side.template each_row<kWidth, kAlongTime>([&](int channel, int time, int step) {
    const T* from = rows + matrix_row(channel, kDepth) + time;
    T* to = side.at(channel, time);
    const std::int64_t to_step = step * side.time_stride;
#pragma unroll 2
    for (; time < side.times; time += step) {
      Pairs<kWidth> results = {};
#pragma unroll
      for (int j = 0; j < kWidth; ++j)
        results.words[j % 2][j / 2] =
            *reinterpret_cast<const std::uint32_t*>(from + j * matrix_pitch(kDepth));
      results.turn();
      store_channels<kWidth>(results.words[0], to);
      if (time + 1 < side.times) store_channels<kWidth>(results.words[1], to + side.time_stride);
      from += step;
      to += to_step;
    }
  });
}

/// Stores a tile's finished sums, of which a column has 16 neighbouring outputs, to `to` in shared memory.
template <class Unit, class T, int Count>
__device__ __forceinline__ void store_columns(const float (&sums)[Count], T* to) {
  constexpr int kRun = Unit::kColumnRun;
#pragma unroll
  for (int run = 0; run < Count / kRun; ++run) {
    const int first = Unit::run_value(run, 0);
    T* const at = to + Unit::column_of(first) * kMatrixSide + Unit::row_place(Unit::row_of(first));
    if constexpr (kRun == 1) {
      *at = convert<T>(sums[first]);
    } else {
      Vector<std::uint32_t, kRun / 2> words;
#pragma unroll
      for (int i = 0; i < kRun; i += 2) {
        const float values[2] = {sums[Unit::run_value(run, i)], sums[Unit::run_value(run, i + 1)]};
        words.values[i / 2] = narrow_word<T>(values);
      }
      *reinterpret_cast<Vector<std::uint32_t, kRun / 2>*>(at) = words;
    }
  }
}

/// The outputs of a channel's `times` samples, in the place of its row's first ones.
template <int W, int kSteps, class T>
__device__ __forceinline__ void convolve_row(const DepthwiseParams& p, const T* line, float bias, int times,
                                             T* row) {
  using Unit = MatrixUnit<W, T>;
  using Weights = WeightRows<Unit, T, matrix_line(kSteps * kMatrixDepth), false>;
  typename Unit::template Operand<Weights> weights[kSteps];
#pragma unroll
  for (int i = 0; i < kSteps; ++i) weights[i] = Unit::load(Weights{line + i * kMatrixDepth, 0});
#pragma unroll 1
  for (T* const end = row + times; row < end; row += kMatrixTile) {
    typename Unit::Sums sums;
#pragma unroll
    for (int i = 0; i < kSteps; ++i)
      Unit::multiply(weights[i], Unit::load(PackRows<T>{row + i * kMatrixDepth}), sums);
    // After it, no lane needs the samples that the outputs replace, unless a sum is not finite.
    if (are_finite<W>(sums.values)) {
      finish_sums(sums.values, bias, p.silu);
      warp_barrier<W>();
      store_columns<Unit>(sums.values, row);
    } else {
      sum_by_taps<W>(p, 0, row, line, bias, row);
    }
    warp_barrier<W>();
  }
}

template <int W, int kSteps, class T>
__global__ RELAYOUT_LAUNCH_BOUNDS(kDepthwiseThreads, 4) void depthwise_tile_matrix_kernel(DepthwiseParams p,
                                                                                          DepthwiseGrid grid,
                                                                                          Divisor by_taps) {
  if constexpr (!kMayHaveWarpsOf<W>) return;
  constexpr int kDepth = kSteps * kMatrixDepth, kLine = matrix_line(kDepth);
  RELAYOUT_DYNAMIC_SHARED(T, rows);
  T* const lines = rows + matrix_rows(p.tile_channels, kDepth);
  float* const biases = reinterpret_cast<float*>(lines + p.tile_channels * 2 * kLine);
  const DepthwisePlace place = p.lanes_along_time ? place_block<true>(grid) : place_block<false>(grid);
  if (is_spare(place.batch, p.batch)) return;
  const std::int64_t channels_left = p.channels - place.channel, times_left = p.length - place.time;
  const int channels = channels_left < p.tile_channels ? static_cast<int>(channels_left) : p.tile_channels;
  const int times = times_left < kMatrixTimes ? static_cast<int>(times_left) : kMatrixTimes;
  const int thread = static_cast<int>(threadIdx.x), older = static_cast<int>(p.taps) - 1;

  // Times of the rows count from the oldest sample that the tile's outputs meet.
  const std::int64_t first = place.time - older;
  const int oldest = first < 0 ? static_cast<int>(-first) : 0;
  const MatrixSide<const T> in = matrix_side(p.in_side,
                                             static_cast<const T*>(p.in) + place.batch * p.in_batch +
                                                 place.channel * p.in_channel + first * p.in_time,
                                             p.in_channel, p.in_time, channels, times + older);
  // Whole tiles are convolved.
  const int samples = matrix_samples(kDepth, round_up(times, kMatrixTile));
  visit_pairs(p.in_side, [&](auto width, auto along_time) {
    fill_rows<decltype(width)::value, decltype(along_time)::value, kDepth>(in, oldest, samples, rows);
  });
  if (thread < channels) biases[thread] = load_bias(p, place.channel + thread);
  fill_weight_lines<kDepth, kDepthwiseThreads>(p, place.channel, channels, by_taps, lines);
  __syncthreads();
  if (oldest > 0 && p.initial_state != nullptr) {
#pragma unroll 1
    for (int number = thread; number < channels * oldest; number += kDepthwiseThreads) {
      const int channel = number / oldest, time = number - channel * oldest;
      rows[matrix_row(channel, kDepth) + time] =
          SampleRow<T>(p, place.batch, place.channel + channel).at(p, first + time);
    }
    __syncthreads();
  }
#pragma unroll 1
  for (int channel = thread / W; channel < channels; channel += kDepthwiseThreads / W)
    convolve_row<W, kSteps>(p, lines + channel * 2 * kLine, biases[channel], times,
                            rows + matrix_row(channel, kDepth));
  __syncthreads();
  const MatrixSide<T> out = matrix_side(p.out_side,
                                        static_cast<T*>(p.out) + place.batch * p.out_batch +
                                            place.channel * p.out_channel + place.time * p.out_time,
                                        p.out_channel, p.out_time, channels, times);
  visit_pairs(p.out_side, [&](auto width, auto along_time) {
    store_rows<decltype(width)::value, decltype(along_time)::value, kDepth>(out, rows);
  });
}

}  // namespace

void launch_depthwise_tile_matrix(const LaunchContext& context, const DepthwiseParams& p) {
  const DepthwiseGrid grid(p, p.tile_channels, kMatrixTimes);
  const NumberedBlocks shape = numbered_blocks(grid.blocks(p), kDepthwiseThreads, p.shared_bytes);
  visit_matrix_instance(p, matrix_tile_steps(p.taps), [&](auto type, auto warp_size, auto steps) {
    constexpr auto kernel = depthwise_tile_matrix_kernel<decltype(warp_size)::value, decltype(steps)::value,
                                                         typename decltype(type)::type>;
    launch("depthwise_conv1d", context, shape, kernel, p, grid,
           make_divisor(static_cast<std::uint32_t>(p.taps)));
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
