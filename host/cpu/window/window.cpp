// pad and img2col: a tile of padded samples is converted once into the cache and written once per tap.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core/integer_math.hpp"
#include "core/pad_index.hpp"
#include "host/cpu/convert.hpp"
#include "host/cpu/copy/dispatch.hpp"
#include "host/cpu/copy/plane.hpp"
#include "host/cpu/native_table.hpp"
#include "host/cpu/prefetch.hpp"
#include "host/cpu/scratch.hpp"

namespace relayout::native {
namespace {

constexpr std::int64_t kTileBytes = 32768;
constexpr std::int64_t kTileSamples = 4096;
/// How many channels a row of a tile has. Where the samples of channels lie far apart these are only two
/// lines of the output, so that few places are read at a time; more where the output's rows do not begin with
/// a line.
constexpr std::int64_t kNearBytes = 2048, kFarBytes = 128, kOddFarBytes = 512;

bool is_along_time(const WindowParams& params) {
  return params.channels == 1 || std::abs(params.in_time) <= std::abs(params.in_channel);
}

/// How the output is cut into tiles. With `shared`, all taps of a tile's positions read one tile of
/// consecutive samples. Without it, when the window spans more samples than it reads, every tap loads its own
/// samples.
struct WindowTiling {
  std::int64_t channels, positions;  // of one tile
  bool shared;

  WindowTiling(const WindowParams& params, std::int64_t element_bytes) {
    const bool aligned =
        bytes_to_line(params.out) == 0 && params.out_position % kLineBytes * element_bytes % kLineBytes == 0;
    const bool far = is_along_time(params) && params.order == WriteOrder::channel;
    const std::int64_t row_bytes = !far ? kNearBytes : aligned ? kFarBytes : kOddFarBytes;
    channels = std::min(row_bytes / element_bytes, params.channels);
    const std::int64_t samples = std::min(kTileSamples, kTileBytes / element_bytes / channels);
    const std::int64_t span = (params.taps - 1) * params.dilation + 1;
    const std::int64_t sharing = span <= samples ? (samples - span) / params.stride + 1 : 0;
    shared = sharing > 0 && (sharing - 1) * params.stride + span <= sharing * params.taps;
    positions = std::min(shared ? sharing : samples, params.positions);
  }
};

/// Sample j of the tile is sample first + j * step of the padded signal.
struct SampleRange {
  std::int64_t first, step, count;

  /// The first j at or after sample `index`, within [0, count].
  std::int64_t at_or_after(std::int64_t index) const {
    return index <= first ? 0 : std::min(count, (index - first - 1) / step + 1);
  }
};

template <class Out>
struct Tile {
  Out* data;
  std::int64_t sample, channel;  // strides
};

/// A rectangle of samples inside the signal. `fast` and `slow` are the input's axes.
struct LoadAxis {
  std::int64_t count, in, tile;  // in, tile: strides
};

/// A tile, and what it is read through.
template <class In, class Out>
struct WindowRoom {
  alignas(kLineBytes) Out tile[kTileBytes / sizeof(Out)];
  typename PlaneReader<In, Out>::Lines lines;
};

template <class In, class Out>
void load_inside(const In* in, const LoadAxis& fast, const LoadAxis& slow, Out* tile,
                 typename PlaneReader<In, Out>::Lines& lines) {
  if (fast.tile == 1) {
    for (std::int64_t j = 0; j < slow.count; ++j)
      convert_strided(in + j * slow.in, fast.in, tile + j * slow.tile, 1, fast.count);
  } else {
    PlaneReader<In, Out>(fast.in, slow.in)(in, tile, fast.tile, fast.count, slow.count, lines);
  }
}

/// `in` is the first sample of the tile's first channel.
template <class In, class Out>
void load_tile(const WindowParams& params, const In* in, const SampleRange& range, std::int64_t channels,
               Out pad, const Tile<Out>& tile, typename PlaneReader<In, Out>::Lines& lines) {
  const std::int64_t begin = range.at_or_after(0), end = range.at_or_after(params.length);
  if (begin < end) {
    // A step that is never taken may be too large to multiply.
    const std::int64_t step = end - begin > 1 ? range.step * params.in_time : 0;
    const LoadAxis time{end - begin, step, tile.sample}, channel{channels, params.in_channel, tile.channel};
    const bool along_time = is_along_time(params);
    load_inside(in + (range.first + begin * range.step) * params.in_time, along_time ? time : channel,
                along_time ? channel : time, tile.data + begin * tile.sample, lines);
  }
  for (std::int64_t j = 0; j < range.count; ++j) {
    if (j == begin && begin < end) j = end;
    if (j >= range.count) break;
    const std::int64_t index =
        pad_index(params.mode, range.first + j * range.step, params.length, params.reflect_length);
    for (std::int64_t c = 0; c < channels; ++c) {
      tile.data[j * tile.sample + c * tile.channel] =
          index < 0 ? pad : convert<Out>(in[index * params.in_time + c * params.in_channel]);
    }
  }
}

struct StoreAxis {
  std::int64_t count, tile, out;  // tile, out: strides
};

/// Writes position x tap x channel; `inner` is the axis along which out is fastest. Every step of `outer`
/// prefetches a part of the next tile.
template <class Out>
void store_tile(const Out* tile, Out* out, const StoreAxis& outer, StoreAxis middle, StoreAxis inner,
                bool streamed, RowPrefetch& next) {
  if (middle.tile == inner.count * inner.tile && middle.out == inner.count * inner.out) {
    inner.count *= middle.count;
    middle.count = 1;
  }
  const bool rows = inner.tile == 1 && inner.out == 1;
  const std::int64_t wanted = next.rows();
  std::int64_t due = 0;
  for (std::int64_t i = 0; i < outer.count; ++i) {
    for (std::int64_t j = 0; j < middle.count; ++j) {
      const Out* const from = tile + i * outer.tile + j * middle.tile;
      Out* const to = out + i * outer.out + j * middle.out;
      if (rows) {
        store_row(from, to, inner.count, streamed);
      } else {
        convert_strided(from, inner.tile, to, inner.out, inner.count);
      }
    }
    for (due += wanted; due >= outer.count; due -= outer.count) next.ask();
  }
}

template <class In, class Out>
struct WindowBlock {
  const In* in;
  Out* out;
  std::int64_t position, positions, channels;
};

template <class In, class Out>
void run_block(const WindowParams& params, const WindowTiling& tiling, const WindowBlock<In, Out>& block,
               Out pad, bool streamed, RowPrefetch& next, WindowRoom<In, Out>& room) {
  const std::int64_t first = block.position * params.stride - params.pad_left;
  const std::int64_t passes = tiling.shared ? 1 : params.taps;
  const std::int64_t span = tiling.shared ? (params.taps - 1) * params.dilation + 1 : 1;
  for (std::int64_t pass = 0; pass < passes; ++pass) {
    SampleRange range{first + pass * params.dilation, params.stride, block.positions};
    if (tiling.shared) range = {first, 1, (block.positions - 1) * params.stride + span};
    const bool channels_inside = params.order == WriteOrder::channel;
    const Tile<Out> tile{room.tile, channels_inside ? block.channels : 1, channels_inside ? 1 : range.count};
    load_tile(params, block.in, range, block.channels, pad, tile, room.lines);

    // Steps that are never taken may be too large to multiply.
    const std::int64_t advance = !tiling.shared ? 1 : block.positions > 1 ? params.stride : 0;
    const std::int64_t dilation = tiling.shared && params.taps > 1 ? params.dilation : 0;
    const StoreAxis position{block.positions, tile.sample * advance, params.out_position};
    const StoreAxis tap{tiling.shared ? params.taps : 1, tile.sample * dilation, params.out_tap};
    const StoreAxis channel{block.channels, tile.channel, params.out_channel};
    Out* out = block.out + pass * params.out_tap;
    if (params.order == WriteOrder::channel) {
      store_tile(tile.data, out, position, tap, channel, streamed, next);
    } else if (params.order == WriteOrder::tap) {
      store_tile(tile.data, out, position, channel, tap, streamed, next);
    } else {
      store_tile(tile.data, out, channel, tap, position, streamed, next);
    }
  }
}

/// The samples of a block, if they lie inside the signal and next to each other.
template <class In, class Out>
RowPrefetch samples_of(const WindowParams& params, const WindowBlock<In, Out>& block, StridedLoop& rows) {
  const std::int64_t steps = block.position * params.stride, first = steps - params.pad_left;
  const std::int64_t begin = std::clamp<std::int64_t>(first, 0, params.length);
  const std::int64_t end =
      std::clamp<std::int64_t>(first + block.positions * params.stride, begin, params.length);
  const bool along_time = is_along_time(params);
  const std::int64_t step = along_time ? params.in_time : params.in_channel;
  const std::int64_t fast = along_time ? end - begin : block.channels;
  const std::int64_t slow = along_time ? block.channels : end - begin;
  constexpr std::int64_t kIn = sizeof(In);
  const std::int64_t pitch = slow <= 1 ? 0 : along_time ? params.in_channel : params.in_time;
  rows.push(step == 1 && fast > 0 ? slow : 0, pitch * kIn, 0);
  return {reinterpret_cast<const char*>(block.in + begin * params.in_time), rows, fast * kIn};
}

template <class In, class Out>
void run_window(const WindowParams& params) {
  const WindowTiling tiling(params, sizeof(Out));
  const std::int64_t channel_blocks = divide_up(params.channels, tiling.channels);
  const std::int64_t position_blocks = divide_up(params.positions, tiling.positions);
  const std::int64_t blocks = params.batch * params.groups * position_blocks * channel_blocks;
  const std::int64_t elements =
      params.batch * params.groups * params.positions * params.channels * params.taps;
  Out pad;
  std::memcpy(&pad, &params.pad_bits, sizeof(Out));

  // The next tile continues the input.
  const auto block_at = [&](std::int64_t block) {
    const std::int64_t position = block % position_blocks * tiling.positions;
    const std::int64_t channel = block / position_blocks % channel_blocks * tiling.channels;
    const std::int64_t group = block / channel_blocks / position_blocks % params.groups;
    const std::int64_t item = block / channel_blocks / position_blocks / params.groups;
    const In* in = static_cast<const In*>(params.in) + item * params.in_batch +
                   (group * params.channels + channel) * params.in_channel;
    Out* out = static_cast<Out*>(params.out) + item * params.out_batch + group * params.out_group +
               position * params.out_position + channel * params.out_channel;
    return WindowBlock<In, Out>{in, out, position, std::min(tiling.positions, params.positions - position),
                                std::min(tiling.channels, params.channels - channel)};
  };
  const bool streamed = elements * static_cast<std::int64_t>(sizeof(Out)) > kStreamedBytes;
  using Room = WindowRoom<In, Out>;
  parallel_ranges_in<Room>(blocks, elements, [&](std::int64_t begin, std::int64_t end, Room& room) {
    for (std::int64_t block = begin; block < end; ++block) {
      StridedLoop rows;
      RowPrefetch next = samples_of(params, block_at(std::min(block + 1, end - 1)), rows);
      run_block(params, tiling, block_at(block), pad, streamed, next, room);
    }
    if (streamed) finish_streams();
  });
}

}  // namespace

void window(const LaunchContext& /*context*/, const WindowParams& params) {
  if (params.batch == 0 || params.groups == 0 || params.channels == 0 || params.positions == 0 ||
      params.taps == 0) {
    return;
  }
  WindowParams used = params;
  // A single tap or position has no step. The caller's may be any number, too large to multiply.
  if (used.taps == 1) used.dilation = 1;
  if (used.positions == 1) used.stride = 1;
  with_types(used.in_type, used.out_type, [&used](auto in, auto out) {
    run_window<typename decltype(in)::type, typename decltype(out)::type>(used);
  });
}

}  // namespace relayout::native
