// pow, exp2 and hypot of f64 numbers.
//
// pow is the exponential of y * log(x). That product may be 745, of which an exponential's last digit needs
// 2^-53: so the logarithm is right to some 2^-63 of itself, and so are the sums and products of pairs that
// make it.
#pragma once

#include <cmath>

#include "host/cpu/elementwise/double_pairs.hpp"
#include "host/cpu/elementwise/elementwise_rows.hpp"
#include "host/cpu/elementwise/exponential_functions.hpp"
#include "host/cpu/elementwise/logarithm_functions.hpp"

#if defined(RELAYOUT_X86)

namespace relayout::native::RELAYOUT_VECTORS {

RELAYOUT_VECTOR inline Doubles exp2_of(Doubles x) {
  const Doubles near = between(-1080, 1030, x), exponent = whole_of(near);
  return scaled(short_power((near - exponent) * all(kLog2)), exponent);
}

/// log(x) of a positive normal number: exponent * log(2) + 2 artanh(s), where s is f / (2 + f).
RELAYOUT_VECTOR inline DoublePair exact_log_of(Doubles x) {
  constexpr double kThird = 1.0 / 3, kThirdLow = 0x1.5555555555555p-56;
  constexpr double kFactors[] = {1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11, 1.0 / 13,
                                 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23};
  const Parted parts(x);
  const Doubles f = parts.fraction - all(1);
  const DoublePair s = quotient_of({f, all(0)}, sum_of(all(2), f)), square = product_of(s, s);
  const Doubles small = square.high * series_of(kFactors, square.high);
  const DoublePair sum = sum_of(all(kThird), small), factor = {sum.high, sum.low + all(kThirdLow)};
  const DoublePair more = product_of(s, product_of(square, factor)), half = sum_of(s.high, more.high);
  const DoublePair high = sum_of_any(parts.exponent * all(kLog2High), all(2) * half.high);
  const Doubles low = all(2) * (half.low + (s.low + more.low));
  return sum_of(high.high, high.low + fma(parts.exponent, all(kLog2Low), low));
}
/// C99 leaves 1 to the power of a signalling NaN open.
inline double one_power(double x, double y) { return x == 1 || y == 0 ? 1 : std::pow(x, y); }

/// The C library computes powers of zeros, of subnormal and infinite numbers and of NaN, one by one.
RELAYOUT_VECTOR inline Doubles pow_of(Doubles x, Doubles y) {
  const Doubles size = magnitude(x), infinity = all(kInfinity);
  const DoublePair logarithm = exact_log_of(size), product = product_of(y, logarithm);
  const Doubles near = between(-1000, 1000, product.high);
  const Exponential e(near, if_equal(near, product.high, product.low, all(0)));
  const Doubles power = scaled(rounded(e.fraction()), e.exponent);
  const Doubles half = all(0.5) * y, odd = if_equal(whole_of(half), half, power, -power);
  const Doubles result = if_signed(x, if_equal(whole_of(y), y, odd, all(kNan)), power);
  const unsigned plain = are_less(all(0x1.fffffffffffffp-1023), size) & are_less(size, infinity) &
                         are_less(magnitude(y), infinity);
  const unsigned rest = ~plain & ((1u << kDoubles) - 1);
  return rest == 0 ? result : one_by_one<one_power>(rest, x, y, result);
}

/// Scaled, so that squares neither overflow nor are subnormal. Infinite even beside a NaN (C99).
RELAYOUT_VECTOR inline Doubles hypot_of(Doubles x, Doubles y) {
  const Doubles a = magnitude(x), b = magnitude(y), most = at_least(a, b), one = all(1),
                infinity = all(kInfinity);
  const Doubles is_large = if_less(all(0x1p500), most, all(0x1p600), one);
  const Doubles back = if_less(most, all(0x1p-400), all(0x1p-600), is_large), scale = one / back;
  const Doubles p = a * scale, q = b * scale;
  const Doubles result = root(fma(p, p, q * q)) * back;
  return if_equal(a, infinity, a, if_equal(b, infinity, b, result));
}

/// Null for another operation.
inline ElementwiseRow power_row(Operation operation) {
  switch (operation) {
    case Operation::exp2:
      return row_of_doubles<exp2_of>;
    case Operation::pow:
      return row_of_two_doubles<pow_of>;
    case Operation::hypot:
      return row_of_two_doubles<hypot_of>;
    default:
      return nullptr;
  }
}

}  // namespace relayout::native::RELAYOUT_VECTORS
#endif
