// Rows of elements that are moved as they are: short ones by a few words of one size, instead of a call of
// memcpy for each, and strided ones by loops that know the stride.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "host/cpu/copy/offset_table.hpp"
#include "host/cpu/streaming.hpp"
#include "host/cpu/vectorised.hpp"

namespace relayout::native {

/// Moves kWord to 2 * kWord bytes, or any number from 16 on where kWord is 16. The last word may
/// overlap the one before.
template <int kWord>
inline void move_row(const char* in, char* out, std::int64_t bytes) noexcept {
  struct Word {
    char data[kWord];
  };
  const auto move_two = [&](std::int64_t at, std::int64_t next) {
    Word first, second;
    std::memcpy(&first, in + at, kWord);
    std::memcpy(&second, in + next, kWord);
    std::memcpy(out + at, &first, kWord);
    std::memcpy(out + next, &second, kWord);
  };
  if constexpr (kWord == 16) {
    std::int64_t at = 0;
    for (; at + 2 * kWord <= bytes; at += 2 * kWord) move_two(at, at + kWord);
    if (at == bytes) return;
    if (at > 0) return move_two(bytes - 2 * kWord, bytes - kWord);
  }
  move_two(0, bytes - kWord);
}

/// Calls visit(std::integral_constant) with the kWord for rows of so many bytes, at least one.
template <class Visit>
void visit_word(std::int64_t bytes, const Visit& visit) {
  if (bytes >= 16) return visit(std::integral_constant<int, 16>());
  if (bytes >= 8) return visit(std::integral_constant<int, 8>());
  if (bytes >= 4) return visit(std::integral_constant<int, 4>());
  if (bytes >= 2) return visit(std::integral_constant<int, 2>());
  visit(std::integral_constant<int, 1>());
}

/// Where rows begin that lie `pitch` elements apart.
struct PitchedRows {
  std::int64_t pitch;
  std::int64_t operator[](std::int64_t i) const { return i * pitch; }
};

/// Moves rows of `bytes` bytes, which begin in[i] and out[i] elements on.
template <class T, int kWord, class InRows, class OutRows>
void move_rows_between(const T* from, InRows in, T* to, OutRows out, std::int64_t count, std::int64_t bytes) {
  for (std::int64_t i = 0; i < count; ++i)
    move_row<kWord>(reinterpret_cast<const char*>(from + in[i]), reinterpret_cast<char*>(to + out[i]), bytes);
}

/// Calls visit with the function above for rows of `row` elements: a function of its own, whose variables
/// stay in registers while bytes are written that may be anything's.
template <class T, class InRows, class OutRows, class Visit>
void visit_mover(std::int64_t row, const Visit& visit) {
  visit_word(row * static_cast<std::int64_t>(sizeof(T)), [&](auto word) {
    visit(vectorised<move_rows_between<T, decltype(word)::value, InRows, OutRows>>());
  });
}

/// Moves the rows of `row` elements that begin where the tables say, which are for boxes of the same sides.
template <class T>
void move_rows(const OffsetTable& in_table, const T* in, const OffsetTable& out_table, T* out,
               std::int64_t row) {
  const std::int64_t bytes = row * static_cast<std::int64_t>(sizeof(T));
  visit_mover<T, const std::int64_t*, const std::int64_t*>(row, [&](auto move) {
    for_each_piece(in_table, out_table, [&](OffsetPiece from, OffsetPiece to) {
      move(in + from.first, from.offsets, out + to.first, to.offsets, from.count, bytes);
    });
  });
}

/// buffer[0, ...) = the rows of `row` elements that begin where the table says.
template <class T>
void gather_rows(const OffsetTable& table, const T* in, T* buffer, std::int64_t row) {
  const std::int64_t bytes = row * static_cast<std::int64_t>(sizeof(T));
  visit_mover<T, const std::int64_t*, PitchedRows>(row, [&](auto move) {
    for_each_piece(table, table, [&](OffsetPiece from, OffsetPiece) {
      move(in + from.first, from.offsets, buffer, PitchedRows{row}, from.count, bytes);
      buffer += from.count * row;
    });
  });
}

/// The rows of `row` elements that begin where the table says = buffer[0, ...).
template <class T>
void scatter_rows(const OffsetTable& table, const T* buffer, T* out, std::int64_t row) {
  const std::int64_t bytes = row * static_cast<std::int64_t>(sizeof(T));
  visit_mover<T, PitchedRows, const std::int64_t*>(row, [&](auto move) {
    for_each_piece(table, table, [&](OffsetPiece to, OffsetPiece) {
      move(buffer, PitchedRows{row}, out + to.first, to.offsets, to.count, bytes);
      buffer += to.count * row;
    });
  });
}

/// out[i] = in[i * kStep] for i < count.
template <class T, int kStep>
void gather_steps(const T* __restrict in, T* __restrict out, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = in[i * kStep];
}

/// Whether a stride is so small that a vector is made of few: StridedRow has a loop for it.
constexpr bool is_short_step(std::int64_t step) { return step == -1 || (step >= 2 && step <= 4); }

/// Copies rows of any stride to contiguous ones.
template <class T>
class StridedRow {
 public:
  explicit StridedRow(std::int64_t step) : step_(step) {
    switch (step) {
      case -1:
        gather_ = vectorised<gather_steps<T, -1>>();
        break;
      case 2:
        gather_ = vectorised<gather_steps<T, 2>>();
        break;
      case 3:
        gather_ = vectorised<gather_steps<T, 3>>();
        break;
      case 4:
        gather_ = vectorised<gather_steps<T, 4>>();
        break;
      default:
        break;
    }
  }
  /// out[i] = in[i * step] for i < count.
  void operator()(const T* in, T* out, std::int64_t count) const {
    if (gather_ != nullptr) return gather_(in, out, count);
    if (step_ == 1) {
      move_row(out, in, count * static_cast<std::int64_t>(sizeof(T)));
      return;
    }
#pragma GCC unroll 8
    for (std::int64_t i = 0; i < count; ++i) out[i] = in[i * step_];
  }

 private:
  std::int64_t step_;
  void (*gather_)(const T*, T*, std::int64_t) = nullptr;
};

}  // namespace relayout::native
