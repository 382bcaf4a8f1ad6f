// sin, cos and tan of f64 numbers: of x less a multiple of pi / 2, by the polynomials of fdlibm (k_sin.c,
// k_cos.c). A sine or cosine is that of one number, which is rounded once, or once more where it is below
// 2^-38, so that the result is off by less than 1.5 units. A tangent is a quotient of pairs of numbers,
// rounded about once. From a million on the multiple has too many digits: the C library computes such numbers
// one by one.
#pragma once

#include <cmath>

#include "host/cpu/elementwise/double_pairs.hpp"
#include "host/cpu/elementwise/elementwise_rows.hpp"

#if defined(RELAYOUT_X86)

namespace relayout::native::RELAYOUT_VECTORS {

constexpr double kMostReduced = 1e6;

/// pi / 2 in three parts. x less the first one's product with a whole number is exact: both are multiples of
/// 2^-53.
constexpr double kQuarter = kPi / 2, kQuarterLow = kPiLow / 2, kQuarterLowest = -0x1.f1976b7ed8fbcp-110;

/// Multiples of pi / 2: their numbers, and the low bits of these.
struct Quarters {
  Doubles count;
  Wholes bits;

  RELAYOUT_VECTOR explicit Quarters(Doubles x) {
    constexpr double kShifter = 0x1.8p52;
    const Doubles shifted = fma(x, all(kQuartersPerRadian), all(kShifter));
    count = shifted - all(kShifter);
    bits = bits_of(shifted);
  }
};

/// The sine of r, between -pi / 4 and pi / 4, less r, over r^3.
RELAYOUT_VECTOR inline Doubles sine_series(Doubles square) {
  constexpr double kFactors[] = {-1.66666666666666324348e-01, 8.33333333332248946124e-03,
                                 -1.98412698298579493134e-04, 2.75573137070700676789e-06,
                                 -2.50507602534068634195e-08, 1.58969099521155010221e-10};
  return series_of(kFactors, square);
}
/// The cosine of r less 1, plus r^2 / 2, over r^4.
RELAYOUT_VECTOR inline Doubles cosine_series(Doubles square) {
  constexpr double kFactors[] = {4.16666666666666019037e-02, -1.38888888888741095749e-03,
                                 2.48015872894767294178e-05, -2.75573143513906633035e-07,
                                 2.08757232129817482790e-09, -1.13596475577881948265e-11};
  return series_of(kFactors, square);
}

/// The sine and the cosine of x less a multiple of pi / 2, which is pi / 4 at most.
struct Reduced {
  Wholes quarters;  // the low bits of each number
  Doubles sine, cosine;

  RELAYOUT_VECTOR explicit Reduced(Doubles x) {
    const Quarters whole(x);
    quarters = whole.bits;
    const Doubles left = fnma(whole.count, all(kQuarterLow), fnma(whole.count, all(kQuarter), x));
    const Doubles r = fnma(whole.count, all(kQuarterLowest), left), square = r * r;
    sine = fma(square * r, sine_series(square), r);
    cosine = fma(square, fma(square, cosine_series(square), all(-0.5)), all(1));
  }
};

/// The same as pairs of numbers.
struct ReducedPairs {
  Wholes quarters;
  DoublePair sine, cosine;

  RELAYOUT_VECTOR explicit ReducedPairs(Doubles x) {
    const Quarters whole(x);
    quarters = whole.bits;
    const Doubles taken = whole.count * all(kQuarterLow),
                  taken_low = fms(whole.count, all(kQuarterLow), taken);
    const DoublePair left = sum_of_any(fnma(whole.count, all(kQuarter), x), -taken);
    const DoublePair r = sum_of(left.high, fnma(whole.count, all(kQuarterLowest), left.low - taken_low));
    const Doubles square = r.high * r.high, square_low = fms(r.high, r.high, square);
    const Doubles half = all(0.5) * square;
    const Doubles cubic = square * r.high * sine_series(square);
    sine = sum_of(r.high, cubic + fnma(half, r.low, r.low));
    const DoublePair rest = sum_of(all(1), -half);
    const Doubles fourth = square * square * cosine_series(square);
    cosine = sum_of(rest.high, rest.low + (fourth - fma(all(0.5), square_low, r.high * r.low)));
  }
};

/// Where bit 0 of `quarters` is set, `odd`, else `even`.
RELAYOUT_VECTOR inline Doubles by_quarter(Wholes quarters, Doubles odd, Doubles even) {
  return if_signed(of_bits(up<63>(quarters)), odd, even);
}
RELAYOUT_VECTOR inline DoublePair by_quarter(Wholes quarters, DoublePair odd, DoublePair even) {
  return {by_quarter(quarters, odd.high, even.high), by_quarter(quarters, odd.low, even.low)};
}
/// x, whose sign changes where this bit of `quarters` is set.
template <int kBit>
RELAYOUT_VECTOR inline Doubles turned(Doubles x, Wholes quarters) {
  return flipped(x, of_bits(up<63 - kBit>(quarters)));
}
RELAYOUT_VECTOR inline Doubles sin_of(Doubles x) {
  const Reduced r(x);
  return unless_zero(x, turned<1>(by_quarter(r.quarters, r.cosine, r.sine), r.quarters));
}
RELAYOUT_VECTOR inline Doubles cos_of(Doubles x) {
  const Reduced r(x);
  const Wholes moved = sum(r.quarters, all_wholes(1));
  return turned<1>(by_quarter(r.quarters, r.sine, r.cosine), moved);
}
RELAYOUT_VECTOR inline Doubles tan_of(Doubles x) {
  const ReducedPairs r(x);
  const DoublePair quotient =
      quotient_of(by_quarter(r.quarters, r.cosine, r.sine), by_quarter(r.quarters, r.sine, r.cosine));
  return unless_zero(x, turned<0>(rounded(quotient), r.quarters));
}

template <Doubles (*kVector)(Doubles), double (*kLibrary)(double)>
RELAYOUT_VECTOR inline Doubles of_any(Doubles x) {
  const Doubles result = kVector(x);
  const unsigned far = are_less(all(kMostReduced), magnitude(x));
  return far == 0 ? result : one_by_one<kLibrary>(far, x, result);
}

/// Null for another operation.
inline ElementwiseRow sine_row(Operation operation) {
  switch (operation) {
    case Operation::sin:
      return row_of_doubles<of_any<sin_of, std::sin>>;
    case Operation::cos:
      return row_of_doubles<of_any<cos_of, std::cos>>;
    case Operation::tan:
      return row_of_doubles<of_any<tan_of, std::tan>>;
    default:
      return nullptr;
  }
}

}  // namespace relayout::native::RELAYOUT_VECTORS
#endif
