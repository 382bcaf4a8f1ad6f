// The bits of an element of any type to those of any other, with one rounding: integer arithmetic alone, and
// everything about the types and the rounding is data. constexpr, hence the same function on the host and in
// device code.
#pragma once

#include <cstdint>

#include "core/number_format.hpp"

namespace relayout {

constexpr int leading_zeros(std::uint32_t value) { return __builtin_clz(value); }
constexpr int leading_zeros(std::uint64_t value) { return __builtin_clzll(value); }

namespace convert {

template <class Word>
constexpr int word_bits = 8 * static_cast<int>(sizeof(Word));

/// value * 2^exponent, with value's second highest bit the first that is set. Where a number of all bits of a
/// word had to make room, the lowest two are one: which of the neighbours is nearer stays the same, as the
/// rounding drops more bits than that.
template <class Word>
struct Normal {
  Word value;
  int exponent;

  constexpr Normal(Word magnitude, int scale) : value(magnitude), exponent(scale) {
    const int zeros = leading_zeros(magnitude);
    if (zeros == 0) {
      value = magnitude >> 1 | (magnitude & 1);
      exponent += 1;
    } else {
      value = magnitude << (zeros - 1);
      exponent -= zeros - 1;
    }
  }
};

/// A number of type cast.from.
template <class Word>
struct Parts {
  bool negative;
  Word magnitude;  // times 2^exponent
  int exponent;
};

template <class Word>
constexpr Parts<Word> integer_parts(const NumberFormat& from, Word bits) {
  if (from.kind == NumberKind::boolean) bits = bits != 0 ? 1 : 0;
  const bool negative = from.kind == NumberKind::integer && (bits >> (from.bits - 1) & 1) != 0;
  if (negative) bits |= ~Word{0} << (from.bits - 1);
  return {negative, negative ? Word{0} - bits : bits, 0};
}

template <class Word>
constexpr Parts<Word> floating_parts(const NumberFormat& from, bool negative, Word magnitude) {
  const int field = static_cast<int>(magnitude >> from.fraction_bits), steps = field > 0 ? field - 1 : 0;
  return {negative, magnitude - (static_cast<Word>(steps) << from.fraction_bits),
          steps + 1 - from.bias - from.fraction_bits};
}

template <class Word>
constexpr Word chosen(const std::uint64_t (&pair)[2], bool negative) {
  return negative ? static_cast<Word>(pair[1]) : static_cast<Word>(pair[0]);
}

template <class Word>
constexpr Word limited(const ElementCast& cast, bool negative, Word magnitude) {
  return magnitude > chosen<Word>(cast.limit, negative) ? chosen<Word>(cast.overflow, negative) : magnitude;
}

/// The magnitude in cast.to, with one rounding. An integer is rounded like a subnormal number, in units of 1.
template <class Word>
constexpr Word rounded(const ElementCast& cast, const Parts<Word>& parts) {
  constexpr int kBits = word_bits<Word>, kTop = kBits - 2;
  const bool floating = cast.to.kind == NumberKind::floating;
  const int fraction_bits = floating ? cast.to.fraction_bits : kTop;
  const Normal<Word> number(parts.magnitude | (parts.magnitude == 0 ? 1 : 0), parts.exponent);
  // The exponent's field, less the leading one that stays in the kept bits; subnormals have none.
  const int field = floating ? number.exponent + kTop - 1 + cast.to.bias : number.exponent;
  const int normal = field > 0 ? field : 0;
  int drop = kTop - fraction_bits + (normal - field);
  Word value = number.value;
  if (drop >= kBits) {  // less than half, whatever it was
    drop = kBits - 1;
    value = 1;
  }
  const Word kept = value >> drop, rest = value << 1 << (kBits - 1 - drop);
  const Word above =
      static_cast<Word>((parts.negative ? cast.round_above[1] : cast.round_above[0]) >> (64 - kBits));
  // A carry out of the fraction is the next exponent.
  Word result = kept + (rest + (kept & cast.ties_to_even) > above ? 1 : 0);
  if (floating) {
    result += static_cast<Word>(normal) << fraction_bits;
  } else if (field > 0) {  // integers of all of a word's bits
    result = field == 1 ? value << 1 : ~Word{0};
  }
  return parts.magnitude == 0 ? 0 : limited(cast, parts.negative, result);
}

template <class Word>
constexpr Word with_sign(const NumberFormat& to, bool negative, Word magnitude) {
  if (to.kind != NumberKind::floating) return negative ? Word{0} - magnitude : magnitude;
  return (magnitude | static_cast<Word>(negative) << (to.bits - 1)) << to.low_zeros;
}

}  // namespace convert

/// `bits` of a cast.from, zeros above them; the result's bits above those of a cast.to mean nothing. Word:
/// std::uint64_t, or std::uint32_t where both types have 4 bytes at most.
template <class Word>
constexpr Word convert_bits(const ElementCast& cast, Word bits) {
  const NumberFormat &from = cast.from, &to = cast.to;
  const bool floating = from.kind == NumberKind::floating;
  const bool sign = floating && (bits >> (from.bits - 1) & 1) != 0;
  const Word magnitude = floating ? bits & ((Word{1} << (from.bits - 1)) - 1) : bits;
  if (to.kind == NumberKind::boolean) return magnitude != 0 ? 1 : 0;
  const convert::Parts<Word> parts =
      floating ? convert::floating_parts(from, sign, magnitude) : convert::integer_parts(from, magnitude);
  if (!floating && to.kind != NumberKind::floating) {
    const Word result =
        cast.saturate ? convert::limited(cast, parts.negative, parts.magnitude) : parts.magnitude;
    return convert::with_sign(to, parts.negative, result);
  }
  Word result = convert::rounded(cast, parts);
  if (floating && magnitude > static_cast<Word>(from.largest)) {
    const bool is_nan = magnitude > static_cast<Word>(from.largest) + (from.has_infinity ? 1 : 0);
    result = is_nan ? static_cast<Word>(cast.nan) : convert::chosen<Word>(cast.infinity, sign);
  }
  return convert::with_sign(to, parts.negative, result);
}

}  // namespace relayout
