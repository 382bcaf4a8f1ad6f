// From the extents of a tile to a whole plan: what a block reads and writes, and how its shared memory lies.
#pragma once

#include <cstdint>

#include "host/plan/copy/tile_order.hpp"

namespace relayout::plan {

/// What a warp of 32 lanes reads at once.
constexpr std::int64_t kWarpBytes = 512;

/// Assembly::scattered: a table of this many places or more, where the places of a longer run repeat.
constexpr std::int64_t kScatteredPeriod = 128;
/// And the most places of such a table.
constexpr std::int64_t kScatteredMost = 1280;

/// A box to be made a plan of, in the smallest block of `fewest` threads or twice, four times.. as many up to
/// `most`.
struct TileBox {
  TileExtents extent;
  std::int64_t elements;
  int fewest, most;
  TileExtents unfilled = extent;  // before it took in further axes, with which its runs may be too long
};

/// What is known of a box's plan before it is made.
struct TileRuns {
  std::int64_t read, write;  // elements in a row, at most
  bool unaligned;            // rows that surely start anywhere
};

/// Makes the plans of one nest.
class TileBuilder {
 public:
  TileBuilder(const LoopNest& nest, const TileTarget& target);

  /// Elements that a block of so many threads moves.
  std::int64_t capacity(int threads) const { return threads * elements_per_thread_; }
  /// Whether both sides are fastest along the same axis.
  bool one_axis() const { return read_[0] == write_[0]; }

  /// Bytes of the output's fastest axis.
  std::int64_t kept_bytes() const { return nest_.extents[write_[0]] * target_.out_bytes; }
  int rank() const { return nest_.rank(); }

  /// The smallest box of which a run of the input (of the output) has about so many bytes.
  TileExtents reading(std::int64_t bytes) const {
    return grow(read_, in_, (bytes - (bytes <= kWarpBytes ? bytes_beside_rows() : 0)) / target_.in_bytes);
  }
  TileExtents writing(std::int64_t bytes) const { return grow(write_, out_, bytes / target_.out_bytes); }
  /// A larger box while it has at most `capacity` elements, along the axes in the output's order; `new_axes`:
  /// only along those of which it has one element.
  TileExtents filled_up(TileExtents box, std::int64_t capacity, bool new_axes) const;

  TileRuns runs_of(const TileExtents& box) const;
  /// The plan for tiles of this box, but for its estimate; not valid where the kernel cannot do it.
  /// `scattered`: by Assembly::scattered, which takes any box, else by the assembly made for boxes like it.
  TilePlan build(const TileBox& box, bool scattered) const;

 private:
  TileExtents grow(const AxisOrder& order, const Dims& strides, std::int64_t elements) const;
  std::int64_t bytes_beside_rows() const;
  bool reads_along_rows(const TilePlan& plan, const TileOrder& rows) const;
  bool assembles_along_rows(const TilePlan& plan) const;
  bool order_tile(TilePlan& plan, bool scattered) const;
  bool runs_aligned(std::uint32_t odd_axes, const TilePlan& plan, const TileOrder& order,
                    std::int64_t vector) const;
  bool choose_assembly(TilePlan& plan, bool scattered) const;
  bool unaligned_writes(TilePlan& plan, bool outside_run) const;
  bool find_cuts(TilePlan& plan) const;
  // In tile_memory.cpp.
  void lay_out_run(TilePlan& plan) const;
  void lay_out(TilePlan& plan) const;
  int threads_for(const TilePlan& plan, int fewest, int most) const;
  bool fits(const TilePlan& plan) const;

  const LoopNest& nest_;
  const TileTarget& target_;
  const Dims &in_, &out_;
  AxisOrder read_, write_;
  std::int64_t read_vector_, write_vector_, elements_per_thread_;
  std::uint32_t odd_in_, odd_out_;  // axes whose strides are no whole vectors, a bit each
};

/// Elements of a tile.
std::int64_t elements_of(const TileExtents& box, int rank);

/// Where each axis of the tile moves in shared memory: the axes of the input's run along a row, the others
/// from row to row, numbered in the output's order.
struct SharedSteps {
  std::uint32_t column[kMaxRank] = {}, row[kMaxRank] = {};
};
SharedSteps shared_steps(const TilePlan& plan);

/// Vectors of an output run that neighbouring lanes write. Assembly::scattered: strips of nearly one size,
/// since its runs are often a vector longer than a power of two.
std::int64_t strip_vectors(const TilePlan& plan);

/// The accesses by which a tile's warps read shared memory, and the passes of one of them (tile_passes.cpp).
struct TilePasses {
  int passes;
  std::int64_t accesses;
};
TilePasses tile_passes(const LoopNest& nest, const TileTarget& target, const TilePlan& plan);

/// The estimated share of the memory's speed of a plan, where shared memory costs nothing.
double tile_score(const LoopNest& nest, const TileTarget& target, const TilePlan& plan);
/// What its passes leave of plan.score, which is tile_score().
double score_with_passes(const LoopNest& nest, const TileTarget& target, const TilePlan& plan);
/// What the estimate of any plan for a box of so many elements, in blocks of `threads` or more, is at most.
double score_limit(const TileTarget& target, std::int64_t elements, int threads, const TileRuns& runs);

}  // namespace relayout::plan
