// Element-wise operations: the output's elements in the order of the nest, in pieces that stay in the
// first-level cache. Of a piece, operands become rows of the numbers that are computed with, each step makes
// of them another row, and the last row becomes elements of the output. What lies in memory as it is needed
// is computed there, without a copy.
#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "host/cpu/elementwise/elementwise_convert.hpp"
#include "host/cpu/elementwise/elementwise_operand.hpp"
#include "host/cpu/elementwise/elementwise_rows.hpp"
#include "host/cpu/elementwise/elementwise_transposed.hpp"
#include "host/cpu/native_table.hpp"
#include "host/cpu/parallel.hpp"
#include "host/cpu/prefetch.hpp"
#include "host/cpu/streaming.hpp"

namespace relayout::native {
namespace {

/// A piece is so many bytes of numbers, and up to the end of a line of the output where that is streamed.
constexpr std::int64_t kPieceBytes = 4096;
constexpr std::int64_t kMaxPieceBytes = 4 * kPiece;
/// Where the output has more bytes, operands and output are taken as lying in memory, not in the caches near
/// a core: what comes next is asked for, and a piece is no more than kFarPieceBytes of the output, since it
/// leaves the memory idle in one direction while it goes in the other.
constexpr std::int64_t kFarBytes = std::int64_t{4} << 20, kFarPieceBytes = 2048;
/// Axes of fewer elements have no pieces of their own: a piece goes over several of their rows.
constexpr std::int64_t kShortestPiece = 256;

/// The most that is kept of an operand: a part of a server core's second-level cache of 1 or 2 MiB.
constexpr std::int64_t kKeptBytes = 512 << 10;
/// Periods longer than a piece are kept where they come so often in each thread's share: one thread gathers
/// them for all.
constexpr std::int64_t kFewestPeriods = 4;

/// An operand in memory, for all threads.
struct Source {
  const char* data;
  std::int64_t bytes;
  MergedAxes axes;
  RowReader reader;
  /// 0, or the operand's elements come again after so many and their numbers are kept: a period and a piece,
  /// so that a piece that begins anywhere in the period is a part of them.
  std::int64_t period;
  const char* repeated = nullptr;

  Source(const ElementwiseParams& p, const TensorOperand& operand)
      : data(static_cast<const char*>(operand.data)),
        bytes(static_cast<std::int64_t>(size_of(operand.type))),
        axes(p, operand.strides),
        reader(operand, p),
        period(axes.period()) {
    const std::int64_t number = bytes_of(p.compute), piece = kMaxPieceBytes / number;
    if (period > piece && !pays(p.elements, number)) period = 0;
    if (period == 0) return;
    char elements[kPiece * kMaxElementBytes];
    OperandCursor cursor(axes, bytes, 0);
    const std::int64_t count = std::min(p.elements, period + piece);
    kept_.resize(static_cast<std::size_t>(count * number + kLineBytes));
    char* const numbers = kept_.data() + bytes_to_line(kept_.data());
    repeated = numbers;
    for (std::int64_t at = 0; at < count; at += piece) {
      const std::int64_t part = std::min(piece, count - at);
      cursor.gather(data, elements, part);
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
  SourceRows(const Source& source, std::int64_t number_bytes, std::int64_t first, bool far, Buffers& buffers)
      : source_(source),
        buffers_(buffers),
        far_(far),
        number_bytes_(number_bytes),
        phase_(source.period != 0 ? first % source.period : 0),
        cursor_(source.axes, source.bytes, first) {}

  std::int64_t piece(std::int64_t count) const {
    return source_.period != 0 ? count : cursor_.piece(count, kShortestPiece);
  }
  /// The next `count` numbers, moving on.
  const char* next(std::int64_t count) {
    if (source_.period != 0) {
      const char* const numbers = source_.repeated + phase_ * number_bytes_;
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
    cursor_.gather(source_.data, elements, count);
    if (!source_.reader.direct()) source_.reader.read(elements, buffers_.numbers, count);
    return buffers_.numbers;
  }

 private:
  const Source& source_;
  Buffers& buffers_;
  bool far_;
  std::int64_t number_bytes_, phase_;
  OperandCursor cursor_;
  /// The buffer of numbers holds so many times the element there.
  const char* repeated_ = nullptr;
  std::int64_t repeats_ = 0;
};

class Elementwise {
 public:
  explicit Elementwise(const ElementwiseParams& p)
      : p_(p),
        number_bytes_(bytes_of(p.compute)),
        out_bytes_(static_cast<std::int64_t>(size_of(p.out_type))),
        out_axes_(p, p.out_strides),
        writer_(p),
        rounder_(p),
        far_(p.elements * out_bytes_ > kFarBytes),
        streamed_(out_axes_.inner_stride() == 1 && out_axes_.inner_extent() >= kPiece &&
                  p.elements * out_bytes_ > kStreamedBytes) {
    for (int i = 0; i < p.tensors; ++i) {
      sources_[i].emplace(p, p.tensor[i]);
      // The lines are in the cache when they are written.
      if (p.tensor[i].data == p.out) streamed_ = false;
    }
    int arguments = 1;
    for (int i = 0; i < p.steps; ++i) {
      rows_[i] = elementwise_row(p.step[i].operation, p);
      arguments += p.step[i].operands - 1;
    }
    for (int k = 0; k < arguments; ++k) {
      if (p.argument[k].tensor < 0) fill(constants_[k], p.argument[k].bits);
    }
  }

  void run() const {
    parallel_ranges(p_.elements, p_.elements, [this](std::int64_t begin, std::int64_t end) {
      SourceRows::Buffers buffers[kMaxTensors];
      std::optional<SourceRows> sources[kMaxTensors];
      for (int i = 0; i < p_.tensors; ++i)
        sources[i].emplace(*sources_[i], number_bytes_, begin, far_, buffers[i]);
      OperandCursor out(out_axes_, out_bytes_, begin);
      for (std::int64_t at = begin, count = 0; at < end; at += count) {
        count = kPieceBytes / number_bytes_;
        if (far_) count = std::min(count, kFarPieceBytes / out_bytes_);
        if (streamed_) count += elements_to_line(out.offset() + count * out_bytes_);
        count = out.piece(std::min(count, end - at), kShortestPiece);
        for (int i = 0; i < p_.tensors; ++i) count = sources[i]->piece(count);
        const char* numbers[kMaxTensors];
        for (int i = 0; i < p_.tensors; ++i) numbers[i] = sources[i]->next(count);
        piece(numbers, out, count);
      }
      if (streamed_) finish_streams();
    });
  }

 private:
  void fill(char* row, std::uint64_t bits) {
    const std::int64_t count = std::min(p_.elements, kMaxPieceBytes / number_bytes_);
    if (number_bytes_ == 4) {
      auto* const words = reinterpret_cast<std::uint32_t*>(row);
      std::fill(words, words + count, static_cast<std::uint32_t>(bits));
      rounder_.flush(row, count);
    } else {
      auto* const words = reinterpret_cast<std::uint64_t*>(row);
      std::fill(words, words + count, bits);
    }
  }

  std::int64_t elements_to_line(std::int64_t offset) const {
    return bytes_to_line(static_cast<const char*>(p_.out) + offset) / out_bytes_;
  }

  void piece(const char* const* numbers, OperandCursor& out, std::int64_t count) const {
    alignas(kLineBytes) char results[kMaxPieceBytes], elements[kPiece * kMaxElementBytes];
    char* const at = static_cast<char*>(p_.out) + out.offset();
    const bool run = out.is_run(count), straight = run && !streamed_;
    if (straight && far_) ask_ahead(at, count * out_bytes_, out.left() * out_bytes_);
    char* last = straight && writer_.direct() ? at : results;
    for (int i = 0, argument = 0; i < p_.steps; ++i) {
      const char* operands[3] = {results, results, results};
      for (int k = i > 0 ? 1 : 0; k < p_.step[i].operands; ++k, ++argument) {
        const int tensor = p_.argument[argument].tensor;
        operands[k] = tensor >= 0 ? numbers[tensor] : constants_[argument];
      }
      const bool is_last = i + 1 == p_.steps;
      char* const result = is_last ? last : results;
      rows_[i](operands[0], operands[1], operands[2], result, count, p_);
      rounder_.round(p_.step[i].operation, result, count, is_last);
    }
    if (!writer_.direct()) {
      last = straight ? at : elements;
      writer_.write(results, last, count);
    }
    if (!run) return out.scatter(last, static_cast<char*>(p_.out), count);
    if (streamed_) stream_row(at, last, count * out_bytes_);
    out.advance(count);
  }

  const ElementwiseParams& p_;
  std::int64_t number_bytes_, out_bytes_;
  MergedAxes out_axes_;
  RowWriter writer_;
  ResultRounder rounder_;
  bool far_, streamed_;
  ElementwiseRow rows_[kMaxSteps] = {};
  std::optional<Source> sources_[kMaxTensors];
  alignas(kLineBytes) char constants_[kMaxArguments][kMaxPieceBytes];
};

}  // namespace

void elementwise_pieces(const ElementwiseParams& params) { Elementwise(params).run(); }

void elementwise(const LaunchContext&, const ElementwiseParams& params) {
  if (params.elements == 0) return;
  const TransposedOperands transposed(params);
  transposed.any() ? transposed.run() : elementwise_pieces(params);
}

}  // namespace relayout::native
