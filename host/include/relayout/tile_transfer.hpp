// load_tile and store_tile move a tile between a strided view and a dense buffer, by the threads of a block
// or of a warp, or by one thread of the host. They serve kernels of any vendor, and wait for no other thread.
#pragma once

#include <cstdint>

#include <relayout/tile_padding.hpp>
#include <relayout/tile_space.hpp>

namespace relayout {

/// The places of a tile that one of `threads` threads takes: numbers thread, thread + threads, ... in C
/// order, so that neighbouring threads have neighbouring elements. It divides when it starts; then it adds
/// and carries.
///
///     for (TileWalk<2> walk(space, thread, threads); walk.more(); walk.next()) ... walk.number() ...
template <int kRank>
class TileWalk {
 public:
  /// The walk of thread number `thread`, 0 <= thread < threads.
  RELAYOUT_HOST_DEVICE constexpr TileWalk(const TileSpace<kRank>& space, int thread, int threads)
      : tile_(space.tile()),
        place_(split(thread)),
        step_(split(threads)),
        number_(thread),
        threads_(threads),
        end_(space.tile_elements()) {}

  /// Whether there is a place left.
  RELAYOUT_HOST_DEVICE constexpr bool more() const { return number_ < end_; }
  /// Goes on to the thread's next place.
  RELAYOUT_HOST_DEVICE constexpr void next() {
    number_ += threads_;
    std::int64_t carry = 0;
    for (int axis = kRank - 1; axis >= 0; --axis) {
      place_[axis] += step_[axis] + carry;
      carry = place_[axis] >= tile_[axis] ? 1 : 0;
      if (carry != 0) place_[axis] -= tile_[axis];
    }
  }
  /// The place in the tile.
  RELAYOUT_HOST_DEVICE constexpr const PerAxis<kRank>& place() const { return place_; }
  /// Its number in the tile, in C order.
  RELAYOUT_HOST_DEVICE constexpr std::int64_t number() const { return number_; }
  /// Whether the place lies in a box of these extents that begins at the tile's first place.
  RELAYOUT_HOST_DEVICE constexpr bool within(const PerAxis<kRank>& extents) const {
    for (int axis = 0; axis < kRank; ++axis) {
      if (place_[axis] >= extents[axis]) return false;
    }
    return true;
  }

 private:
  /// A number of places as steps along the axes, without what wraps around the whole tile. In 32 bits, which
  /// hold the number: an extent beyond them leaves it as it is, and so does the largest that they hold.
  RELAYOUT_HOST_DEVICE constexpr PerAxis<kRank> split(int count) const {
    constexpr std::uint32_t kMax = 0xffffffff;
    PerAxis<kRank> steps{};
    auto rest = static_cast<std::uint32_t>(count);
    for (int axis = kRank - 1; axis >= 0; --axis) {
      const std::uint32_t extent = tile_[axis] < kMax ? static_cast<std::uint32_t>(tile_[axis]) : kMax;
      steps[axis] = rest % extent;
      rest /= extent;
    }
    return steps;
  }

  PerAxis<kRank> tile_, place_, step_;
  std::int64_t number_, threads_, end_;
};

/// Reads the tile `index` of the view at `from` into `to`: space.tile_elements() elements in C order. Places
/// outside the view become the `padding` element of `type` (check_padding); under TilePadding::undetermined
/// they stay as they are. `index` may be any: nothing is read for a tile outside the view.
///
/// Thread `thread` of `threads` does its part. All of them make the same call, and the caller puts a barrier
/// behind it. T has the size of `type`, which must be given where T has no dtype_of of its own.
template <class T, int kRank>
RELAYOUT_HOST_DEVICE void load_tile(const TileSpace<kRank>& space, const PerAxis<kRank>& index, const T* from,
                                    T* to, TilePadding padding, int thread = 0, int threads = 1,
                                    DType type = dtype_of<T>) {
  const PerAxis<kRank> inside = space.clipped(index);
  if (space.overlaps(index)) from += space.offset(space.origin(index));
  const T outside = padding_element<T>(type, padding);
  for (TileWalk<kRank> walk(space, thread, threads); walk.more(); walk.next()) {
    if (walk.within(inside)) {
      to[walk.number()] = from[space.offset(walk.place())];
    } else if (padding != TilePadding::undetermined) {
      to[walk.number()] = outside;
    }
  }
}

/// Writes the tile at `from`, space.tile_elements() elements in C order, to the tile `index` of the view at
/// `to`. Places outside the view are not written. Threads are as in load_tile.
template <class T, int kRank>
RELAYOUT_HOST_DEVICE void store_tile(const TileSpace<kRank>& space, const PerAxis<kRank>& index,
                                     const T* from, T* to, int thread = 0, int threads = 1) {
  if (!space.overlaps(index)) return;
  const PerAxis<kRank> inside = space.clipped(index);
  to += space.offset(space.origin(index));
  for (TileWalk<kRank> walk(space, thread, threads); walk.more(); walk.next()) {
    if (walk.within(inside)) to[space.offset(walk.place())] = from[walk.number()];
  }
}

}  // namespace relayout
