// The grid of the window kernels: one block a tile of positions x channels of one batch and group,
// neighbours in the output next to each other.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/integer_math.hpp"
#include "core/window_params.hpp"
#include "kernel_language.hpp"
#include "kernels/block_index.hpp"
#include "kernels/divide.hpp"
#include "kernels/element_ops.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// A tile's first channel (of its group) and position, and whose they are.
struct TileIndex {
  std::int64_t channel, position, group, batch;
};

/// What the host knows of the grid, so that a block divides without division instructions, of which 64-bit
/// ones took a small launch a tenth of its time.
struct WindowGrid {
  std::int64_t blocks = 0;
  Divisor channel_tiles, position_tiles, groups;
};

inline WindowGrid window_grid(const WindowParams& p) {
  const std::int64_t channel_tiles = divide_up(p.channels, p.tile_channels);
  const std::int64_t positions = p.positions + p.tile.positions_before;
  const std::int64_t position_tiles = divide_up(positions, p.tile_positions);
  return {p.batch * p.groups * channel_tiles * position_tiles, make_grid_divisor(channel_tiles),
          make_grid_divisor(position_tiles), make_grid_divisor(p.groups)};
}

__device__ __forceinline__ TileIndex tile_index(const WindowParams& p, const WindowGrid& grid) {
  std::uint32_t channel_tile = block_index();
  std::uint32_t position_tile = split(channel_tile, grid.channel_tiles);
  std::uint32_t group = split(position_tile, grid.position_tiles);
  const std::uint32_t batch = split(group, grid.groups);
  return {static_cast<std::int64_t>(channel_tile) * p.tile_channels,
          static_cast<std::int64_t>(position_tile) * p.tile_positions, group, batch};
}

/// Calls visit(from, padding): a tag of the input's type, and the constant as an element of the output's.
template <class Visit>
void visit_window_types(const WindowParams& p, Visit&& visit) {
  visit_element_types(p.in_type, p.out_type, [&](auto from, auto to) {
    typename decltype(to)::type padding;
    std::memcpy(&padding, &p.pad_bits, sizeof padding);
    visit(from, padding);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
