// Functions of one number of f16 or bf16, which are computed in f32, exact to 12 bits or more, and take a
// fraction of the instructions of f32's functions. The last bit of the result may differ from f32's function
// and a rounding.
#pragma once

#include "kernels/elementwise/costly_operations.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// 2^x. bf16 has numbers as small as f32 has, f16 has none below 2^-24.
template <class T>
__device__ __forceinline__ float half_power_of_two(float x) {
  if constexpr (std::is_same_v<T, f16>) {
    return power_of_two(x);
  } else {
    return subnormal_power_of_two(x);
  }
}
constexpr float kLog2EFloat = static_cast<float>(kLog2E), kLog2 = 0.693147181f;
constexpr float kHalfTurn = 3.14159274f;
/// Their sum is pi. Both are positive, so that -0 stays -0.
constexpr float kHalfTurnHigh = 3.14159250f, kHalfTurnLow = 1.50995799e-07f;

template <class T>
struct HalfFunctions {
  static constexpr bool kHasSmallRange = std::is_same_v<T, f16>;

  static __device__ __forceinline__ float power(float x) { return half_power_of_two<T>(x); }
  static __device__ __forceinline__ float exp(float x) { return power(x * kLog2EFloat); }

  /// x / (1 + 2^-z), where x may be 1. Where 2^-z may overflow before the result is 0, it is computed from
  /// 2^-|z|.
  static __device__ __forceinline__ float gate(float x, float z, bool negative) {
    if constexpr (kHasSmallRange) return product_for_half(x, approximate_reciprocal(1.0f + power(-z)));
    const float tail = power(-absolute(z));
    return (negative ? x * tail : x) * approximate_reciprocal(1.0f + tail);
  }
  static __device__ __forceinline__ float sigmoid(float x) { return gate(1.0f, x * kLog2EFloat, x < 0); }
  static __device__ __forceinline__ float silu(float x) { return gate(x, x * kLog2EFloat, x < 0); }
  static __device__ __forceinline__ float gelu_tanh(float x) {
    constexpr float kLinear = static_cast<float>(1.5957691216057307117 * kLog2E),
                    kCubic = 0.044715f * kLinear;
    return gate(x, x * fmaf(kCubic, x * x, kLinear), x < 0);
  }
  /// max(x, 0) minus |x| times the normal distribution's tail, exp(-x^2 / 2) * t * P(t), t = 1 / (1 + 0.4 *
  /// |x|). Signed zeros, infinities and NaNs come out as the formula's.
  static __device__ __forceinline__ float gelu(float x) {
    const float a = fminf(absolute(x), 20.0f), t = approximate_reciprocal(fmaf(a, 0.4f, 1.0f));
    float p = -8.156918734e-02f;
    p = fmaf(p, t, 1.366039664e-01f);
    p = fmaf(p, t, 1.265715361e-01f);
    p = fmaf(p, t, 1.585821658e-01f);
    p = fmaf(p, t, 1.597776562e-01f);
    const float tail = power(a * a * (-0.5f * kLog2EFloat));
    if constexpr (kHasSmallRange) return fmaf(-x - absolute(x), -0.5f, -(a * (t * p) * tail));
    return -(-0.5f * x - absolute(0.5f * x)) - a * (t * p) * tail;
  }
  static __device__ __forceinline__ float tanh(float x) {
    if constexpr (!kHasSmallRange) return approximate_tanh(x);
    const float far = fmaf(-2.0f, approximate_reciprocal(1.0f + power(x * (2 * kLog2EFloat))), 1.0f);
    return absolute(x) < 0.0625f ? x * fmaf(x * x, -0.333333333f, 1.0f) : far;
  }
  static __device__ __forceinline__ float expm1(float x) {
    float p = 4.177530110e-02f;
    p = fmaf(p, x, 1.671882272e-01f);
    p = fmaf(p, x, 4.999983013e-01f);
    p = fmaf(p, x, 9.999959469e-01f);
    return absolute(x) < 0.25f ? p * x : exp(x) - 1.0f;
  }
  static __device__ __forceinline__ float elu(float x) { return x > 0 ? x : expm1(x); }
  static __device__ __forceinline__ float softplus(float x) {
    const float tail = exp(-absolute(x));
    float p = 4.155111313e-02f;
    p = fmaf(p, tail, -1.578383744e-01f);
    p = fmaf(p, tail, 3.065611124e-01f);
    p = fmaf(p, tail, -4.970308542e-01f);
    p = fmaf(p, tail, 9.999449849e-01f);
    return fmaf(p, tail, fmaxf(x, 0.0f));
  }
  static __device__ __forceinline__ float log2(float x) {
    return kHasSmallRange ? normal_log2(x) : approximate_log2(x);
  }
  static __device__ __forceinline__ float log(float x) { return product_for_half(log2(x), kLog2); }
  static __device__ __forceinline__ float log1p(float x) {
    float p = 1.786334366e-01f;
    p = fmaf(p, x, -2.651542425e-01f);
    p = fmaf(p, x, 3.351966441e-01f);
    p = fmaf(p, x, -4.997083247e-01f);
    p = fmaf(p, x, 9.999854565e-01f);
    return absolute(x - 0.05f) < 0.3f ? p * x : product_for_half(normal_log2(1.0f + x), kLog2);
  }
  static __device__ __forceinline__ float sinh(float x) {
    const float z = x * x;
    const float near = x * fmaf(fmaf(8.408039808e-03f, z, 1.666596532e-01f), z, 1.0f);
    const float far = power(fmaf(x, kLog2EFloat, -1.0f)) - power(fmaf(-x, kLog2EFloat, -1.0f));
    return absolute(x) < 0.5f ? near : far;
  }
  static __device__ __forceinline__ float cosh(float x) {
    return power(fmaf(x, kLog2EFloat, -1.0f)) + power(fmaf(-x, kLog2EFloat, -1.0f));
  }
  /// From 1/2 on, by the half angle.
  static __device__ __forceinline__ float asin(float x) {
    const float a = absolute(x);
    const bool small = a < 0.5f;
    const float z = small ? x * x : fmaf(-0.5f, a, 0.5f), s = small ? a : normal_root(z);
    const float p = fmaf(fmaf(5.912488326e-02f, z, 7.353430241e-02f), z, 1.666878313e-01f);
    const float angle = s * fmaf(p, z, 1.0f);
    return copysignf(small ? angle : fmaf(-2.0f, angle, kHalfTurn / 2), x);
  }
  /// The root of 1 - |x| times a polynomial.
  static __device__ __forceinline__ float acos(float x) {
    const float a = absolute(x);
    float p = 8.591808960e-03f;
    p = fmaf(p, a, -3.564344306e-02f);
    p = fmaf(p, a, 8.459657710e-02f);
    p = fmaf(p, a, -2.141108176e-01f);
    p = fmaf(p, a, 1.570787439e+00f);
    const float angle = p * normal_root(1.0f - a);
    return x < 0 ? kHalfTurn - angle : angle;
  }
  /// atan(t) / t for t between 0 and 1.
  static __device__ __forceinline__ float angle_of_tangent(float t) {
    const float z = t * t;
    float p = 2.377510071e-02f;
    p = fmaf(p, z, -9.174843878e-02f);
    p = fmaf(p, z, 1.851029694e-01f);
    p = fmaf(p, z, -3.316778839e-01f);
    return fmaf(p, z, 9.999693036e-01f);
  }
  static __device__ __forceinline__ float atan(float x) {
    const float a = absolute(x);
    const bool large = a > 1;
    const float t = large ? approximate_reciprocal(a) : a, p = angle_of_tangent(t);
    return copysignf(large ? fmaf(-p, t, kHalfTurn / 2) : p * t, x);
  }
  /// atan2 of finite numbers; the larger one is 0 or has a reciprocal.
  static __device__ __forceinline__ float atan2(float y, float x) {
    const float a = absolute(y), b = absolute(x), large = larger(a, b);
    const float t = smaller(a, b) * approximate_reciprocal(large == 0 ? 1.0f : large);
    const float p = angle_of_tangent(t), quarter = a > b ? fmaf(-p, t, kHalfTurn / 2) : p * t;
    return copysignf(__float_as_uint(x) >> 31 != 0 ? kHalfTurn - quarter : quarter, y);
  }
  static __device__ __forceinline__ float erf(float x) {
    const float z = x * x;
    float p = -6.018839827e-07f;
    p = fmaf(p, z, 2.321204374e-05f);
    p = fmaf(p, z, -3.890305525e-04f);
    p = fmaf(p, z, 3.783609252e-03f);
    p = fmaf(p, z, -2.423583902e-02f);
    p = fmaf(p, z, 1.103611663e-01f);
    p = fmaf(p, z, -3.752107620e-01f);
    p = fmaf(p, z, 1.128322482e+00f);
    return absolute(x) >= 2.9f ? copysignf(1.0f, x) : x * p;
  }
  /// The sine of x plus kQuarters quarter turns, 0 or 1.
  template <int kQuarters>
  static __device__ __forceinline__ float sine(float x) {
    constexpr float kPerRadian = 0.318309886f;
    const float turns = kQuarters == 0 ? x * kPerRadian : fmaf(x, kPerRadian, -0.5f);
    const float sum = turns + kWholeFloat, whole = sum - kWholeFloat;
    const float half_turns = kQuarters == 0 ? whole : whole + 0.5f;
    const float angle = fmaf(half_turns, -kHalfTurnLow, fmaf(half_turns, -kHalfTurnHigh, x)),
                z = angle * angle;
    const float p = fmaf(fmaf(-1.884662197e-04f, z, 8.324201219e-03f), z, -1.666654199e-01f);
    const std::uint32_t sign = (__float_as_uint(sum) << 31) ^ (kQuarters == 0 ? 0 : 0x80000000u);
    return __uint_as_float(__float_as_uint(angle * fmaf(p, z, 1.0f)) ^ sign);
  }
  static __device__ __forceinline__ float tangent(float x) {
    const float sum = fmaf(x, static_cast<float>(kQuartersPerRadian), kWholeFloat), whole = sum - kWholeFloat;
    const float angle = fmaf(whole, -0.5f * kHalfTurnLow, fmaf(whole, -0.5f * kHalfTurnHigh, x));
    const float z = angle * angle;
    float p = 3.830484301e-02f;
    p = fmaf(p, z, 4.679230973e-02f);
    p = fmaf(p, z, 1.342762858e-01f);
    p = fmaf(p, z, 3.333144486e-01f);
    const float even = angle * fmaf(p, z, 1.0f);
    return (__float_as_uint(sum) & 1) != 0 ? -approximate_reciprocal(even) : even;
  }
};

/// The sine with its rare case, which are huge angles; f16 has none.
template <class T, int kQuarters>
struct HalfSine {
  static __device__ __forceinline__ float usual(float x, float) {
    return HalfFunctions<T>::template sine<kQuarters>(x);
  }
  static __device__ __forceinline__ bool is_rare(float x, float y) {
    return !std::is_same_v<T, f16> && Sine<float, kQuarters>::is_rare(x, y);
  }
  static __device__ __forceinline__ float rare(float x, float y) {
    return Sine<float, kQuarters>::rare(x, y);
  }
};
template <class T>
struct HalfTangent {
  static __device__ __forceinline__ float usual(float x, float) { return HalfFunctions<T>::tangent(x); }
  static __device__ __forceinline__ bool is_rare(float x, float y) {
    return !std::is_same_v<T, f16> && Sine<float, 0>::is_rare(x, y);
  }
  static __device__ __forceinline__ float rare(float x, float y) { return Tangent<float>::rare(x, y); }
};

/// Calls visit(f) with the function of one operand on numbers of T.
template <class T, class Visit>
__device__ __forceinline__ bool visit_half_function(Operation operation, Visit&& visit) {
  using F = HalfFunctions<T>;
  switch (operation) {
#define RELAYOUT_HALF_FUNCTION(name)           \
  case Operation::name:                        \
    visit([](float x) { return F::name(x); }); \
    return true;
    RELAYOUT_HALF_FUNCTION(exp)
    RELAYOUT_HALF_FUNCTION(expm1)
    RELAYOUT_HALF_FUNCTION(log)
    RELAYOUT_HALF_FUNCTION(log2)
    RELAYOUT_HALF_FUNCTION(log1p)
    RELAYOUT_HALF_FUNCTION(sinh)
    RELAYOUT_HALF_FUNCTION(cosh)
    RELAYOUT_HALF_FUNCTION(tanh)
    RELAYOUT_HALF_FUNCTION(asin)
    RELAYOUT_HALF_FUNCTION(acos)
    RELAYOUT_HALF_FUNCTION(atan)
    RELAYOUT_HALF_FUNCTION(erf)
    RELAYOUT_HALF_FUNCTION(sigmoid)
    RELAYOUT_HALF_FUNCTION(silu)
    RELAYOUT_HALF_FUNCTION(gelu)
    RELAYOUT_HALF_FUNCTION(gelu_tanh)
    RELAYOUT_HALF_FUNCTION(softplus)
    RELAYOUT_HALF_FUNCTION(elu)
#undef RELAYOUT_HALF_FUNCTION
    case Operation::exp2:
      visit([](float x) { return F::power(x); });
      return true;
    case Operation::sin:
      visit(HalfSine<T, 0>{});
      return true;
    case Operation::cos:
      visit(HalfSine<T, 1>{});
      return true;
    case Operation::tan:
      visit(HalfTangent<T>{});
      return true;
    default:
      return visit_function<float>(operation, visit);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
