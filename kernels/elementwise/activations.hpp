// What networks apply to every activation. In f32 each takes few enough instructions, and no branch, to stand
// in the code for several elements beside each other. Which they are: is_activation (elementwise_params.hpp).
#pragma once

#include <cmath>

#include "kernels/elementwise/exponential.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// exp(-|x|), 1 + exp(-|x|) does not overflow.
__device__ __forceinline__ double sigmoid(double x) {
  const double tail = std::exp(-absolute(x)), whole = 1 + tail;
  return x < 0 ? tail / whole : 1 / whole;
}
/// The same, with what rounding the sum drops: within 2 units.
__device__ __forceinline__ float sigmoid(float x) {
  const float a = absolute(x) > 120 ? 120.0f : absolute(x);  // and NaN stays
  const Exponential exponential_of_a = exponential(-a);
  const float tail = scaled(exponential_of_a.fraction, exponential_of_a.exponent);
  const float whole = 1 + tail, dropped = (1 - whole) + tail;
  const float numerator = x < 0 ? tail : 1.0f, reciprocal = approximate_reciprocal(whole);
  const float quotient = numerator * reciprocal;
  const float rest = fmaf(-dropped, quotient, fmaf(-whole, quotient, numerator));
  return fmaf(rest, reciprocal, quotient);
}

/// x / (1 + exp(-x)) of the exponential of -|x|, which is scaled last where x < 0: neither it nor the product
/// loses digits before the result does. a: |x|, less where the result is 0 already. -infinity times 0 is NaN.
__device__ __forceinline__ float gated(float x, float a, const Exponential& tail) {
  const float whole = fmaf(tail.fraction, two_to(tail.exponent < -126 ? -126 : tail.exponent), 1.0f);
  const bool negative = x < 0;
  const float numerator = negative ? -a * tail.fraction : x;
  const float quotient = numerator * approximate_reciprocal(whole);
  const float result = negative ? scaled(quotient, tail.exponent) : quotient;
  return is_negative_infinity(x) ? x - x : result;
}

/// The same in f64 of the exponent -|x| = exponent + rest, which is given twice as exactly as one number.
/// Below e^-600 the exponential gets a factor of e^64 that the product loses last: alone it would be
/// subnormal, and lack digits that the product has.
constexpr double kFarExponent = -600, kRaisedBy = 64, kToLower = 1.603810890548638e-28;  // e^-64
__device__ __forceinline__ double gated(double x, double exponent, double rest) {
  const bool far = exponent < kFarExponent, negative = x < 0;
  const double near_tail = std::exp(far ? exponent + kRaisedBy : exponent);
  const double tail = fma(near_tail, rest, near_tail);
  const double quotient = (negative ? x * tail : x) / (far ? 1.0 : 1.0 + tail);
  return far && negative ? quotient * kToLower : quotient;
}

__device__ __forceinline__ double sigmoid_gate(double x) { return gated(x, -absolute(x), 0.0); }
/// exp(-120) times 120 is below all numbers.
__device__ __forceinline__ float sigmoid_gate(float x) {
  const float a = fminf(absolute(x), 120.0f);
  return gated(x, a, exponential(-a));
}

/// x / 2 * erfc(-x / sqrt(2)): 1 + erf would cancel for negative x. What the rounded argument lacks counts by
/// the slope of erfc, -2 / sqrt(pi) * exp(-z^2): far out it is a thousand units. Below -37, where erfc is
/// nearly subnormal, -exp(-x^2 / 2) / sqrt(2 * pi) * (1 - 1 / x^2 + 1 * 3 / x^4 - ...); beyond -40 that is 0.
__device__ __forceinline__ double gauss_gate(double x) {
  constexpr double kRootHalf = 0.7071067811865476, kRootHalfLow = -4.833646656726457e-17,
                   kTwoOverRootPi = 1.1283791670955126, kOneOverRootTwoPi = 0.3989422804014327;
  const double a = fmin(fmax(x, -40.0), 40.0);
  if (x < -37) {
    const double square = a * a, dropped = fma(a, a, -square), r = 1 / square;
    const double series = 1 - r * (1 - 3 * r * (1 - 5 * r * (1 - 7 * r * (1 - 9 * r * (1 - 11 * r)))));
    const double tail = std::exp(fma(-0.5, square, kRaisedBy));
    const double part = -kOneOverRootTwoPi * series * fma(tail, -0.5 * dropped, tail) * kToLower;
    return fma(0.0, x, part);  // NaN for -infinity
  }
  const double z = -a * kRootHalf, rest = fma(-a, kRootHalf, -z) - a * kRootHalfLow;
  return 0.5 * x * fma(-kTwoOverRootPi * rest, std::exp(-z * z), std::erfc(z));
}
/// With a = |x|: x minus, or 0 minus, a times the normal distribution's tail from a on. That tail is
/// exp(-a^2 / 2) * t * P(1 - 8 * t), t = 1 / (a + 4), P of degree 9 within 2^-25; beyond 15 it is below
/// all numbers. The square's rounding error counts in the exponent, those of the products add up to more than
/// is allowed.
__device__ __forceinline__ float gauss_gate(float x) {
  const float a = fminf(absolute(x), 15.0f), square = a * a, dropped = fmaf(a, a, -square);
  const Exponential tail = exponential<true>(-0.5f * square);
  const float sum = a + 4.0f, lost = a - (sum - 4.0f), t = approximate_reciprocal(sum);
  const float t_error = fmaf(-lost, t, fmaf(-sum, t, 1.0f)), q = fmaf(-8.0f, t, 1.0f);
  const float q_error = fmaf(-8.0f * t, t_error, fmaf(-8.0f, t, 1.0f - q));
  float p = -1.232906215e-04f;
  p = fmaf(p, q, 1.934823667e-04f);
  p = fmaf(p, q, 1.567632309e-03f);
  p = fmaf(p, q, -3.523885040e-03f);
  p = fmaf(p, q, -7.526495960e-03f);
  p = fmaf(p, q, 6.040678546e-02f);
  p = fmaf(p, q, -1.865230352e-01f);
  p = fmaf(p, q, 3.871366382e-01f);
  p = fmaf(p, q, -6.078966260e-01f);
  p = fmaf(p, q, 7.552851438e-01f);
  const float scale = t * p, product = a * scale;
  constexpr float kSlope = -0.9f;  // of log(P), about
  const float relative = fmaf(-0.5f, dropped, fmaf(kSlope, q_error, t_error));
  const float error = fmaf(a, fmaf(t, p, -scale), fmaf(a, scale, -product));
  const float correction = tail.fraction * fmaf(product, relative, error);
  const float part = scaled(fmaf(tail.fraction, product, correction), tail.exponent);
  return is_negative_infinity(x) ? x - x : x < 0 ? -part : x - part;
}

/// x / 2 * (1 + tanh(y)) = x * sigmoid(2 * y), y = sqrt(2 / pi) * (x + 0.044715 * x^3).
/// The exponent is |x| * (kLinear + kCubic * x^2), of twice as many digits as one number has; beyond 40 the
/// exponential is 0.
__device__ __forceinline__ double tanh_gate(double x) {
  constexpr double kLinear = 1.5957691216057308, kLinearLow = -9.96930880911092e-17,
                   kCubic = 0.07135481627260025, kCubicLow = -6.175149918155315e-19;
  const double a = fmin(absolute(x), 40.0), square = a * a, dropped = fma(a, a, -square);
  const double term = kCubic * square,
               term_rest = fma(kCubic, square, -term) + fma(kCubic, dropped, kCubicLow * square);
  const double factor = kLinear + term, added = factor - kLinear;
  const double factor_rest = (kLinear - (factor - added)) + (term - added) + term_rest + kLinearLow;
  const double exponent = a * factor, rest = fma(a, factor, -exponent) + a * factor_rest;
  return gated(x, -exponent, -rest);
}
/// The exponent in f64: in f32 its error would be many units of the exponential. Beyond 12 that is below all
/// numbers.
__device__ __forceinline__ float tanh_gate(float x) {
  constexpr double kLinear = 1.5957691216057307117 * kLog2E, kCubic = 0.044715 * kLinear;
  const float a = fminf(absolute(x), 12.0f);
  const double wide = a;
  const WholeAndRest power(-wide * fma(kCubic, wide * wide, kLinear));
  return gated(x, a, {fraction_of_power(static_cast<float>(power.rest)), power.whole});
}

/// max(x, 0) + log1p(exp(-|x|)).
__device__ __forceinline__ double softplus(double x) {
  return larger(x, 0.0) + std::log1p(std::exp(-absolute(x)));
}
/// log1p(t) = 2 * artanh(t / (2 + t)), for t between 0 and 1 by a polynomial within 2^-31.
__device__ __forceinline__ float softplus(float x) {
  const float tail = std::exp(-absolute(x)), root = near_quotient(tail, 2.0f + tail), z = root * root;
  float p = 0.232390508f;
  p = fmaf(p, z, 0.217033148f);
  p = fmaf(p, z, 0.285925835f);
  p = fmaf(p, z, 0.399997026f);
  p = fmaf(p, z, 0.666666687f);
  return larger(x, 0.0f) + fmaf(root * z, p, 2.0f * root);
}

/// apply(f) with the function of one element; false for other operations.
template <class C, class Apply>
__device__ __forceinline__ bool visit_activation(Operation operation, Apply&& apply) {
  switch (operation) {
    case Operation::exp:
      apply([](C x) { return std::exp(x); });
      return true;
    case Operation::tanh:
      apply([](C x) { return std::tanh(x); });
      return true;
    case Operation::sigmoid:
      apply([](C x) { return sigmoid(x); });
      return true;
    case Operation::silu:
      apply([](C x) { return sigmoid_gate(x); });
      return true;
    case Operation::gelu:
      apply([](C x) { return gauss_gate(x); });
      return true;
    case Operation::gelu_tanh:
      apply([](C x) { return tanh_gate(x); });
      return true;
    default:
      return false;
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
