#include "host/plan/conv/conv1d_chunks.hpp"

#include <algorithm>

#include "core/integer_math.hpp"
#include "host/plan/checked_math.hpp"

namespace relayout::plan {
namespace {

constexpr std::int64_t kFewestBytes = 1 << 20;
/// Spans of samples in a chunk of default size: the halo is then an eighth at most.
constexpr std::int64_t kSpans = 8;

/// Positions that read no padding.
struct Interior {
  std::int64_t begin, end;
};

Interior interior_of(const ChunkRequest& r) {
  const std::int64_t stride = r.window.stride, left = r.pad.left;
  const std::int64_t begin = left > 0 ? std::min(r.positions, (left - 1) / stride + 1) : 0;
  const std::int64_t last = r.length + left - r.window.span();  // where the last window inside may start
  const std::int64_t end = last < 0 ? 0 : std::min(r.positions, last / stride + 1);
  return {begin, std::max(begin, end)};
}

/// Channels of one item that stay together.
struct ChannelRange {
  std::int64_t begin, count, groups;
};

/// Whole groups, as many as a chunk holds whole signals of, or equal parts of one group.
std::vector<ChannelRange> channel_ranges(const ChunkRequest& r, std::int64_t signal_bytes) {
  const std::int64_t of_group = r.channels / r.window.groups;
  if (!r.split_channels) return {{0, r.channels, r.window.groups}};
  const std::int64_t most =
      std::max(signal_bytes > 0 ? r.chunk_bytes / signal_bytes : r.channels, kChannelUnit);
  std::vector<ChannelRange> ranges;
  if (most >= of_group) {
    const std::int64_t together = std::min(most / of_group, r.window.groups);
    for (std::int64_t group = 0; group < r.window.groups; group += together) {
      const std::int64_t groups = std::min(together, r.window.groups - group);
      ranges.push_back({group * of_group, groups * of_group, groups});
    }
    return ranges;
  }
  const std::int64_t part =
      std::min(divide_up(divide_up(of_group, divide_up(of_group, most)), kChannelUnit), most / kChannelUnit) *
      kChannelUnit;
  for (std::int64_t group = 0; group < r.window.groups; ++group) {
    for (std::int64_t channel = 0; channel < of_group; channel += part)
      ranges.push_back({group * of_group + channel, std::min(part, of_group - channel), 1});
  }
  return ranges;
}

Conv1dChunk whole_signals(const ChunkRequest& r, std::int64_t item, std::int64_t items,
                          const ChannelRange& channels) {
  Conv1dChunk chunk;
  chunk.item = item;
  chunk.items = items;
  chunk.channel = channels.begin;
  chunk.channels = channels.count;
  chunk.groups = channels.groups;
  chunk.positions = r.positions;
  chunk.samples = r.length;
  chunk.whole = true;
  return chunk;
}

Conv1dChunk part_of_signals(const ChunkRequest& r, std::int64_t item, const ChannelRange& channels,
                            std::int64_t begin, std::int64_t end) {
  Conv1dChunk chunk = whole_signals(r, item, 1, channels);
  chunk.whole = false;
  chunk.position = begin;
  chunk.positions = end - begin;
  std::int64_t first = begin * r.window.stride - r.pad.left;
  std::int64_t last = first + (chunk.positions - 1) * r.window.stride + r.window.span();
  if (r.pad.mode == PadMode::constant) {
    // The kernel knows the constant: only samples of the signal are copied.
    first = std::clamp<std::int64_t>(first, 0, r.length);
    last = std::clamp(last, first, r.length);
  }
  chunk.sample = first;
  chunk.samples = last - first;
  chunk.inside = first >= 0 && last <= r.length;
  return chunk;
}

}  // namespace

std::vector<Conv1dChunk> cut_into_chunks(const ChunkRequest& r) {
  std::vector<Conv1dChunk> chunks;
  if (r.channels == 0 || r.batch == 0) return chunks;
  const std::int64_t signal_bytes =
      checked_product({r.length, r.element_bytes}, "conv1d: the bytes of one channel");
  const std::int64_t item_bytes =
      checked_product({signal_bytes, r.channels}, "conv1d: the bytes of one sequence");
  if (item_bytes <= r.chunk_bytes) {
    const std::int64_t most = item_bytes == 0 ? r.batch : r.chunk_bytes / item_bytes;
    for (std::int64_t item = 0; item < r.batch; item += most) {
      chunks.push_back(
          whole_signals(r, item, std::min(most, r.batch - item), {0, r.channels, r.window.groups}));
    }
    return chunks;
  }
  Interior interior{0, r.positions};
  if (r.split_borders && r.pad.mode != PadMode::constant) interior = interior_of(r);
  const std::vector<ChannelRange> ranges = channel_ranges(r, signal_bytes);
  for (std::int64_t item = 0; item < r.batch; ++item) {
    for (const ChannelRange& range : ranges) {
      if (range.count * signal_bytes <= r.chunk_bytes) {
        chunks.push_back(whole_signals(r, item, 1, range));
        continue;
      }
      const std::int64_t room = r.chunk_bytes / (range.count * r.element_bytes) - r.window.span();
      const std::int64_t most = room < 0 ? 1 : room / r.window.stride + 1;
      const auto push = [&](std::int64_t begin, std::int64_t end) {
        // Equal parts: a last one of a few rows would cost as much to start as the others.
        const std::int64_t parts = divide_up(end - begin, most);
        const std::int64_t part = parts > 0 ? divide_up(end - begin, parts) : 1;
        for (std::int64_t p = begin; p < end; p += part)
          chunks.push_back(part_of_signals(r, item, range, p, std::min(end, p + part)));
      };
      push(0, interior.begin);
      push(interior.begin, interior.end);
      push(interior.end, r.positions);
    }
  }
  return chunks;
}

std::int64_t default_chunk_bytes(const ChunkRequest& r, std::int64_t most) {
  const std::int64_t whole =
      checked_product({r.batch, r.channels, r.length, r.element_bytes}, "conv1d: the bytes of the input");
  const std::int64_t usual = std::clamp(whole / 16, kFewestBytes, most);
  const std::int64_t together = r.split_channels ? std::min(r.channels, kChannelUnit) : r.channels;
  const std::int64_t span_bytes = checked_product({r.window.span(), together, r.element_bytes, kSpans},
                                                  "conv1d: the bytes under a window");
  return std::max(usual, span_bytes);
}

}  // namespace relayout::plan
