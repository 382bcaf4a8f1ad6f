// window, 16 bytes at a time: the window kernel for operands whose rows are aligned.
//   out[b, g, t, k, c] = padded in[b, g * channels + c, t * stride + k * dilation - pad_left]
//
// A block takes a tile of positions x channels of one batch and group. Shared memory holds its samples as
// rows of 16-byte packs of channels, [sample][pack], already converted, each row's packs in an order of its
// own (vector_window_slot), so that lanes hit different banks.
//
// In: a thread loads kChannels rows of kSamples neighbouring samples (time is the input's fast axis), or
// kChannels channels of one sample (channels are), as 16-byte vectors, turns them in registers and stores
// packs. Only vectors beyond the signal's ends look at the padding rule. Out: every pack of the tile is
// written once per tap.
//
// Global traffic: each input element once plus the halo of span - stride samples a tile, which the
// neighbour's load has just brought into the L2; each output element once.
#include <string>
#include <type_traits>

#include "core/pad_index.hpp"
#include "core/window_geometry.hpp"
#include "kernels/backend_kernels.hpp"
#include "kernels/block_index.hpp"
#include "kernels/element_ops.hpp"
#include "kernels/vector.hpp"
#include "kernels/window/window_grid.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kThreads = kVectorWindowThreads;

/// Where a block's tile lies. All offsets count elements.
struct TileOrigin {
  std::int64_t in, out;  // of the tile's batch, group and first channel; out also of its first position
  std::int64_t first;    // time of the tile's first sample: the first one needed, rounded down to a vector
  int offset;            // samples between `first` and the first one needed
  int positions, channels, samples;
  bool inside;  // every sample lies in the signal
};

__device__ __forceinline__ TileOrigin tile_origin(const WindowParams& p, const WindowGrid& grid, int vector) {
  const auto [channel, position, group, batch] = tile_index(p, grid);
  TileOrigin place;
  place.in = batch * p.in_batch + (group * p.channels + channel) * p.in_channel;
  place.out = batch * p.out_batch + group * p.out_group + channel * p.out_channel + position * p.out_position;
  place.positions =
      static_cast<int>(p.positions - position < p.tile_positions ? p.positions - position : p.tile_positions);
  place.channels =
      static_cast<int>(p.channels - channel < p.tile_channels ? p.channels - channel : p.tile_channels);
  const std::int64_t needed = position * p.stride - p.pad_left;
  place.offset = static_cast<int>(needed & (vector - 1));
  place.first = needed - place.offset;
  place.samples = place.offset + (place.positions - 1) * static_cast<int>(p.stride) +
                  static_cast<int>((p.taps - 1) * p.dilation) + 1;
  place.inside = place.first >= 0 && place.first + p.tile_samples <= p.length;
  return place;
}

template <class To>
__device__ __forceinline__ int slot_of(const WindowParams& p, int sample, int pack, int vector) {
  const int packs = p.tile_channels / Vector<To>::kCount;
  return vector_window_slot(sample, pack, packs, vector) * Vector<To>::kCount;
}

/// Time is the fast axis: a thread takes kSamples samples of kChannels channels.
template <class From, class To>
__device__ __forceinline__ void load_along_time(const WindowParams& p, To padding, const TileOrigin& place,
                                                To* tile) {
  constexpr int kSamples = Vector<From>::kCount, kChannels = Vector<To>::kCount;
  const From* in = static_cast<const From*>(p.in) + place.in;
  const int vectors = p.tile_samples / kSamples;  // a power of two
  const int patches = vectors * (place.channels / kChannels);
  // Vectors are moved as such in tiles inside the signal, and in all tiles of a short signal, none of which
  // is inside. In other tiles warps at the ends would go both ways, one after the other.
  const std::int64_t end = place.inside || p.length < p.tile_samples ? p.length : 0;
  for (int patch = static_cast<int>(threadIdx.x); patch < patches; patch += kThreads) {
    const int pack = patch / vectors, sample = patch % vectors * kSamples;
    if (sample >= place.samples) continue;
    const std::int64_t time = place.first + sample;
    const From* row = in + pack * kChannels * p.in_channel + time;
    Vector<From> rows[kChannels];
    if (time >= 0 && time + kSamples <= end) {
#pragma unroll
      for (int channel = 0; channel < kChannels; ++channel)
        rows[channel] = load_vector(row + channel * p.in_channel);
#pragma unroll
      for (int step = 0; step < kSamples; ++step) {
        Vector<To> column;
#pragma unroll
        for (int channel = 0; channel < kChannels; ++channel) {
          column.values[channel] = convert<To>(rows[channel].values[step]);
        }
        store_vector(tile + slot_of<To>(p, sample + step, pack, kSamples), column);
      }
    } else {
      for (int step = 0; step < kSamples; ++step) {
        const std::int64_t source = pad_index(p.mode, time + step, p.length, p.reflect_length);
        Vector<To> column;
        if (source >= 0) {
#pragma unroll
          for (int channel = 0; channel < kChannels; ++channel) {
            column.values[channel] = convert<To>(row[channel * p.in_channel + (source - time)]);
          }
        } else {
#pragma unroll
          for (int channel = 0; channel < kChannels; ++channel) column.values[channel] = padding;
        }
        store_vector(tile + slot_of<To>(p, sample + step, pack, kSamples), column);
      }
    }
  }
}

/// Channels are the fast axis: a thread takes kChannels channels of one sample.
template <class From, class To>
__device__ __forceinline__ void load_along_channels(const WindowParams& p, To padding,
                                                    const TileOrigin& place, To* tile) {
  constexpr int kPerVector = Vector<From>::kCount, kChannels = Vector<To>::kCount;
  constexpr int kVectors = kChannels / kPerVector;
  const From* in = static_cast<const From*>(p.in) + place.in;
  const int packs = p.tile_channels / kChannels;  // a power of two
  const int pack = static_cast<int>(threadIdx.x) % packs;
  if (pack * kChannels >= place.channels) return;
  in += pack * kChannels;
  const int first = static_cast<int>(threadIdx.x) / packs, step = kThreads / packs;
  const auto load = [&](int sample, std::int64_t source) {
    Vector<To> column;
    if (source >= 0) {
#pragma unroll
      for (int vector = 0; vector < kVectors; ++vector) {
        const Vector<From> values = load_vector(in + source * p.in_time + vector * kPerVector);
#pragma unroll
        for (int i = 0; i < kPerVector; ++i)
          column.values[vector * kPerVector + i] = convert<To>(values.values[i]);
      }
    } else {
#pragma unroll
      for (int channel = 0; channel < kChannels; ++channel) column.values[channel] = padding;
    }
    store_vector(tile + slot_of<To>(p, sample, pack, 1), column);
  };
  if (place.inside) {
#pragma unroll 4
    for (int sample = first; sample < place.samples; sample += step) load(sample, place.first + sample);
  } else {
#pragma unroll 1
    for (int sample = first; sample < place.samples; sample += step) {
      load(sample, pad_index(p.mode, place.first + sample, p.length, p.reflect_length));
    }
  }
}

/// Rows of channels: out is fastest along channels, a pack of the tile is a pack of the output.
template <class To>
__device__ __forceinline__ void store_channels(const WindowParams& p, const TileOrigin& place, const To* tile,
                                               int vector) {
  constexpr int kChannels = Vector<To>::kCount;
  const int packs = p.tile_channels / kChannels;
  const int pack = static_cast<int>(threadIdx.x) % packs;
  if (pack * kChannels >= place.channels) return;
  To* out = static_cast<To*>(p.out) + place.out + pack * kChannels;
  const int taps = static_cast<int>(p.taps), stride = static_cast<int>(p.stride);
  const int dilation = static_cast<int>(p.dilation);
  for (int position = static_cast<int>(threadIdx.x) / packs; position < place.positions;
       position += kThreads / packs) {
    To* row = out + position * p.out_position;
    const int sample = place.offset + position * stride;
#pragma unroll 4
    for (int tap = 0; tap < taps; ++tap) {
      store_vector(row + tap * p.out_tap,
                   load_vector(tile + slot_of<To>(p, sample + tap * dilation, pack, vector)), p.streaming);
    }
  }
}

/// kBlocks: of a multiprocessor, 0: the compiler's choice.
template <class From, class To, bool AlongTime, int kBlocks = 0>
__global__ RELAYOUT_LAUNCH_BOUNDS(kThreads, kBlocks) void window_vector_kernel(WindowParams p,
                                                                               WindowGrid grid, To padding) {
  RELAYOUT_DYNAMIC_SHARED(To, tile);
  constexpr int kVector = AlongTime ? Vector<From>::kCount : 1;
  if (is_spare(block_index(), grid.blocks)) return;
  const TileOrigin place = tile_origin(p, grid, kVector);
  if constexpr (AlongTime) {
    load_along_time<From, To>(p, padding, place, tile);
  } else {
    load_along_channels<From, To>(p, padding, place, tile);
  }
  __syncthreads();
  store_channels<To>(p, place, tile, kVector);
}

}  // namespace

void launch_window_vector(const LaunchContext& context, const WindowParams& p) {
  const WindowGrid grid = window_grid(p);
  const NumberedBlocks shape = numbered_blocks(grid.blocks, kThreads, p.shared_bytes);
  visit_window_types(p, [&](auto from, auto padding) {
    using From = typename decltype(from)::type;
    using To = decltype(padding);
    if constexpr (has_vector_window(sizeof(From), sizeof(To), !std::is_same_v<From, To>)) {
      // f32 to 16 bits takes a register more than leaves room for a fifth block. With one tap (transposes and
      // padding) the block is worth a spilled register, with several taps, which store more, it is not.
      if constexpr (sizeof(From) == 4 && sizeof(To) == 2) {
        if (p.along_time && p.taps == 1)
          return launch("window", context, shape, window_vector_kernel<From, To, true, 5>, p, grid, padding);
      }
      if (p.along_time) {
        return launch("window", context, shape, window_vector_kernel<From, To, true>, p, grid, padding);
      }
      if constexpr (has_vector_window_along_channels(sizeof(From), sizeof(To))) {
        return launch("window", context, shape, window_vector_kernel<From, To, false>, p, grid, padding);
      }
    }
    throw Error(ErrorCode::unsupported, std::string("window: no 16-byte loads of ") + name_of(p.in_type) +
                                            " along " + (p.along_time ? "time" : "channels") +
                                            " for an output of " + name_of(p.out_type));
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
