// The remainders of f64 numbers.
#pragma once

#include <cmath>

#include "host/cpu/elementwise/double_pairs.hpp"
#include "host/cpu/elementwise/elementwise_rows.hpp"

#if defined(RELAYOUT_X86)

namespace relayout::native::RELAYOUT_VECTORS {

/// x less the whole part of x / y times y. Rounding may have taken the quotient up to the next whole number:
/// then the rest, which is exact, has the other sign.
RELAYOUT_VECTOR inline Doubles fmod_of(Doubles x, Doubles y) {
  const Doubles a = magnitude(x), b = magnitude(y), quotient = a / b;
  const Doubles rest = fnma(floor_of(quotient), b, a), result = if_less(rest, all(0), rest + b, rest);
  const unsigned plain = are_less(quotient, all(0x1p52)) & are_less(b, all(kInfinity));
  const unsigned others = ~plain & ((1u << kDoubles) - 1);
  const Doubles signed_result = with_sign(result, x);
  return others == 0 ? signed_result : one_by_one<std::fmod>(others, x, y, signed_result);
}
RELAYOUT_VECTOR inline Doubles mod_of(Doubles x, Doubles y) {
  const Doubles rest = fmod_of(x, y), zero = all(0);
  const Doubles differs = flipped(rest, y);  // below 0, where the signs differ
  return if_equal(rest, zero, with_sign(zero, y), if_less(differs, zero, rest + y, rest));
}

/// Null for another operation.
inline ElementwiseRow remainder_row(Operation operation) {
  switch (operation) {
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
