// TileSpace: a strided view divided into tiles of equal extents, with the arithmetic between elements and
// tiles. It serves host code and kernels alike: constant expressions, no allocation, every number 64 bits
// wide.
#pragma once

#include <cstdint>

#include <relayout/export.hpp>
#include <relayout/host_device.hpp>
#include <relayout/tensor_view.hpp>

namespace relayout {

/// One number for each axis, in C order: extents, strides, or an index. PerAxis<2>{64, 32}.
template <int kRank>
struct PerAxis {
  static_assert(kRank >= 0 && kRank <= kMaxRank, "a view has 0 to kMaxRank axes");

  std::int64_t values[static_cast<std::size_t>(kRank > 0 ? kRank : 1)];  ///< the numbers

  /// The number of an axis.
  RELAYOUT_HOST_DEVICE constexpr std::int64_t& operator[](int axis) { return values[axis]; }
  /// The number of an axis.
  RELAYOUT_HOST_DEVICE constexpr const std::int64_t& operator[](int axis) const { return values[axis]; }
};

/// Whether all numbers are equal.
template <int kRank>
RELAYOUT_HOST_DEVICE constexpr bool operator==(const PerAxis<kRank>& a, const PerAxis<kRank>& b) {
  for (int axis = 0; axis < kRank; ++axis) {
    if (a[axis] != b[axis]) return false;
  }
  return true;
}
/// Whether any number differs.
template <int kRank>
RELAYOUT_HOST_DEVICE constexpr bool operator!=(const PerAxis<kRank>& a, const PerAxis<kRank>& b) {
  return !(a == b);
}

/// The tiles of a strided view. Tile (t0, t1, ...) is the box of the elements (t_k * tile[k] + i_k),
/// 0 <= i_k < tile[k]. The tiles from 0 to tiles()[k] - 1 on every axis cover the view; the last ones may
/// reach past its end. Any other index, negative or too large, stands for a tile with no element inside.
///
/// The host makes one and gives it to a kernel by value: the kernel then divides only to number tiles.
template <int kRank>
class TileSpace {
 public:
  /// Extents are at least 0, those of a tile at least 1; strides are any, in elements.
  RELAYOUT_HOST_DEVICE constexpr TileSpace(const PerAxis<kRank>& extents, const PerAxis<kRank>& strides,
                                           const PerAxis<kRank>& tile)
      : extents_(extents), strides_(strides), tile_(tile), tiles_{} {
    for (int axis = 0; axis < kRank; ++axis) {
      tiles_[axis] = extents[axis] / tile[axis] + (extents[axis] % tile[axis] != 0 ? 1 : 0);
    }
  }

  /// The extents of the view.
  RELAYOUT_HOST_DEVICE constexpr const PerAxis<kRank>& extents() const { return extents_; }
  /// The strides of the view, in elements.
  RELAYOUT_HOST_DEVICE constexpr const PerAxis<kRank>& strides() const { return strides_; }
  /// The extents of a tile.
  RELAYOUT_HOST_DEVICE constexpr const PerAxis<kRank>& tile() const { return tile_; }
  /// How many tiles cover the view along each axis.
  RELAYOUT_HOST_DEVICE constexpr const PerAxis<kRank>& tiles() const { return tiles_; }
  /// How many tiles there are: 1 for a view without axes, 0 for one without elements.
  RELAYOUT_HOST_DEVICE constexpr std::int64_t tile_count() const {
    std::int64_t count = 1;
    for (int axis = 0; axis < kRank; ++axis) {
      if (extents_[axis] == 0) return 0;  // first: the others' product need not fit
    }
    for (int axis = 0; axis < kRank; ++axis) count *= tiles_[axis];
    return count;
  }
  /// How many places a tile has, whether inside the view or not.
  RELAYOUT_HOST_DEVICE constexpr std::int64_t tile_elements() const {
    std::int64_t count = 1;
    for (int axis = 0; axis < kRank; ++axis) count *= tile_[axis];
    return count;
  }

  /// The index of tile number `number`, counted in C order. Numbers outside [0, tile_count()) are tiles
  /// outside the view (where there is an axis to be outside of).
  RELAYOUT_HOST_DEVICE constexpr PerAxis<kRank> tile_at(std::int64_t number) const {
    PerAxis<kRank> index{};
    for (int axis = kRank - 1; axis > 0; --axis) {
      const std::int64_t count = tiles_[axis] > 0 ? tiles_[axis] : 1;
      index[axis] = floor_modulo(number, count);
      number = floor_quotient(number, count);
    }
    if (kRank > 0) index[0] = number;
    return index;
  }
  /// The inverse of tile_at.
  RELAYOUT_HOST_DEVICE constexpr std::int64_t number_of(const PerAxis<kRank>& index) const {
    std::int64_t number = 0;
    for (int axis = 0; axis < kRank; ++axis) number = number * tiles_[axis] + index[axis];
    return number;
  }

  /// The index of the tile in which an element lies; elements outside the view have one, too.
  RELAYOUT_HOST_DEVICE constexpr PerAxis<kRank> tile_of(const PerAxis<kRank>& element) const {
    PerAxis<kRank> index{};
    for (int axis = 0; axis < kRank; ++axis) index[axis] = floor_quotient(element[axis], tile_[axis]);
    return index;
  }
  /// The place of an element in its tile.
  RELAYOUT_HOST_DEVICE constexpr PerAxis<kRank> place_of(const PerAxis<kRank>& element) const {
    PerAxis<kRank> place{};
    for (int axis = 0; axis < kRank; ++axis) place[axis] = floor_modulo(element[axis], tile_[axis]);
    return place;
  }
  /// The tile's first element; its index must fit 64 bits.
  RELAYOUT_HOST_DEVICE constexpr PerAxis<kRank> origin(const PerAxis<kRank>& index) const {
    PerAxis<kRank> element{};
    for (int axis = 0; axis < kRank; ++axis) element[axis] = index[axis] * tile_[axis];
    return element;
  }

  /// The extents of the part of a tile that lies inside the view, which begins at the tile's first place. Any
  /// index is legal: nothing is multiplied before it is known to lie inside.
  RELAYOUT_HOST_DEVICE constexpr PerAxis<kRank> clipped(const PerAxis<kRank>& index) const {
    PerAxis<kRank> inside{};
    for (int axis = 0; axis < kRank; ++axis) {
      if (index[axis] < 0 || index[axis] >= tiles_[axis]) continue;  // 0
      const std::int64_t rest = extents_[axis] - index[axis] * tile_[axis];
      inside[axis] = rest < tile_[axis] ? rest : tile_[axis];
    }
    return inside;
  }
  /// Whether any element of the tile lies inside the view.
  RELAYOUT_HOST_DEVICE constexpr bool overlaps(const PerAxis<kRank>& index) const {
    for (int axis = 0; axis < kRank; ++axis) {
      if (index[axis] < 0 || index[axis] >= tiles_[axis]) return false;
    }
    return true;
  }

  /// The offset of an element inside the view, in elements from data(). For a place in a tile it is the
  /// offset from the tile's first element.
  RELAYOUT_HOST_DEVICE constexpr std::int64_t offset(const PerAxis<kRank>& element) const {
    std::int64_t sum = 0;
    for (int axis = 0; axis < kRank; ++axis) sum += element[axis] * strides_[axis];
    return sum;
  }
  /// The offset of a place in a tile; the place must lie inside the view.
  RELAYOUT_HOST_DEVICE constexpr std::int64_t offset(const PerAxis<kRank>& index,
                                                     const PerAxis<kRank>& place) const {
    return offset(origin(index)) + offset(place);
  }

 private:
  /// Toward minus infinity, by a positive number.
  RELAYOUT_HOST_DEVICE static constexpr std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
    return a / b - (a % b < 0 ? 1 : 0);
  }
  RELAYOUT_HOST_DEVICE static constexpr std::int64_t floor_modulo(std::int64_t a, std::int64_t b) {
    return a % b + (a % b < 0 ? b : 0);
  }

  PerAxis<kRank> extents_, strides_, tile_, tiles_;
};

namespace detail {
/// Error{rank} unless the view and the tile have `rank` axes, {invalid_argument} for an extent of a tile
/// below 1, {invalid_shape} when the places of a tile do not fit 63 bits.
RELAYOUT_API void check_tile(const TensorView& view, const Dims& tile, int rank);
}  // namespace detail

/// The tiles of a view. Throws Error{rank} unless view and tile have kRank axes, {invalid_argument} for an
/// extent of a tile below 1, {invalid_shape} when the number of places in a tile does not fit 63 bits.
template <int kRank>
TileSpace<kRank> tile_space(const TensorView& view, const Dims& tile) {
  detail::check_tile(view, tile, kRank);
  PerAxis<kRank> extents{}, strides{}, tile_extents{};
  for (int axis = 0; axis < kRank; ++axis) {
    extents[axis] = view.extent(axis);
    strides[axis] = view.stride(axis);
    tile_extents[axis] = tile[static_cast<std::size_t>(axis)];
  }
  return TileSpace<kRank>(extents, strides, tile_extents);
}

}  // namespace relayout
