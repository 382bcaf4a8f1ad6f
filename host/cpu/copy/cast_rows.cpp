#include "host/cpu/copy/cast_rows.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "core/convert_bits.hpp"
#include "host/cpu/convert.hpp"

namespace relayout::native {
namespace {

/// The row loop for any pair of types with elements of these sizes.
template <class T, class To>
void generic_cast(const ElementCast& cast, const void* in, void* out, std::int64_t count) {
  constexpr bool kNarrow = sizeof(T) <= 4 && sizeof(To) <= 4;
  using Word = std::conditional_t<kNarrow, std::uint32_t, std::uint64_t>;
  const T* from = static_cast<const T*>(in);
  To* to = static_cast<To*>(out);
  for (std::int64_t i = 0; i < count; ++i)
    to[i] = static_cast<To>(convert_bits(cast, static_cast<Word>(from[i])));
}

template <class T>
CastRow generic_cast_from(DType out) {
  switch (size_of(out)) {
    case 1:
      return generic_cast<T, std::uint8_t>;
    case 2:
      return generic_cast<T, std::uint16_t>;
    case 4:
      return generic_cast<T, std::uint32_t>;
    default:
      return generic_cast<T, std::uint64_t>;
  }
}

CastRow generic_cast_of(DType in, DType out) {
  switch (size_of(in)) {
    case 1:
      return generic_cast_from<std::uint8_t>(out);
    case 2:
      return generic_cast_from<std::uint16_t>(out);
    case 4:
      return generic_cast_from<std::uint32_t>(out);
    default:
      return generic_cast_from<std::uint64_t>(out);
  }
}

/// A bool in memory: any byte other than 0 is true.
struct Truth {
  std::uint8_t byte;
};

template <class T>
float to_f32(T value) {
  if constexpr (std::is_same_v<T, Truth>) {
    return value.byte != 0 ? 1.0f : 0.0f;
  } else {
    return static_cast<float>(value);
  }
}

/// Rounds toward zero, then to the nearest number that the target has; a NaN gives 0. There is no branch, and
/// only numbers for which the conversion has a result are given to it.
template <class T>
T from_f32(float value) {
  if constexpr (std::is_same_v<T, Truth>) {
    return {static_cast<std::uint8_t>(value != 0.0f)};
  } else if constexpr (sizeof(T) < 4) {
    constexpr float kMin = std::numeric_limits<T>::min(), kMax = std::numeric_limits<T>::max();
    float near = value == value ? value : 0.0f;
    near = near < kMin ? kMin : near;
    near = near > kMax ? kMax : near;
    return static_cast<T>(static_cast<std::int32_t>(near));
  } else {
    static_assert(std::is_same_v<T, std::int32_t>);
    const bool above = value >= 0x1p31f;
    float near = value == value && !above ? value : 0.0f;
    near = near < -0x1p31f ? -0x1p31f : near;
    const std::int32_t result = static_cast<std::int32_t>(near);
    return above ? std::numeric_limits<std::int32_t>::max() : result;
  }
}

template <class T>
void widen(const ElementCast&, const void* in, void* out, std::int64_t count) {
  const T* from = static_cast<const T*>(in);
  float* to = static_cast<float*>(out);
  for (std::int64_t i = 0; i < count; ++i) to[i] = to_f32(from[i]);
}

template <class T>
void narrow(const ElementCast&, const void* in, void* out, std::int64_t count) {
  const float* from = static_cast<const float*>(in);
  T* to = static_cast<T*>(out);
  for (std::int64_t i = 0; i < count; ++i) to[i] = from_f32<T>(from[i]);
}

constexpr std::int64_t kLine = 256;

/// Goes through lines of f32. f32 rounds only integers beyond 2^24, which are infinite in f16, so there is
/// one rounding.
template <class T>
void widen_to_f16(const ElementCast& cast, const void* in, void* out, std::int64_t count) {
  float line[kLine];
  for (std::int64_t i = 0; i < count; i += kLine) {
    const std::int64_t part = std::min(kLine, count - i);
    widen<T>(cast, static_cast<const T*>(in) + i, line, part);
    convert_row(line, static_cast<f16*>(out) + i, part);
  }
}

template <class T>
void narrow_from_f16(const ElementCast& cast, const void* in, void* out, std::int64_t count) {
  float line[kLine];
  for (std::int64_t i = 0; i < count; i += kLine) {
    const std::int64_t part = std::min(kLine, count - i);
    convert_row(static_cast<const f16*>(in) + i, line, part);
    narrow<T>(cast, line, static_cast<T*>(out) + i, part);
  }
}

/// The loop for these types; null where there is none.
CastRow widening(DType in, bool to_f16) {
  switch (in) {
    case DType::bool_:
      return to_f16 ? widen_to_f16<Truth> : widen<Truth>;
    case DType::u8:
      return to_f16 ? widen_to_f16<std::uint8_t> : widen<std::uint8_t>;
    case DType::i8:
      return to_f16 ? widen_to_f16<std::int8_t> : widen<std::int8_t>;
    case DType::u16:
      return to_f16 ? widen_to_f16<std::uint16_t> : widen<std::uint16_t>;
    case DType::i16:
      return to_f16 ? widen_to_f16<std::int16_t> : widen<std::int16_t>;
    case DType::u32:
      return to_f16 ? widen_to_f16<std::uint32_t> : widen<std::uint32_t>;
    case DType::i32:
      return to_f16 ? widen_to_f16<std::int32_t> : widen<std::int32_t>;
    default:
      return nullptr;
  }
}

CastRow narrowing(DType out, bool from_f16) {
  switch (out) {
    case DType::bool_:
      return from_f16 ? narrow_from_f16<Truth> : narrow<Truth>;
    case DType::u8:
      return from_f16 ? narrow_from_f16<std::uint8_t> : narrow<std::uint8_t>;
    case DType::i8:
      return from_f16 ? narrow_from_f16<std::int8_t> : narrow<std::int8_t>;
    case DType::u16:
      return from_f16 ? narrow_from_f16<std::uint16_t> : narrow<std::uint16_t>;
    case DType::i16:
      return from_f16 ? narrow_from_f16<std::int16_t> : narrow<std::int16_t>;
    case DType::i32:
      return from_f16 ? narrow_from_f16<std::int32_t> : narrow<std::int32_t>;
    default:
      return nullptr;
  }
}

bool is_f16_or_f32(DType type) { return type == DType::f16 || type == DType::f32; }

}  // namespace

CastRow cast_row(DType in, DType out, const ElementCast& cast) {
  CastRow row = nullptr;
  if (is_f16_or_f32(out) && cast.ties_to_even != 0) row = widening(in, out == DType::f16);
  const bool toward_zero = cast.ties_to_even == 0 && std::min(cast.round_above[0], cast.round_above[1]) ==
                                                         std::numeric_limits<std::uint64_t>::max();
  if (is_f16_or_f32(in) && (toward_zero || out == DType::bool_)) row = narrowing(out, in == DType::f16);
  return row != nullptr ? row : generic_cast_of(in, out);
}

}  // namespace relayout::native
