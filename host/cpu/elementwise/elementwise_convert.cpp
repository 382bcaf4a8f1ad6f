#include "host/cpu/elementwise/elementwise_convert.hpp"

#include <cstring>

#include "host/cpu/convert.hpp"
#include "host/cpu/elementwise/elementwise_rows.hpp"

namespace relayout::native {
namespace {

template <class T>
void round_to(void* row, std::int64_t count) {
  float* numbers = static_cast<float*>(row);
  T halves[kPiece];
  convert_row(numbers, halves, count);
  convert_row(halves, numbers, count);
}

template <class T>
void wrap_to(void* row, std::int64_t count) {
  std::int32_t* numbers = static_cast<std::int32_t*>(row);
  for (std::int64_t i = 0; i < count; ++i) numbers[i] = static_cast<T>(numbers[i]);
}

/// An f32 holds the element, or the element is infinite in f16.
bool is_rounded_once(DType type, DType common) {
  return type == DType::f32 || size_of(type) <= 2 || common == DType::f16;
}

/// Results that are moved as bits are cast as what they are, which params.result is not.
DType type_of(const NumberFormat& format) {
  int type = 0;
  const auto differs = [&format](const NumberFormat& other) {
    return other.kind != format.kind || other.bits != format.bits ||
           other.fraction_bits != format.fraction_bits;
  };
  while (differs(number_format(static_cast<DType>(type)))) ++type;
  return static_cast<DType>(type);
}

/// Subnormal numbers to zeros of their sign.
void flush_row(void* row, std::int64_t count) {
  std::uint32_t* numbers = static_cast<std::uint32_t*>(row);
  for (std::int64_t i = 0; i < count; ++i) {
    const bool normal = (numbers[i] & 0x7f800000u) != 0;
    numbers[i] = normal ? numbers[i] : numbers[i] & 0x80000000u;
  }
}

/// To the common type. Null where there is nothing to do.
ChangeRow round_row(const ElementwiseParams& p) {
  if (p.compute == ComputeClass::f32) {
    if (p.common == DType::f16) return round_to<f16>;
    return p.common == DType::bf16 ? round_to<bf16> : nullptr;
  }
  if (p.compute != ComputeClass::i32) return nullptr;
  switch (p.common) {
    case DType::u8:
      return wrap_to<std::uint8_t>;
    case DType::u16:
      return wrap_to<std::uint16_t>;
    case DType::i8:
      return wrap_to<std::int8_t>;
    case DType::i16:
      return wrap_to<std::int16_t>;
    default:
      return nullptr;
  }
}

}  // namespace

RowReader::RowReader(const TensorOperand& operand, const ElementwiseParams& p, bool as_it_is)
    : number_bytes_(as_it_is ? operand.bytes : native::number_bytes(p)) {
  if (as_it_is) return;
  if (is_short(p)) {
    const bool is_truth = operand.reading == Reading::as_bool || operand.type == DType::bool_;
    if (is_truth && !takes_any_byte(p)) truth_ = truth_row(operand.type);
    return;
  }
  if (p.flush_to_zero && p.compute == ComputeClass::f32) flush_ = flush_row;
  DType type = operand.type;
  if (operand.reading == Reading::as_bool) {
    if (type != DType::bool_) truth_ = truth_row(type);
    type = DType::bool_;
  } else if (operand.reading == Reading::round_to_half && type != p.common) {
    if (is_rounded_once(type, p.common)) {
      round_ = round_row(p);
    } else {
      cast_ =
          CastRow(type, p.common,
                  element_cast(number_format(type), number_format(p.common), Rounding::nearest_even, false));
      type = p.common;
    }
  }
  load_ = load_row(type, p.compute);
}

void RowReader::read(const void* in, void* out, std::int64_t count) const {
  alignas(64) char line[kPiece * 2];
  if (truth_ != nullptr && load_ == nullptr) return truth_(in, out, count);
  if (truth_ != nullptr) {
    truth_(in, line, count);
    in = line;
  }
  if (cast_) {
    cast_(in, line, count);
    in = line;
  }
  if (load_ != nullptr) {
    load_(in, out, count);
  } else if (in != out) {
    std::memcpy(out, in, static_cast<std::size_t>(count * number_bytes_));
  }
  if (round_ != nullptr) round_(out, count);
  if (flush_ != nullptr) flush_(out, count);
}

RowWriter::RowWriter(const ElementwiseParams& p)
    : store_(is_short(p) ? nullptr : store_row(p.convert ? p.result : p.out_type, p.compute)) {
  if (p.convert) cast_ = CastRow(type_of(p.cast.from), p.out_type, p.cast);
}

void RowWriter::write(const void* in, void* out, std::int64_t count) const {
  alignas(64) char line[kPiece * kMaxElementBytes];
  if (store_ != nullptr) {
    void* const to = cast_ ? line : out;
    store_(in, to, count);
    in = to;
  }
  if (cast_) cast_(in, out, count);
}

ResultRounder::ResultRounder(const ElementwiseParams& p) : p_(p), round_(round_row(p)) {
  if (p.flush_to_zero && p.compute == ComputeClass::f32) flush_ = flush_row;
  if (p.rounding == Rounding::nearest_even || p.compute != ComputeClass::f32 || round_ == nullptr) return;
  directed_ = CastRow(DType::f32, p.common,
                      element_cast(number_format(DType::f32), number_format(p.common), p.rounding, false));
}

void ResultRounder::round(Operation operation, void* row, std::int64_t count, bool last) const {
  if (directed_ && directed_row(operation, p_.compute) != nullptr) {
    std::uint16_t halves[kPiece];
    directed_(row, halves, count);
    load_row(p_.common, p_.compute)(halves, row, count);
  } else if (round_ != nullptr && !last) {
    round_(row, count);
  }
  flush(row, count);
}

}  // namespace relayout::native
