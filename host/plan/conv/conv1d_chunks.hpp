// The input of a conv1d in chunks of batch items, of one item's channels or of their time: each chunk carries
// the samples that its part of A needs, so that chunks are copied and worked on independently.
#pragma once

#include <cstdint>
#include <vector>

#include "relayout/img2col.hpp"

namespace relayout::plan {

struct ChunkRequest {
  std::int64_t batch = 0, channels = 0, length = 0, positions = 0;
  Window window;
  PadSpec pad;
  std::int64_t element_bytes = 0;  // as it crosses the link
  std::int64_t chunk_bytes = 0;    // aimed at; a chunk has one position at least
  /// Time is the fast axis of what crosses the link: an item is cut by channels first, which keeps rows long
  /// and copies no sample twice.
  bool split_channels = false;
  /// Positions that read padding in chunks of their own, so that all others find their samples in the signal.
  bool split_borders = false;
};

/// Channels of a part are a multiple of this, but for a group's last ones: rows of A are written in pieces of
/// 128 bytes.
constexpr std::int64_t kChannelUnit = 64;

/// `positions` output positions of `items` sequences and `channels` channels, and the samples [sample, sample
/// + samples) that are copied for them.
struct Conv1dChunk {
  std::int64_t item = 0, items = 1;
  std::int64_t channel = 0, channels = 0;
  std::int64_t groups = 1;  // whole ones; 1 as well for a part of one
  std::int64_t position = 0, positions = 0;
  std::int64_t sample = 0, samples = 0;
  /// The whole signal: the window kernel pads it in any mode.
  bool whole = false;
  /// All samples lie in the signal. Else the range reaches beyond it, and who stages the chunk puts in the
  /// padding; only chunks of part of a signal in modes other than constant do so.
  bool inside = true;

  /// The left padding with which the window kernel runs on the chunk's samples.
  std::int64_t pad_left(const ChunkRequest& request) const noexcept {
    return sample - (position * request.window.stride - request.pad.left);
  }
};

/// In order of items, channels and positions; every position of every channel once. Empty without items or
/// channels.
std::vector<Conv1dChunk> cut_into_chunks(const ChunkRequest& request);

/// A sixteenth of the input, but not so little that starting a copy or the halo shows, nor more than `most`.
std::int64_t default_chunk_bytes(const ChunkRequest& request, std::int64_t most);

}  // namespace relayout::plan
