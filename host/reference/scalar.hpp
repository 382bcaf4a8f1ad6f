// Elements of f16, bf16, f32 and f64 as doubles and back, by exact arithmetic. It shares no code with the
// conversions of relayout/dtype.hpp. convert.hpp has other types and other roundings.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>

#include "host/reference/convert.hpp"

#include <relayout/dtype.hpp>
#include <relayout/tensor_view.hpp>

namespace relayout::reference {

/// A binary floating-point format: `digits` significand bits with the leading one, largest exponent
/// `max_exponent` (of 1.x * 2^max_exponent); the smallest normal exponent is 1 - max_exponent.
struct FloatFormat {
  int digits, max_exponent, bits;
  int unit_exponent() const {
    return 1 - max_exponent - (digits - 1);
  }  // the exponent of the subnormals' unit
};

inline FloatFormat format_of(DType type) {
  if (type == DType::f16) return {11, 15, 16};
  if (type == DType::bf16) return {8, 127, 16};
  if (type == DType::f32) return {24, 127, 32};
  return {53, 1023, 64};
}

/// The number nearest to `value` in the format, ties to even. Scaling by powers of two is exact, and
/// nearbyint rounds half to even (the default rounding mode).
inline double round_to_format(double value, const FloatFormat& format) {
  if (value == 0.0 || !std::isfinite(value)) return value;
  int exponent = 0;
  std::frexp(value, &exponent);  // |value| in [2^(exponent-1), 2^exponent)
  int unit = exponent - format.digits;
  if (unit < format.unit_exponent()) unit = format.unit_exponent();
  const double units = std::nearbyint(times_power_of_two(value, -unit));
  // A double with exponent 1023 cannot be rounded up to 2^1024 by any format except its own, which needs no
  // rounding.
  const double rounded = times_power_of_two(units, unit);
  const double limit = times_power_of_two(1.0, format.max_exponent);
  if (std::fabs(rounded) / 2.0 >= limit) return std::copysign(std::numeric_limits<double>::infinity(), value);
  return rounded;
}

/// The bits of a floating type; the value is rounded to it. NaN gives the format's quiet NaN.
inline std::uint64_t encode(DType type, double value) {
  const FloatFormat format = format_of(type);
  const int fraction_bits = format.digits - 1;
  const std::uint64_t exponent_mask = (std::uint64_t{1} << (format.bits - format.digits)) - 1;
  const std::uint64_t sign = std::signbit(value) ? std::uint64_t{1} << (format.bits - 1) : 0;
  const std::uint64_t infinity = exponent_mask << fraction_bits;
  if (std::isnan(value)) return sign | infinity | std::uint64_t{1} << (fraction_bits - 1);

  const double rounded = std::fabs(round_to_format(value, format));
  if (std::isinf(rounded)) return sign | infinity;
  const double smallest_normal = times_power_of_two(1.0, 1 - format.max_exponent);
  if (rounded < smallest_normal) {
    return sign | static_cast<std::uint64_t>(times_power_of_two(rounded, -format.unit_exponent()));
  }
  const int exponent = std::ilogb(rounded);
  const double significand =
      times_power_of_two(rounded, fraction_bits - exponent);  // an integer of `digits` bits
  const std::uint64_t fraction =
      static_cast<std::uint64_t>(significand) - (std::uint64_t{1} << fraction_bits);
  return sign | static_cast<std::uint64_t>(exponent + format.max_exponent) << fraction_bits | fraction;
}

/// The exact value of the bits of a floating type.
inline double decode(DType type, std::uint64_t bits) {
  const FloatFormat format = format_of(type);
  const int fraction_bits = format.digits - 1;
  const std::uint64_t exponent_mask = (std::uint64_t{1} << (format.bits - format.digits)) - 1;
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << fraction_bits) - 1);
  const std::uint64_t exponent = bits >> fraction_bits & exponent_mask;
  const double sign = bits >> (format.bits - 1) & 1 ? -1.0 : 1.0;
  if (exponent == exponent_mask) {
    return std::copysign(
        fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity(),
        sign);
  }
  if (exponent == 0) return sign * times_power_of_two(static_cast<double>(fraction), format.unit_exponent());
  const double significand = static_cast<double>(fraction | std::uint64_t{1} << fraction_bits);
  return sign *
         times_power_of_two(significand, static_cast<int>(exponent) - format.max_exponent - fraction_bits);
}

/// Address of the element at an index.
inline char* address(const TensorView& view, const std::int64_t* index) {
  std::int64_t offset = 0;
  for (int axis = 0; axis < view.rank(); ++axis) offset += index[axis] * view.stride(axis);
  return static_cast<char*>(view.data()) + offset * static_cast<std::int64_t>(size_of(view.dtype()));
}

inline char* address(const TensorView& view, const Dims& index) { return address(view, index.data()); }

template <class Word>
inline std::uint64_t load_word(const void* from) {
  Word word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}
template <class Word>
inline void store_word(void* to, std::uint64_t bits) {
  const auto word = static_cast<Word>(bits);
  std::memcpy(to, &word, sizeof(word));
}

/// The bits of an element of up to 8 bytes. Copies of a number of bytes that the compiler does not know
/// would take a fifth of an oracle's time.
inline std::uint64_t load_bits(const void* from, DType type) {
  switch (size_of(type)) {
    case 1:
      return load_word<std::uint8_t>(from);
    case 2:
      return load_word<std::uint16_t>(from);
    case 4:
      return load_word<std::uint32_t>(from);
    default:
      return load_word<std::uint64_t>(from);
  }
}
inline void store_bits(void* to, DType type, std::uint64_t bits) {
  switch (size_of(type)) {
    case 1:
      return store_word<std::uint8_t>(to, bits);
    case 2:
      return store_word<std::uint16_t>(to, bits);
    case 4:
      return store_word<std::uint32_t>(to, bits);
    default:
      return store_word<std::uint64_t>(to, bits);
  }
}

inline std::uint64_t load_bits(const TensorView& view, const Dims& index) {
  return load_bits(address(view, index), view.dtype());
}
/// For load_bits(view, {i, j}): oracles read most of their elements so, and a vector each would take most of
/// their time.
inline std::uint64_t load_bits(const TensorView& view, std::initializer_list<std::int64_t> index) {
  return load_bits(address(view, index.begin()), view.dtype());
}

inline void store_bits(const TensorView& view, const Dims& index, std::uint64_t bits) {
  store_bits(address(view, index), view.dtype(), bits);
}

inline double load(const TensorView& view, const Dims& index) {
  return decode(view.dtype(), load_bits(view, index));
}
inline double load(const TensorView& view, std::initializer_list<std::int64_t> index) {
  return decode(view.dtype(), load_bits(view, index));
}

/// The next index in C order; false after the last.
inline bool next_index(const Dims& shape, Dims& index) {
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    if (++index[axis] < shape[axis]) return true;
    index[axis] = 0;
  }
  return false;
}

/// visit(index) for every index of the shape.
template <class Visit>
void for_each_index(const Dims& shape, const Visit& visit) {
  for (const std::int64_t extent : shape) {
    if (extent == 0) return;
  }
  Dims index(shape.size(), 0);
  do {
    visit(static_cast<const Dims&>(index));
  } while (next_index(shape, index));
}

}  // namespace relayout::reference
