#include "host/plan/conv1d_chunks.hpp"

#include <algorithm>

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

Conv1dChunk part_of_item(const ChunkRequest& r, std::int64_t item, std::int64_t begin, std::int64_t end) {
  Conv1dChunk chunk;
  chunk.item = item;
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
  if (r.sample_bytes == 0 || r.batch == 0) return chunks;
  const std::int64_t item_bytes =
      checked_product({r.length, r.sample_bytes}, "conv1d: the bytes of one sequence");
  if (item_bytes <= r.chunk_bytes) {
    const std::int64_t most = item_bytes == 0 ? r.batch : r.chunk_bytes / item_bytes;
    for (std::int64_t item = 0; item < r.batch; item += most) {
      chunks.push_back({item, std::min(most, r.batch - item), 0, r.positions, 0, r.length, true, true});
    }
    return chunks;
  }
  const std::int64_t room = r.chunk_bytes / r.sample_bytes - r.window.span();
  const std::int64_t most = room < 0 ? 1 : room / r.window.stride + 1;
  Interior interior{0, r.positions};
  if (r.split_borders && r.pad.mode != PadMode::constant) interior = interior_of(r);
  for (std::int64_t item = 0; item < r.batch; ++item) {
    const auto push = [&](std::int64_t begin, std::int64_t end) {
      // Equal parts: a last one of a few rows would cost as much to start as the others.
      const std::int64_t parts = (end - begin + most - 1) / most;
      const std::int64_t part = parts > 0 ? (end - begin + parts - 1) / parts : 1;
      for (std::int64_t p = begin; p < end; p += part) {
        chunks.push_back(part_of_item(r, item, p, std::min(end, p + part)));
      }
    };
    push(0, interior.begin);
    push(interior.begin, interior.end);
    push(interior.end, r.positions);
  }
  return chunks;
}

std::int64_t default_chunk_bytes(const ChunkRequest& r, std::int64_t most) {
  const std::int64_t whole =
      checked_product({r.batch, r.length, r.sample_bytes}, "conv1d: the bytes of the input");
  const std::int64_t usual = std::clamp(whole / 16, kFewestBytes, most);
  const std::int64_t span_bytes =
      checked_product({r.window.span(), r.sample_bytes, kSpans}, "conv1d: the bytes under a window");
  return std::max(usual, span_bytes);
}

}  // namespace relayout::plan
