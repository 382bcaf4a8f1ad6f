// sin, cos and tan of f64 numbers, four at a time: of x less a multiple of pi / 2, as a pair of numbers, by
// the polynomials of fdlibm (k_sin.c, k_cos.c). The result is rounded about once. From a million on the
// multiple has too many digits: the C library computes such numbers one by one.
#include <cmath>

#include "host/cpu/elementwise/double_pairs.hpp"
#include "host/cpu/elementwise/elementwise_rows.hpp"

#if defined(RELAYOUT_X86)

namespace relayout::native {
namespace {

constexpr double kMostReduced = 1e6;

/// The sine and the cosine of x less `quarters` times pi / 2, which is pi / 4 at most.
struct Reduced {
  __m256i quarters;  // the low bits of each number
  DoublePair sine, cosine;

  RELAYOUT_FMA explicit Reduced(Doubles x) {
    // pi / 2 in three parts. x less the first one's product is exact: both are multiples of 2^-53.
    constexpr double kFirst = 0x1.921fb54442d18p+0, kSecond = 0x1.1a62633145c07p-54,
                     kThird = -0x1.f1976b7ed8fbcp-110;
    const Doubles whole = whole_of(x * all(0x1.45f306dc9c883p-1));
    quarters = _mm256_castpd_si256(whole + all(0x1.8p52));
    const Doubles taken = whole * all(kSecond), taken_low = _mm256_fmsub_pd(whole, all(kSecond), taken);
    const DoublePair left = sum_of_any(_mm256_fnmadd_pd(whole, all(kFirst), x), -taken);
    const DoublePair r = sum_of(left.high, _mm256_fnmadd_pd(whole, all(kThird), left.low - taken_low));
    const Doubles square = r.high * r.high, square_low = _mm256_fmsub_pd(r.high, r.high, square);
    const Doubles half = all(0.5) * square;
    const Doubles cubic = square * r.high * sine_series(square);
    sine = sum_of(r.high, cubic + _mm256_fnmadd_pd(half, r.low, r.low));
    const DoublePair rest = sum_of(all(1), -half);
    const Doubles fourth = square * square * cosine_series(square);
    cosine = sum_of(rest.high, rest.low + (fourth - _mm256_fmadd_pd(all(0.5), square_low, r.high * r.low)));
  }

 private:
  RELAYOUT_FMA static Doubles sine_series(Doubles square) {
    constexpr double kFactors[] = {-1.66666666666666324348e-01, 8.33333333332248946124e-03,
                                   -1.98412698298579493134e-04, 2.75573137070700676789e-06,
                                   -2.50507602534068634195e-08, 1.58969099521155010221e-10};
    return series_of(kFactors, square);
  }
  RELAYOUT_FMA static Doubles cosine_series(Doubles square) {
    constexpr double kFactors[] = {4.16666666666666019037e-02, -1.38888888888741095749e-03,
                                   2.48015872894767294178e-05, -2.75573143513906633035e-07,
                                   2.08757232129817482790e-09, -1.13596475577881948265e-11};
    return series_of(kFactors, square);
  }
};

/// Where bit 0 of `quarters` is set, `odd`, else `even`.
RELAYOUT_FMA inline DoublePair by_quarter(__m256i quarters, DoublePair odd, DoublePair even) {
  const Doubles is_odd = _mm256_castsi256_pd(_mm256_slli_epi64(quarters, 63));
  return {_mm256_blendv_pd(even.high, odd.high, is_odd), _mm256_blendv_pd(even.low, odd.low, is_odd)};
}
/// x, whose sign changes where this bit of `quarters` is set.
template <int kBit>
RELAYOUT_FMA inline Doubles turned(Doubles x, __m256i quarters) {
  return _mm256_xor_pd(x,
                       _mm256_and_pd(all(-0.0), _mm256_castsi256_pd(_mm256_slli_epi64(quarters, 63 - kBit))));
}
RELAYOUT_FMA inline Doubles sin_of(Doubles x) {
  const Reduced r(x);
  return unless_zero(x, turned<1>(rounded(by_quarter(r.quarters, r.cosine, r.sine)), r.quarters));
}
RELAYOUT_FMA inline Doubles cos_of(Doubles x) {
  const Reduced r(x);
  const __m256i moved = _mm256_add_epi64(r.quarters, _mm256_set1_epi64x(1));
  return turned<1>(rounded(by_quarter(r.quarters, r.sine, r.cosine)), moved);
}
RELAYOUT_FMA inline Doubles tan_of(Doubles x) {
  const Reduced r(x);
  const DoublePair quotient =
      quotient_of(by_quarter(r.quarters, r.cosine, r.sine), by_quarter(r.quarters, r.sine, r.cosine));
  return unless_zero(x, turned<0>(rounded(quotient), r.quarters));
}

template <Doubles (*kVector)(Doubles), double (*kLibrary)(double)>
RELAYOUT_FMA inline Doubles of_any(Doubles x) {
  const Doubles result = kVector(x);
  const int far = _mm256_movemask_pd(_mm256_cmp_pd(magnitude(x), all(kMostReduced), _CMP_GT_OQ));
  if (far == 0) return result;
  double numbers[4], results[4];
  _mm256_storeu_pd(numbers, x);
  _mm256_storeu_pd(results, result);
  for (int i = 0; i < 4; ++i) {
    if ((far & 1 << i) != 0) results[i] = kLibrary(numbers[i]);
  }
  return _mm256_loadu_pd(results);
}

}  // namespace

ElementwiseRow sine_row(Operation operation) {
  if (!has_fma()) return nullptr;
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

}  // namespace relayout::native

#else

namespace relayout::native {

ElementwiseRow sine_row(Operation) { return nullptr; }

}  // namespace relayout::native
#endif
