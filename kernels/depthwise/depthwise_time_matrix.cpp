// depthwise along time (see depthwise_time.cpp) with more than 8 taps on elements of 16 bits, by matrix
// units: any bases and pitches.
//
// A warp takes, p.run times, a tile of 256 outputs of a row (see depthwise_matrix.hpp), from a boundary of 32
// bytes of the output in memory on. Its samples are read where they are, from a boundary of 16 bytes of the
// input on, and a lane takes its weights from shared memory once. Tiles at the ends of a row, or of the
// input's memory, have their samples put together in shared memory first, and their results go through it.
// Global traffic: each input element once, again through the L1; each output element once.
#include "kernels/block_index.hpp"
#include "kernels/depthwise/depthwise_common.hpp"
#include "kernels/depthwise/depthwise_matrix.hpp"
#include "kernels/depthwise/depthwise_span.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kTile = kMatrixTile, kPack = kMatrixPack;
/// Samples of a line of 128 bytes, and how many tiles ahead lines are asked for: what a warp has under way in
/// registers would keep the memory half busy.
constexpr int kLine = 64, kTilesAhead = 3;

/// A block's place, and the channel of a thread's row.
__device__ __forceinline__ DepthwisePlace place_of_row(const DepthwiseGrid& grid) {
  DepthwisePlace place = place_block<true>(grid);
  place.channel += grid.row();
  return place;
}

/// A warp's place in its row. Offsets count samples from the first output of its first tile on, and are
/// 32-bit.
template <class T>
struct MatrixRow {
  const T* in;  // the sample that the first output's oldest tap meets, `shift` elements before it
  T* out;
  int shift;
  int before, left;  // the time of the first output, which may lie before the row; outputs from it on
  /// Tiles from here to there have outputs that exist, meet samples that exist, and read nothing for them
  /// that lies outside the input's memory.
  int inside_from, inside_to;

  __device__ __forceinline__ MatrixRow(const DepthwiseParams& p, const DepthwisePlace& place,
                                       const MemorySpan& span, int first_tile, int samples) {
    out = static_cast<T*>(p.out) + place.batch * p.out_batch + place.channel * p.out_channel;
    const std::int64_t time = place.time + first_tile * kTile - misaligned_elements<kSectorBytes>(out);
    out += time;
    in = static_cast<const T*>(p.in) + place.batch * p.in_batch + place.channel * p.in_channel + time -
         (p.taps - 1);
    shift = misaligned_elements(in);
    in -= shift;
    before = near_offset(time);
    left = near_offset(p.length - time);
    const auto elements_to = [&](const char* end) {
      return near_offset((end - reinterpret_cast<const char*>(in)) / static_cast<int>(sizeof(T)));
    };
    const int first = static_cast<int>(p.taps) - 1 - before, readable_from = elements_to(span.begin),
              readable_to = elements_to(span.end) - samples;
    inside_from = first > readable_from ? first : readable_from;
    inside_to = left - kTile < readable_to ? left - kTile : readable_to;
  }
  __device__ __forceinline__ bool is_inside(int offset) const {
    return offset >= inside_from && offset <= inside_to;
  }
  /// Puts the samples of the tile together that begins at `from`, all loads first; those that do not exist
  /// are 0.
  template <int W, int kSamples>
  __device__ __forceinline__ void stage(const DepthwiseParams& p, const DepthwiseGrid& grid, const T* from,
                                        int offset, T* samples) const {
    constexpr int kEach = (kSamples + W - 1) / W;
    const int oldest = 1 - static_cast<int>(p.taps), first = before + offset + oldest - shift;
    T mine[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int number = i * W + lane_id<W>();
      mine[i] = first + number >= 0 && first + number < before + left ? from[number] : T{};
    }
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int number = i * W + lane_id<W>();
      if (number < kSamples) samples[number] = mine[i];
    }
    if (p.initial_state == nullptr || first >= 0) return;
    const DepthwisePlace place = place_of_row(grid);
    const SampleRow<T> row(p, place.batch, place.channel);
    for (int number = lane_id<W>(); number < -first; number += W) {
      if (first + number >= oldest) samples[number] = row.at(p, first + number);
    }
  }
  /// Stores those of a tile's results to `to` that exist.
  template <int W>
  __device__ __forceinline__ void store(int offset, const T* results, T* to) const {
    const bool all = before + offset >= 0 && offset + kTile <= left;
#pragma unroll
    for (int i = lane_id<W>() * kPack; i < kTile; i += W * kPack) {
      if (all) {
        Words pack;
        load_16_bytes(&pack, results + i);
        store_global_16_bytes(to + i, &pack, false);
      } else {
#pragma unroll 1
        for (int j = i; j < i + kPack; ++j)
          if (j >= -before - offset && j < left - offset) to[j] = results[j];
      }
    }
  }
};

/// Calls visit(first, run) for the runs of four neighbouring results in which the matrix unit leaves a tile:
/// outputs first, first + 1, ... as 8 bytes.
template <class Unit, class T, class Visit>
__device__ __forceinline__ void each_run_of_four(const float (&values)[8], Visit&& visit) {
#pragma unroll
  for (int i = 0; i < 4; i += 2) {
    const float first[2] = {values[i], values[i + 1]}, second[2] = {values[i + 4], values[i + 5]};
    visit(Unit::row_of(i) * kMatrixSide + Unit::column_place(Unit::column_of(i)),
          narrow_word<T>(first) | static_cast<std::uint64_t>(narrow_word<T>(second)) << 32);
  }
}

/// Stores a tile's finished sums to `to` in shared memory.
template <class Unit, class T, int Count>
__device__ __forceinline__ void store_sums(const float (&sums)[Count], T* to) {
  if constexpr (Unit::kHasRunsOfFour) {
    each_run_of_four<Unit, T>(
        sums, [&](int first, std::uint64_t run) { *reinterpret_cast<std::uint64_t*>(to + first) = run; });
  } else {
#pragma unroll
    for (int i = 0; i < Count; ++i)
      to[Unit::row_of(i) * kMatrixSide + Unit::column_place(Unit::column_of(i))] = convert<T>(sums[i]);
  }
}

/// Blocks of a multiprocessor for which there are registers enough.
template <int kSteps>
constexpr int kMatrixBlocks = 8 - kSteps;

template <int W, int kSteps, class T>
__global__ RELAYOUT_LAUNCH_BOUNDS(
    kDepthwiseWalkThreads,
    (kMatrixBlocks<kSteps>)) void depthwise_time_matrix_kernel(DepthwiseParams p, DepthwiseGrid grid,
                                                               Divisor by_taps, MemorySpan span) {
  if constexpr (!kMayHaveWarpsOf<W>) return;
  using Unit = MatrixUnit<W, T>;
  constexpr int kDepth = kSteps * kMatrixDepth, kSamples = matrix_samples(kDepth),
                kWeights = matrix_line(kDepth);
  using Weights = WeightRows<Unit, T, kWeights, true>;
  RELAYOUT_DYNAMIC_SHARED(T, shared);
  const int warps_of_row = (grid.lanes_mask + 1) / W, warp = static_cast<int>(threadIdx.x) / W;
  const DepthwisePlace place = place_of_row(grid);
  if (is_spare(place.batch, p.batch)) return;
  const MatrixRow<T> row(p, place, span, grid.lane() / W, kSamples);
  T* const results = shared + warp * (kTile + kSamples);
  T* const staged = results + kTile;
  T* const lines = shared + kDepthwiseWalkThreads / W * (kTile + kSamples);
  const T* const line = lines + grid.row() * 2 * kWeights;

  const bool exists = place.channel < p.channels;
  typename Unit::template Operand<PackRows<T>> samples[kSteps];
  const auto load = [&](const T* first) {
#pragma unroll
    for (int i = 0; i < kSteps; ++i) samples[i] = Unit::load(PackRows<T>{first + i * kMatrixDepth});
  };
  // The first tile's samples come from afar, as the weights do.
  bool is_inside = exists && row.is_inside(0);
  if (is_inside) load(row.in);
  const float bias = exists ? load_bias(p, place.channel) : 0.0f;
  const std::int64_t first_channel = place.channel - grid.row(), channels = p.channels - first_channel;
  fill_weight_lines<kDepth, kDepthwiseWalkThreads>(
      p, first_channel,
      channels < grid.tile_channels ? static_cast<int>(channels) : static_cast<int>(grid.tile_channels),
      by_taps, lines);
  __syncthreads();
  if (!exists) return;
  typename Unit::template Operand<Weights> weights[kSteps];
#pragma unroll
  for (int i = 0; i < kSteps; ++i)
    weights[i] = Unit::load(Weights{line - row.shift + i * kMatrixDepth, row.shift});

  const int step = warps_of_row * kTile;
  const int end = row.left < p.run * step ? row.left : p.run * step;
  const T* from = row.in;
  T* to = row.out;
#pragma unroll 1
  for (int offset = 0; offset < end; offset += step, to += step) {
    const bool was_inside = is_inside;
    if (!was_inside) {
      row.template stage<W, kSamples>(p, grid, from, offset, staged);
      warp_barrier<W>();
      load(staged);
    }
    typename Unit::Sums sums;
#pragma unroll
    for (int i = 0; i < kSteps; ++i) Unit::multiply(samples[i], weights[i], sums);
    from += step;
    is_inside = offset + step < end && row.is_inside(offset + step);
    if (is_inside) load(from);
    if (kHasPrefetch && lane_id<W>() < kTile / kLine && row.is_inside(offset + kTilesAhead * step))
      prefetch_line(from + (kTilesAhead - 1) * step + lane_id<W>() * kLine);
    if (are_finite<W>(sums.values)) {
      finish_sums(sums.values, bias, p.silu);
      if constexpr (Unit::kHasRunsOfFour) {
        if (was_inside) {
          each_run_of_four<Unit, T>(sums.values, [&](int first, std::uint64_t run) {
            store_global(reinterpret_cast<std::uint64_t*>(to + first), run);
          });
          continue;
        }
      }
      store_sums<Unit>(sums.values, results);
    } else {
      if (was_inside) {
        row.template stage<W, kSamples>(p, grid, from - step, offset, staged);
        warp_barrier<W>();
      }
      sum_by_taps<W>(p, row.shift, staged, line, bias, results);
    }
    warp_barrier<W>();
    row.template store<W>(offset, results, to);
    warp_barrier<W>();
  }
}

}  // namespace

void launch_depthwise_time_matrix(const LaunchContext& context, const DepthwiseParams& p) {
  const DepthwiseGrid grid(p, kDepthwiseWalkThreads / p.lanes,
                           std::int64_t{p.lanes / p.warp_size} * p.run * kTile, time_slack(p));
  const NumberedBlocks shape = numbered_blocks(grid.blocks(p), kDepthwiseWalkThreads, p.shared_bytes);
  visit_matrix_instance(p, matrix_steps(p.taps), [&](auto type, auto warp_size, auto steps) {
    constexpr auto kernel = depthwise_time_matrix_kernel<decltype(warp_size)::value, decltype(steps)::value,
                                                         typename decltype(type)::type>;
    launch("depthwise_conv1d", context, shape, kernel, p, grid,
           make_divisor(static_cast<std::uint32_t>(p.taps)), input_span(p));
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
