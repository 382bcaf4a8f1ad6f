// The grid of both window kernels: one block a tile of positions x channels of one batch and group,
// neighbours in the output next to each other.
#pragma once

#include <cstdint>

#include "kernel_language.hpp"
#include "kernels/params.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// A tile's first channel (of its group) and position, and whose they are.
struct TileIndex {
  std::int64_t channel, position, group, batch;
};

__device__ __forceinline__ TileIndex tile_index(const WindowParams& p, std::int64_t block) {
  const std::int64_t channel_tiles = (p.channels + p.tile_channels - 1) / p.tile_channels;
  const std::int64_t position_tiles = (p.positions + p.tile_positions - 1) / p.tile_positions;
  TileIndex index;
  index.channel = block % channel_tiles * p.tile_channels;
  block /= channel_tiles;
  index.position = block % position_tiles * p.tile_positions;
  block /= position_tiles;
  index.group = block % p.groups;
  index.batch = block / p.groups;
  return index;
}

inline std::int64_t tile_count(const WindowParams& p) {
  const std::int64_t channel_tiles = (p.channels + p.tile_channels - 1) / p.tile_channels;
  const std::int64_t position_tiles = (p.positions + p.tile_positions - 1) / p.tile_positions;
  return p.batch * p.groups * channel_tiles * position_tiles;
}

}  // namespace relayout::RELAYOUT_BACKEND
