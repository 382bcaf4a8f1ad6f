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

__device__ __forceinline__ double sigmoid_gate(double x) { return x * sigmoid(x); }
/// exp(-120) times 120 is below all numbers.
__device__ __forceinline__ float sigmoid_gate(float x) {
  const float a = fminf(absolute(x), 120.0f);
  return gated(x, a, exponential(-a));
}

/// x / 2 * erfc(-x / sqrt(2)): 1 + erf would cancel for negative x.
__device__ __forceinline__ double gauss_gate(double x) {
  constexpr double kRootHalf = 0.70710678118654752440;
  return 0.5 * x * std::erfc(-x * kRootHalf);
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
__device__ __forceinline__ double tanh_gate(double x) {
  constexpr double kTwoRoots = 1.5957691216057307117, kCubic = 0.044715;
  return x * sigmoid(kTwoRoots * (x + kCubic * x * x * x));
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
