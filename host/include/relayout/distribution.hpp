// Distributions: which part of a global tensor each rank of a group holds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <relayout/export.hpp>
#include <relayout/tensor_view.hpp>

namespace relayout {

/// A box of a global tensor: the elements whose index along each axis lies in [begin, end). Empty where an
/// axis has begin == end.
struct RELAYOUT_API Box {
  Dims begin;  ///< the first index along each axis
  Dims end;    ///< one past the last index along each axis

  /// The extents, end - begin: the shape of the view that holds the box.
  Dims shape() const;
  /// The number of elements; 1 without axes.
  std::int64_t elements() const;
  /// "[0:2, 3:7]".
  std::string to_string() const;
};

/// A global shape and the box of it that each rank holds. All boxes together contain every element. They may
/// be uneven and empty, and they may overlap: what several ranks hold is a replica. Moving one copies it.
class RELAYOUT_API Distribution {
 public:
  /// One box for each rank. Error{invalid_argument} without boxes and for one that leaves the shape; {rank}
  /// for one of another number of axes; {shape} when there is an element that no box contains.
  Distribution(Dims shape, std::vector<Box> boxes);
  /// A copy.
  Distribution(const Distribution&) = default;
  /// A copy.
  Distribution& operator=(const Distribution&) = default;
  /// The axis cut into blocks of ceil(extent / ranks), as torch.chunk, torch's Shard and FFTW's MPI
  /// transforms cut it: the last ranks may hold less, or nothing. Error{invalid_argument} for no ranks and
  /// for an axis that the shape does not have.
  static Distribution split(const Dims& shape, int axis, int ranks);
  /// Every rank holds all of it. Error{invalid_argument} for no ranks.
  static Distribution replicated(const Dims& shape, int ranks);

  /// The global shape.
  const Dims& shape() const noexcept { return shape_; }
  /// The number of ranks.
  int ranks() const noexcept { return static_cast<int>(boxes_.size()); }
  /// What a rank holds. Error{invalid_argument} unless rank is one of 0..ranks-1.
  const Box& box(int rank) const;

 private:
  Dims shape_;
  std::vector<Box> boxes_;
};

}  // namespace relayout
