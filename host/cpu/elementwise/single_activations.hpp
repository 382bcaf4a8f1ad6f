// Activations of f32 and bf16 numbers that are made of an exponential, in f64: short polynomials do, nothing
// is lost in sums and quotients, and nothing overflows before the result does.
#pragma once

#include "host/cpu/elementwise/single_functions.hpp"

#if defined(RELAYOUT_X86)

namespace relayout::native::RELAYOUT_VECTORS {

/// 1 / (1 + exp(-z)); 0 where all results are, so that -infinity times it is NaN.
RELAYOUT_VECTOR inline Doubles short_gate(Doubles z) {
  return if_less(z, all(-115), all(0), all(1) / (all(1) + single_exp_of(-z)));
}
RELAYOUT_VECTOR inline Doubles single_sigmoid_of(Doubles x) { return short_gate(x); }
RELAYOUT_VECTOR inline Doubles single_silu_of(Doubles x) { return x * short_gate(x); }
/// 1 + tanh(z) is 2 / (1 + exp(-2 z)).
RELAYOUT_VECTOR inline Doubles single_gelu_tanh_of(Doubles x) {
  constexpr double kLinear = 1.5957691216057307117, kCubic = 0.044715 * kLinear;  // 2 * sqrt(2 / pi)
  return x * short_gate(x * fma(all(kCubic), x * x, all(kLinear)));
}

/// x times the normal distribution, whose tail from a = |x| on is exp(-a^2 / 2) * t * P(1 - 8 * t), t = 1 /
/// (a + 4), as in error_functions.hpp, with a minimax polynomial of degree 10 within 2^-29. From 15 on it is
/// 0.
RELAYOUT_VECTOR inline Doubles single_gelu_of(Doubles x) {
  constexpr double kFactors[] = {0.7552851312958154,      -0.6078966493551146,   0.3871373049334994,
                                 -0.1865215739809685,     0.060398353304478763,  -0.007542613255521115,
                                 -0.0034922204792612625,  0.001635485443146252,  0.00017185995735247045,
                                 -0.00021928297547612021, -4.506052745402294e-05};
  constexpr double kFar = 15;
  const Doubles a = at_most(all(kFar), magnitude(x)), t = all(1) / (a + all(4));
  const Doubles tail = single_exp_of(all(-0.5) * a * a) * t * series_of(kFactors, fnma(all(8), t, all(1)));
  return x * if_less(x, all(0), if_less(x, all(-kFar), all(0), tail), all(1) - tail);
}

/// max(x, 0) + log(1 + t), t = exp(-|x|). The logarithm is 2 artanh(s), s = t / (2 + t): a minimax polynomial
/// within 2^-33.
RELAYOUT_VECTOR inline Doubles single_softplus_of(Doubles x) {
  constexpr double kFactors[] = {0.6666667562192191, 0.39998877746323847, 0.2861688473945373,
                                 0.21427658254205964, 0.2430093373709421};
  const Doubles t = single_exp_of(-magnitude(x)), s = t / (all(2) + t), square = s * s;
  return at_least(all(0), x) + s * fma(square, series_of(kFactors, square), all(2));
}

/// Null for another operation.
inline ElementwiseRow single_activation_row(Operation operation) {
  switch (operation) {
    case Operation::sigmoid:
      return row_of_singles<single_sigmoid_of>;
    case Operation::silu:
      return row_of_singles<single_silu_of>;
    case Operation::gelu:
      return row_of_singles<single_gelu_of>;
    case Operation::gelu_tanh:
      return row_of_singles<single_gelu_tanh_of>;
    case Operation::softplus:
      return row_of_singles<single_softplus_of>;
    default:
      return nullptr;
  }
}

}  // namespace relayout::native::RELAYOUT_VECTORS
#endif
