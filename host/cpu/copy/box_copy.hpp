// A copy box by box. A box is read along the input's fastest axes into a buffer in the cache, transposed on
// the way, converted there, and written along the output's fastest axes. Every input element is read once and
// every output element is written once; large outputs go past the caches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "core/integer_math.hpp"
#include "host/cpu/copy/cast_rows.hpp"
#include "host/cpu/copy/copy_box.hpp"
#include "host/cpu/copy/joined_planes.hpp"
#include "host/cpu/copy/offset_table.hpp"
#include "host/cpu/copy/plane.hpp"
#include "host/cpu/copy/row_moves.hpp"
#include "host/cpu/prefetch.hpp"
#include "host/cpu/scratch.hpp"
#include "host/cpu/streaming.hpp"
#include "host/cpu/strided_loop.hpp"

namespace relayout::native {

template <class Out>
bool is_streamed(const CopyParams& p) {
  return p.out_strides[p.rank - 1] == 1 &&
         p.elements * static_cast<std::int64_t>(sizeof(Out)) > kStreamedBytes;
}

/// In and Out: unsigned integers of the elements' sizes, which are moved as bits. Without a cast they are
/// one.
template <class In, class Out>
class BoxCopy {
 public:
  BoxCopy(const CopyParams& params, const CastRow& cast)
      : p_(params),
        cast_(cast),
        last_(params.rank - 1),
        streamed_(is_streamed<Out>(params)),
        in_row_(params.in_strides[last_]) {
    join_short_axes();
    const bool aligned = rows_are_aligned();
    const std::int64_t run = aligned ? kRunBytes : kOddRunBytes;
    const auto box_of = [&](std::int64_t bytes) {
      return choose_box(p_, run / kOut, kBoxRuns * std::max<std::int64_t>(run, 256) / bytes);
    };
    box_ = box_of(kOut);
    to_f16_ = plane_conversion();
    if (cast_ && to_f16_ == nullptr) box_ = box_of(kIn + kOut);
    rows_in_rows_ = (p_.in_strides[last_] == 1 && p_.extents[last_] > 1) ||
                    ((box_.in_axis == last_ || in_row_.is_vectorised()) && box_.sides[last_] >= kLeastRow);
    direct_ = rows_in_rows_ && !cast_ && !streamed_ && p_.out_strides[last_] == 1;
    unaligned_ = streamed_ && !aligned && box_.sides[last_] < p_.extents[last_];
    for (int axis = 0; axis < p_.rank; ++axis) order_[axis] = axis;
    // The next box is the one that continues the input of this box.
    std::stable_sort(order_, order_ + p_.rank, [this](int a, int b) {
      return std::abs(p_.in_strides[a]) > std::abs(p_.in_strides[b]);
    });
    for (int i = 0; i < p_.rank; ++i) {
      const int axis = order_[i];
      const std::int64_t side = box_.sides[axis];
      place_[axis] = i;
      boxes_.push_boxes(p_.extents[axis], side, p_.in_strides[axis], p_.out_strides[axis]);
    }
  }

  void run() const {
    parallel_ranges_in<Room>(boxes_.total(), p_.elements,
                             [this](std::int64_t begin, std::int64_t end, Room& room) {
                               Cursor cursor(boxes_, begin), ahead(boxes_, begin);
                               for (std::int64_t box = begin; box < end; ++box, cursor.next()) {
                                 std::int64_t sides[kMaxRank] = {};
                                 set_sides(cursor, sides);
                                 if constexpr (std::is_same_v<In, Out>) {
                                   if (direct_) {
                                     if (box + 1 < end) ahead.next();
                                     move(cursor, sides, ahead, room);
                                     continue;
                                   }
                                 }
                                 const Out* results = read(cursor.a(), sides, room);
                                 if (box + 1 < end) ahead.next();
                                 write(cursor, sides, results, ahead, room.out_table);
                               }
                               if (streamed_) finish_streams();
                             });
  }

 private:
  /// Bytes of the runs that a box writes. Two lines are enough where every row begins with a line. Elsewhere
  /// the ends of a run are parts of lines, which cost more than whole ones, so runs are longer.
  static constexpr std::int64_t kRunBytes = 128, kOddRunBytes = 512;
  /// The most runs of a box, so that it nearly fits into the first-level cache.
  static constexpr std::int64_t kBoxRuns = 64;
  static constexpr std::int64_t kIn = sizeof(In), kOut = sizeof(Out);
  static constexpr std::int64_t kLineElements = std::max<std::int64_t>(1, kLineBytes / kOut);
  /// Rows and planes of fewer elements than this are gathered and scattered by a table: a call for each would
  /// take longer.
  static constexpr std::int64_t kLeastRow = 16, kLeastPlane = 128;

  /// Runs of fewer bytes than this that go through the caches are written by a table, too.
  static constexpr std::int64_t kShortRun = 256;
  /// Short axes of the input are joined up to so many bytes, where rows of the output have at least so many.
  static constexpr std::int64_t kJoinedBytes = 64, kLeastJoinedRow = 32;

  /// What a thread works with. A box that ends at a line may be up to twice as long.
  struct Room {
    alignas(kLineBytes) char memory[2 * kBoxRuns * kOddRunBytes + kLineBytes];
    typename PlaneReader<In, In>::Lines lines;
    OffsetTable in_table, out_table;
  };

  /// What converts planes while it transposes them, so that a box needs no room for its input; or null.
  TransposeBlock plane_conversion() const {
    if (p_.in_type != DType::f32 || p_.out_type != DType::f16 || p_.generic_cast) return nullptr;
    const bool planes = box_.in_axis != last_ && p_.in_strides[box_.in_axis] == 1;
    if (!planes || plane_of(box_.sides).rows < kLeastRow || box_.sides[last_] < kLeastRow) return nullptr;
    return transpose_block_to_f16();
  }
  bool rows_are_aligned() const {
    bool aligned = bytes_to_line(p_.out) == 0;
    for (int axis = 0; axis < last_; ++axis) aligned &= p_.out_strides[axis] * kOut % kLineBytes == 0;
    return aligned;
  }

  /// The extents of the box at the cursor: boxes at the ends are shorter. Where the ends of boxes follow
  /// lines of memory, a box is read up to a line further along the output's axis.
  void set_sides(const Cursor& cursor, std::int64_t* sides) const {
    for (int axis = 0; axis < p_.rank; ++axis) {
      const std::int64_t side = box_.sides[axis] + (unaligned_ && axis == last_ ? kLineElements : 0);
      sides[axis] = std::min(side, p_.extents[axis] - cursor.index(place_[axis]) * box_.sides[axis]);
    }
  }

  /// A box whose rows are rows of both operands, straight from one to the other.
  void move(const Cursor& box, const std::int64_t* sides, const Cursor& ahead, Room& room) const {
    StridedLoop next_rows;
    RowPrefetch prefetch = next_box(ahead, next_rows);
    while (prefetch.rows() > 0) prefetch.ask();
    const In* in = static_cast<const In*>(p_.in) + box.a();
    Out* out = static_cast<Out*>(p_.out) + box.b();
    room.in_table.prepare(last_, sides, p_.in_strides);
    room.out_table.prepare(last_, sides, p_.out_strides);
    const std::int64_t row = sides[last_];
    if (p_.in_strides[last_] == 1) return move_rows(room.in_table, in, room.out_table, out, row);
    for_each_piece(room.in_table, room.out_table, [&](OffsetPiece from, OffsetPiece to) {
      for (std::int64_t i = 0; i < from.count; ++i)
        in_row_(in + from.first + from.offsets[i], out + to.first + to.offsets[i], row);
    });
  }

  /// The box in C order, converted.
  const Out* read(std::int64_t from, const std::int64_t* sides, Room& room) const {
    const In* in = static_cast<const In*>(p_.in) + from;
    if (to_f16_ != nullptr) {
      Out* results = reinterpret_cast<Out*>(room.memory);
      for_each_plane(sides, [&](std::int64_t at, std::int64_t place, std::int64_t pitch, std::int64_t rows) {
        to_f16_({reinterpret_cast<const char*>(in + at), p_.in_strides[last_] * kIn},
                {reinterpret_cast<char*>(results + place), pitch * kOut}, rows, sides[last_]);
      });
      return results;
    }
    In* elements = reinterpret_cast<In*>(room.memory);
    read_elements(in, sides, elements, room);
    if constexpr (kIn == kOut) {
      if (!cast_) return elements;
    }
    std::int64_t count = 1;
    for (int axis = 0; axis < p_.rank; ++axis) count *= sides[axis];
    const std::int64_t bytes = divide_up(count * kIn, kLineBytes) * kLineBytes;
    Out* results = reinterpret_cast<Out*>(room.memory + bytes);
    cast_(elements, results, count);
    return results;
  }

  void read_elements(const In* in, const std::int64_t* sides, In* buffer, Room& room) const {
    if (rows_in_rows_) {
      room.in_table.prepare(last_, sides, p_.in_strides);
      if (p_.in_strides[last_] == 1) return gather_rows(room.in_table, in, buffer, sides[last_]);
      return for_each_piece(room.in_table, room.in_table, [&](OffsetPiece from, OffsetPiece) {
        for (std::int64_t i = 0; i < from.count; ++i, buffer += sides[last_])
          in_row_(in + from.first + from.offsets[i], buffer, sides[last_]);
      });
    }
    if (!has_planes(sides)) {
      if constexpr (JoinedPlanes<In>::kPossible) {
        const Plane plane = plane_of(sides);
        const JoinedPlanes<In> planes(p_, sides, plane.first_axis, box_.in_axis, plane.rows);
        if (planes.worth_transposing()) return planes.read(in, buffer, room.in_table, room.lines);
      }
      room.in_table.prepare(p_.rank, sides, p_.in_strides);
      return gather_box(room.in_table, in, buffer);
    }
    const PlaneReader<In, In> read_plane(p_.in_strides[box_.in_axis], p_.in_strides[last_]);
    for_each_plane(sides, [&](std::int64_t at, std::int64_t place, std::int64_t pitch, std::int64_t rows) {
      read_plane(in + at, buffer + place, pitch, rows, sides[last_], room.lines);
    });
  }

  /// A plane of the two operands' fastest axes. Axes just before the input's that continue it in memory
  /// belong to it.
  struct Plane {
    std::int64_t rows;
    int first_axis;  // of those that are the plane's rows
  };
  Plane plane_of(const std::int64_t* sides) const {
    Plane plane{sides[box_.in_axis], box_.in_axis};
    while (plane.first_axis > 0 &&
           p_.in_strides[plane.first_axis - 1] == plane.rows * p_.in_strides[box_.in_axis])
      plane.rows *= sides[--plane.first_axis];
    return plane;
  }
  /// Whether planes are worth transposing.
  bool has_planes(const std::int64_t* sides) const {
    const std::int64_t rows = plane_of(sides).rows, columns = sides[last_], least = 16 / kIn;
    return box_.in_axis != last_ && rows >= least && columns >= least && rows * columns >= kLeastPlane;
  }

  /// Puts the axes along which the input is contiguous side by side, in its order, just before the last,
  /// where the fastest of them alone is too short for planes. Rows of the output stay whole: they are long
  /// enough.
  void join_short_axes() {
    int chain[kMaxRank], count = 0;
    std::int64_t run = 1;
    for (int axis = 0; axis < last_ && run * kIn < kJoinedBytes; ++axis) {
      if (p_.in_strides[axis] != run || p_.extents[axis] == 1) continue;
      chain[count++] = axis;
      run *= p_.extents[axis];
      axis = -1;
    }
    if (count < 2 || p_.extents[last_] * kOut < (streamed_ ? kOddRunBytes : kLeastJoinedRow)) return;
    const CopyParams nest = p_;
    int to = 0;
    const auto put = [&](int axis) {
      p_.extents[to] = nest.extents[axis];
      p_.in_strides[to] = nest.in_strides[axis];
      p_.out_strides[to++] = nest.out_strides[axis];
    };
    for (int axis = 0; axis < last_; ++axis) {
      if (std::find(chain, chain + count, axis) == chain + count) put(axis);
    }
    while (count > 0) put(chain[--count]);
  }

  /// visit(offset in the input, place in the buffer, pitch of the input's fastest axis there, rows) for all
  /// planes.
  template <class Visit>
  void for_each_plane(const std::int64_t* sides, const Visit& visit) const {
    const int fast = box_.in_axis;
    const Plane plane = plane_of(sides);
    StridedLoop loop;
    std::int64_t pitch = 1, pitches[kMaxRank];
    for (int axis = last_; axis >= 0; pitch *= sides[axis--]) pitches[axis] = pitch;
    for (int axis = 0; axis < last_; ++axis) {
      if ((axis < plane.first_axis || axis > fast) && sides[axis] > 1)
        loop.push(sides[axis], p_.in_strides[axis], pitches[axis]);
    }
    Cursor cursor(loop, 0);
    for (std::int64_t i = loop.total(); i-- > 0; cursor.next())
      visit(cursor.a(), cursor.b(), pitches[fast], plane.rows);
  }

  /// How many elements of a row belong to the box before it: those up to the first line of the output.
  std::int64_t elements_to_line(const Out* row) const { return divide_up(bytes_to_line(row), kOut); }

  void write(const Cursor& box, const std::int64_t* sides, const Out* buffer, const Cursor& ahead,
             OffsetTable& table) const {
    Out* out = static_cast<Out*>(p_.out) + box.b();
    // Neighbouring axes whose rows follow each other in memory are one run.
    int axis = last_;
    std::int64_t run = 1;
    for (; axis >= 0 && p_.out_strides[axis] == run; --axis) run *= sides[axis];
    StridedLoop next_rows;
    RowPrefetch prefetch = next_box(ahead, next_rows);
    const std::int64_t wanted = prefetch.rows();
    if ((run < kLeastRow || (!streamed_ && run * kOut < kShortRun)) && axis >= 0 && !unaligned_) {
      for (std::int64_t i = 0; i < wanted; ++i) prefetch.ask();
      table.prepare(axis + 1, sides, p_.out_strides);
      return run == 1 ? scatter_box(table, buffer, out) : scatter_rows(table, buffer, out, run);
    }
    const std::int64_t rows = axis < 0 ? 1 : sides[axis], row_step = axis < 0 ? 0 : p_.out_strides[axis];
    StridedLoop loop;
    std::int64_t pitches[kMaxRank], pitch = run;
    for (int k = axis; k >= 0; pitch *= sides[k--]) pitches[k] = pitch;
    for (int k = 0; k < axis; ++k) {
      if (sides[k] > 1) loop.push(sides[k], p_.out_strides[k], pitches[k]);
    }
    const std::int64_t at = unaligned_ ? box.index(place_[last_]) * box_.sides[last_] : 0;
    const bool from_first = !unaligned_ || at == 0,
               to_last = !unaligned_ || at + box_.sides[last_] >= p_.extents[last_];

    const std::int64_t total = loop.total() * rows;
    std::int64_t due = 0;
    Cursor cursor(loop, 0);
    for (std::int64_t i = loop.total(); i-- > 0; cursor.next()) {
      Out* row_out = out + cursor.a();
      const Out* row = buffer + cursor.b();
      for (std::int64_t r = 0; r < rows; ++r, row_out += row_step, row += run) {
        const std::int64_t first = from_first ? 0 : std::min(run, elements_to_line(row_out));
        const std::int64_t end =
            to_last ? run : std::min(run, box_.sides[last_] + elements_to_line(row_out + box_.sides[last_]));
        store_row(row + first, row_out + first, end - first, streamed_);
        for (due += wanted; due >= total; due -= total) prefetch.ask();
      }
    }
  }

  /// The rows of the next box's input. Short ones that follow each other in memory are one: a request for
  /// each would take longer than it gains. Long ones are asked for one by one, in between the rows that are
  /// written.
  RowPrefetch next_box(const Cursor& ahead, StridedLoop& rows) const {
    const int fast = box_.in_axis;
    std::int64_t sides[kMaxRank] = {}, row = 0;
    set_sides(ahead, sides);
    const In* first = static_cast<const In*>(p_.in) + ahead.a();
    bool joined[kMaxRank] = {};
    // From first to last element, as long as every line of it has elements.
    const std::int64_t step = std::abs(p_.in_strides[fast]);
    row = 1;
    if (step * kIn <= kLineBytes) {
      joined[fast] = true;
      row += (sides[fast] - 1) * step;
      if (p_.in_strides[fast] < 0) first -= row - 1;
    }
    const auto joins = [&](int axis) {
      const std::int64_t gap = p_.in_strides[axis] - row;
      return row * kIn < 4 * kLineBytes && !joined[axis] && sides[axis] > 1 && gap >= 0 &&
             gap * kIn < kLineBytes;
    };
    for (int axis = 0; axis < p_.rank;) {
      if (joins(axis)) {
        joined[axis] = true;
        row += (sides[axis] - 1) * p_.in_strides[axis];
        axis = 0;
      } else {
        ++axis;
      }
    }
    for (int axis = 0; axis < p_.rank; ++axis) {
      if (!joined[axis] && sides[axis] > 1 && p_.in_strides[axis] != 0)
        rows.push(sides[axis], p_.in_strides[axis] * kIn, 0);
    }
    return {reinterpret_cast<const char*>(first), rows, row * kIn};
  }

  CopyParams p_;
  const CastRow& cast_;
  int last_;
  CopyBox box_;
  bool streamed_, unaligned_ = false;
  bool rows_in_rows_ = false;  // rows of the output are rows of the input, of any stride
  bool direct_ = false;        // nothing is converted or transposed, so that a box needs no buffer
  StridedRow<In> in_row_;
  TransposeBlock to_f16_ = nullptr;  // straight from f32 in memory
  int order_[kMaxRank], place_[kMaxRank];
  StridedLoop boxes_;
};

}  // namespace relayout::native
