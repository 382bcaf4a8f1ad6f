// The activation functions of neural networks; is_activation (elementwise_params.hpp) lists them. In f32 each
// takes so few instructions, and no branch, that the code computes several elements side by side.
#pragma once

#include <cmath>

#include "core/gauss_tail.hpp"
#include "kernels/elementwise/exponential.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// (numerator + low) / (1 + tail), for a tail of at most 1. What the rounding of the sum drops is added back,
/// so that the quotient is rounded once. Zeros keep their sign.
__device__ __forceinline__ double over_one_plus(double tail, double numerator, double low = 0) {
  const double whole = 1 + tail, dropped = tail - (whole - 1), reciprocal = near_reciprocal(whole);
  const double quotient = numerator * reciprocal;
  const double rest = fma(-whole, quotient, numerator) + fma(-dropped, quotient, low);
  return with_sign_of(fma(rest, reciprocal, quotient), numerator);
}

/// Computed from exp(-|x|), so that 1 + exp(-|x|) does not overflow.
__device__ __forceinline__ double sigmoid(double x) {
  const double tail = std::exp(-absolute(x)), right = over_one_plus(tail, 1.0);
  return x < 0 ? tail * right : right;
}
/// The same in f32. What the rounding of the sum drops is added back, so the result is within 2 units in the
/// last place.
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

/// x / (1 + exp(-x)), from the exponential of -|x|. Where x < 0 the exponential is scaled last, so that
/// neither it nor the product loses digits before the result does. `a` is |x|, or less where the result is 0
/// already. -infinity times 0 is NaN.
__device__ __forceinline__ float gated(float x, float a, const Exponential& tail) {
  const float whole = fmaf(tail.fraction, two_to(tail.exponent < -126 ? -126 : tail.exponent), 1.0f);
  const bool negative = x < 0;
  const float numerator = negative ? -a * tail.fraction : x;
  const float quotient = numerator * approximate_reciprocal(whole);
  const float result = negative ? scaled(quotient, tail.exponent) : quotient;
  return is_negative_infinity(x) ? x - x : result;
}

/// The same in f64. The exponent -|x| is given as exponent + rest, with twice the digits of one number. Below
/// e^-600 the exponential is multiplied by e^64, and the product is divided by that last: the exponential
/// alone would be subnormal, and lack digits that the product has.
constexpr double kFarExponent = -600, kRaisedBy = 64, kToLower = 1.603810890548638e-28,
                 kToLowerLow = -7.361325221284214e-45;  // e^-64
__device__ __forceinline__ double gated(double x, double exponent, double rest) {
  const bool far = exponent < kFarExponent, negative = x < 0;
  const double tail = std::exp(far ? exponent + kRaisedBy : exponent);
  const double factor = negative ? tail : 1.0, product = x * factor;
  const double low = fma(x, factor, -product) + (negative ? product * rest : 0.0);
  const double quotient = over_one_plus(fma(tail, rest, tail), product, low);
  if (!far) return quotient;
  return negative ? quotient * kToLower : x;  // infinity, too
}

__device__ __forceinline__ double sigmoid_gate(double x) { return gated(x, -absolute(x), 0.0); }
/// exp(-120) times 120 is below all numbers.
__device__ __forceinline__ float sigmoid_gate(float x) {
  const float a = fminf(absolute(x), 120.0f);
  return gated(x, a, exponential(-a));
}

/// A number of twice the digits: Horner's scheme without its rounding errors.
struct HighAndLow {
  double high, low;

  /// this * q + a coefficient, which is larger than the product.
  __device__ __forceinline__ void step(double q, double coefficient, double coefficient_low) {
    const double product = high * q, product_low = fma(high, q, -product);
    const double sum = coefficient + product, sum_low = product - (sum - coefficient);
    low = fma(low, q, product_low + sum_low + coefficient_low);
    high = sum;
  }
};

/// The polynomial P(q) of gauss_gate (core/gauss_tail.hpp). It is evaluated in a loop over a table: without
/// that the compiler would keep so many constants of f64 in registers that an AMD GPU has too few.
__device__ __forceinline__ HighAndLow gauss_tail(double q) {
  static constexpr double kCoefficients[] = {RELAYOUT_GAUSS_TAIL};
  double p = 0;
#pragma unroll 4
  for (const double coefficient : kCoefficients) p = fma(p, q, coefficient);
  HighAndLow sums{p, 0};
  sums.step(q, kGaussTail2, kGaussTail2Low);
  sums.step(q, kGaussTail1, kGaussTail1Low);
  sums.step(q, kGaussTail0, kGaussTail0Low);
  return sums;
}

/// Like the function in f32 below, but with all products in twice the digits: the exponential's error and one
/// rounding are left. Below e^-684 the exponential is multiplied by e^64, which is divided out last. From 9
/// on the tail is less than half a unit of x.
__device__ __forceinline__ double gauss_gate(double x) {
  const double a = fmin(absolute(x), 40.0), square = a * a, dropped = fma(a, a, -square);
  const bool far = a > 37;
  const double tail = std::exp(far ? fma(-0.5, square, kRaisedBy) : -0.5 * square);
  const double sum = a + 4, lost = a - (sum - 4), t = 1 / sum, q = fma(-8.0, t, 1.0);
  const double t_error = fma(-lost, t, fma(-sum, t, 1.0));
  const double q_error = fma(-8 * t, t_error, fma(-8.0, t, 1 - q));
  const double slope = fma(0.3, q, -0.8);  // of log(P), about
  const HighAndLow p = gauss_tail(q);
  const double scale = t * p.high, product = a * scale;
  const double scale_low = fma(t, p.high, -scale) + t * p.low;
  const double relative = fma(slope, q_error, fma(-0.5, dropped, t_error));
  const double product_low = fma(product, relative, fma(a, scale, -product) + a * scale_low);
  const double part = tail * product, part_low = fma(tail, product, -part) + tail * product_low;
  if (x < 0) {
    const double result =
        far ? fma(part, kToLower, fma(part, kToLowerLow, part_low * kToLower)) : part + part_low;
    return fma(0.0, x, -result);  // NaN for -infinity
  }
  const double rest = x - part;
  return x > 9 || x == 0 ? x : rest + (((x - rest) - part) - part_low);
}
/// The result is x, or 0 where x < 0, minus a times the normal distribution's tail from a = |x| on. That tail
/// is exp(-a^2 / 2) * t * P(1 - 8 * t), with t = 1 / (a + 4) and a polynomial P of degree 9, within 2^-25;
/// beyond 15 it is below all numbers. The rounding errors of the square, which is in an exponent, of t and of
/// the products would exceed the bound, so they are corrected.
__device__ __forceinline__ float gauss_gate(float x) {
  const float a = fminf(absolute(x), 15.0f), square = a * a, dropped = fmaf(a, a, -square);
  const BinaryExponent power(-0.5f * square);
  const float tail = power_of_two(fmaf(dropped, static_cast<float>(-0.5 * kLog2E), power.rest));
  const float sum = a + 4.0f, lost = a - (sum - 4.0f), t = approximate_reciprocal(sum);
  const float t_error = fmaf(-lost, t, fmaf(-sum, t, 1.0f)), q = fmaf(-8.0f, t, 1.0f);
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
  const float scale = a * t, product = scale * p;
  const float error = fmaf(fmaf(a, t, -scale), p, fmaf(scale, p, -product));
  constexpr float kSlope = -0.9f;  // of log(P) along q, about
  const float correction = fmaf(product, t_error * fmaf(-8 * kSlope, t, 1.0f), error);
  const float part = scaled(fmaf(tail, correction, tail * product), power.whole);
  return fmaf(x, x >= 0 ? 1.0f : 0.0f, -part);  // NaN for -infinity
}

/// x / 2 * (1 + tanh(y)) = x * sigmoid(2 * y), y = sqrt(2 / pi) * (x + 0.044715 * x^3). The exponent is |x| *
/// (kLinear + kCubic * x^2), with twice as many digits as one number has; beyond 40 the exponential is 0.
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
/// The exponent is computed in f64: in f32 its error would be many units of the exponential. Beyond 11.5 the
/// exponential is below all numbers.
__device__ __forceinline__ float tanh_gate(float x) {
  constexpr double kLinear = 1.5957691216057307117 * kLog2E, kCubic = 0.044715 * kLinear;
  const float a = fminf(absolute(x), 11.5f);
  const double wide = a;
  const WholeAndRest power(-wide * fma(kCubic, wide * wide, kLinear));
  return gated(x, a, {fraction_of_power(static_cast<float>(power.rest)), power.whole});
}

/// max(x, 0) + log1p(exp(-|x|)).
__device__ __forceinline__ double softplus(double x) {
  return larger(x, 0.0) + std::log1p(std::exp(-absolute(x)));
}
/// log1p(t) is 2 * artanh(t / (2 + t)), which for t between 0 and 1 is a polynomial within 2^-31.
__device__ __forceinline__ float softplus(float x) {
  const float tail = std::exp(-absolute(x)), root = near_quotient(tail, 2.0f + tail), z = root * root;
  float p = 0.232390508f;
  p = fmaf(p, z, 0.217033148f);
  p = fmaf(p, z, 0.285925835f);
  p = fmaf(p, z, 0.399997026f);
  p = fmaf(p, z, 0.666666687f);
  return larger(x, 0.0f) + fmaf(root * z, p, 2.0f * root);
}

/// Calls apply(f) with the function of one element; returns false for other operations.
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
