// Rows of elements to numbers of the class that is computed in, and back.
#pragma once

#include <cstdint>

#include "core/elementwise_params.hpp"
#include "host/cpu/copy/cast_rows.hpp"
#include "host/cpu/element_rows.hpp"

namespace relayout::native {

/// The most numbers that are computed at a time: those of every operand stay in the first-level cache.
constexpr std::int64_t kPiece = 1152;
constexpr std::int64_t kMaxElementBytes = 8;

using ChangeRow = void (*)(void* row, std::int64_t count);

/// Elements of an operand to numbers.
class RowReader {
 public:
  RowReader() = default;
  /// `as_it_is`: elements are what is wanted, as of codes, scales and zero points.
  RowReader(const TensorOperand& operand, const ElementwiseParams& params, bool as_it_is);

  /// Elements are numbers as they lie in memory.
  bool direct() const { return load_ == nullptr && flush_ == nullptr && truth_ == nullptr; }
  std::int64_t number_bytes() const { return number_bytes_; }
  /// At most kPiece elements; more of those that are read as they are, or become numbers of 8 bits.
  void read(const void* in, void* out, std::int64_t count) const;

 private:
  ConvertRow truth_ = nullptr;  // to bytes of 0 and 1, which are loaded then, or are numbers of 8 bits
  CastRow cast_;                // to the common type, which is loaded then
  ConvertRow load_ = nullptr;
  ChangeRow round_ = nullptr, flush_ = nullptr;
  std::int64_t number_bytes_ = 4;
};

/// Numbers to elements of the output.
class RowWriter {
 public:
  explicit RowWriter(const ElementwiseParams& params);

  /// Numbers are elements as they lie in memory.
  bool direct() const { return store_ == nullptr && !cast_; }
  /// At most kPiece elements.
  void write(const void* in, void* out, std::int64_t count) const;

 private:
  ConvertRow store_ = nullptr;  // as the output's type, or as the result's where that is cast
  CastRow cast_;                // of the result
};

/// What becomes of a step's result.
class ResultRounder {
 public:
  explicit ResultRounder(const ElementwiseParams& params);

  /// To the common type: integers wrap. The last result is left to the RowWriter, but where it is rounded in
  /// a direction that the RowWriter does not know. Subnormal f32 results become zeros if that is asked for.
  void round(Operation operation, void* row, std::int64_t count, bool last) const;
  void flush(void* row, std::int64_t count) const {
    if (flush_ != nullptr) flush_(row, count);
  }

 private:
  const ElementwiseParams& p_;
  ChangeRow round_ = nullptr, flush_ = nullptr;
  CastRow directed_;  // of f32 to f16 or bf16
};

}  // namespace relayout::native
