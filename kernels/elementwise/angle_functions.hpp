// Functions of angles in f32, and atan2. Angles are reduced to an eighth of a turn in both directions.
#pragma once

#include "kernels/elementwise/guarded_functions.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// A quarter turn in two parts, whose multiples are subtracted one after the other.
constexpr double kQuarterHigh = 1.57079632679489661923, kQuarterLow = 6.12323399573676588614e-17;
constexpr double kQuartersPerRadian = 0.63661977236758134308;

/// x minus the nearest multiple of a quarter turn, for |x| <= 117435, and which multiple that is.
struct ReducedAngle {
  float rest;
  std::int32_t quarters;

  __device__ __forceinline__ explicit ReducedAngle(float x) {
    const float sum = fmaf(x, static_cast<float>(kQuartersPerRadian), kWholeFloat), whole = sum - kWholeFloat;
    quarters = whole_of(sum);
    rest = fmaf(whole, -1.57079601e+00f, x);
    rest = fmaf(whole, -3.13916473e-07f, rest);
    rest = fmaf(whole, -5.39030253e-15f, rest);
  }
};

/// The same of any finite number from 1 on, exactly, by a product with the digits of 2 / pi that count (Payne
/// and Hanek): those before them make whole turns, and those behind them nothing that a float shows.
struct ReducedHugeAngle {
  double rest;
  std::int32_t quarters;

  __device__ __forceinline__ explicit ReducedHugeAngle(float x) {
    // The digits, 32 bits each, behind as many zeros.
    static constexpr std::uint32_t kDigits[] = {0,           0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
                                                0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu};
    const std::uint32_t bits = __float_as_uint(x), mantissa = (bits & 0x7fffffu) | 0x800000u;
    const int first = static_cast<int>(bits >> 23 & 0xff) - 120;  // digit, of those that are not whole turns
    const auto digits = [&](int word) {
      const int i = first / 32 + word;
      return static_cast<std::uint32_t>((std::uint64_t{kDigits[i]} << 32 | kDigits[i + 1]) << (first & 31) >>
                                        32);
    };
    const std::uint64_t low = std::uint64_t{mantissa} * digits(2) >> 32,
                        middle = std::uint64_t{mantissa} * digits(1) + low;
    const std::uint32_t high = mantissa * digits(0) + static_cast<std::uint32_t>(middle >> 32);
    // In units of 2^-64 turns.
    const std::uint64_t turns = std::uint64_t{high} << 32 | static_cast<std::uint32_t>(middle);
    constexpr double kUnit = 8.5153039502163864733e-20;  // pi / 2 / 2^64, of quarter turns
    const double angle = static_cast<double>(static_cast<std::int64_t>(turns << 2)) * kUnit;
    const auto nearest = static_cast<std::int32_t>((high + (std::uint32_t{1} << 29)) >> 30);
    rest = x < 0 ? -angle : angle;
    quarters = x < 0 ? -nearest : nearest;
  }
};

/// The sine of an angle plus `kQuarters` quarter turns, by polynomials.
template <class C, int kQuarters>
struct Sine {
  __device__ __forceinline__ C operator()(C x) const { return kQuarters == 0 ? std::sin(x) : std::cos(x); }
};
template <int kQuarters>
struct Sine<float, kQuarters> {
  static __device__ __forceinline__ float usual(float x, float) {
    const ReducedAngle angle(x);
    return sine(angle.rest, angle.quarters + kQuarters);
  }
  static __device__ __forceinline__ bool is_rare(float x, float) { return !(absolute(x) <= 117435.0f); }
  static __device__ __forceinline__ float rare(float x, float) {
    const ReducedHugeAngle angle(x);
    const float result = sine(static_cast<float>(angle.rest), angle.quarters + kQuarters);
    return absolute(x) < kInfinity<float> ? result : x - x;
  }

 private:
  static __device__ __forceinline__ float sine(float rest, std::int32_t quarters) {
    const float z = rest * rest;
    const bool odd = (quarters & 1) != 0;
    float p = odd ? 2.44677067e-5f : 2.86567956e-6f;
    p = fmaf(p, z, odd ? -1.38877297e-3f : -1.98559923e-4f);
    p = fmaf(p, z, odd ? 4.16666567e-2f : 8.33338592e-3f);
    p = fmaf(p, z, odd ? -0.5f : -1.66666672e-1f);
    const float first = odd ? 1.0f : rest;
    const float result = fmaf(p, fmaf(first, z, 0.0f), first);  // the sum keeps -0
    return __uint_as_float(__float_as_uint(result) ^ (static_cast<std::uint32_t>(quarters & 2) << 30));
  }
};

template <class C>
struct Tangent {
  __device__ __forceinline__ C operator()(C x) const { return std::tan(x); }
};
/// The tangent. The angle is reduced in f64 and kept as two floats. The result is a polynomial within 2^-27,
/// or minus its reciprocal where the number of quarter turns is odd.
template <>
struct Tangent<float> {
  static __device__ __forceinline__ float usual(float x, float) {
    const double wide = x, sum = wide * kQuartersPerRadian + kWholeDouble, whole = sum - kWholeDouble;
    return tangent(fma(-whole, kQuarterLow, fma(-whole, kQuarterHigh, wide)), whole_of(sum));
  }
  static __device__ __forceinline__ bool is_rare(float x, float) { return !(absolute(x) <= 0x1p30f); }
  static __device__ __forceinline__ float rare(float x, float) {
    const ReducedHugeAngle angle(x);
    return absolute(x) < kInfinity<float> ? tangent(angle.rest, angle.quarters) : x - x;
  }

 private:
  static __device__ __forceinline__ float tangent(double angle, std::int32_t quarters) {
    const float rest = static_cast<float>(angle), dropped = static_cast<float>(angle - rest);
    const float z = rest * rest;
    float p = 3.86347598e-03f;
    p = fmaf(p, z, 1.14797428e-03f);
    p = fmaf(p, z, 9.98783484e-03f);
    p = fmaf(p, z, 2.16129981e-02f);
    p = fmaf(p, z, 5.39956242e-02f);
    p = fmaf(p, z, 1.33332253e-01f);
    p = fmaf(p, z, 3.33333343e-01f);
    const float more = fmaf(dropped, z, fmaf(p * z, rest, dropped));
    const float tangent = z == 0 ? rest : rest + more, tail = (rest - tangent) + more;
    const float reciprocal = -approximate_reciprocal(tangent);
    const float error = fmaf(reciprocal, tail, fmaf(reciprocal, tangent, 1.0f));
    return (quarters & 1) != 0 ? fmaf(error, reciprocal, reciprocal) : tangent;
  }
};

/// atan2.
template <class C>
struct AngleOfPoint {
  __device__ __forceinline__ C operator()(C y, C x) const { return std::atan2(y, x); }
};
/// By a polynomial of the smaller coordinate over the larger one. Within 3 ulp.
template <>
struct AngleOfPoint<float> {
  static __device__ __forceinline__ float usual(float y, float x) {
    const float a = absolute(y), b = absolute(x), large = larger(a, b), small = smaller(a, b);
    const float divisor = large == 0 ? 1.0f : large, reciprocal = approximate_reciprocal(divisor);
    const float first = small * reciprocal;
    const float ratio = fmaf(fmaf(-first, divisor, small), reciprocal, first), z = ratio * ratio;
    float p = 2.82363896e-03f;
    p = fmaf(p, z, -1.59569029e-02f);
    p = fmaf(p, z, 4.25049886e-02f);
    p = fmaf(p, z, -7.48900920e-02f);
    p = fmaf(p, z, 1.06347933e-01f);
    p = fmaf(p, z, -1.42027363e-01f);
    p = fmaf(p, z, 1.99926957e-01f);
    p = fmaf(p, z, -3.33331019e-01f);
    const float eighth = fmaf(p * z, ratio, ratio);
    const float quarter = a > b ? (kQuarter - eighth) + kQuarterRest : eighth;
    const bool left = __float_as_uint(x) >> 31 != 0;
    return with_sign_of(left ? (2 * kQuarter - quarter) + 2 * kQuarterRest : quarter, y);
  }
  /// Coordinates other than 0 whose quotient may be subnormal, infinite ones and NaN.
  static __device__ __forceinline__ bool is_rare(float y, float x) {
    const float a = absolute(y), b = absolute(x);
    return !(a + b <= 0x1p66f) || is_tiny(a) || is_tiny(b);
  }
  static __device__ __forceinline__ float rare(float y, float x) { return std::atan2(y, x); }

 private:
  static constexpr float kQuarter = 1.57079637e+00f, kQuarterRest = -4.37113883e-08f;

  /// 0 < x < 2^-56.
  static __device__ __forceinline__ bool is_tiny(float x) { return __float_as_uint(x) - 1 < 0x23800000u - 1; }
};

}  // namespace relayout::RELAYOUT_BACKEND
