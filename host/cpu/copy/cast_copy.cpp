#include "host/cpu/copy/cast_copy.hpp"

#include <algorithm>

#include "host/cpu/convert.hpp"
#include "host/cpu/copy/cast_rows.hpp"
#include "host/cpu/copy/micro_transpose.hpp"
#include "host/cpu/copy/own_axes.hpp"
#include "host/cpu/parallel.hpp"
#include "host/cpu/strided_loop.hpp"

namespace relayout::native {
namespace {

/// How many elements of a row are converted at a time, and the sides of a square where the two sides have
/// different fastest axes. The lines of both sides stay in the first-level cache until they are used up.
constexpr std::int64_t kPiece = 1024, kSquare = 64;
constexpr std::int64_t kMaxBytes = 8;

void move_strided(std::int64_t bytes, const char* in, std::int64_t in_step, char* out, std::int64_t out_step,
                  std::int64_t count) {
  const auto move = [&](auto zero) {
    using T = decltype(zero);
    convert_strided(reinterpret_cast<const T*>(in), in_step, reinterpret_cast<T*>(out), out_step, count);
  };
  switch (bytes) {
    case 1:
      return move(std::uint8_t{});
    case 2:
      return move(std::uint16_t{});
    case 4:
      return move(std::uint32_t{});
    default:
      return move(std::uint64_t{});
  }
}

class CastCopy {
 public:
  explicit CastCopy(const CopyParams& p)
      : p_(p),
        in_bytes_(static_cast<std::int64_t>(size_of(p.in_type))),
        out_bytes_(static_cast<std::int64_t>(size_of(p.out_type))),
        convert_(cast_row(p.in_type, p.out_type, p.cast)),
        transpose_(transpose_block(out_bytes_)) {}

  void run() const {
    if (p_.in_rank > 0) {
      return for_each_common_run(p_, [this](const CommonRun& run) {
        row(in_at(run.in), run.in_step, out_at(run.out), run.out_step, run.count);
      });
    }
    if (p_.rank == 0) return row(in_at(0), 1, out_at(0), 1, 1);
    const int last = p_.rank - 1, fast = p_.in_axis;
    const std::int64_t side = fast == last ? kPiece : kSquare;
    StridedLoop boxes;
    for (int axis = 0; axis < p_.rank; ++axis) {
      const std::int64_t step = axis == last || axis == fast ? side : 1;
      boxes.push_boxes(p_.extents[axis], step, p_.in_strides[axis], p_.out_strides[axis]);
    }
    parallel_ranges(boxes.total(), p_.elements, [&](std::int64_t begin, std::int64_t end) {
      Cursor cursor(boxes, begin);
      for (std::int64_t i = begin; i < end; ++i, cursor.next()) {
        const auto left = [&](int axis) {
          return std::min(side, p_.extents[axis] - cursor.index(axis) * side);
        };
        if (fast == last) {
          row(in_at(cursor.a()), p_.in_strides[last], out_at(cursor.b()), p_.out_strides[last], left(last));
        } else {
          square(cursor.a(), cursor.b(), left(fast), left(last));
        }
      }
    });
  }

 private:
  const char* in_at(std::int64_t element) const {
    return static_cast<const char*>(p_.in) + element * in_bytes_;
  }
  char* out_at(std::int64_t element) const { return static_cast<char*>(p_.out) + element * out_bytes_; }

  void row(const char* in, std::int64_t in_step, char* out, std::int64_t out_step, std::int64_t count) const {
    alignas(8) char read[kPiece * kMaxBytes], written[kPiece * kMaxBytes];
    for (std::int64_t i = 0; i < count; i += kPiece) {
      const std::int64_t part = std::min(kPiece, count - i);
      const char* from = in + i * in_step * in_bytes_;
      char* to = out + i * out_step * out_bytes_;
      if (in_step != 1) {
        move_strided(in_bytes_, from, in_step, read, 1, part);
        from = read;
      }
      convert_(p_.cast, from, out_step == 1 ? to : written, part);
      if (out_step != 1) move_strided(out_bytes_, written, 1, to, out_step, part);
    }
  }

  template <int kWrite>
  static void ask_for(const char* line, std::int64_t step, std::int64_t lines, std::int64_t bytes) {
    for (std::int64_t i = 0; i < lines; ++i, line += step) {
      for (std::int64_t at = 0; at < bytes; at += kLineBytes) __builtin_prefetch(line + at, kWrite);
    }
  }

  /// Converts rows along the output's fastest axis, for `rows` indices of the input's.
  void square(std::int64_t in, std::int64_t out, std::int64_t rows, std::int64_t columns) const {
    const int last = p_.rank - 1, fast = p_.in_axis;
    alignas(64) char lines[kSquare * kSquare * kMaxBytes], transposed[kSquare * kSquare * kMaxBytes];
    const std::int64_t pitch = kSquare * out_bytes_;
    // All lines of both sides are walked at once: the processor's prefetcher sees each as a stream.
    if (p_.in_strides[fast] == 1)
      ask_for<0>(in_at(in), p_.in_strides[last] * in_bytes_, columns, rows * in_bytes_);
    if (p_.out_strides[last] == 1)
      ask_for<1>(out_at(out), p_.out_strides[fast] * out_bytes_, rows, columns * out_bytes_);
    for (std::int64_t j = 0; j < columns; ++j)
      row(in_at(in + j * p_.in_strides[last]), p_.in_strides[fast], lines + j * pitch, 1, rows);
    transpose_({lines, pitch}, {transposed, pitch}, rows, columns);
    for (std::int64_t i = 0; i < rows; ++i)
      move_strided(out_bytes_, transposed + i * pitch, 1, out_at(out + i * p_.out_strides[fast]),
                   p_.out_strides[last], columns);
  }

  const CopyParams& p_;
  std::int64_t in_bytes_, out_bytes_;
  CastRow convert_;
  TransposeBlock transpose_;
};

}  // namespace

void cast_copy(const CopyParams& params) { CastCopy(params).run(); }

}  // namespace relayout::native
