// Costly operations on two numbers of f16 or bf16, which are computed in f32: exactly where the type needs
// all digits, else to 12 bits or more.
#pragma once

#include "kernels/elementwise/half_functions.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// The quotient rounded toward zero, or down with kToFloor. As for a remainder (Remainder<float>), it comes
/// from a quotient that is up to 2^-20 of it too large, so off by 1 at most below 2^20. Beyond that f16 has
/// no numbers, and bf16's 8 digits do not show it.
template <bool kToFloor>
struct HalfWholeQuotient {
  using Exact = WholeQuotient<float, kToFloor>;

  static __device__ __forceinline__ float usual(float a, float b) {
    return Exact::corrected(a, b, truncf(Remainder<float>::quotient(absolute(a), absolute(b))));
  }
  /// Infinite numbers, NaN, and divisors that are 0 or have no normal reciprocal.
  static __device__ __forceinline__ bool is_rare(float a, float b) {
    const float denominator = absolute(b);
    return !(absolute(a) < kInfinity<float>) || !(denominator < 0x1p126f) || !(denominator >= 0x1p-126f);
  }
  static __device__ __forceinline__ float rare(float a, float b) {
    return Exact::is_rare(a, b) ? Exact::rare(a, b) : Exact::usual(a, b);
  }
};

/// hypot. The squares of f16 are normal numbers of f32. Huge and tiny numbers of bf16 are brought near 1 by a
/// power of 2 first.
template <class T>
struct HalfLength {
  static __device__ __forceinline__ float usual(float a, float b) {
    if constexpr (std::is_same_v<T, f16>) return normal_root(fmaf(a, a, b * b));
    const float large = fmaxf(absolute(a), absolute(b));
    const bool is_huge = large > 0x1p60f, is_tiny = large < 0x1p-60f;
    const float scale = is_huge ? kDown : is_tiny ? kUp : 1.0f, x = a * scale, y = b * scale;
    return normal_root(fmaf(x, x, y * y)) * (is_huge ? kUp : is_tiny ? kDown : 1.0f);
  }
  static __device__ __forceinline__ bool is_rare(float a, float b) {
    return !(absolute(a) < kInfinity<float>) || !(absolute(b) < kInfinity<float>);
  }
  static __device__ __forceinline__ float rare(float a, float b) { return length(a, b); }

 private:
  static constexpr float kUp = 0x1p100f, kDown = 0x1p-100f;
};

template <class T>
struct HalfAngleOfPoint : AngleOfPoint<float> {
  static __device__ __forceinline__ float usual(float y, float x) { return HalfFunctions<T>::atan2(y, x); }
  /// Numbers of f16 are neither huge nor tiny. Others are rare where the larger one has no normal reciprocal.
  static __device__ __forceinline__ bool is_rare(float y, float x) {
    const float a = absolute(y), b = absolute(x);
    if constexpr (std::is_same_v<T, f16>) return !(a + b < kInfinity<float>);
    return !(a + b < 0x1p126f) || is_subnormal(larger(a, b));
  }

 private:
  /// 0 < x < 2^-126.
  static __device__ __forceinline__ bool is_subnormal(float x) { return __float_as_uint(x) - 1 < 0x7fffffu; }
};

/// Like Power<float>, with the logarithm in f32.
template <class T>
struct HalfPower {
  static __device__ __forceinline__ float usual(float a, float b) {
    return Power<float>::signed_power(a, b, half_power_of_two<T>(b * logarithm(absolute(a))));
  }
  static __device__ __forceinline__ bool is_rare(float a, float b) {
    return Power<float>::is_rare(a, b) || (!std::is_same_v<T, f16> && a != 0 && absolute(a) < 0x1p-126f);
  }
  static __device__ __forceinline__ float rare(float a, float b) { return Power<float>::rare(a, b); }

 private:
  static __device__ __forceinline__ float logarithm(float x) {
    const std::uint32_t bits = __float_as_uint(x);
    const std::int32_t exponent = static_cast<std::int32_t>(bits - 0x3f3504f3u) >> 23;
    const float fraction = __uint_as_float(bits - (static_cast<std::uint32_t>(exponent) << 23));
    const float root = (fraction - 1.0f) * approximate_reciprocal(fraction + 1.0f), z = root * root;
    const float p = fmaf(fmaf(5.957796574e-01f, z, 9.615883827e-01f), z, 2.885390520e+00f);
    return fmaf(root, p, whole_float(exponent));
  }
};

/// Calls visit(f) with the function of two operands on numbers of T.
template <class T, class Visit>
__device__ __forceinline__ bool visit_half_pair(Operation operation, Visit&& visit) {
  switch (operation) {
    case Operation::div_trunc:
      visit(HalfWholeQuotient<false>{});
      return true;
    case Operation::div_floor:
      visit(HalfWholeQuotient<true>{});
      return true;
    case Operation::hypot:
      visit(HalfLength<T>{});
      return true;
    case Operation::atan2:
      visit(HalfAngleOfPoint<T>{});
      return true;
    case Operation::pow:
      visit(HalfPower<T>{});
      return true;
    default:
      return visit_costly_pair<float>(operation, visit);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
