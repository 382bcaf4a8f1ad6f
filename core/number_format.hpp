// Element types as data: what their bits mean as numbers, so that one routine (convert_bits.hpp) converts
// between any two. Filled by the host, read by kernels.
#pragma once

#include <cstdint>

#include <relayout/cast_options.hpp>
#include <relayout/dtype.hpp>

namespace relayout {

enum class NumberKind : std::int32_t { boolean, natural, integer, floating };

struct NumberFormat {
  NumberKind kind = NumberKind::floating;
  /// Bits of the number, the sign included.
  std::int32_t bits = 32;
  /// Floating: bits below the exponent's, and the exponent's bias. Number of exponent field x > 0 and
  /// fraction f: (2^fraction_bits + f) * 2^(x - bias - fraction_bits); field 0: f * 2^(1 - bias -
  /// fraction_bits).
  std::int32_t fraction_bits = 23, bias = 127;
  /// Zeros below the number's own bits, of tf32.
  std::int32_t low_zeros = 0;
  /// Whether infinity follows the largest finite number; NaN does otherwise.
  bool has_infinity = true;
  /// Integers: the largest. Floating: the bits of the largest finite number, in the order of whose bits the
  /// magnitudes are.
  std::uint64_t largest = 0x7f7fffff;
};

constexpr NumberFormat floating_format(int bits, int fraction_bits) {
  NumberFormat format;
  format.bits = bits;
  format.fraction_bits = fraction_bits;
  format.bias = (1 << (bits - fraction_bits - 2)) - 1;
  const std::uint64_t exponents = (std::uint64_t{1} << (bits - 1 - fraction_bits)) - 1;
  format.largest = (exponents << fraction_bits) - 1;
  return format;
}

constexpr NumberFormat integer_format(NumberKind kind, int bits) {
  NumberFormat format;
  format.kind = kind;
  format.bits = bits;
  format.largest = ~std::uint64_t{0} >> (64 - bits + (kind == NumberKind::integer ? 1 : 0));
  return format;
}

constexpr bool is_fp8(DType type) { return type == DType::e4m3fn || type == DType::e5m2; }

/// As it is written. b128 is no number.
constexpr NumberFormat number_format(DType type) {
  NumberFormat format;
  switch (type) {
    case DType::bool_:
      return integer_format(NumberKind::boolean, 8);
    case DType::u8:
      return integer_format(NumberKind::natural, 8);
    case DType::u16:
      return integer_format(NumberKind::natural, 16);
    case DType::u32:
      return integer_format(NumberKind::natural, 32);
    case DType::u64:
      return integer_format(NumberKind::natural, 64);
    case DType::i8:
      return integer_format(NumberKind::integer, 8);
    case DType::i16:
      return integer_format(NumberKind::integer, 16);
    case DType::i32:
      return integer_format(NumberKind::integer, 32);
    case DType::i64:
      return integer_format(NumberKind::integer, 64);
    case DType::f16:
      return floating_format(16, 10);
    case DType::bf16:
      return floating_format(16, 7);
    case DType::f64:
      return floating_format(64, 52);
    case DType::tf32:
      format = floating_format(19, 10);
      format.low_zeros = 13;
      return format;
    case DType::e5m2:
      return floating_format(8, 2);
    case DType::e4m3fn:
      format = floating_format(8, 3);
      format.has_infinity = false;
      format.largest = 0x7e;
      return format;
    case DType::f32:
    case DType::b128:
      break;
  }
  return floating_format(32, 23);
}

/// As it is read: a tf32 is the f32 in whose place it lies.
constexpr NumberFormat read_format(DType type) {
  return number_format(type == DType::tf32 ? DType::f32 : type);
}

/// What a conversion does, worked out by the host so that kernels need no branches for it. The second entry
/// of a pair is for negative numbers; results are magnitudes.
struct ElementCast {
  NumberFormat from, to;
  /// What is dropped of a magnitude counts as a fraction of 2^64: the magnitude is rounded up where that, and
  /// 1 more if the magnitude is odd and `ties_to_even`, is above this.
  std::uint64_t round_above[2] = {};
  std::uint32_t ties_to_even = 1;
  /// Results beyond `limit` become `overflow`. Integers made from integers do so only with `saturate`; they
  /// wrap otherwise.
  std::uint64_t limit[2] = {}, overflow[2] = {};
  bool saturate = false;
  /// What becomes of infinity and of NaN, but for the sign.
  std::uint64_t infinity[2] = {}, nan = 0;
  /// Whether it is what casts do by default: to nearest even, to integers toward zero, integers wrap and fp8
  /// saturates. Kernels have short code for all of these, with the same results (quick_cast.hpp).
  bool quick = false;
};

constexpr bool is_quick(const NumberFormat& from, const NumberFormat& to, Rounding rounding, bool saturate) {
  if (to.kind == NumberKind::boolean) return true;
  if (to.kind == NumberKind::floating) return rounding == Rounding::nearest_even && (saturate || to.bits > 8);
  return from.kind == NumberKind::floating ? rounding == Rounding::toward_zero : !saturate;
}

/// `saturate`: to integers from integers, and to fp8.
constexpr ElementCast element_cast(const NumberFormat& from, const NumberFormat& to, Rounding rounding,
                                   bool saturate) {
  constexpr std::uint64_t kNever = ~std::uint64_t{0}, kHalf = std::uint64_t{1} << 63;
  const bool to_nearest = rounding == Rounding::nearest_even || rounding == Rounding::nearest_away;
  const Rounding away[2] = {Rounding::up, Rounding::down};
  ElementCast cast;
  cast.from = from;
  cast.to = to;
  cast.saturate = saturate;
  cast.ties_to_even = rounding == Rounding::nearest_even ? 1 : 0;
  if (to.kind == NumberKind::floating)
    cast.nan = (to.largest + 1) | std::uint64_t{1} << (to.fraction_bits - 1);
  for (int negative = 0; negative < 2; ++negative) {
    const bool from_zero = rounding == away[negative];
    cast.round_above[negative] = to_nearest ? kHalf - 1 + cast.ties_to_even : from_zero ? 0 : kNever;
    if (to.kind == NumberKind::floating) {
      cast.limit[negative] = to.largest;
      cast.infinity[negative] = to.largest + (saturate ? 0 : 1);
      cast.overflow[negative] = to_nearest || from_zero ? cast.infinity[negative] : to.largest;
    } else {
      const std::uint64_t least = to.kind == NumberKind::integer ? to.largest + 1 : 0;
      cast.limit[negative] = cast.infinity[negative] = cast.overflow[negative] =
          negative != 0 ? least : to.largest;
    }
  }
  cast.quick = is_quick(from, to, rounding, saturate);
  return cast;
}

}  // namespace relayout
