// depthwise along time (see depthwise_time.cpp) with more than 8 taps on elements of 16 bits, by matrix
// units: any bases and pitches.
//
// A warp takes, p.run times, a tile of 256 outputs of a row, from a boundary of 32 bytes of the output in
// memory on. Output 16 m + n of it is the product of two rows of kDepth numbers:
//   samples[m][d] = x[first + 16 m + d], where `first` lies on a boundary of 16 bytes of the input, `shift`
//   samples before the oldest that the tile's first output meets,
//   weights[n][d] = w[d - n - shift], oldest tap first, and 0 where there is no such tap.
// Rows of samples overlap in memory and are read where they are. Those of weights overlap in a line of shared
// memory, the taps between zeros, from which lanes take theirs once. Tiles at the ends of a row, or of the
// input's memory, have their samples put together in shared memory first, and their results go through it.
//
// A sum has an order of its own, so its last bits are not those of sum_over_taps(). Where a sample is
// infinite or NaN, its product with a 0 is NaN in sums that it has no part in: a tile with such a sum is
// computed again, tap by tap.
// Global traffic: each input element once, again through the L1; each output element once.
#include "kernels/depthwise/depthwise_common.hpp"
#include "kernels/depthwise/depthwise_span.hpp"
#include "kernels/depthwise/depthwise_time.hpp"
#include "launch.hpp"
#include "matrix_unit.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kTile = kMatrixTile, kSide = 16;
static_assert(kTile == kSide * kSide);
/// Elements of a pack of 16 bytes.
constexpr int kPack = 8;
/// Samples of a line of 128 bytes, and how many tiles ahead lines are asked for: what a warp has under way in
/// registers would keep the memory half busy.
constexpr int kLine = 64, kTilesAhead = 3;

/// 16 rows of samples, for MatrixUnit::load().
template <class T>
struct PackRows {
  const T* first;
  __device__ __forceinline__ const T* at(int row, int pack) const {
    return first + row * kSide + pack * kPack;
  }
};

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

/// A row's weights with the zeros around them: those that a row of the matrix unit may begin with.
template <int kDepth, class T>
__device__ __forceinline__ void load_weight_line(const DepthwiseParams& p, const DepthwiseGrid& grid,
                                                 std::int64_t channel, T* line) {
  const T* const weights = static_cast<const T*>(p.weights) + channel * p.weight_channel;
  for (int i = grid.lane(); i < matrix_line(kDepth); i += grid.lanes_mask + 1) {
    const int tap = i - kMatrixZeros;
    line[i] = tap >= 0 && tap < p.taps ? weights[tap * p.weight_tap] : T{};
  }
}
/// 8 of those numbers, from any one on.
template <class T>
struct UnalignedPack {
  const T* line;
  int first;
};
/// The load of MatrixUnit::load(): by words, which are shifted where the first number lies inside one.
template <class T>
__device__ __forceinline__ void load_16_bytes(void* registers, const UnalignedPack<T>& pack) {
  const auto* const words = reinterpret_cast<const std::uint32_t*>(pack.line + (pack.first & ~1));
  const int shift = (pack.first & 1) * 16;
  std::uint32_t result[kPackWords], low = words[0];
#pragma unroll
  for (int i = 0; i < kPackWords; ++i) {
    const std::uint32_t high = words[i + 1];
    result[i] = __funnelshift_r(low, high, shift);
    low = high;
  }
  memcpy(registers, result, sizeof(result));
}
/// 16 rows of weights, for MatrixUnit::load(): row n is that of output place_of(n) of 16. `zeros` stand in
/// front of the taps of output 0.
template <class Unit, class T>
struct WeightRows {
  const T* line;
  int zeros;
  __device__ __forceinline__ UnalignedPack<T> at(int row, int pack) const {
    return {line, kMatrixZeros - zeros - Unit::place_of(row) + pack * kPack};
  }
};

/// The results of a tile whose samples lie in shared memory, tap by tap.
template <int W, class T>
__device__ __forceinline__ void sum_by_taps(const DepthwiseParams& p, int shift, const T* samples,
                                            const T* line, float bias, T* results) {
  const int taps = static_cast<int>(p.taps);
#pragma unroll 1
  for (int i = lane_id<W>(); i < kTile; i += W) {
    float sum = 0.0f;
#pragma unroll 1
    for (int tap = taps - 1; tap >= 0; --tap)
      sum = fmaf(convert<float>(line[kMatrixZeros + tap]), convert<float>(samples[shift + tap + i]), sum);
    results[i] = finish<T>(sum, bias, p.silu);
  }
}

/// Stores a whole tile of results from where the matrix unit leaves them, 8 bytes at a time.
template <class Unit, class T>
__device__ __forceinline__ void store_runs(const float (&values)[8], T* to) {
#pragma unroll
  for (int i = 0; i < 4; i += 2) {
    const float first[2] = {values[i], values[i + 1]}, second[2] = {values[i + 4], values[i + 5]};
    const std::uint64_t words = narrow_word<T>(first) | static_cast<std::uint64_t>(narrow_word<T>(second))
                                                            << 32;
    T* const at = to + Unit::row_of(i) * kSide + Unit::place_of(Unit::column_of(i));
    store_global(reinterpret_cast<std::uint64_t*>(at), words);
  }
}

/// Blocks of a multiprocessor for which there are registers enough.
template <int kSteps>
constexpr int kMatrixBlocks = 8 - kSteps;

template <int W, int kSteps, class T>
__global__ RELAYOUT_LAUNCH_BOUNDS(
    kDepthwiseWalkThreads, (kMatrixBlocks<kSteps>)) void depthwise_time_matrix_kernel(DepthwiseParams p,
                                                                                      DepthwiseGrid grid,
                                                                                      MemorySpan span) {
  if constexpr (!kMayHaveWarpsOf<W>) return;
  using Unit = MatrixUnit<W, T>;
  using Weights = WeightRows<Unit, T>;
  constexpr int kDepth = kSteps * kMatrixDepth, kSamples = matrix_samples(kDepth);
  RELAYOUT_DYNAMIC_SHARED(T, shared);
  const int warps_of_row = (grid.lanes_mask + 1) / W, warp = static_cast<int>(threadIdx.x) / W;
  const DepthwisePlace place = place_of_row(grid);
  const MatrixRow<T> row(p, place, span, grid.lane() / W, kSamples);
  T* const results = shared + warp * (kTile + kSamples);
  T* const staged = results + kTile;
  T* const line = shared + kDepthwiseWalkThreads / W * (kTile + kSamples) + grid.row() * matrix_line(kDepth);

  const bool exists = place.channel < p.channels;
  typename Unit::template Operand<PackRows<T>> samples[kSteps];
  const auto load = [&](const T* first) {
#pragma unroll
    for (int i = 0; i < kSteps; ++i) samples[i] = Unit::load(PackRows<T>{first + i * kMatrixDepth});
  };
  // The first tile's samples come from afar, as the weights do.
  bool is_inside = exists && row.is_inside(0);
  if (is_inside) load(row.in);
  float bias = 0.0f;
  if (exists) {
    bias = load_bias(p, place.channel);
    load_weight_line<kDepth>(p, grid, place.channel, line);
  }
  __syncthreads();
  if (!exists) return;
  typename Unit::template Operand<Weights> weights[kSteps];
#pragma unroll
  for (int i = 0; i < kSteps; ++i) weights[i] = Unit::load(Weights{line, row.shift - i * kMatrixDepth});

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
    float zero = 0.0f;
#pragma unroll
    for (const float sum : sums.values) zero = fmaf(sum, 0.0f, zero);
    if (warp_ballot<W>(zero != 0.0f) == 0) {
      finish_sums(sums.values, bias, p.silu);
      if constexpr (Unit::kHasRunsOfFour) {
        if (was_inside) {
          store_runs<Unit>(sums.values, to);
          continue;
        }
      }
#pragma unroll
      for (int i = 0; i < kTile / W; ++i)
        results[Unit::row_of(i) * kSide + Unit::place_of(Unit::column_of(i))] = convert<T>(sums.values[i]);
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

template <int W, int kSteps, class T>
void launch_steps(const LaunchContext& context, const DepthwiseParams& p, const DepthwiseGrid& grid) {
  launch("depthwise_conv1d", context, launch_shape(grid.blocks(p), kDepthwiseWalkThreads, p.shared_bytes),
         depthwise_time_matrix_kernel<W, kSteps, T>, p, grid, input_span(p));
}

template <int W, class T>
void launch_warps(const LaunchContext& context, const DepthwiseParams& p, const DepthwiseGrid& grid) {
  switch (matrix_steps(p.taps)) {
    case 1:
      return launch_steps<W, 1, T>(context, p, grid);
    case 2:
      return launch_steps<W, 2, T>(context, p, grid);
    default:
      return launch_steps<W, 3, T>(context, p, grid);
  }
}

}  // namespace

void launch_depthwise_time_matrix(const LaunchContext& context, const DepthwiseParams& p) {
  const DepthwiseGrid grid(p, kDepthwiseWalkThreads / p.lanes,
                           std::int64_t{p.lanes / p.warp_size} * p.run * kTile, time_slack(p));
  const auto launch_for = [&](auto type) {
    using T = typename decltype(type)::type;
    if (p.warp_size == 32) return launch_warps<32, T>(context, p, grid);
    if constexpr (kHasWarpsOf64) return launch_warps<64, T>(context, p, grid);
  };
  p.type == DType::f16 ? launch_for(TypeTag<f16>{}) : launch_for(TypeTag<bf16>{});
}

}  // namespace relayout::RELAYOUT_BACKEND
