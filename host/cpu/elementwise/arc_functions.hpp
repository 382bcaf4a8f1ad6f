// asin, acos, atan and atan2 of f64 numbers: of arguments that are brought below 1 / 2 in pairs of numbers,
// by the polynomials of fdlibm (s_atan.c, e_asin.c). The result is rounded about once.
#pragma once

#include "host/cpu/elementwise/double_pairs.hpp"
#include "host/cpu/elementwise/elementwise_rows.hpp"

#if defined(RELAYOUT_X86)

namespace relayout::native::RELAYOUT_VECTORS {

RELAYOUT_VECTOR inline DoublePair if_less(Doubles x, Doubles y, DoublePair chosen, DoublePair other) {
  return {if_less(x, y, chosen.high, other.high), if_less(x, y, chosen.low, other.low)};
}
/// A number of halves of pi, less x.
RELAYOUT_VECTOR inline DoublePair turned_back(double halves, DoublePair x) {
  const DoublePair sum = sum_of_any(all(halves * (kPi / 2)), -x.high);
  return {sum.high, sum.low + (all(halves * (kPiLow / 2)) - x.low)};
}

/// The angle of (x, y), both of which are positive or 0, but not both are 0 and not both infinite. An angle
/// above an eighth of pi is that of the point turned back by a quarter or a half of it.
RELAYOUT_VECTOR inline DoublePair angle_of(Doubles y, Doubles x) {
  constexpr double kFactors[] = {
      3.33333333333329318027e-01,  -1.99999999998764832476e-01, 1.42857142725034663711e-01,
      -1.11111104054623557880e-01, 9.09088713343650656196e-02,  -7.69187620504482999495e-02,
      6.66107313738753120669e-02,  -5.83357013379057348645e-02, 4.97687799461593236017e-02,
      -3.65315727442169155270e-02, 1.62858201153657823623e-02};
  const Doubles zero = all(0), eighth = x * all(0.4142135623730951), three = x * all(2.414213562373095);
  const DoublePair middle = if_less(eighth, y, sum_of_any(y, -x), {y, zero});
  const DoublePair middle_x = if_less(eighth, y, sum_of_any(y, x), {x, zero});
  const DoublePair ratio =
      quotient_of(if_less(three, y, {-x, zero}, middle), if_less(three, y, {y, zero}, middle_x));
  const Doubles quarters = if_less(three, y, all(2), if_less(eighth, y, all(1), zero));
  const Doubles square = ratio.high * ratio.high, rest = ratio.high * square * series_of(kFactors, square);
  const Doubles lost = if_equal_or_nan(ratio.low, zero, zero, ratio.low);  // none beside infinity
  const DoublePair sum = sum_of_any(quarters * all(kPi / 4), ratio.high);
  return {sum.high, sum.low + (fma(quarters, all(kPiLow / 4), lost) - rest)};
}
RELAYOUT_VECTOR inline Doubles atan_of(Doubles x) {
  return with_sign(rounded(angle_of(magnitude(x), all(1))), x);
}
/// Scaled, so that sums neither overflow nor ratios lose digits that are subnormal.
RELAYOUT_VECTOR inline Doubles atan2_of(Doubles y, Doubles x) {
  const Doubles high = magnitude(y), wide = magnitude(x), one = all(1), zero = all(0);
  const Doubles most = at_least(high, wide);
  const Doubles scale =
      if_less(all(0x1p1000), most, all(0x1p-100), if_less(most, all(0x1p-900), all(0x1p200), one));
  const Doubles same_y = if_equal(high, zero, zero, one);
  const DoublePair angle =
      angle_of(if_equal(high, wide, same_y, high * scale), if_equal(high, wide, one, wide * scale));
  return with_sign(if_signed(x, rounded(turned_back(2, angle)), rounded(angle)), y);
}

/// The arc sine of |x| where that is at most 1 / 2. Elsewhere it is the arc sine of the root of (1 - |x|) /
/// 2, twice which is what |x|'s own lacks to a quarter of a turn.
struct ArcSine {
  DoublePair value;
  Doubles size;  // |x|

  RELAYOUT_VECTOR explicit ArcSine(Doubles x) : size(magnitude(x)) {
    constexpr double kAbove[] = {1.66666666666666657415e-01, -3.25565818622400915405e-01,
                                 2.01212532134862925881e-01, -4.00555345006794114027e-02,
                                 7.91534994289814532176e-04, 3.47933107596021167570e-05};
    constexpr double kBelow[] = {1.0, -2.40339491173441421878e+00, 2.02094576023350569471e+00,
                                 -6.88283971605453293030e-01, 7.70381505559019352791e-02};
    const Doubles half = all(0.5), zero = all(0), rest = (all(1) - size) * half;
    const Doubles square = if_less(half, size, rest, size * size), side = root(rest);
    const Doubles lost = if_equal(side, zero, zero, fnma(side, side, rest) / (side + side));
    const DoublePair argument = if_less(half, size, {side, lost}, {size, zero});
    const Doubles more = argument.high * square * series_of(kAbove, square) / series_of(kBelow, square);
    value = {argument.high, argument.low + more};
  }
};
RELAYOUT_VECTOR inline Doubles asin_of(Doubles x) {
  const ArcSine arc(x);
  const DoublePair twice = {all(2) * arc.value.high, all(2) * arc.value.low};
  return with_sign(rounded(if_less(all(0.5), arc.size, turned_back(1, twice), arc.value)), x);
}
RELAYOUT_VECTOR inline Doubles acos_of(Doubles x) {
  const ArcSine arc(x);
  const DoublePair twice = {all(2) * arc.value.high, all(2) * arc.value.low};
  const DoublePair near = {flipped(arc.value.high, x), flipped(arc.value.low, x)};
  const DoublePair far = if_less(x, all(0), turned_back(2, twice), twice);
  return rounded(if_less(all(0.5), arc.size, far, turned_back(1, near)));
}

/// Null for another operation.
inline ElementwiseRow arc_row(Operation operation) {
  switch (operation) {
    case Operation::asin:
      return row_of_doubles<asin_of>;
    case Operation::acos:
      return row_of_doubles<acos_of>;
    case Operation::atan:
      return row_of_doubles<atan_of>;
    case Operation::atan2:
      return row_of_two_doubles<atan2_of>;
    default:
      return nullptr;
  }
}

}  // namespace relayout::native::RELAYOUT_VECTORS
#endif
