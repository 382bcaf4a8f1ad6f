#include "host/cpu/copy/cast_rows.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "core/bytes.hpp"
#include "core/convert_bits.hpp"
#include "host/cpu/copy/cast_loops.hpp"

namespace relayout::native {
namespace {

/// The row loop for any pair of types with elements of these sizes.
template <class T, class To>
void generic_row_of(const ElementCast& cast, const void* in, void* out, std::int64_t count) {
  constexpr bool kNarrow = sizeof(T) <= 4 && sizeof(To) <= 4;
  using Word = std::conditional_t<kNarrow, std::uint32_t, std::uint64_t>;
  const T* from = static_cast<const T*>(in);
  To* to = static_cast<To*>(out);
  for (std::int64_t i = 0; i < count; ++i)
    to[i] = static_cast<To>(convert_bits(cast, static_cast<Word>(from[i])));
}

template <class T>
auto generic_row_from(DType out) {
  switch (size_of(out)) {
    case 1:
      return generic_row_of<T, std::uint8_t>;
    case 2:
      return generic_row_of<T, std::uint16_t>;
    case 4:
      return generic_row_of<T, std::uint32_t>;
    default:
      return generic_row_of<T, std::uint64_t>;
  }
}

/// The compiler's loops take so many elements at a time, and what is left of a row one by one, which for
/// short rows takes most of the time. So a row's last block begins before the end of the one before it.
constexpr std::int64_t kBlock = 32, kHalfBlock = 16;

bool is_number_or_bool(DType type) { return is_integral(type) || type == DType::bool_; }
}  // namespace

CastRow::GenericRow CastRow::generic_row(DType in, DType out) {
  switch (size_of(in)) {
    case 1:
      return generic_row_from<std::uint8_t>(out);
    case 2:
      return generic_row_from<std::uint16_t>(out);
    case 4:
      return generic_row_from<std::uint32_t>(out);
    default:
      return generic_row_from<std::uint64_t>(out);
  }
}

CastRow::CastRow(DType in, DType out, const ElementCast& cast)
    : cast_(cast), in_bytes_(bytes_of(in)), out_bytes_(bytes_of(out)) {
  if (cast.quick) {
    choose(in, out);
  } else {
    generic_ = generic_row(in, out);
  }
}

void CastRow::choose(DType in, DType out) {
  if (out == DType::bool_) {
    first_ = truth_row(in);
  } else if (!is_number_or_bool(out)) {
    choose_to_floating(in, out);
  } else if (is_number_or_bool(in)) {
    first_ = integer_cast_row(in, out);
  } else {
    if (is_restricted(in)) {
      first_ = restricted_to_f32(in);
    } else if (in != DType::f64 && in != DType::f32) {
      first_ = load_row(in, ComputeClass::f32);
    }
    second_ = truncated_row(in, out);
  }
}

/// A number that f32 does not hold is rounded to nearest there only if the result is f32, or if it is then
/// beyond all numbers of the result: those of 32 bits and more in f16 and fp8.
void CastRow::choose_to_floating(DType in, DType out) {
  if (out == DType::f64) {
    if (is_number_or_bool(in)) {
      first_ = load_row(in, ComputeClass::f64);
      return;
    }
    second_ = load_row(DType::f32, ComputeClass::f64);
  } else if (out == DType::f16 || out == DType::bf16) {
    second_ = store_row(out, ComputeClass::f32);
  } else if (out != DType::f32) {
    second_ = rounded_row(out);
  }
  const bool held = in != DType::f64 && (in_bytes_ <= 2 || !is_number_or_bool(in));
  const bool beyond = is_number_or_bool(in) && (out == DType::f16 || is_fp8(out));
  if (is_restricted(in)) {
    first_ = restricted_to_f32(in);
  } else if (!held && !beyond && out != DType::f32) {
    first_ = odd_f32_row(in);
  } else if (in != DType::f32) {
    first_ = load_row(in, ComputeClass::f32);
  }
}

void CastRow::operator()(const void* in, void* out, std::int64_t count) const {
  const std::int64_t block = count >= kBlock ? kBlock : kHalfBlock, rest = count % block;
  if (count < kHalfBlock || rest == 0) return cast(in, out, count);
  cast(in, out, count - rest);
  const std::int64_t last = count - block;
  cast(static_cast<const char*>(in) + last * in_bytes_, static_cast<char*>(out) + last * out_bytes_, block);
}

void CastRow::cast(const void* in, void* out, std::int64_t count) const {
  if (generic_ != nullptr) return generic_(cast_, in, out, count);
  if (first_ == nullptr || second_ == nullptr) {
    const ConvertRow only = first_ != nullptr ? first_ : second_;
    if (only != nullptr) return only(in, out, count);
    std::memcpy(out, in, static_cast<std::size_t>(count * in_bytes_));
    return;
  }
  constexpr std::int64_t kLine = 256, kWideBytes = 8;
  alignas(64) char line[kLine * kWideBytes];
  for (std::int64_t i = 0; i < count; i += kLine) {
    const std::int64_t part = std::min(kLine, count - i);
    first_(static_cast<const char*>(in) + i * in_bytes_, line, part);
    second_(line, static_cast<char*>(out) + i * out_bytes_, part);
  }
}

}  // namespace relayout::native
