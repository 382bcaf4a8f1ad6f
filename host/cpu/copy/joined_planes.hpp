// Planes whose columns run along several axes of the output, the fastest of which is too short for a plane of
// its own: the lines of the input, wherever they begin, are transposed together.
#pragma once

#include <cstdint>

#include "core/copy_params.hpp"
#include "host/cpu/copy/offset_table.hpp"
#include "host/cpu/copy/plane.hpp"
#include "host/cpu/strided_loop.hpp"

namespace relayout::native {

/// The planes of a box. The input is fastest along `in_axis`; the axes from first_axis on continue it in
/// memory, `rows` elements together. The axes behind in_axis are the columns, which follow each other in the
/// buffer; in the input, each begins where a table says.
template <class T>
class JoinedPlanes {
 public:
  JoinedPlanes(const CopyParams& params, const std::int64_t* sides, int first_axis, int in_axis,
               std::int64_t rows)
      : p_(params), sides_(sides), first_axis_(first_axis), behind_(in_axis + 1), rows_(rows) {
    for (int axis = behind_; axis < p_.rank; ++axis) columns_ *= sides[axis];
  }

  bool worth_transposing() const {
    if (behind_ == p_.rank || rows_ * kBytes < kSquareBytes || columns_ * kBytes < kSquareBytes) return false;
    if (p_.in_strides[behind_ - 1] == 1) return rows_ * columns_ >= kLeastPlane;
    return kBytes <= 2 && rows_ * kBytes >= kLeastLine;
  }

  /// buffer[0, ...) = the box at `in`. What the table and the lines hold means nothing.
  [[gnu::noinline]] void read(const T* in, T* buffer, OffsetTable& table,
                              typename PlaneReader<T, T>::Lines& lines) const {
    const PlaneReader<T, T> read_plane(p_.in_strides[behind_ - 1], 0);
    table.prepare(p_.rank - behind_, sides_ + behind_, p_.in_strides + behind_);
    StridedLoop loop;
    std::int64_t pitch = columns_ * rows_, pitches[kMaxRank];
    for (int axis = first_axis_; axis-- > 0; pitch *= sides_[axis]) pitches[axis] = pitch;
    for (int axis = 0; axis < first_axis_; ++axis)
      loop.push(sides_[axis], p_.in_strides[axis], pitches[axis]);
    Cursor cursor(loop, 0);
    for (std::int64_t i = loop.total(); i-- > 0; cursor.next()) {
      T* columns = buffer + cursor.b();
      for_each_piece(table, table, [&](OffsetPiece piece, OffsetPiece) {
        read_plane(in + cursor.a() + piece.first, piece.offsets, columns, columns_, rows_, piece.count,
                   lines);
        columns += piece.count;
      });
    }
  }

 private:
  static constexpr std::int64_t kBytes = sizeof(T);
  /// Bytes of the shortest lines of strided elements, which are gathered first: a table of all elements is
  /// better for shorter ones, and for larger elements.
  static constexpr std::int64_t kLeastLine = 32;

  const CopyParams& p_;
  const std::int64_t* sides_;
  int first_axis_, behind_;
  std::int64_t rows_, columns_ = 1;
};

}  // namespace relayout::native
