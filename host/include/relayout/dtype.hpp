// Element types and the bit-exact conversions between the floating ones.
#pragma once

#include <cstddef>
#include <cstdint>

#include <relayout/export.hpp>
#include <relayout/round_to_odd.hpp>

namespace relayout {

/// Element types (docs/arithmetic.md, "Element types").
enum class DType : std::uint8_t {
  bool_,   ///< 1 byte: 0 or 1; any byte other than 0 reads as true
  u8,      ///< unsigned, 1 byte
  u16,     ///< unsigned, 2 bytes
  u32,     ///< unsigned, 4 bytes
  u64,     ///< unsigned, 8 bytes
  i8,      ///< two's complement, 1 byte
  i16,     ///< two's complement, 2 bytes
  i32,     ///< two's complement, 4 bytes
  i64,     ///< two's complement, 8 bytes
  f16,     ///< IEEE binary16
  bf16,    ///< bfloat16: the upper half of a binary32
  f32,     ///< IEEE binary32
  f64,     ///< IEEE binary64
  tf32,    ///< a binary32 whose low 13 bits are written as 0
  e4m3fn,  ///< OCP 8-bit float: 4 exponent bits, largest 448, no infinity
  e5m2,    ///< OCP 8-bit float: 5 exponent bits, largest 57344
  b128     ///< 16 bytes of any meaning: moved by copies and permutations, nothing else
};

/// Bytes of one element.
RELAYOUT_API std::size_t size_of(DType type) noexcept;
/// The name of the type, as in "bf16".
RELAYOUT_API const char* name_of(DType type) noexcept;
/// Whether casts convert it: every type except b128.
constexpr bool is_castable(DType type) noexcept { return type != DType::b128; }
/// Whether it is f16, bf16, f32 or f64: the floating types with arithmetic.
constexpr bool is_floating(DType type) noexcept {
  return type == DType::f16 || type == DType::bf16 || type == DType::f32 || type == DType::f64;
}
/// Whether it is tf32, e4m3fn or e5m2: floating types that can only be copied, filled and cast.
constexpr bool is_restricted(DType type) noexcept {
  return type == DType::tf32 || type == DType::e4m3fn || type == DType::e5m2;
}
/// Whether it is one of u8, u16, u32 and u64.
constexpr bool is_unsigned(DType type) noexcept {
  return type == DType::u8 || type == DType::u16 || type == DType::u32 || type == DType::u64;
}
/// Whether it is one of i8, i16, i32 and i64.
constexpr bool is_signed(DType type) noexcept {
  return type == DType::i8 || type == DType::i16 || type == DType::i32 || type == DType::i64;
}
/// Whether it is an integer type; bool is not.
constexpr bool is_integral(DType type) noexcept { return is_unsigned(type) || is_signed(type); }

/// Storage of an IEEE binary16 number.
struct f16 {
  std::uint16_t bits;  ///< sign, exponent and fraction, the sign highest
};
/// Storage of a bfloat16 number: the upper half of a binary32.
struct bf16 {
  std::uint16_t bits;  ///< sign, exponent and fraction, the sign highest
};

/// The DType of a C++ type, as its constant `value`; there is none for other types.
template <class T>
struct DTypeOf;
/// @cond
// The specialisations need no page of their own.
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::bool_;
};
template <>
struct DTypeOf<std::uint8_t> {
  static constexpr DType value = DType::u8;
};
template <>
struct DTypeOf<std::uint16_t> {
  static constexpr DType value = DType::u16;
};
template <>
struct DTypeOf<std::uint32_t> {
  static constexpr DType value = DType::u32;
};
template <>
struct DTypeOf<std::uint64_t> {
  static constexpr DType value = DType::u64;
};
template <>
struct DTypeOf<std::int8_t> {
  static constexpr DType value = DType::i8;
};
template <>
struct DTypeOf<std::int16_t> {
  static constexpr DType value = DType::i16;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::i32;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::i64;
};
template <>
struct DTypeOf<f16> {
  static constexpr DType value = DType::f16;
};
template <>
struct DTypeOf<bf16> {
  static constexpr DType value = DType::bf16;
};
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::f32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::f64;
};
/// @endcond
/// The DType of a C++ type: dtype_of<float> is DType::f32.
template <class T>
constexpr DType dtype_of = DTypeOf<T>::value;

/// Rounds to nearest, ties to even. |x| >= 65520 gives infinity, |x| <= 2^-25 a zero of x's sign; subnormals
/// are kept; NaN gives a quiet NaN of the same sign.
inline f16 to_f16(float value) noexcept {
  const std::uint32_t bits = detail::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return {static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu))};
  if (magnitude >= 0x477ff000u) return {static_cast<std::uint16_t>(sign | 0x7c00u)};
  if (magnitude < 0x38800000u) {
    // Adding 0.5 puts the unit of f16's subnormals, 2^-24, at the last significand bit: the FPU rounds.
    const float shifted = detail::bit_cast<float>(magnitude) + 0.5f;
    return {static_cast<std::uint16_t>(sign | (detail::bit_cast<std::uint32_t>(shifted) - 0x3f000000u))};
  }
  const std::uint32_t odd = (magnitude >> 13) & 1u;
  return {static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13))};
}
/// The same from a double, with one rounding.
inline f16 to_f16(double value) noexcept { return to_f16(detail::round_to_odd(value)); }

/// Rounds to nearest, ties to even; NaN gives a quiet NaN of the same sign.
inline bf16 to_bf16(float value) noexcept {
  const std::uint32_t bits = detail::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {static_cast<std::uint16_t>((bits >> 16) | 0x40u)};
  return {static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}
/// The same from a double, with one rounding.
inline bf16 to_bf16(double value) noexcept { return to_bf16(detail::round_to_odd(value)); }

/// The same number as a float: exact.
inline float to_float(f16 value) noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x8000u) << 16;
  const std::uint32_t magnitude = value.bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return detail::bit_cast<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
  if (magnitude >= 0x400u) return detail::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
  const float scaled = static_cast<float>(magnitude) * 5.9604644775390625e-8f;  // times 2^-24: exact
  return detail::bit_cast<float>(sign | detail::bit_cast<std::uint32_t>(scaled));
}
/// The same number as a float: exact.
inline float to_float(bf16 value) noexcept {
  return detail::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}
/// The number itself, so that code for several types can call it.
inline float to_float(float value) noexcept { return value; }

}  // namespace relayout
