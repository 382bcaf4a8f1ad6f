// Where a block's tile lies in both operands, and how much of it there is.
#pragma once

#include "core/tile_params.hpp"
#include "kernels/block_index.hpp"
#include "kernels/divide.hpp"

namespace relayout::RELAYOUT_BACKEND {

__device__ __forceinline__ std::uint32_t quotient_of(std::uint32_t index, const Divisor& divisor) {
  return split(index, divisor);
}

/// How much there is of a block's tile.
struct TileLimits {
  std::uint32_t limit[2];  // extents of the tile along the cut axes
  bool whole;              // nothing of the tile is cut off

  /// Elements of a row or a run of the tile, which the cut axis number `cut` ends; -1: none does.
  __device__ __forceinline__ std::uint32_t elements(std::int32_t cut, std::uint32_t step,
                                                    std::uint32_t most) const {
    return cut < 0 ? most : (cut == 0 ? limit[0] : limit[1]) * step;
  }
};

__device__ __forceinline__ TileLimits tile_limits(const TileParams& p) {
  TileLimits limits;
#pragma unroll
  for (int c = 0; c < 2; ++c) {
    const TailAxis& axis = p.tail_axes[c];
    std::uint32_t number = quotient_of(block_index(), axis.before);
    split(number, axis.tiles);  // the remainder is left
    const std::uint32_t behind = axis.tiles.value - 1 - number, left = axis.last + behind * axis.step;
    limits.limit[c] = behind <= 1 && left < axis.tile ? left : axis.tile;
  }
  limits.whole = limits.limit[0] == p.tail_axes[0].tile && limits.limit[1] == p.tail_axes[1].tile;
  return limits;
}

struct TileOrigin {
  std::int64_t in = 0, out = 0;
  bool first = true;  // along TileParams::first_grid
};

__device__ __forceinline__ TileOrigin tile_origin(const TileParams& p) {
  TileOrigin place;
  std::uint32_t tile = block_index();
#pragma unroll 1
  for (int k = 0; k < p.grid_rank; ++k) {
    const std::uint32_t rest = split(tile, p.grid[k].tiles);
    place.in += tile * p.grid[k].in;
    place.out += tile * p.grid[k].out;
    if (k == p.first_grid) place.first = tile == 0;
    tile = rest;
  }
  return place;
}

/// The place of an item of the tile: in its operand, and in shared memory.
struct TileCoord {
  std::uint32_t offset = 0;  // of two's complement
  std::uint32_t column = 0, row = 0, tail_index = 0;

  __device__ __forceinline__ std::int32_t elements() const { return static_cast<std::int32_t>(offset); }
  /// Packs both numbers of the place in shared memory; they stay below 2^16.
  __device__ __forceinline__ std::uint32_t packed() const { return column << 16 | row; }
};

/// A loop: unrolled, a walk of few axes takes two thirds of the instructions, but small operands wait longer
/// for the code than they gain.
__device__ __forceinline__ TileCoord walk(const TileAxes& axes, std::uint32_t index) {
  TileCoord position;
#pragma unroll 1
  for (int k = 0;; ++k) {
    const TileAxis& axis = axes.axes[k];
    position.offset += index * axis.offset;
    position.column += index * axis.column;
    position.row += index * axis.row;
    position.tail_index += index * axis.tail_index;
    if (k + 1 >= axes.count) return position;
    index = quotient_of(index, axis.extent);
  }
}

__device__ __forceinline__ bool inside(const TileCoord& position, const TileLimits& limits) {
  return (position.tail_index & 0xffff) < limits.limit[0] && position.tail_index >> 16 < limits.limit[1];
}

}  // namespace relayout::RELAYOUT_BACKEND
