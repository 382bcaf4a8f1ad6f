// The operands of an element-wise operation, taken piece by piece in the output's order: where a piece lies
// in memory as it is needed it is used there, else it is gathered.
#pragma once

#include <cstdint>

#include "core/elementwise_params.hpp"
#include "host/cpu/copy/own_axes.hpp"
#include "host/cpu/copy/pitched_rows.hpp"
#include "host/cpu/prefetch.hpp"

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

/// How many rows further on a row is asked for from memory, while one is read or written; 0: none, since rows
/// are shorter than a line, the caches hold them, or the processor reads ahead. `bytes`: of an element.
std::int64_t rows_asked_ahead(const MergedAxes& axes, std::int64_t bytes);

/// How far rows, and the elements of a row, lie apart, in elements.
struct Pitches {
  std::int64_t row, step;
};

/// A position in an operand at `data` whose elements have `bytes` bytes.
class OperandCursor {
 public:
  OperandCursor(const MergedAxes& axes, const void* data, std::int64_t bytes, std::int64_t number)
      : data_(static_cast<const char*>(data)),
        bytes_(bytes),
        inner_extent_(axes.inner_extent()),
        rows_ahead_(rows_asked_ahead(axes, bytes)),
        axes_(axes.rank, axes.extents, axes.strides, number),
        asked_(axes_.rows(), number / inner_extent_ + rows_ahead_),
        rows_together_(rows_ahead_ == 0 && inner_extent_ * bytes <= kMostPitchedBytes),
        move_rows_(rows_together_ && axes_.step() == 1 ? pitched_row_mover(inner_extent_ * bytes) : nullptr) {
  }

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
  void advance(std::int64_t count) {
    if (rows_ahead_ != 0 && count == axes_.left()) {
      ask_for(data_ + asked_.a() * bytes_, inner_extent_ * bytes_);
      asked_.next();
    }
    axes_.advance(count);
  }

  /// The next `count` elements, moving on.
  void gather(char* out, std::int64_t count);

 protected:
  /// The next `count` elements, moving on: calls part(bytes from the operand's first element, count) for
  /// parts in which each is a step behind the one before, and rows(bytes from the first element, count) for
  /// short rows that lie one pitch apart.
  template <class Part, class Rows>
  void each_part(std::int64_t count, const Part& part, const Rows& rows) {
    while (count > 0) {
      const std::int64_t offset = this->offset();
      if (rows_together_ && count >= 2 * inner_extent_ && axes_.rows_left() > 1) {
        const std::int64_t together = std::min(count / inner_extent_, axes_.rows_left());
        rows(offset, together);
        axes_.advance_rows(together);
        count -= together * inner_extent_;
      } else {
        const std::int64_t elements = std::min(count, axes_.left());
        part(offset, elements);
        advance(elements);
        count -= elements;
      }
    }
  }
  /// Moves `rows` short rows of the operand's length: from pitches() to packed(), or the other way.
  void move_rows(const char* in, Pitches from, char* out, Pitches to, std::int64_t rows) const;
  /// Of the operand, where it has short rows at one pitch; and of rows that follow each other.
  Pitches pitches() const { return {axes_.pitch(), axes_.step()}; }
  Pitches packed() const { return {inner_extent_, 1}; }

  std::int64_t bytes() const { return bytes_; }
  std::int64_t step() const { return axes_.step(); }
  std::int64_t row_bytes() const { return inner_extent_ * bytes_; }

 private:
  const char* data_;
  std::int64_t bytes_, inner_extent_, rows_ahead_;
  OwnAxes axes_;
  Cursor asked_;  // the row that is asked for when this one ends
  bool rows_together_;
  MovePitchedRows move_rows_;  // rows whose elements are neighbours; null: there are none
};

/// A position in an output.
class OutputCursor : public OperandCursor {
 public:
  OutputCursor(const MergedAxes& axes, void* data, std::int64_t bytes, std::int64_t number)
      : OperandCursor(axes, data, bytes, number), data_(static_cast<char*>(data)) {}

  /// The element at the position.
  char* at() const { return data_ + offset(); }
  /// Writes the next `count` elements, moving on.
  void scatter(const char* in, std::int64_t count);

 private:
  char* data_;
};

}  // namespace relayout::native
