// The operands of an element-wise operation, taken piece by piece in the output's order: where a piece lies
// in memory as it is needed it is used there, else it is gathered.
#pragma once

#include <cstdint>

#include "core/elementwise_params.hpp"
#include "host/cpu/copy/own_axes.hpp"

namespace relayout::native {

/// The fewest axes with the same elements in the same order; one at least.
struct MergedAxes {
  int rank = 0;
  std::int64_t extents[kMaxRank], strides[kMaxRank];

  MergedAxes(int nest_rank, const std::int64_t* nest_extents, const std::int64_t* nest_strides);
  MergedAxes(const ElementwiseParams& params, const std::int64_t* nest_strides)
      : MergedAxes(params.rank, params.extents, nest_strides) {}

  std::int64_t inner_extent() const { return extents[rank - 1]; }
  std::int64_t inner_stride() const { return strides[rank - 1]; }
  /// The same elements come again after so many; 0 where they do not.
  std::int64_t period() const;
};

/// A position in an operand whose elements have `bytes` bytes.
class OperandCursor {
 public:
  OperandCursor(const MergedAxes& axes, std::int64_t bytes, std::int64_t number)
      : bytes_(bytes),
        inner_extent_(axes.inner_extent()),
        axes_(axes.rank, axes.extents, axes.strides, number) {}

  /// The position's offset in bytes.
  std::int64_t offset() const { return axes_.offset() * bytes_; }
  /// The next `count` elements lie one after another.
  bool is_run(std::int64_t count) const { return axes_.step() == 1 && axes_.left() >= count; }
  /// They are one and the same.
  bool is_repeated(std::int64_t count) const { return axes_.step() == 0 && axes_.left() >= count; }
  /// Elements from here to the end of the innermost axis.
  std::int64_t left() const { return axes_.left(); }
  /// A piece of `count` elements, cut where an axis ends that is long enough for pieces of its own.
  std::int64_t piece(std::int64_t count, std::int64_t shortest) const {
    return inner_extent_ >= shortest ? std::min(count, axes_.left()) : count;
  }
  /// By no more than is left of the axis.
  void advance(std::int64_t count) { axes_.advance(count); }

  /// The next `count` elements, moving on.
  void gather(const char* data, char* out, std::int64_t count);
  void scatter(const char* in, char* data, std::int64_t count);

 private:
  std::int64_t bytes_, inner_extent_;
  OwnAxes axes_;
};

}  // namespace relayout::native
