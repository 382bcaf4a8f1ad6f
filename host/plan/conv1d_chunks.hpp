// The input of a conv1d in chunks of batch items or of one item's time: each chunk carries the samples that
// its rows of A need, so that chunks are copied and worked on independently.
#pragma once

#include <cstdint>
#include <vector>

#include "relayout/img2col.hpp"

namespace relayout::plan {

struct ChunkRequest {
  std::int64_t batch = 0, length = 0, positions = 0;
  Window window;
  PadSpec pad;
  std::int64_t sample_bytes = 0;  // of one sample of all channels, as it crosses the link
  std::int64_t chunk_bytes = 0;   // aimed at; a chunk has one position at least
  /// Positions that read padding in chunks of their own, so that all others find their samples in the signal.
  bool split_borders = false;
};

/// `positions` output positions of `items` sequences, and the samples [sample, sample + samples) that are
/// copied for them.
struct Conv1dChunk {
  std::int64_t item = 0, items = 1;
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

/// In order of items and positions; every position of every item once. Empty without items or channels.
std::vector<Conv1dChunk> cut_into_chunks(const ChunkRequest& request);

/// A sixteenth of the input, but not so little that starting a copy or the halo shows, nor more than `most`.
std::int64_t default_chunk_bytes(const ChunkRequest& request, std::int64_t most);

}  // namespace relayout::plan
