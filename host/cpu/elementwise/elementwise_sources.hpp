// The operands of an element-wise operation on the processor: a piece of each as a row of numbers. Operands
// that lie in memory as they are needed are read there, without a copy.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/bytes.hpp"
#include "host/cpu/elementwise/elementwise_convert.hpp"
#include "host/cpu/elementwise/elementwise_operand.hpp"
#include "host/cpu/parallel.hpp"
#include "host/cpu/prefetch.hpp"
#include "host/cpu/streaming.hpp"

namespace relayout::native {

/// A piece is so many bytes of numbers, and up to the end of a line of the output where that is streamed.
constexpr std::int64_t kPieceBytes = 4096;
constexpr std::int64_t kMaxPieceBytes = 4 * kPiece;
/// Axes of fewer elements have no pieces of their own: a piece goes over several of their rows.
constexpr std::int64_t kShortestPiece = 256;

/// The most that is kept of an operand: a part of a server core's second-level cache of 1 or 2 MiB.
constexpr std::int64_t kKeptBytes = 512 << 10;
/// Periods longer than a piece are kept where they come so often in each thread's share: one thread gathers
/// them for all.
constexpr std::int64_t kFewestPeriods = 4;

/// The elements of a piece: those of kPieceBytes of numbers, but no more long elements than the buffers hold
/// from which numbers of 8 bits are made.
inline std::int64_t elements_of_a_piece(const ElementwiseParams& p) {
  const bool has_long = std::any_of(p.tensor, p.tensor + p.tensors,
                                    [](const TensorOperand& tensor) { return tensor.bytes > 2; });
  return kPieceBytes / std::max<std::int64_t>(number_bytes(p), has_long ? 4 : 1);
}
/// The same and up to the end of the output's line.
inline std::int64_t most_elements(const ElementwiseParams& p) { return elements_of_a_piece(p) + kLineBytes; }

/// Codes, and tensors that are no argument: scales and zero points.
inline bool is_of_codes(const ElementwiseParams& p, const TensorOperand& operand) {
  if (operand.reading == Reading::codes) return true;
  return std::none_of(p.argument, p.argument + p.arguments,
                      [&](const Argument& a) { return a.tensor >= 0 && &p.tensor[a.tensor] == &operand; });
}

/// An operand in memory, for all threads.
struct Source {
  const char* data;
  std::int64_t bytes;
  MergedAxes axes;
  RowReader reader;
  std::int64_t number_bytes;  // of what is read: numbers, or the codes, scales and zero points themselves
  /// 0, or the operand's elements come again after so many and their numbers are kept: a period and a piece,
  /// so that a piece that begins anywhere in the period is a part of them.
  std::int64_t period;
  const char* repeated = nullptr;

  Source(const ElementwiseParams& p, const TensorOperand& operand)
      : data(static_cast<const char*>(operand.data)),
        bytes(bytes_of(operand.type)),
        axes(p, operand.strides),
        reader(operand, p, is_of_codes(p, operand)),
        number_bytes(reader.number_bytes()),
        period(axes.period()) {
    const std::int64_t number = number_bytes, piece = most_elements(p);
    if (period > piece && !pays(p.elements, number)) period = 0;
    if (period == 0) return;
    char elements[kPiece * kMaxElementBytes];
    OperandCursor cursor(axes, data, bytes, 0);
    const std::int64_t count = std::min(p.elements, period + piece);
    kept_.resize(static_cast<std::size_t>(count * number + kLineBytes));
    char* const numbers = kept_.data() + bytes_to_line(kept_.data());
    repeated = numbers;
    for (std::int64_t at = 0; at < count; at += piece) {
      const std::int64_t part = std::min(piece, count - at);
      cursor.gather(elements, part);
      reader.read(elements, numbers + at * number, part);
    }
  }

 private:
  /// Whether to keep a period of several pieces, which would else be gathered from short or strided rows.
  bool pays(std::int64_t count, std::int64_t number) const {
    const bool rows =
        axes.inner_extent() >= kShortestPiece && axes.inner_stride() <= 1 && axes.inner_stride() >= 0;
    return !rows && period <= kKeptBytes / number &&
           period <= count / (kFewestPeriods * threads_for(count, count));
  }

  std::vector<char> kept_;
};

/// A thread's place in a source.
class SourceRows {
 public:
  struct Buffers {
    alignas(kLineBytes) char numbers[kMaxPieceBytes];
    alignas(kLineBytes) char elements[kPiece * kMaxElementBytes];
  };

  /// `far`: what comes next is asked for.
  SourceRows(const Source& source, std::int64_t first, bool far, Buffers& buffers)
      : source_(source),
        buffers_(buffers),
        far_(far),
        phase_(source.period != 0 ? first % source.period : 0),
        cursor_(source.axes, source.data, source.bytes, first) {}

  std::int64_t piece(std::int64_t count) const {
    return source_.period != 0 ? count : cursor_.piece(count, kShortestPiece);
  }
  /// The next `count` numbers, moving on.
  const char* next(std::int64_t count) {
    if (source_.period != 0) {
      const char* const numbers = source_.repeated + phase_ * source_.number_bytes;
      phase_ = (phase_ + count) % source_.period;
      return numbers;
    }
    const char* const at = source_.data + cursor_.offset();
    if (cursor_.is_run(count)) {
      if (far_) ask_ahead(at, count * source_.bytes, cursor_.left() * source_.bytes);
      cursor_.advance(count);
      if (source_.reader.direct()) return at;
      source_.reader.read(at, buffers_.numbers, count);
      return buffers_.numbers;
    }
    if (cursor_.is_repeated(count)) {
      if (at == repeated_ && count <= repeats_) {
        cursor_.advance(count);
        return buffers_.numbers;
      }
      repeated_ = at;
      repeats_ = count;
    } else {
      repeated_ = nullptr;
    }
    char* const elements = source_.reader.direct() ? buffers_.numbers : buffers_.elements;
    cursor_.gather(elements, count);
    if (!source_.reader.direct()) source_.reader.read(elements, buffers_.numbers, count);
    return buffers_.numbers;
  }

 private:
  const Source& source_;
  Buffers& buffers_;
  bool far_;
  std::int64_t phase_;
  OperandCursor cursor_;
  /// The buffer of numbers holds so many times the element there.
  const char* repeated_ = nullptr;
  std::int64_t repeats_ = 0;
};

}  // namespace relayout::native
