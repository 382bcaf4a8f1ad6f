#include "host/cpu/elementwise/elementwise_operand.hpp"

#include <algorithm>
#include <cstring>

#include "host/plan/checked_math.hpp"

namespace relayout::native {
namespace {

template <class T>
void move_elements(const char* in, Pitches from, char* out, Pitches to, std::int64_t rows,
                   std::int64_t count) {
  const T* read = reinterpret_cast<const T*>(in);
  T* write = reinterpret_cast<T*>(out);
  for (std::int64_t row = 0; row < rows; ++row, read += from.row, write += to.row) {
    if (from.step == 0 && to.step == 1) {
      std::fill(write, write + count, *read);
    } else {
      for (std::int64_t i = 0; i < count; ++i) write[i * to.step] = read[i * from.step];
    }
  }
}

void move_elements(std::int64_t bytes, const char* in, Pitches from, char* out, Pitches to, std::int64_t rows,
                   std::int64_t count) {
  switch (bytes) {
    case 1:
      return move_elements<std::uint8_t>(in, from, out, to, rows, count);
    case 2:
      return move_elements<std::uint16_t>(in, from, out, to, rows, count);
    case 4:
      return move_elements<std::uint32_t>(in, from, out, to, rows, count);
    default:
      return move_elements<std::uint64_t>(in, from, out, to, rows, count);
  }
}

/// One row.
void move_row(std::int64_t bytes, const char* in, std::int64_t in_step, char* out, std::int64_t out_step,
              std::int64_t count) {
  if (in_step == 1 && out_step == 1) {
    std::memcpy(out, in, static_cast<std::size_t>(count * bytes));
  } else {
    move_elements(bytes, in, {0, in_step}, out, {0, out_step}, 1, count);
  }
}

}  // namespace

MergedAxes::MergedAxes(int nest_rank, const std::int64_t* nest_extents, const std::int64_t* nest_strides) {
  for (int axis = 0; axis < nest_rank; ++axis) {
    if (nest_extents[axis] == 1) continue;
    std::int64_t joined = 0;
    if (rank > 0 && plan::multiply(nest_extents[axis], nest_strides[axis], joined) &&
        strides[rank - 1] == joined) {
      extents[rank - 1] *= nest_extents[axis];
      strides[rank - 1] = nest_strides[axis];
    } else {
      extents[rank] = nest_extents[axis];
      strides[rank++] = nest_strides[axis];
    }
  }
  if (rank == 0) {
    extents[0] = strides[0] = 1;
    rank = 1;
  }
}

std::int64_t MergedAxes::period() const {
  if (strides[0] != 0) return 0;
  std::int64_t period = 1;
  for (int axis = 1; axis < rank; ++axis) period *= extents[axis];
  return period;
}

std::int64_t rows_asked_ahead(const MergedAxes& axes, std::int64_t bytes) {
  // The processor reads ahead by itself within a page, and from row to row where these are nearly dense.
  constexpr std::int64_t kLeastBytes = 256 << 10, kMostRow = 2048;
  if (axes.rank < 2 || axes.inner_stride() != 1) return 0;
  const std::int64_t row = axes.inner_extent() * bytes, next = axes.strides[axes.rank - 2] * bytes;
  if (row < kLineBytes || row >= kMostRow || (next >= row && next < row + kLineBytes)) return 0;
  std::int64_t rows = 1;
  for (int axis = 0; axis + 1 < axes.rank; ++axis) {
    if (axes.strides[axis] == 0) return 0;
    rows *= axes.extents[axis];
  }
  return rows * row < kLeastBytes ? 0 : rows_ahead(row);
}

void OperandCursor::move_rows(const char* in, Pitches from, char* out, Pitches to, std::int64_t rows) const {
  if (move_rows_ != nullptr)
    return move_rows_(in, {from.row * bytes_}, out, {to.row * bytes_}, rows, row_bytes());
  move_elements(bytes_, in, from, out, to, rows, inner_extent_);
}

void OperandCursor::gather(char* out, std::int64_t count) {
  each_part(
      count,
      [&](std::int64_t offset, std::int64_t part) {
        move_row(bytes_, data_ + offset, step(), out, 1, part);
        out += part * bytes_;
      },
      [&](std::int64_t offset, std::int64_t rows) {
        move_rows(data_ + offset, pitches(), out, packed(), rows);
        out += rows * row_bytes();
      });
}

void OutputCursor::scatter(const char* in, std::int64_t count) {
  each_part(
      count,
      [&](std::int64_t offset, std::int64_t part) {
        move_row(bytes(), in, 1, data_ + offset, step(), part);
        in += part * bytes();
      },
      [&](std::int64_t offset, std::int64_t rows) {
        move_rows(in, packed(), data_ + offset, pitches(), rows);
        in += rows * row_bytes();
      });
}

}  // namespace relayout::native
