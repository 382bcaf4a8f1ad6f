// Operations on 8-bit codes: the output's elements in the order of the nest, in pieces that stay in the
// first-level cache. Of a piece, operands become rows of floats, the operation makes of them another row, and
// the last row becomes elements of the output. Every step is rounded once.
#include <algorithm>
#include <cstring>
#include <optional>

#include "core/quantized_params.hpp"
#include "host/cpu/elementwise/elementwise_loops.hpp"
#include "host/cpu/elementwise/elementwise_operand.hpp"
#include "host/cpu/native_table.hpp"
#include "host/cpu/parallel.hpp"

namespace relayout::native {
namespace {

constexpr std::int64_t kPiece = 1024;

template <class Code>
void dequantize_row(const Code* codes, const Code* zeros, const float* scales, float* numbers,
                    std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    numbers[i] = static_cast<float>(static_cast<int>(codes[i]) - static_cast<int>(zeros[i])) * scales[i];
}

/// Clamped before it is rounded, which is the same between bounds that are whole. Adding 1.5 * 2^23 and
/// taking it away rounds to whole numbers, halves to even.
template <class Code>
void quantize_row(const float* numbers, const Code* zeros, const float* scales, Code* codes,
                  std::int64_t count) {
  constexpr float kWhole = 0x1.8p23f;
  constexpr int kLowest = std::is_signed_v<Code> ? -128 : 0, kHighest = kLowest + 255;
  for (std::int64_t i = 0; i < count; ++i) {
    const float units = numbers[i] / scales[i];
    const int zero = zeros[i];
    const float low = static_cast<float>(kLowest - zero), high = static_cast<float>(kHighest - zero);
    const float above = units > low ? units : low, inside = above < high ? above : high;
    const float whole = inside + kWhole - kWhole;
    codes[i] = static_cast<Code>(static_cast<int>(units == units ? whole : 0.0f) + zero);
  }
}

void truth_row(const float* numbers, unsigned char* truths, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) truths[i] = numbers[i] != 0;
}

/// The next elements of a tensor, or a constant, as a row of T. One that is repeated is written once.
template <class T>
class NumberRow {
 public:
  NumberRow(const QuantizedParams& p, int tensor, T constant, std::int64_t first) {
    if (tensor < 0) {
      std::fill(row_, row_ + std::min(p.elements, kPiece), constant);
      return;
    }
    data_ = static_cast<const char*>(p.tensor[tensor].data);
    cursor_.emplace(MergedAxes(p.rank, p.extents, p.tensor[tensor].strides), sizeof(T), first);
  }

  const T* next(std::int64_t count) {
    if (!cursor_) return row_;
    const char* const at = data_ + cursor_->offset();
    if (cursor_->is_run(count)) {
      cursor_->advance(count);
      return reinterpret_cast<const T*>(at);
    }
    const bool repeated = cursor_->is_repeated(count);
    if (repeated && at == repeated_ && count <= repeats_) {
      cursor_->advance(count);
      return row_;
    }
    repeated_ = repeated ? at : nullptr;
    repeats_ = count;
    cursor_->gather(data_, reinterpret_cast<char*>(row_), count);
    return row_;
  }

 private:
  const char *data_ = nullptr, *repeated_ = nullptr;  // the row holds repeats_ times what is there
  std::int64_t repeats_ = 0;
  std::optional<OperandCursor> cursor_;
  T row_[kPiece];
};

/// Scales and zero points of codes, whose type is the zero points', too.
struct CodeRows {
  bool is_signed;
  NumberRow<float> scales;
  NumberRow<unsigned char> zeros;

  CodeRows(const QuantizedParams& p, const CodeNumbers& codes, std::int64_t first)
      : is_signed(codes.is_signed),
        scales(p, codes.scale.tensor, codes.scale.constant, first),
        zeros(p, codes.zero.tensor, static_cast<unsigned char>(codes.zero.constant), first) {}
};

class ArgumentRow {
 public:
  ArgumentRow(const QuantizedParams& p, const QuantizedArgument& argument, std::int64_t first) {
    const auto& value = argument.value;
    if (!argument.coded) {
      floats_.emplace(p, value.tensor, value.constant, first);
      return;
    }
    codes_.emplace(p, value.tensor, static_cast<unsigned char>(0), first);
    numbers_.emplace(p, argument.codes, first);
  }

  const float* next(std::int64_t count) {
    if (floats_) return floats_->next(count);
    const unsigned char *codes = codes_->next(count), *zeros = numbers_->zeros.next(count);
    const float* scales = numbers_->scales.next(count);
    if (numbers_->is_signed) {
      static const auto signed_row = vectorised<dequantize_row<std::int8_t>>();
      signed_row(reinterpret_cast<const std::int8_t*>(codes), reinterpret_cast<const std::int8_t*>(zeros),
                 scales, row_, count);
    } else {
      static const auto unsigned_row = vectorised<dequantize_row<std::uint8_t>>();
      unsigned_row(codes, zeros, scales, row_, count);
    }
    return row_;
  }

 private:
  std::optional<NumberRow<float>> floats_;
  std::optional<NumberRow<unsigned char>> codes_;
  std::optional<CodeRows> numbers_;
  float row_[kPiece];
};

/// Rows of f32 to the output's elements.
class ResultRow {
 public:
  ResultRow(const QuantizedParams& p, std::int64_t first)
      : type_(p.out_type),
        data_(static_cast<char*>(p.out)),
        cursor_(MergedAxes(p.rank, p.extents, p.out_strides), p.out_bytes, first) {
    if (p.out_coded) numbers_.emplace(p, p.out_codes, first);
  }

  void put(const float* numbers, std::int64_t count) {
    char elements[sizeof(float) * kPiece];
    const bool run = cursor_.is_run(count);
    char* const to = run ? data_ + cursor_.offset() : elements;
    convert(numbers, to, count);
    run ? cursor_.advance(count) : cursor_.scatter(elements, data_, count);
  }

 private:
  void convert(const float* numbers, char* to, std::int64_t count) {
    if (!numbers_) {
      if (type_ == DType::bool_) return truth_row(numbers, reinterpret_cast<unsigned char*>(to), count);
      std::memcpy(to, numbers, static_cast<std::size_t>(count) * sizeof(float));
      return;
    }
    const unsigned char* zeros = numbers_->zeros.next(count);
    const float* scales = numbers_->scales.next(count);
    if (numbers_->is_signed) {
      static const auto signed_row = vectorised<quantize_row<std::int8_t>>();
      signed_row(numbers, reinterpret_cast<const std::int8_t*>(zeros), scales,
                 reinterpret_cast<std::int8_t*>(to), count);
    } else {
      static const auto unsigned_row = vectorised<quantize_row<std::uint8_t>>();
      unsigned_row(numbers, zeros, scales, reinterpret_cast<unsigned char*>(to), count);
    }
  }

  DType type_;
  char* data_;
  OperandCursor cursor_;
  std::optional<CodeRows> numbers_;
};

}  // namespace

void quantized(const LaunchContext&, const QuantizedParams& p) {
  const ElementwiseParams in_f32;
  const ElementwiseRow operation = p.converts ? nullptr : elementwise_row(p.operation, in_f32);
  parallel_ranges(p.elements, p.elements, [&](std::int64_t begin, std::int64_t end) {
    std::optional<ArgumentRow> arguments[kMaxQuantizedOperands];
    for (int i = 0; i < p.operands; ++i) arguments[i].emplace(p, p.argument[i], begin);
    ResultRow result(p, begin);
    float numbers[kPiece];
    for (std::int64_t at = begin, count = 0; at < end; at += count) {
      count = std::min(kPiece, end - at);
      const float* rows[kMaxQuantizedOperands] = {numbers, numbers, numbers};
      for (int i = 0; i < p.operands; ++i) rows[i] = arguments[i]->next(count);
      if (operation != nullptr) operation(rows[0], rows[1], rows[2], numbers, count, in_f32);
      result.put(operation != nullptr ? numbers : rows[0], count);
    }
  });
}

}  // namespace relayout::native
