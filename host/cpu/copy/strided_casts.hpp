// Casts of strided rows, straight to the output: a box would read more of the input at a time, while nothing
// is converted or written.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "host/cpu/copy/box_nest.hpp"
#include "host/cpu/copy/cast_rows.hpp"
#include "host/cpu/copy/row_moves.hpp"
#include "host/cpu/parallel.hpp"
#include "host/cpu/strided_loop.hpp"

namespace relayout::native {

/// Whether rows of short steps are read in the input's order, and either are long or follow each other in the
/// output.
inline bool is_in_strided_rows(const CopyParams& p, std::int64_t in_bytes) {
  constexpr std::int64_t kLongRow = 64, kJoinedRow = 8;
  const int last = p.rank - 1;
  const std::int64_t row = p.extents[last], step = std::abs(p.in_strides[last]);
  if (step <= 1 || step * in_bytes > kLineBytes || p.out_strides[last] != 1) return false;
  const bool joined = last > 0 && row >= kJoinedRow && p.out_strides[last - 1] == row;
  return (row >= kLongRow || joined) && !is_streamed(p) && is_in_order(p);
}

/// A piece is gathered into the first-level cache and converted from there. Rows that follow each other in
/// the output are converted together.
template <class In, class Out>
void cast_strided_rows(const CopyParams& p, const CastRow& cast) {
  constexpr std::int64_t kPiece = 1024;
  const int last = p.rank - 1;
  const StridedRow<In> gather(p.in_strides[last]);
  StridedLoop loop;
  for (int axis = 0; axis < last; ++axis) loop.push(p.extents[axis], p.in_strides[axis], p.out_strides[axis]);
  loop.push_boxes(p.extents[last], kPiece, p.in_strides[last], 1);
  parallel_ranges(loop.total(), p.elements, [&](std::int64_t begin, std::int64_t end) {
    In gathered[kPiece];
    std::int64_t held = 0;
    Out* to = nullptr;  // of what is held
    Cursor cursor(loop, begin);
    for (std::int64_t i = begin; i < end; ++i, cursor.next()) {
      const std::int64_t count = std::min(kPiece, p.extents[last] - cursor.index(last) * kPiece);
      Out* const out = static_cast<Out*>(p.out) + cursor.b();
      if (held + count > kPiece || out != to + held) {
        cast(gathered, to, held);
        held = 0;
      }
      if (held == 0) to = out;
      gather(static_cast<const In*>(p.in) + cursor.a(), gathered + held, count);
      held += count;
    }
    cast(gathered, to, held);
  });
}

}  // namespace relayout::native
