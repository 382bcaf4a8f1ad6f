// The parts of f32 functions that have few instructions and no branch: powers of e and of 2 as fraction and
// exponent, so that a small result is rounded once, and quotients.
#pragma once

#include "approximate_functions.hpp"
#include "kernels/elementwise/cheap_operations.hpp"

namespace relayout::RELAYOUT_BACKEND {

constexpr double kLog2E = 1.4426950408889634074;

/// Adding 1.5 * 2^23 to a float below 2^22 rounds it to a whole number, which the lowest bits of the sum
/// hold. The constant for doubles does the same below 2^51.
constexpr float kWholeFloat = 12582912.0f;
constexpr double kWholeDouble = 6755399441055744.0;

__device__ __forceinline__ std::int32_t whole_of(float sum) {
  return static_cast<std::int32_t>(__float_as_uint(sum) - __float_as_uint(kWholeFloat));
}
/// The float of a whole number below 2^22, in less time than a conversion takes.
__device__ __forceinline__ float whole_float(std::int32_t number) {
  return __uint_as_float(__float_as_uint(kWholeFloat) + static_cast<std::uint32_t>(number)) - kWholeFloat;
}
__device__ __forceinline__ std::int32_t whole_of(double sum) {
  std::uint64_t bits;
  memcpy(&bits, &sum, sizeof bits);
  return static_cast<std::int32_t>(bits);
}

/// x as the nearest whole number and what is left.
struct WholeAndRest {
  std::int32_t whole;
  double rest;

  __device__ __forceinline__ explicit WholeAndRest(double x) {
    const double sum = x + kWholeDouble;
    whole = whole_of(sum);
    rest = x - (sum - kWholeDouble);
  }
};

/// 2^exponent, for -126 <= exponent <= 127.
__device__ __forceinline__ float two_to(std::int32_t exponent) {
  return __uint_as_float(static_cast<std::uint32_t>(exponent + 127) << 23);
}
/// x * 2^exponent, rounded once, for -190 <= exponent <= 63, where x * 2^(exponent + 64) is a normal number.
__device__ __forceinline__ float scaled(float x, std::int32_t exponent) {
  return x * two_to(exponent + 64) * 0x1p-64f;
}

/// The number fraction * 2^exponent, with a fraction between 0.7 and 1.42.
struct Exponential {
  float fraction;
  std::int32_t exponent;
};

/// 2^x for |x| <= 1/2, about half a unit off: the hardware's is off by more than one.
__device__ __forceinline__ float fraction_of_power(float x) {
  float p = 1.546144777e-04f;
  p = fmaf(p, x, 1.339086681e-03f);
  p = fmaf(p, x, 9.618056938e-03f);
  p = fmaf(p, x, 5.550356954e-02f);
  p = fmaf(p, x, 2.402265072e-01f);
  p = fmaf(p, x, 6.931471825e-01f);
  return fmaf(p, x, 1.0f);
}

/// x * log2(e) as the nearest whole number and what is left, for |x| <= 170.
struct BinaryExponent {
  std::int32_t whole;
  float rest;

  __device__ __forceinline__ explicit BinaryExponent(float x) {
    constexpr float kHigh = static_cast<float>(kLog2E), kLow = static_cast<float>(kLog2E - kHigh);
    const float sum = fmaf(x, kHigh, kWholeFloat);
    whole = whole_of(sum);
    rest = fmaf(x, kLow, fmaf(x, kHigh, -(sum - kWholeFloat)));
  }
};

/// e^x for |x| <= 170.
__device__ __forceinline__ Exponential exponential(float x) {
  const BinaryExponent power(x);
  return {fraction_of_power(power.rest), power.whole};
}

/// numerator / denominator, about half a unit off. Denominators must be far from the smallest and largest
/// numbers, and the quotient must not overflow.
__device__ __forceinline__ float near_quotient(float numerator, float denominator) {
  const float reciprocal = approximate_reciprocal(denominator), quotient = numerator * reciprocal;
  return fmaf(fmaf(-denominator, quotient, numerator), reciprocal, quotient);
}

/// 1 / x, about half a unit off, for x far from the smallest and largest numbers: the hardware's is within
/// 2^-19.
__device__ __forceinline__ double near_reciprocal(double x) {
  const double first = approximate_reciprocal(x), second = fma(fma(-x, first, 1.0), first, first);
  return fma(fma(-x, second, 1.0), second, second);
}

__device__ __forceinline__ bool is_negative_infinity(float x) { return __float_as_uint(x) == 0xff800000u; }

}  // namespace relayout::RELAYOUT_BACKEND
