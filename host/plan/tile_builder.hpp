// From the extents of a tile to a whole plan: what a block reads and writes, and how its shared memory lies.
#pragma once

#include <cstdint>

#include "host/plan/tile_plan.hpp"

namespace relayout::plan {

/// What a warp of 32 lanes reads at once.
constexpr std::int64_t kWarpBytes = 512;

/// Makes the plans of one nest.
class TileBuilder {
 public:
  TileBuilder(const LoopNest& nest, const TileTarget& target);

  /// Elements that a block of so many threads moves.
  std::int64_t capacity(int threads) const;
  /// Whether both sides are fastest along the same axis.
  bool one_axis() const { return read_[0] == write_[0]; }

  /// The smallest box of which a run of the input (of the output) has about so many bytes.
  TileExtents reading(std::int64_t bytes) const {
    return grow(read_, in_, (bytes - (bytes <= kWarpBytes ? bytes_beside_rows() : 0)) / target_.in_bytes);
  }
  TileExtents writing(std::int64_t bytes) const { return grow(write_, out_, bytes / target_.out_bytes); }
  /// A larger box, of more of the other axes, while it has at most `capacity` elements; the output's order
  /// first.
  TileExtents filled_up(TileExtents box, std::int64_t capacity) const;

  /// The plan for tiles of this box, but for its estimate; not valid where the kernel cannot do it.
  TilePlan build(const TileExtents& box, int threads) const;

 private:
  TileExtents grow(const AxisOrder& order, const Dims& strides, std::int64_t elements) const;
  bool order_side(const AxisOrder& order, const Dims& strides, const TilePlan& plan, int end,
                  TileOrder& result) const {
    return order_axes(order, strides, nest_.extents, plan.extent, plan.step, end, result);
  }
  std::int64_t bytes_beside_rows() const;
  bool order_tile(TilePlan& plan) const;
  bool runs_aligned(const Dims& strides, const TilePlan& plan, const TileOrder& order,
                    std::int64_t vector) const;
  bool choose_assembly(TilePlan& plan) const;
  bool skew(TilePlan& plan, bool outside_run) const;
  bool find_cuts(TilePlan& plan) const;
  void lay_out(TilePlan& plan) const;
  bool fits(const TilePlan& plan) const;

  const LoopNest& nest_;
  const TileTarget& target_;
  const Dims &in_, &out_;
  AxisOrder read_, write_;
  std::int64_t read_vector_, write_vector_;
};

/// Elements of a tile.
std::int64_t elements_of(const TileExtents& box, int rank);

/// The estimated share of the memory's speed of a plan.
double tile_score(const LoopNest& nest, const TileTarget& target, const TilePlan& plan);

}  // namespace relayout::plan
