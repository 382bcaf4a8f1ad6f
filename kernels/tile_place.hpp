// Where a block's tile lies in both operands, and how much of it there is.
#pragma once

#include "kernels/divide.hpp"
#include "kernels/tile_params.hpp"

namespace relayout::RELAYOUT_BACKEND {

struct Place {
  std::int64_t in = 0, out = 0;
  std::uint32_t limit[2];                       // extents of the tile along the cut axes
  std::uint32_t read_elements, write_elements;  // of the tile's rows
  bool inner = true;                            // TileParams::inner_begin
  bool whole = true;                            // nothing of it is cut off
  bool first = true;                            // along TileParams::first_grid
};

__device__ __forceinline__ Place place_tile(const TileParams& p) {
  Place place;
  place.limit[0] = p.cut[0].tile;
  place.limit[1] = p.cut[1].tile;
  std::uint32_t tile = blockIdx.x;
#pragma unroll 1
  for (int k = 0; k < p.grid_rank; ++k) {
    const std::uint32_t rest = split(tile, p.grid[k].tiles);
    place.in += tile * p.grid[k].in;
    place.out += tile * p.grid[k].out;
    if (k == p.first_grid) place.first = tile == 0;
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      if (k != p.cut[c].grid) continue;
      const std::int64_t left = p.cut[c].extent - static_cast<std::int64_t>(tile) * p.cut[c].step;
      if (left < place.limit[c]) place.limit[c] = static_cast<std::uint32_t>(left);
    }
    tile = rest;
  }
  place.inner = place.in >= p.inner_begin && place.in < p.inner_end;
  place.whole = place.limit[0] == p.cut[0].tile && place.limit[1] == p.cut[1].tile;
  const auto cut_short = [&](std::int32_t cut, std::uint32_t step, std::uint32_t elements) {
    return cut < 0 ? elements : (cut == 0 ? place.limit[0] : place.limit[1]) * step;
  };
  place.read_elements = cut_short(p.read_cut, p.read_cut_step, p.read_elements);
  place.write_elements = cut_short(p.write_cut, p.write_cut_step, p.write_elements);
  return place;
}

/// Of an item of the tile: in its operand, and in shared memory.
struct Position {
  std::int32_t offset = 0;
  std::uint32_t column = 0, row = 0, limited = 0;

  /// Both numbers of shared memory; they stay below 2^16.
  __device__ __forceinline__ std::uint32_t packed() const { return column << 16 | row; }
};

__device__ __forceinline__ Position walk(const TileAxes& axes, std::uint32_t index) {
  Position position;
#pragma unroll 1
  for (int k = 0; k < axes.count; ++k) {
    const TileAxis& axis = axes.axes[k];
    const std::uint32_t rest = split(index, axis.extent);
    position.offset += static_cast<std::int32_t>(index) * axis.offset;
    position.column += index * axis.column;
    position.row += index * axis.row;
    position.limited += index * axis.limited;
    index = rest;
  }
  return position;
}

__device__ __forceinline__ bool inside(const Position& position, const Place& place) {
  return (position.limited & 0xffff) < place.limit[0] && position.limited >> 16 < place.limit[1];
}

}  // namespace relayout::RELAYOUT_BACKEND
