// conv: a whole convolution in one kernel, from the input to y (ConvParams). Nothing lies in between.
//
// A block computes kTiles * 16 positions x kConvColumns outputs of one batch and group, each of its warps 16
// of the columns. Shared memory holds the samples under these positions, padded and already converted, as
// rows of kConvChannels channels; the packs of a row lie in an order of its own (slot_of), so that lanes that
// store one pack of neighbouring samples hit different banks, as do lanes that read packs of a few rows. The
// products are the matrix unit's; the weights go from memory to registers, the first of them while the
// samples are on their way. At last shared memory turns the sums so that rows of y are written 16 bytes at a
// time.
//
// Global traffic: each input element once a column tile, plus the halo of span - stride samples a tile; the
// weights once a position tile; each output element once.
#include <cstring>

#include "core/conv_params.hpp"
#include "core/integer_math.hpp"
#include "kernels/backend_kernels.hpp"
#include "kernels/block_index.hpp"
#include "kernels/conv/conv_samples.hpp"
#include "launch.hpp"
#include "matrix_unit.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kSide = 16;  // of a matrix unit's result
constexpr int kWarps = kConvWarps;
static_assert(kWarps == kConvColumns / kSide);

/// Rows of samples for the matrix unit.
template <class T>
struct SampleRows {
  const T* tile = nullptr;
  int first = 0, step = 0, pack = 0;
  __device__ __forceinline__ const T* at(int row, int k) const {
    return tile + slot_of(first + row * step, pack + k);
  }
};

/// Rows of weights: one of each column; those beyond the last are read as the last, and not used.
template <class T>
struct WeightRows {
  const T* first = nullptr;
  std::int64_t pitch = 0;
  int last = 0;
  __device__ __forceinline__ const T* at(int row, int k) const {
    return first + (row < last ? row : last) * pitch + k * kPack;
  }
};

__device__ __forceinline__ int up_to(std::int64_t value, int most) {
  return value < most ? static_cast<int>(value) : most;
}

/// Where a block's outputs begin, and which of them exist.
struct BlockOrigin {
  std::int64_t batch, group, position, column;
  std::int64_t in, out;  // in elements: of the batch and group; out also of the first output
  int positions, columns;
};

__device__ __forceinline__ BlockOrigin block_origin(const ConvParams& p) {
  std::uint32_t column_tile = block_index();
  std::uint32_t position_tile = split(column_tile, p.column_tiles);
  std::uint32_t group = split(position_tile, p.position_tiles);
  const std::int64_t batch = split(group, p.by_group);
  BlockOrigin place;
  place.batch = batch;
  place.group = group;
  place.position = static_cast<std::int64_t>(position_tile) * p.tile_positions;
  place.column = static_cast<std::int64_t>(column_tile) * kConvColumns;
  place.in = batch * p.in_batch + place.group * p.channels * p.in_channel;
  place.out = per_lane(batch * p.out_batch + place.group * p.out_group + place.position * p.out_position +
                       place.column);
  place.positions = per_lane(up_to(p.positions - place.position, p.tile_positions));
  place.columns = per_lane(up_to(p.columns - place.column, kConvColumns));
  return place;
}

/// y from the sums that the tile holds as rows of kConvColumns.
template <int kThreads, class T>
__device__ __forceinline__ void store_results(const ConvParams& p, const BlockOrigin& place, const T* tile) {
  T* const y = static_cast<T*>(p.out) + place.out;
  for (int item = static_cast<int>(threadIdx.x); item < place.positions * kRowPacks; item += kThreads) {
    const int row = item / kRowPacks, column = item % kRowPacks * kPack;
    if (column >= place.columns) continue;
    T* const address = y + row * p.out_position + column;
    const Vector<T> pack = load_vector(tile + slot_of(row, item % kRowPacks));
    if (column + kPack <= place.columns && reinterpret_cast<std::uintptr_t>(address) % 16 == 0) {
      store_vector(address, pack, p.streaming);
    } else {
#pragma unroll
      for (int c = 0; c < kPack; ++c) {
        if (column + c < place.columns) address[c] = pack.values[c];
      }
    }
  }
}

/// The numbers of which addresses are made, each lane its own: more than AMD's GPUs have scalar registers
/// for.
__device__ __forceinline__ void keep_per_lane(ConvParams& p) {
  p.in_channel = per_lane(p.in_channel);
  p.in_time = per_lane(p.in_time);
  p.row_samples = per_lane(p.row_samples);
  p.length = per_lane(p.length);
  p.reflect_length = per_lane(p.reflect_length);
  p.dilation = per_lane(p.dilation);
  p.rows.value = per_lane(p.rows.value);
  p.rows.multiplier = per_lane(p.rows.multiplier);
  p.out_position = per_lane(p.out_position);
  p.out = per_lane(p.out);
  p.position_rows = per_lane(p.position_rows);
  p.tap_rows = per_lane(p.tap_rows);
  p.depth = per_lane(p.depth);
}

template <int W, int kTiles>
constexpr int kThreadsOf = kWarps* conv_parts(kTiles* kSide) * W;

template <int W, int kTiles, class From, class T>
__global__ RELAYOUT_LAUNCH_BOUNDS((kThreadsOf<W, kTiles>), 1) void conv_kernel(ConvParams p, T padding) {
  if constexpr (!kMayHaveWarpsOf<W>) return;
  using Unit = MatrixUnit<W, T>;
  constexpr int kParts = conv_parts(kTiles * kSide), kThreads = kThreadsOf<W, kTiles>;
  constexpr int kValues = kSide * kSide / W;
  constexpr int kPacksAhead = kParts > 1 ? 1 : 2;  // of a thread's samples; few positions have one for each
  constexpr int kAhead = Unit::kAhead;             // steps of kConvDepth whose weights are under way together
  RELAYOUT_DYNAMIC_SHARED(T, tile);
  keep_per_lane(p);
  const BlockOrigin place = block_origin(p);
  if (is_spare(place.batch, p.batch)) return;
  const int warp = static_cast<int>(threadIdx.x) / W, part = warp / kWarps;
  const int warp_column = warp % kWarps * kSide;
  const int columns = place.columns - warp_column;  // of this warp; may be none
  const int rows = (place.positions - 1) * p.position_rows + (p.pass_taps - 1) * p.tap_rows + 1;
  const From* const in = per_lane(static_cast<const From*>(p.in) + place.in);
  const std::int64_t first = per_lane(place.position * p.stride - p.pad_left);
  const std::int64_t first_column = per_lane(place.group * p.columns + place.column + warp_column);

  WeightRows<T> weights;
  weights.pitch = per_lane(p.taps * p.depth);
  weights.last = columns < kSide ? columns - 1 : kSide - 1;
  const T* const bt = per_lane(static_cast<const T*>(p.bt) + first_column * weights.pitch);
  float bias[kValues] = {};
  if (p.bias != nullptr && part == 0) {
#pragma unroll
    for (int i = 0; i < kValues; ++i) {
      if (Unit::column_of(i) < columns) bias[i] = p.bias[first_column + Unit::column_of(i)];
    }
  }

  typename Unit::Sums sums[kTiles];
  for (std::int64_t channel = 0; channel < p.depth; channel += kConvChannels) {
    const int shift = p.depth - channel > kConvDepth ? 1 : 0;  // a tap has 1 << shift steps
    const int steps = columns > 0 ? p.pass_taps << shift : 0;
    for (std::int64_t pass = 0; pass < p.taps; pass += p.pass_taps) {
      typename Unit::template Operand<WeightRows<T>> ahead[kAhead];
      const auto load_weights = [&](int start) {
#pragma unroll
        for (int i = 0; i < kAhead; ++i) {
          const int step = start + i * kParts, tap = step >> shift, half = step & shift;
          weights.first = bt + (pass + tap) * p.depth + channel + half * kConvDepth;
          if (step < steps) ahead[i] = Unit::load(weights);
        }
      };
      load_weights(part);
      if (channel + pass > 0) __syncthreads();  // the tile before has been read
      const Source<From> from{in + channel * p.in_channel, first + pass * p.dilation, rows,
                              up_to(p.channels - channel, kConvChannels)};
      load_samples<kThreads, kPacksAhead>(p, from, padding, tile);
      __syncthreads();
      for (int start = part; start < steps; start += kAhead * kParts) {
        if (start > part) load_weights(start);
#pragma unroll
        for (int i = 0; i < kAhead; ++i) {
          const int step = start + i * kParts, tap = step >> shift, half = step & shift;
          if (step >= steps) continue;
          SampleRows<T> samples;
          samples.tile = tile;
          samples.step = p.position_rows;
          samples.pack = half * (kConvDepth / kPack);
#pragma unroll
          for (int t = 0; t < kTiles; ++t) {
            samples.first = t * kSide * p.position_rows + tap * p.tap_rows;
            Unit::multiply(Unit::load(samples), ahead[i], sums[t]);
          }
        }
      }
    }
  }

  __syncthreads();  // the last tile has been read
  if constexpr (kParts > 1) {
    // Behind the results' rows.
    float* const others = reinterpret_cast<float*>(tile + kTiles * kSide * kConvColumns);
    const auto place_of = [&](int of_part, int t, int i) {
      return (((of_part - 1) * kWarps + warp % kWarps) * kTiles + t) * kSide * kSide + i * W + lane_id<W>();
    };
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
#pragma unroll
      for (int i = 0; i < kValues; ++i) {
        if (part > 0) others[place_of(part, t, i)] = sums[t].values[i];
      }
    }
    __syncthreads();
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
#pragma unroll
      for (int i = 0; i < kValues; ++i) {
#pragma unroll
        for (int other = 1; other < kParts; ++other) {
          if (part == 0) sums[t].values[i] += others[place_of(other, t, i)];
        }
      }
    }
  }
  if (part == 0) {
#pragma unroll
    for (int i = 0; i < kValues; ++i) {
      const int column = warp_column + Unit::column_of(i);
#pragma unroll
      for (int t = 0; t < kTiles; ++t) {
        T* const row = tile + slot_of(t * kSide + Unit::row_of(i), column / kPack);
        row[column % kPack] = convert<T>(sums[t].values[i] + bias[i]);
      }
    }
  }
  __syncthreads();
  store_results<kThreads>(p, place, tile);
}

template <int W, class From, class T>
void launch_tiles(const LaunchContext& context, const ConvParams& p, const NumberedBlocks& shape) {
  T padding;
  std::memcpy(&padding, &p.pad_bits, sizeof(T));
  if (p.tile_positions == kManyPositions) {
    launch("conv", context, shape, conv_kernel<W, kManyPositions / kSide, From, T>, p, padding);
  } else {
    launch("conv", context, shape, conv_kernel<W, kFewPositions / kSide, From, T>, p, padding);
  }
}

}  // namespace

void launch_conv(const LaunchContext& context, const ConvParams& params) {
  ConvParams p = params;
  const std::int64_t position_tiles = divide_up(p.positions, p.tile_positions),
                     column_tiles = divide_up(p.columns, kConvColumns);
  const NumberedBlocks shape =
      numbered_blocks(p.batch * p.groups * position_tiles * column_tiles,
                      kWarps * conv_parts(p.tile_positions) * p.warp_size, p.shared_bytes);
  p.rows = make_divisor(static_cast<std::uint32_t>(p.tile_samples));
  p.column_tiles = make_grid_divisor(column_tiles);
  p.position_tiles = make_grid_divisor(position_tiles);
  p.by_group = make_grid_divisor(p.groups);
  visit_floats(p.in_type, [&](auto from) {
    using From = typename decltype(from)::type;
    const auto launch_for = [&](auto to) {
      using T = typename decltype(to)::type;
      if (p.warp_size == 32) return launch_tiles<32, From, T>(context, p, shape);
      if constexpr (kHasWarpsOf64) return launch_tiles<64, From, T>(context, p, shape);
    };
    if (p.out_type == DType::f16) return launch_for(TypeTag<f16>{});
    return launch_for(TypeTag<bf16>{});
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
