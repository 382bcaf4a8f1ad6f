// The input's side of a box: its elements in C order of the output, and what is asked for ahead.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "host/cpu/copy/box_nest.hpp"
#include "host/cpu/copy/joined_planes.hpp"
#include "host/cpu/copy/offset_table.hpp"
#include "host/cpu/copy/plane.hpp"
#include "host/cpu/copy/row_moves.hpp"
#include "host/cpu/prefetch.hpp"

namespace relayout::native {

/// In: an unsigned integer of the elements' size, which are moved as bits.
template <class In>
class BoxReader {
 public:
  using Lines = typename PlaneReader<In, In>::Lines;

  explicit BoxReader(const BoxNest& nest) : n_(nest), in_row_(nest.p.in_strides[nest.last]) {}

  const In* at(const Cursor& box) const { return static_cast<const In*>(n_.p.in) + box.a(); }
  /// Copies rows of the input, of any stride, to contiguous ones.
  const StridedRow<In>& row() const { return in_row_; }

  /// buffer[0, ...) = the box at `in`. What the table and the lines hold means nothing.
  void read(const In* in, const std::int64_t* sides, In* buffer, OffsetTable& table, Lines& lines) const {
    const CopyParams& p = n_.p;
    const int last = n_.last;
    if (n_.rows_in_rows) {
      table.prepare(last, sides, p.in_strides);
      if (p.in_strides[last] == 1) return gather_rows(table, in, buffer, sides[last]);
      return for_each_piece(table, table, [&](OffsetPiece from, OffsetPiece) {
        for (std::int64_t i = 0; i < from.count; ++i, buffer += sides[last])
          in_row_(in + from.first + from.offsets[i], buffer, sides[last]);
      });
    }
    if (!has_planes(sides)) {
      const Plane plane = n_.plane_of(sides);
      const JoinedPlanes<In> planes(p, sides, plane.first_axis, n_.box.in_axis, plane.rows);
      if (planes.worth_transposing()) return planes.read(in, buffer, table, lines);
      table.prepare(p.rank, sides, p.in_strides);
      return gather_box(table, in, buffer);
    }
    const PlaneReader<In, In> read_plane(p.in_strides[n_.box.in_axis], p.in_strides[last]);
    for_each_plane(sides, [&](std::int64_t from, std::int64_t to, std::int64_t pitch, std::int64_t rows) {
      read_plane(in + from, buffer + to, pitch, rows, sides[last], lines);
    });
  }

  /// The same for f32 to f16, converted on the way (BoxNest::to_f16).
  void read_as_f16(const In* in, const std::int64_t* sides, std::uint16_t* results) const {
    constexpr std::int64_t kOut = sizeof(std::uint16_t);
    for_each_plane(sides, [&](std::int64_t from, std::int64_t to, std::int64_t pitch, std::int64_t rows) {
      n_.to_f16({reinterpret_cast<const char*>(in + from), n_.p.in_strides[n_.last] * kIn},
                {reinterpret_cast<char*>(results + to), pitch * kOut}, rows, sides[n_.last]);
    });
  }

  /// The rows of the next box. Short ones that follow each other in memory are one: a request for each would
  /// take longer than it gains. Long ones are asked for one by one, in between the rows that are written.
  RowPrefetch next_box(const Cursor& ahead, StridedLoop& rows) const {
    const CopyParams& p = n_.p;
    const int fast = n_.box.in_axis;
    std::int64_t sides[kMaxRank] = {}, row = 0;
    n_.set_sides(ahead, sides);
    const In* first = at(ahead);
    bool joined[kMaxRank] = {};
    // From first to last element, as long as every line of it has elements.
    const std::int64_t step = std::abs(p.in_strides[fast]);
    row = 1;
    if (step * kIn <= kLineBytes) {
      joined[fast] = true;
      row += (sides[fast] - 1) * step;
      if (p.in_strides[fast] < 0) first -= row - 1;
    }
    const auto joins = [&](int axis) {
      const std::int64_t gap = p.in_strides[axis] - row;
      return row * kIn < 4 * kLineBytes && !joined[axis] && sides[axis] > 1 && gap >= 0 &&
             gap * kIn < kLineBytes;
    };
    for (int axis = 0; axis < p.rank;) {
      if (joins(axis)) {
        joined[axis] = true;
        row += (sides[axis] - 1) * p.in_strides[axis];
        axis = 0;
      } else {
        ++axis;
      }
    }
    for (int axis = 0; axis < p.rank; ++axis) {
      if (!joined[axis] && sides[axis] > 1 && p.in_strides[axis] != 0)
        rows.push(sides[axis], p.in_strides[axis] * kIn, 0);
    }
    // The processor reads ahead what follows this box in memory, so no row is asked for.
    if (n_.rows_follow && rows.rank == 0) rows.push(0, 0, 0);
    return {reinterpret_cast<const char*>(first), rows, row * kIn};
  }

 private:
  static constexpr std::int64_t kIn = sizeof(In);

  /// Whether planes are worth transposing.
  bool has_planes(const std::int64_t* sides) const {
    const std::int64_t rows = n_.plane_of(sides).rows, columns = sides[n_.last], least = kSquareBytes / kIn;
    return n_.box.in_axis != n_.last && rows >= least && columns >= least && rows * columns >= kLeastPlane;
  }

  /// visit(offset in the input, place in the buffer, pitch of the input's fastest axis there, rows) for all
  /// planes.
  template <class Visit>
  void for_each_plane(const std::int64_t* sides, const Visit& visit) const {
    const int fast = n_.box.in_axis;
    const Plane plane = n_.plane_of(sides);
    StridedLoop loop;
    std::int64_t pitch = 1, pitches[kMaxRank];
    for (int axis = n_.last; axis >= 0; pitch *= sides[axis--]) pitches[axis] = pitch;
    for (int axis = 0; axis < n_.last; ++axis) {
      if ((axis < plane.first_axis || axis > fast) && sides[axis] > 1)
        loop.push(sides[axis], n_.p.in_strides[axis], pitches[axis]);
    }
    Cursor cursor(loop, 0);
    for (std::int64_t i = loop.total(); i-- > 0; cursor.next())
      visit(cursor.a(), cursor.b(), pitches[fast], plane.rows);
  }

  const BoxNest& n_;
  StridedRow<In> in_row_;
};

}  // namespace relayout::native
