// Element-wise operations: the output's elements in the order of the nest, in pieces that stay in the
// first-level cache. The operands of a piece become rows of the numbers that are computed with, each step
// makes another row of them, and the last row becomes elements of the output. Operands that lie in memory as
// they are needed are read there, without a copy. Codes, scales and zero points are rows of their own types.
#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "core/bytes.hpp"
#include "host/cpu/elementwise/elementwise_codes.hpp"
#include "host/cpu/elementwise/elementwise_constant.hpp"
#include "host/cpu/elementwise/elementwise_convert.hpp"
#include "host/cpu/elementwise/elementwise_order.hpp"
#include "host/cpu/elementwise/elementwise_rows.hpp"
#include "host/cpu/elementwise/elementwise_sources.hpp"
#include "host/cpu/elementwise/packed_boxes.hpp"
#include "host/cpu/native_table.hpp"
#include "host/cpu/parallel.hpp"
#include "host/cpu/prefetch.hpp"
#include "host/cpu/scratch.hpp"
#include "host/cpu/streaming.hpp"

namespace relayout::native {
namespace {

/// Where the output has more bytes, operands and output are taken as lying in memory, not in the caches near
/// a core: what comes next is asked for, and a piece is no more than kFarPieceBytes of the output and of
/// numbers, since it leaves the memory idle in one direction while it goes in the other.
constexpr std::int64_t kFarBytes = std::int64_t{4} << 20, kFarPieceBytes = 2048;

/// Scales and zero points of codes: rows of a tensor, or of one number.
class CodeRows {
 public:
  CodeRows(const CodeNumbers& numbers, std::int64_t count) : numbers_(numbers) {
    const auto size = static_cast<std::size_t>(count);
    if (numbers.scale_tensor < 0) scales_.assign(size, numbers.scale);
    if (numbers.zero_tensor < 0) zeros_.assign(size, static_cast<unsigned char>(numbers.zero));
  }

  bool is_signed() const { return numbers_.is_signed; }
  const float* scales(const char* const* rows) const {
    if (numbers_.scale_tensor < 0) return scales_.data();
    return reinterpret_cast<const float*>(rows[numbers_.scale_tensor]);
  }
  const void* zeros(const char* const* rows) const {
    return numbers_.zero_tensor < 0 ? static_cast<const void*>(zeros_.data()) : rows[numbers_.zero_tensor];
  }

 private:
  CodeNumbers numbers_;
  std::vector<float> scales_;
  std::vector<unsigned char> zeros_;
};

class Elementwise {
 public:
  explicit Elementwise(const ElementwiseParams& p)
      : p_(p),
        number_bytes_(native::number_bytes(p)),
        piece_(elements_of_a_piece(p)),
        out_bytes_(bytes_of(p.out_type)),
        out_axes_(p, p.out_strides),
        writer_(p),
        rounder_(p),
        far_(p.elements * out_bytes_ > kFarBytes),
        streamed_(out_axes_.inner_stride() == 1 && out_axes_.inner_extent() >= kPiece &&
                  p.elements * out_bytes_ > kStreamedBytes),
        compares_(is_compared(p)),
        constants_(static_cast<std::size_t>(p.arguments * kMaxPieceBytes)) {
    for (int i = 0; i < p.tensors; ++i) {
      sources_[i].emplace(p, p.tensor[i]);
      // The lines are in the cache when they are written.
      if (p.tensor[i].data == p.out) streamed_ = false;
    }
    for (int i = 0; i < p.steps; ++i) {
      const bool compares = compares_ && i + 1 == p.steps;
      rows_[i] = (compares ? comparison_row : elementwise_row)(p.step[i].operation, p);
    }
    for (int k = 0; k < p.arguments; ++k) {
      if (p.argument[k].tensor < 0) fill(constants(k), p.argument[k].bits());
    }
    const std::int64_t count = std::min(p.elements, most_elements(p));
    for (int i = 0; i < p.tensors; ++i) {
      if (p.tensor[i].reading == Reading::codes) codes_[i].emplace(p.codes[i], count);
    }
    if (p.out_coded) out_codes_.emplace(p.out_codes, count);
  }

  void run() const {
    parallel_ranges_in<Room>(
        p_.elements, p_.elements, [this](std::int64_t begin, std::int64_t end, Room& room) {
          std::optional<SourceRows> sources[kMaxTensors];
          for (int i = 0; i < p_.tensors; ++i) sources[i].emplace(*sources_[i], begin, far_, room.sources[i]);
          OutputCursor out(out_axes_, p_.out, out_bytes_, begin);
          for (std::int64_t at = begin, count = 0; at < end; at += count) {
            count = piece_;
            if (far_) count = std::min(count, kFarPieceBytes / std::max(out_bytes_, number_bytes_));
            if (streamed_) count += elements_to_line(out.offset() + count * out_bytes_);
            count = out.piece(std::min(count, end - at), kShortestPiece);
            for (int i = 0; i < p_.tensors; ++i) count = sources[i]->piece(count);
            const char* rows[kMaxTensors];
            for (int i = 0; i < p_.tensors; ++i) rows[i] = sources[i]->next(count);
            piece(rows, out, count, room);
          }
          if (streamed_) finish_streams();
        });
  }

 private:
  /// A thread's buffers.
  struct Room {
    SourceRows::Buffers sources[kMaxTensors];
    alignas(kLineBytes) char results[kMaxPieceBytes], elements[kPiece * kMaxElementBytes];
    alignas(kLineBytes) char decoded[3][kMaxPieceBytes];
  };

  char* constants(int argument) const { return constants_.data() + argument * kMaxPieceBytes; }

  void fill(char* row, std::uint64_t bits) {
    switch (number_bytes_) {
      case 1:
        return fill_with(row, static_cast<std::uint8_t>(bits));
      case 2:
        return fill_with(row, short_bits(bits));
      case 4:
        return fill_with(row, static_cast<std::uint32_t>(bits));
      default:
        return fill_with(row, bits);
    }
  }
  /// A constant of 16 bits: f16 and bf16 are constants in f32, which they hold.
  std::uint16_t short_bits(std::uint64_t bits) const {
    const float number = detail::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (p_.common == DType::f16) return to_f16(number).bits;
    return p_.common == DType::bf16 ? to_bf16(number).bits : static_cast<std::uint16_t>(bits);
  }
  template <class Number>
  void fill_with(char* row, Number bits) {
    const std::int64_t count = std::min(p_.elements, most_elements(p_));
    auto* const numbers = reinterpret_cast<Number*>(row);
    std::fill(numbers, numbers + count, bits);
    rounder_.flush(row, count);
  }

  std::int64_t elements_to_line(std::int64_t offset) const {
    return bytes_to_line(static_cast<const char*>(p_.out) + offset) / out_bytes_;
  }

  /// The numbers that an argument is: a row, one that codes stand for (in `decoded`), or a constant.
  const char* argument_row(int argument, const char* const* rows, char* decoded, std::int64_t count) const {
    const int tensor = p_.argument[argument].tensor;
    if (tensor < 0) return constants(argument);
    if (!codes_[tensor]) return rows[tensor];
    const CodeRows& codes = *codes_[tensor];
    dequantize_row(codes.is_signed(), rows[tensor], codes.zeros(rows), codes.scales(rows),
                   reinterpret_cast<float*>(decoded), count);
    rounder_.flush(decoded, count);
    return decoded;
  }

  void piece(const char* const* rows, OutputCursor& out, std::int64_t count, Room& room) const {
    char *const results = room.results, *const elements = room.elements;
    char* const at = out.at();
    const bool run = out.is_run(count), straight = run && !streamed_;
    if (straight && far_) ask_ahead(at, count * out_bytes_, out.left() * out_bytes_);
    const bool direct = compares_ || (writer_.direct() && !p_.out_coded);
    char* last = !direct ? results : straight ? at : elements;
    // Without a step, codes become numbers where those are wanted, or numbers codes.
    const char* computed = p_.steps == 0 ? argument_row(0, rows, last, count) : results;
    for (int i = 0, argument = 0; i < p_.steps; ++i) {
      const char* operands[3] = {results, results, results};
      for (int k = 0; k < p_.step[i].operands; ++k) {
        if (i > 0 && k == p_.step[i].running) continue;
        operands[k] = argument_row(argument++, rows, room.decoded[k], count);
      }
      const bool is_last = i + 1 == p_.steps;
      char* const result = is_last ? last : results;
      rows_[i](operands[0], operands[1], operands[2], result, count, p_);
      if (!is_last || !compares_) rounder_.round(p_.step[i].operation, result, count, is_last);
    }
    if (!direct) {
      last = straight ? at : elements;
      if (out_codes_) {
        quantize_row(out_codes_->is_signed(), reinterpret_cast<const float*>(computed),
                     out_codes_->zeros(rows), out_codes_->scales(rows), last, count);
      } else {
        writer_.write(computed, last, count);
      }
    }
    if (!run) return out.scatter(last, count);
    if (streamed_) stream_row(at, last, count * out_bytes_);
    out.advance(count);
  }

  const ElementwiseParams& p_;
  std::int64_t number_bytes_, piece_, out_bytes_;
  MergedAxes out_axes_;
  RowWriter writer_;
  ResultRounder rounder_;
  bool far_, streamed_, compares_;  // compares_: the last row makes the output's bools
  ElementwiseRow rows_[kMaxSteps] = {};
  std::optional<Source> sources_[kMaxTensors];
  std::optional<CodeRows> codes_[kMaxTensors], out_codes_;
  Scratch constants_;  // a row for each argument
};

}  // namespace

void elementwise_pieces(const ElementwiseParams& params) { Elementwise(params).run(); }

void elementwise(const LaunchContext&, const ElementwiseParams& params) {
  if (params.elements == 0) return;
  // One piece is computed as it is: another call would take longer.
  if (params.tensors == 0 && params.elements > kPiece) return constant_elementwise(params);
  const std::optional<ElementwiseParams> better = in_better_order(params);
  const ElementwiseParams& ordered = better ? *better : params;
  const PackedBoxes boxes(ordered);
  boxes.any() ? boxes.run() : elementwise_pieces(ordered);
}

}  // namespace relayout::native
