// The oracle of conversions between any two element types. Exact values are in long double, which holds every
// f64 and every 64-bit integer. It shares no code with the implementation.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include <relayout/cast_options.hpp>
#include <relayout/dtype.hpp>

namespace relayout::reference {

static_assert(LDBL_MANT_DIG >= 64, "the oracle needs a long double that holds 64-bit integers");

/// value * 2^exponent, as std::ldexp gives it: a product with a power of two is rounded as the result is.
/// Oracles scale so often that the library's function would take most of their time.
template <class Float>
inline Float times_power_of_two(Float value, int exponent) {
  if (exponent < -1022 || exponent > 1023) return std::ldexp(value, exponent);
  const std::uint64_t bits = static_cast<std::uint64_t>(exponent + 1023) << 52;
  double power = 0;
  std::memcpy(&power, &bits, sizeof(power));
  return value * static_cast<Float>(power);
}

/// floor(log2(|value|)) of a finite number that is not 0, as std::ilogb gives it, and for the same reason.
inline int exponent_of(long double value) {
  const auto near = static_cast<double>(std::fabs(value));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &near, sizeof(bits));
  const int field = static_cast<int>(bits >> 52);
  if (field == 0 || field == 0x7ff) return std::ilogb(value);
  const int exponent = field - 1023;  // 1 too large where the f64 is a power of two above the value
  return std::fabs(value) < times_power_of_two(1.0L, exponent) ? exponent - 1 : exponent;
}

/// A floating type: `digits` significand bits with the leading one, the smallest normal number
/// 2^min_exponent, the largest finite number, and the places of its bits.
struct FloatLayout {
  int digits, min_exponent, bits, low_zeros;
  long double largest;
  bool has_infinity;
};

inline FloatLayout float_layout(DType type) {
  switch (type) {
    case DType::f16:
      return {11, -14, 16, 0, 65504, true};
    case DType::bf16:
      return {8, -126, 16, 0, 0x1.fep127L, true};
    case DType::f64:
      return {53, -1022, 64, 0, 0x1.fffffffffffffp1023L, true};
    case DType::tf32:
      return {11, -126, 32, 13, 0x1.ffcp127L, true};
    case DType::e4m3fn:
      return {4, -6, 8, 0, 448, false};
    case DType::e5m2:
      return {3, -14, 8, 0, 57344, true};
    default:
      return {24, -126, 32, 0, 0x1.fffffep127L, true};
  }
}

inline bool has_fractions(DType type) { return is_floating(type) || is_restricted(type); }

/// The neighbour that the rounding takes, where `value` is a whole number of units plus a fraction.
inline long double round_to_whole(long double value, Rounding rounding) {
  const long double below = std::floor(value), fraction = value - below;  // exact
  if (fraction == 0) return value;
  const long double above = below + 1;
  switch (rounding) {
    case Rounding::nearest_even:
      if (fraction == 0.5L) return std::fmod(below, 2.0L) == 0 ? below : above;
      return fraction < 0.5L ? below : above;
    case Rounding::nearest_away:
      if (fraction == 0.5L) return value < 0 ? below : above;
      return fraction < 0.5L ? below : above;
    case Rounding::toward_zero:
      return value < 0 ? above : below;
    case Rounding::down:
      return below;
    case Rounding::up:
      return above;
  }
  return value;
}

/// The exact number that the bits stand for.
inline long double exact_value(DType type, std::uint64_t bits) {
  if (type == DType::bool_) return bits != 0 ? 1 : 0;
  const int width = 8 * static_cast<int>(size_of(type));
  if (is_unsigned(type)) return static_cast<long double>(bits);
  if (is_signed(type)) {
    const long double value = static_cast<long double>(bits);
    return bits >> (width - 1) & 1 ? value - times_power_of_two(1.0L, width) : value;
  }
  // A tf32 is read as an f32.
  const FloatLayout layout = float_layout(type == DType::tf32 ? DType::f32 : type);
  const int fraction_bits = layout.digits - 1;
  const std::uint64_t magnitude = bits & ~(std::uint64_t{1} << (layout.bits - 1));
  const std::uint64_t field = magnitude >> fraction_bits;
  const std::uint64_t fraction = magnitude - (field << fraction_bits);
  const std::uint64_t fields = std::uint64_t{1} << (layout.bits - layout.digits);
  const long double sign = magnitude == bits ? 1 : -1;
  const bool last_field = field == fields - 1;
  const bool is_nan = layout.has_infinity ? last_field && fraction != 0
                                          : last_field && fraction == (std::uint64_t{1} << fraction_bits) - 1;
  if (is_nan) return std::copysign(std::numeric_limits<long double>::quiet_NaN(), sign);
  if (last_field && layout.has_infinity) return sign * std::numeric_limits<long double>::infinity();
  const int unit = layout.min_exponent - fraction_bits;  // the exponent of the subnormals' unit
  if (field == 0) return sign * times_power_of_two(static_cast<long double>(fraction), unit);
  const std::uint64_t significand = fraction + (std::uint64_t{1} << fraction_bits);
  return sign * times_power_of_two(static_cast<long double>(significand), unit + static_cast<int>(field) - 1);
}

/// The bits of a number that the type can hold, or of a NaN.
inline std::uint64_t bits_of_float(const FloatLayout& layout, long double value) {
  const int fraction_bits = layout.digits - 1, width = layout.bits - layout.low_zeros;
  const std::uint64_t sign = std::signbit(value) ? std::uint64_t{1} << (width - 1) : 0;
  const std::uint64_t last_field = ((std::uint64_t{1} << (width - layout.digits)) - 1) << fraction_bits;
  std::uint64_t magnitude = 0;
  if (std::isnan(value)) {
    magnitude = layout.has_infinity ? last_field | std::uint64_t{1} << (fraction_bits - 1) : 0x7f;
  } else if (std::isinf(value)) {
    magnitude = last_field;
  } else if (value != 0) {
    const int exponent = std::max(exponent_of(value), layout.min_exponent);
    const long double units = times_power_of_two(std::fabs(value), fraction_bits - exponent);
    // The leading one of a normal number adds 1 to its exponent's field.
    magnitude = (static_cast<std::uint64_t>(exponent - layout.min_exponent) << fraction_bits) +
                static_cast<std::uint64_t>(units);
  }
  return (sign | magnitude) << layout.low_zeros;
}

inline std::uint64_t to_float_bits(long double value, DType type, Rounding rounding, bool saturate) {
  const FloatLayout layout = float_layout(type);
  const long double infinity =
      std::copysign(layout.has_infinity ? std::numeric_limits<long double>::infinity()
                                        : std::numeric_limits<long double>::quiet_NaN(),
                    value);
  const long double beyond = saturate ? std::copysign(layout.largest, value) : infinity;
  if (std::isnan(value) || value == 0) return bits_of_float(layout, value);
  if (std::isinf(value)) return bits_of_float(layout, beyond);
  const int exponent = std::max(exponent_of(value), layout.min_exponent), unit = exponent - layout.digits + 1;
  const long double rounded = std::copysign(
      times_power_of_two(round_to_whole(times_power_of_two(value, -unit), rounding), unit), value);
  if (std::fabs(rounded) <= layout.largest) return bits_of_float(layout, rounded);
  const bool cut =
      rounding == Rounding::toward_zero || rounding == (value < 0 ? Rounding::up : Rounding::down);
  return bits_of_float(layout, cut ? std::copysign(layout.largest, value) : beyond);
}

/// An integer from a whole number: its low bits, or the nearest number of the type.
inline std::uint64_t to_integer_bits(long double value, DType type, bool saturate) {
  const int width = 8 * static_cast<int>(size_of(type));
  const long double least = is_signed(type) ? -times_power_of_two(1.0L, width - 1) : 0,
                    most = times_power_of_two(1.0L, is_signed(type) ? width - 1 : width) - 1;
  if (saturate) value = value < least ? least : value > most ? most : value;
  const std::uint64_t bits =
      value < 0 ? 0 - static_cast<std::uint64_t>(-value) : static_cast<std::uint64_t>(value);
  return width == 64 ? bits : bits & ((std::uint64_t{1} << width) - 1);
}

/// Equal types keep their bits; others are converted with one rounding.
inline std::uint64_t convert_bits(std::uint64_t bits, DType from, DType to, const CastOptions& options = {}) {
  if (from == to) return bits;
  const long double value = exact_value(from, bits);
  if (to == DType::bool_) return value != 0 ? 1 : 0;  // a NaN is true
  if (has_fractions(to)) {
    const bool fp8 = to == DType::e4m3fn || to == DType::e5m2;
    return to_float_bits(value, to, options.rounding.value_or(Rounding::nearest_even),
                         fp8 && options.saturate_fp8);
  }
  if (!has_fractions(from))
    return to_integer_bits(value, to, options.integer_overflow == IntegerOverflow::saturate);
  if (std::isnan(value)) return 0;
  if (std::isinf(value)) return to_integer_bits(value, to, true);
  return to_integer_bits(round_to_whole(value, options.rounding.value_or(Rounding::toward_zero)), to, true);
}

}  // namespace relayout::reference
