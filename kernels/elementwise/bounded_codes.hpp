// One operation on codes, to codes, where p.bounded_codes: its result is finite whatever the codes are, so
// there are no types to look at, and nothing is no number.
//
// A Place has what core/elementwise_params.hpp and code_elements.hpp say of it, and a type Load: start(p,
// operand, load) starts the load of an operand's codes, and load.code_floats() has them as floats.
#pragma once

#include "kernels/elementwise/code_elements.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// How many steps from the zero point the codes of an operand are.
template <int kCount, class Load>
__device__ __forceinline__ void steps_of_codes(const Load& load, const CodeScales<false, kCount>& codes,
                                               bool is_signed, float (&steps)[kCount]) {
  const float offset = 0x1p23f + static_cast<float>(is_signed ? codes.zero + 128 : codes.zero);
  load.code_floats(is_signed ? 0x80 : 0,
                   [&](int i, std::uint32_t bits) { steps[i] = __uint_as_float(bits) - offset; });
}

/// What makes steps of the output's scale of an operation's results, and 1 / factor.
struct BoundedFactor {
  float factor, unit;
};

/// `a` and `b` are steps of the operands' scales; `a` becomes the results. folds: scales may be multiplied
/// beforehand. A product of steps is exact.
template <int kCount>
__device__ __forceinline__ BoundedFactor bounded_results(const ElementwiseParams& p,
                                                         const CodeScales<false, kCount> (&scales)[2],
                                                         const CodeScales<false, kCount>& out, bool folds,
                                                         float (&a)[kCount], float (&b)[kCount]) {
  const Operation operation = p.step[0].operation;
  const float first = scales[0].scale(0), second = scales[1].scale(0), unit = out.scale(0);
  const float reciprocal = 1.0f / unit;
  if (operation == Operation::mul && folds) {
    each(a, b, [](float x, float y) { return x * y; });
    return {first * second * reciprocal, unit / (first * second)};
  }
  each(a, [=](float x) { return x * first; });
  if (p.step[0].operands == 2) each(b, [=](float x) { return x * second; });
  const float c[kCount] = {};
  cheap_value<true>(p, operation, a, b, c);
  return {reciprocal, unit};
}

/// Whether scales may be multiplied with each other and with reciprocals.
template <int kCount>
__device__ __forceinline__ bool fold(const ElementwiseParams& p, const CodeScales<false, kCount> (&scales)[2],
                                     const CodeScales<false, kCount>& out) {
  return scales[0].fold() && (p.step[0].operands < 2 || scales[1].fold()) && out.fold();
}

/// The codes of finite results. They are clamped before they are divided, so that the quotient is rounded to
/// an integer as it is added.
template <int kCount>
__device__ __forceinline__ void clamped_codes(const float (&results)[kCount], const BoundedFactor& by,
                                              const CodeScales<false, kCount>& out, bool is_signed,
                                              std::uint8_t (&codes)[kCount]) {
  const auto lowest = static_cast<float>((is_signed ? -128 : 0) - out.zero);
  const float low = lowest * by.unit, high = (lowest + 255.0f) * by.unit;
  const std::uint32_t zero = static_cast<std::uint32_t>(out.zero) - kWholeBits;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const float steps = fmaf(fminf(fmaxf(results[i], low), high), by.factor, kWhole);
    codes[i] = static_cast<std::uint8_t>(__float_as_uint(steps) + zero);
  }
}

/// Makes a lane's codes of the output.
template <int kCount, class Place>
__device__ __forceinline__ void make_bounded_codes(const ElementwiseParams& p, const Place& place) {
  const bool binary = p.step[0].operands == 2;
  typename Place::Load loads[2];
  place.start(p, 0, loads[0]);
  if (binary) place.start(p, 1, loads[1]);
  CodeScales<false, kCount> scales[2], out;
  scales[0].load(p, p.codes[0], 0, place);
  if (binary) scales[1].load(p, p.codes[1], 1, place);
  out.load(p, p.out_codes, 2, place);
  float a[kCount], b[kCount] = {};
  steps_of_codes(loads[0], scales[0], p.codes[0].is_signed, a);
  if (binary) steps_of_codes(loads[1], scales[1], p.codes[1].is_signed, b);
  const bool folds = fold(p, scales, out);
  const BoundedFactor by = bounded_results(p, scales, out, folds, a, b);
  std::uint8_t codes[kCount];
  if (folds) {
    clamped_codes(a, by, out, p.out_codes.is_signed, codes);
  } else {
    divided_codes(a, out, p.out_codes.is_signed, codes);
  }
  place.store(p, codes);
}

}  // namespace relayout::RELAYOUT_BACKEND
