// The whole quotients and the remainders of f64 numbers.
#pragma once

#include <cmath>

#include "host/cpu/elementwise/double_pairs.hpp"
#include "host/cpu/elementwise/elementwise_rows.hpp"
#include "host/cpu/elementwise/whole_quotient.hpp"

#if defined(RELAYOUT_X86)

namespace relayout::native::RELAYOUT_VECTORS {

/// The whole part of |x| / |y|, and what is left, which is exact. Rounding may have taken the quotient up to
/// the next whole number: then the rest is below 0 at first.
struct WholeDivision {
  Doubles whole, rest;
  unsigned others;  // bit i: too large a quotient, or no finite numbers

  RELAYOUT_VECTOR WholeDivision(Doubles x, Doubles y) {
    const Doubles a = magnitude(x), b = magnitude(y), quotient = a / b, zero = all(0);
    whole = floor_of(quotient);
    rest = fnma(whole, b, a);
    whole = if_less(rest, zero, whole - all(1), whole);
    rest = if_less(rest, zero, rest + b, rest);
    others = ~(are_less(quotient, all(0x1p52)) & are_less(b, all(kInfinity))) & ((1u << kDoubles) - 1);
  }
};

template <bool kFloored>
double library_quotient(double a, double b) {
  return whole_quotient(a, b, kFloored);
}
template <bool kFloored>
RELAYOUT_VECTOR inline Doubles whole_quotient_of(Doubles x, Doubles y) {
  const WholeDivision division(x, y);
  const Doubles one = all(1), zero = all(0), sign = flipped(with_sign(one, x), y);
  Doubles result = division.whole;
  if constexpr (kFloored)
    result = if_less(sign, zero, if_equal(division.rest, zero, result, result + one), result);
  result = with_sign(result, sign);
  if (division.others == 0) return result;
  return one_by_one<library_quotient<kFloored>>(division.others, x, y, result);
}
RELAYOUT_VECTOR inline Doubles fmod_of(Doubles x, Doubles y) {
  const WholeDivision division(x, y);
  const Doubles result = with_sign(division.rest, x);
  return division.others == 0 ? result : one_by_one<std::fmod>(division.others, x, y, result);
}
RELAYOUT_VECTOR inline Doubles mod_of(Doubles x, Doubles y) {
  const Doubles rest = fmod_of(x, y), zero = all(0);
  const Doubles differs = flipped(rest, y);  // below 0, where the signs differ
  return if_equal(rest, zero, with_sign(zero, y), if_less(differs, zero, rest + y, rest));
}

/// Null for another operation.
inline ElementwiseRow remainder_row(Operation operation) {
  switch (operation) {
    case Operation::div_trunc:
      return row_of_two_doubles<whole_quotient_of<false>>;
    case Operation::div_floor:
      return row_of_two_doubles<whole_quotient_of<true>>;
    case Operation::fmod:
      return row_of_two_doubles<fmod_of>;
    case Operation::mod:
      return row_of_two_doubles<mod_of>;
    default:
      return nullptr;
  }
}

}  // namespace relayout::native::RELAYOUT_VECTORS
#endif
