// The output's side of a box: elements in C order, to wherever its rows lie.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/integer_math.hpp"
#include "host/cpu/copy/box_nest.hpp"
#include "host/cpu/copy/offset_table.hpp"
#include "host/cpu/copy/row_moves.hpp"
#include "host/cpu/prefetch.hpp"

namespace relayout::native {

/// Out: an unsigned integer of the elements' size.
template <class Out>
class BoxWriter {
 public:
  explicit BoxWriter(const BoxNest& nest) : n_(nest) {}

  Out* at(const Cursor& box) const { return static_cast<Out*>(n_.p.out) + box.b(); }

  /// The box at the cursor = buffer[0, ...); in between, what `prefetch` asks for.
  void write(const Cursor& box, const std::int64_t* sides, const Out* buffer, RowPrefetch& prefetch,
             OffsetTable& table) const {
    const CopyParams& p = n_.p;
    const int last = n_.last;
    Out* out = at(box);
    // Neighbouring axes whose rows follow each other in memory are one run, unless each row ends at a line of
    // its own.
    int axis = last;
    std::int64_t run = 1;
    for (; axis >= 0 && p.out_strides[axis] == run && (axis == last || !n_.unaligned); --axis)
      run *= sides[axis];
    const std::int64_t wanted = prefetch.rows();
    if ((run < kLeastRow || (!n_.streamed && run * kOut < kShortRun)) && axis >= 0 && !n_.unaligned) {
      for (std::int64_t i = 0; i < wanted; ++i) prefetch.ask();
      table.prepare(axis + 1, sides, p.out_strides);
      return run == 1 ? scatter_box(table, buffer, out) : scatter_rows(table, buffer, out, run);
    }
    const std::int64_t rows = axis < 0 ? 1 : sides[axis], row_step = axis < 0 ? 0 : p.out_strides[axis];
    StridedLoop loop;
    std::int64_t pitches[kMaxRank], pitch = run;
    for (int k = axis; k >= 0; pitch *= sides[k--]) pitches[k] = pitch;
    for (int k = 0; k < axis; ++k) {
      if (sides[k] > 1) loop.push(sides[k], p.out_strides[k], pitches[k]);
    }
    const std::int64_t side = n_.box.sides[last];
    const std::int64_t begin = n_.unaligned ? box.index(n_.place[last]) * side : 0;
    const bool from_first = !n_.unaligned || begin == 0,
               to_last = !n_.unaligned || begin + side >= p.extents[last];

    const std::int64_t total = loop.total() * rows;
    std::int64_t due = 0;
    Cursor cursor(loop, 0);
    for (std::int64_t i = loop.total(); i-- > 0; cursor.next()) {
      Out* row_out = out + cursor.a();
      const Out* row = buffer + cursor.b();
      for (std::int64_t r = 0; r < rows; ++r, row_out += row_step, row += run) {
        const std::int64_t first = from_first ? 0 : std::min(run, elements_to_line(row_out));
        const std::int64_t end = to_last ? run : std::min(run, side + elements_to_line(row_out + side));
        store_row(row + first, row_out + first, end - first, n_.streamed);
        for (due += wanted; due >= total; due -= total) prefetch.ask();
      }
    }
  }

 private:
  static constexpr std::int64_t kOut = sizeof(Out);
  /// Runs of fewer bytes than this that go through the caches are written by a table.
  static constexpr std::int64_t kShortRun = 256;

  /// How many elements of a row belong to the box before it: those up to the first line of the output.
  std::int64_t elements_to_line(const Out* row) const { return divide_up(bytes_to_line(row), kOut); }

  const BoxNest& n_;
};

}  // namespace relayout::native
