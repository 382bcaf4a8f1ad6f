#include "host/cpu/copy/pitched_rows.hpp"

#include <algorithm>
#include <cstring>

#include "core/bytes.hpp"
#include "host/cpu/copy/box_nest.hpp"
#include "host/cpu/parallel.hpp"
#include "host/cpu/strided_loop.hpp"
#include "host/cpu/vectorised.hpp"

namespace relayout::native {
namespace {

/// Rows of exactly kBytes.
template <int kBytes>
void move_equal_rows(const char* in, PitchedRows in_rows, char* out, PitchedRows out_rows, std::int64_t rows,
                     std::int64_t) {
  for (std::int64_t i = 0; i < rows; ++i) {
    char row[kBytes];
    std::memcpy(row, in + in_rows[i], kBytes);
    std::memcpy(out + out_rows[i], row, kBytes);
  }
}

}  // namespace

MovePitchedRows pitched_row_mover(std::int64_t bytes) noexcept {
  switch (bytes) {
    case 16:
      return vectorised<move_equal_rows<16>>();
    case 32:
      return vectorised<move_equal_rows<32>>();
    case 64:
      return vectorised<move_equal_rows<64>>();
    default:
      MovePitchedRows move = nullptr;
      visit_mover<char, PitchedRows, PitchedRows>(bytes, [&](auto mover) { move = mover; });
      return move;
  }
}

bool is_in_pitched_rows(const CopyParams& p) {
  const int last = p.rank - 1;
  return last > 0 && p.in_strides[last] == 1 && p.out_strides[last] == 1 &&
         p.extents[last] * bytes_of(p.in_type) <= kMostPitchedBytes &&
         p.extents[last - 1] >= kLeastPitchedRows && !is_streamed(p) && is_in_order(p);
}

void copy_pitched_rows(const CopyParams& p) {
  constexpr std::int64_t kRows = 256;
  const std::int64_t size = bytes_of(p.in_type), bytes = p.extents[p.rank - 1] * size;
  const int axis = p.rank - 2;  // of the rows
  StridedLoop loop;
  for (int outer = 0; outer < axis; ++outer)
    loop.push(p.extents[outer], p.in_strides[outer] * size, p.out_strides[outer] * size);
  const PitchedRows in_rows{p.in_strides[axis] * size}, out_rows{p.out_strides[axis] * size};
  loop.push_boxes(p.extents[axis], kRows, in_rows.pitch, out_rows.pitch);
  const MovePitchedRows move = pitched_row_mover(bytes);
  parallel_ranges(loop.total(), p.elements, [&](std::int64_t begin, std::int64_t end) {
    Cursor cursor(loop, begin);
    for (std::int64_t i = begin; i < end; ++i, cursor.next()) {
      const std::int64_t rows = std::min(kRows, p.extents[axis] - cursor.index(axis) * kRows);
      move(static_cast<const char*>(p.in) + cursor.a(), in_rows, static_cast<char*>(p.out) + cursor.b(),
           out_rows, rows, bytes);
    }
  });
}

}  // namespace relayout::native
