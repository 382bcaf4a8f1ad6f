// A tile in shared memory and the accesses by which a block fills and drains it, counted. For any axes and
// orders; what the tile kernel does with its own parameters is counted by host/plan/copy/tile_banks.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "host/plan/copy/bank_model.hpp"

namespace example {

using relayout::plan::BankCount;
using relayout::plan::BankModel;
using relayout::plan::BankReport;
using relayout::plan::kNoAddress;
using relayout::plan::SharedAccess;
using relayout::plan::SharedVisitor;

/// One of a tile's two walks. Lanes take vectors of elements that follow each other in the walk's order, and
/// move each by accesses of `access_bytes`: several elements where they lie together in shared memory, else
/// one by one; parts of an element where it is wider.
struct BankWalk {
  std::vector<int> order;  // the tile's axes, the fastest first
  int vector = 1;          // elements a lane takes
  int access_bytes = 4;
  int run = 0;    // axes of a run: vectors do not reach from one into the next. 0: all axes are one run
  int strip = 0;  // neighbouring lanes take so many vectors of a run, then those of the next. 0: all of it
};

struct BankTile {
  std::vector<std::int64_t> extents;
  int element_bytes = 4;
  BankWalk fill, drain;  // writes to shared memory in the input's order, reads in the output's

  std::int64_t elements() const;
};

/// A part of an axis: (index / divisor) % extent, `stride` bytes a step.
struct BankDigit {
  int axis = 0;
  std::int64_t divisor = 1, extent = 1, stride = 1;
};

/// Chunk number c lies at place c ^ ((c >> shift) & mask). A bit that is changed decides on no other.
struct BankSwizzle {
  int shift = 0;
  std::int64_t mask = 0;
};

/// Where the elements of a tile lie.
struct BankLayout {
  std::vector<BankDigit> digits;
  std::vector<BankSwizzle> swizzles;  // of chunks; they take effect together
  int chunk_bytes = 16;
  std::int64_t bytes = 0;

  std::int64_t offset(const std::vector<std::int64_t>& index) const;
  std::int64_t swizzled(std::int64_t offset) const;
};

/// The layout without gaps in the order of the fill.
BankLayout dense_layout(const BankTile& tile);

/// One access of a warp: the first of a lane's elements in the walk's order (kNoAddress: none), and how many
/// there are up to the end of its run.
struct WarpAccess {
  std::vector<std::int64_t> first;
  std::vector<int> count;
};
std::vector<WarpAccess> warp_accesses(const BankTile& tile, const BankWalk& walk, int lanes);

/// Per element in the walk's order, its offset.
std::vector<std::int64_t> offsets_in_order(const BankTile& tile, const BankLayout& layout,
                                           const std::vector<int>& order);

/// All accesses of the tile by warps of `lanes`, and what they cost.
void visit_tile(const BankTile& tile, const BankLayout& layout, int lanes, const SharedVisitor& visit);
BankReport count_tile(const BankTile& tile, const BankLayout& layout, const BankModel& model);

}  // namespace example
