// Where a block's tile lies in both operands, and how much of it there is.
#pragma once

#include "core/tile_params.hpp"
#include "kernels/divide.hpp"

namespace relayout::RELAYOUT_BACKEND {

struct TileOrigin {
  std::int64_t in = 0, out = 0;
  std::uint32_t limit[2];                       // extents of the tile along the cut axes
  std::uint32_t read_elements, write_elements;  // elements of a row of the tile on either side
  bool inner = true;                            // TileParams::inner_begin
  bool whole = true;                            // nothing of the tile is cut off
  bool first = true;                            // along TileParams::first_grid
};

__device__ __forceinline__ TileOrigin tile_origin(const TileParams& p) {
  TileOrigin place;
  place.limit[0] = p.tail_axes[0].tile;
  place.limit[1] = p.tail_axes[1].tile;
  std::uint32_t tile = blockIdx.x;
#pragma unroll 1
  for (int k = 0; k < p.grid_rank; ++k) {
    const std::uint32_t rest = split(tile, p.grid[k].tiles);
    place.in += tile * p.grid[k].in;
    place.out += tile * p.grid[k].out;
    if (k == p.first_grid) place.first = tile == 0;
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      if (k != p.tail_axes[c].grid) continue;
      const std::int64_t left = p.tail_axes[c].extent - static_cast<std::int64_t>(tile) * p.tail_axes[c].step;
      if (left < place.limit[c]) place.limit[c] = static_cast<std::uint32_t>(left);
    }
    tile = rest;
  }
  place.inner = place.in >= p.inner_begin && place.in < p.inner_end;
  place.whole = place.limit[0] == p.tail_axes[0].tile && place.limit[1] == p.tail_axes[1].tile;
  const auto cut_short = [&](std::int32_t cut, std::uint32_t step, std::uint32_t elements) {
    return cut < 0 ? elements : (cut == 0 ? place.limit[0] : place.limit[1]) * step;
  };
  place.read_elements = cut_short(p.read_tail, p.read_tail_step, p.read_elements);
  place.write_elements = cut_short(p.write_tail, p.write_tail_step, p.write_elements);
  return place;
}

/// The place of an item of the tile: in its operand, and in shared memory.
struct TileCoord {
  std::int32_t offset = 0;
  std::uint32_t column = 0, row = 0, tail_index = 0;

  /// Packs both numbers of the place in shared memory; they stay below 2^16.
  __device__ __forceinline__ std::uint32_t packed() const { return column << 16 | row; }
};

__device__ __forceinline__ TileCoord walk(const TileAxes& axes, std::uint32_t index) {
  TileCoord position;
#pragma unroll 1
  for (int k = 0; k < axes.count; ++k) {
    const TileAxis& axis = axes.axes[k];
    const std::uint32_t rest = split(index, axis.extent);
    position.offset += static_cast<std::int32_t>(index) * axis.offset;
    position.column += index * axis.column;
    position.row += index * axis.row;
    position.tail_index += index * axis.tail_index;
    index = rest;
  }
  return position;
}

__device__ __forceinline__ bool inside(const TileCoord& position, const TileOrigin& place) {
  return (position.tail_index & 0xffff) < place.limit[0] && position.tail_index >> 16 < place.limit[1];
}

}  // namespace relayout::RELAYOUT_BACKEND
