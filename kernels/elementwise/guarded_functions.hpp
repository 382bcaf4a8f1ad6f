// Functions that take no branch for nearly all operands, so that several elements are computed side by side.
// Where one of these has a rare operand (huge, infinite), the elements are computed one after the other.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/elementwise/exponential.hpp"

namespace relayout::RELAYOUT_BACKEND {

template <class F, class = void>
constexpr bool is_guarded = false;
template <class F>
constexpr bool is_guarded<F, std::void_t<decltype(&F::is_rare)>> = true;

/// a = f(a, b), for a function type F with the members usual, is_rare and rare.
template <class F, class C, int kCount>
__device__ __forceinline__ void call_guarded(C (&a)[kCount], const C (&b)[kCount]) {
  C results[kCount];
  bool any_rare = false;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    results[i] = F::usual(a[i], b[i]);
    any_rare = any_rare | F::is_rare(a[i], b[i]);
  }
  if (any_rare) {
    C x[kCount], y[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      x[i] = a[i];
      y[i] = b[i];
    }
#pragma unroll 1
    for (int turn = 0; turn < kCount; ++turn) {
      const C first = F::is_rare(x[0], y[0]) ? F::rare(x[0], y[0]) : results[0];
#pragma unroll
      for (int i = 0; i + 1 < kCount; ++i) {
        x[i] = x[i + 1];
        y[i] = y[i + 1];
        results[i] = results[i + 1];
      }
      results[kCount - 1] = first;
    }
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) a[i] = results[i];
}

/// How many operands a function of elements has; 0 for one that takes all elements at once. The type of its
/// call operator says so: std::is_invocable is false for device functions in HIP's host code.
template <class Member>
struct MemberOperands {
  static constexpr int kCount = 0;
};
template <class F, class C, class... Others>
struct MemberOperands<C (F::*)(C, Others...) const> {
  static constexpr int kCount = 1 + sizeof...(Others);
};
template <class F, class = void>
struct Operands {
  static constexpr int kCount = 0;
};
template <class F>
struct Operands<F, std::void_t<decltype(&F::operator())>> : MemberOperands<decltype(&F::operator())> {};

/// a = f(a, b), or f(a), for a function of elements, a guarded one, or one of all elements at once.
template <class F, class C, int kCount>
__device__ __forceinline__ void call_each(const F& f, C (&a)[kCount], const C (&b)[kCount]) {
  if constexpr (is_guarded<F>) {
    call_guarded<F>(a, b);
  } else if constexpr (Operands<F>::kCount == 2) {
    each(a, b, f);
  } else if constexpr (Operands<F>::kCount == 1) {
    each(a, f);
  } else {
    f(a, b);
  }
}

template <class C>
constexpr C kInfinity = std::numeric_limits<C>::infinity();

__device__ __forceinline__ float fused(float x, float y, float z) { return fmaf(x, y, z); }
__device__ __forceinline__ double fused(double x, double y, double z) { return fma(x, y, z); }

/// The quotient rounded toward zero, or down with kToFloor. Exact below 2^24 or 2^53.
template <class C, bool kToFloor>
struct WholeQuotient {
  static __device__ __forceinline__ C usual(C a, C b) {
    return corrected(a, b, round_to_zero(absolute(a) / absolute(b)));
  }
  /// From |a| / |b| rounded to a whole number, which may be too large by 1: it is if |a| - nearest * |b| is
  /// negative, a sign that a fused multiplication gets right.
  static __device__ __forceinline__ C corrected(C a, C b, C nearest) {
    const C rest = fused(-nearest, absolute(b), absolute(a));
    const C magnitude = rest < 0 ? nearest - 1 : nearest;
    const C sign = with_sign_of(C{1}, a) * with_sign_of(C{1}, b);
    const bool goes_down = kToFloor && sign < 0 && rest != 0;
    return with_sign_of(goes_down ? magnitude + 1 : magnitude, sign);
  }
  static __device__ __forceinline__ bool is_rare(C a, C b) {
    return !(absolute(a) < kInfinity<C>) || !(absolute(b) < kInfinity<C>) || (b == 0 && a != 0);
  }
  /// The result where an operand is NaN or infinite, or a number is divided by 0.
  static __device__ __forceinline__ C rare(C a, C b) {
    if (b == 0 || a != a || b != b) return a / b;
    if (finite_part(a) != 0) return finite_part(a);  // infinite: NaN
    const C quotient = a / b;
    return kToFloor && a != 0 && with_sign_of(C{1}, quotient) < 0 ? C{-1} : quotient;
  }
};

/// C's fmod. Below 2^22 the quotient is off by 1 at most, and the remainder exact. A quotient that is NaN is
/// the result.
template <class C>
struct Remainder {
  static __device__ __forceinline__ C usual(C a, C b) {
    const C numerator = absolute(a), denominator = absolute(b);
    const C rest = fused(-round_to_zero(numerator / denominator), denominator, numerator);
    return with_sign_of(rest < 0 ? rest + denominator : rest, a);
  }
  static __device__ __forceinline__ bool is_rare(C a, C b) {
    return absolute(a) / absolute(b) >= C{0x1p22} || !(absolute(b) < kInfinity<C>);
  }
  static __device__ __forceinline__ C rare(C a, C b) { return std::fmod(a, b); }
};

/// f32's has no division, which has a branch: a quotient that is 2^-21 of it too large is off by 1 at most
/// below 2^20, and never too small. Then the rest is not less than -|b|, so it is exact.
template <>
struct Remainder<float> {
  static __device__ __forceinline__ float usual(float a, float b) {
    const float numerator = absolute(a), denominator = absolute(b);
    const float rest = fmaf(-truncf(quotient(numerator, denominator)), denominator, numerator);
    return copysignf(rest < 0 ? rest + denominator : rest, a);
  }
  /// Also where |b| or its reciprocal is not a normal number, but for 0 / 0, which is NaN.
  static __device__ __forceinline__ bool is_rare(float a, float b) {
    const float numerator = absolute(a), denominator = absolute(b);
    return quotient(numerator, denominator) >= 0x1p20f || !(denominator < 0x1p126f) ||
           (denominator < 0x1p-126f && numerator + denominator > 0);
  }
  static __device__ __forceinline__ float rare(float a, float b) { return std::fmod(a, b); }
  /// The quotient, or up to 2^-20 of it more.
  static __device__ __forceinline__ float quotient(float numerator, float denominator) {
    const float near = numerator * approximate_reciprocal(denominator);
    return fmaf(near, 0x1p-21f, near);
  }
};

/// The remainder with b's sign.
template <class C>
struct Modulo {
  static __device__ __forceinline__ C usual(C a, C b) { return with_sign(Remainder<C>::usual(a, b), b); }
  static __device__ __forceinline__ bool is_rare(C a, C b) { return Remainder<C>::is_rare(a, b); }
  static __device__ __forceinline__ C rare(C a, C b) { return with_sign(std::fmod(a, b), b); }
  static __device__ __forceinline__ C with_sign(C rest, C b) {
    const bool moves = rest != 0 && (rest < 0) != (b < 0);
    return with_sign_of(moves ? rest + b : rest, b);
  }
};

/// The result is 1 where C99 says so whatever the other operand is, even for signalling NaNs.
template <class C>
struct Power {
  __device__ __forceinline__ C operator()(C a, C b) const { return a == 1 || b == 0 ? 1 : std::pow(a, b); }
};

/// The logarithm and the exponent are computed in f64: their errors are multiplied by up to 2^7.
template <>
struct Power<float> {
  static __device__ __forceinline__ float usual(float a, float b) {
    return signed_power(a, b, magnitude(absolute(a), b));
  }
  /// a^b, by |a|^b where a is not 0. NaN where a < 0 and b is no whole number. Zeros are common, as results
  /// of relu; one with a sign is rare.
  static __device__ __forceinline__ float signed_power(float a, float b, float magnitude) {
    const float sum = b + kWholeFloat;
    const bool whole = sum - kWholeFloat == b, odd = (__float_as_uint(sum) & 1) != 0;
    const float of_negative = !whole ? kNaN : odd ? -magnitude : magnitude;
    const float of_zero = b > 0 ? 0.0f : b < 0 ? kInfinity<float> : 1.0f;
    return a < 0 ? of_negative : a == 0 ? of_zero : magnitude;
  }
  static __device__ __forceinline__ bool is_rare(float a, float b) {
    return !(absolute(a) < kInfinity<float>) || !(absolute(b) < kInfinity<float>) ||
           __float_as_uint(a) == 0x80000000u || (a < 0 && absolute(b) > 0x1p22f);
  }
  /// For any numbers, as C99 has it.
  static __device__ __forceinline__ float rare(float a, float b) {
    const float base = absolute(a), exponent = absolute(b);
    const bool whole = truncf(b) == b, odd = whole && exponent < 0x1p24f && (static_cast<int>(b) & 1) != 0;
    const bool has_limit =
        base == 0 || !(base < kInfinity<float>);  // the same for all finite exponents of a sign
    float result = kNaN;
    if (a == 1 || b == 0 || (base == 1 && exponent == kInfinity<float>)) {
      result = 1;
    } else if (base == base && exponent == kInfinity<float>) {
      result = (base > 1) == (b > 0) ? exponent : 0;
    } else if (base == base && has_limit && b == b) {
      result = (base > 1) == (b > 0) ? kInfinity<float> : 0;
    } else if (base == base && b == b && (a > 0 || whole)) {
      result = magnitude(base, b);
    }
    return odd && __float_as_uint(a) >> 31 != 0 ? -result : result;
  }

 private:
  static constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

  /// a^b for a finite a > 0 and a finite b.
  static __device__ __forceinline__ float magnitude(float a, float b) {
    const double exponent = static_cast<double>(b) * logarithm(static_cast<double>(a));
    const double inside = exponent < -200 ? -200 : exponent > 200 ? 200 : exponent;
    const WholeAndRest power(inside);
    const std::int32_t half = power.whole >> 1;  // two powers of 2, which are normal numbers
    return fraction_of_power(static_cast<float>(power.rest)) * two_to(half) * two_to(power.whole - half);
  }

  /// The logarithm to base 2 of x > 0, within 2^-40. For the fraction, between sqrt(1/2) and sqrt(2), it is 2
  /// / log(2) * artanh((fraction - 1) / (fraction + 1)), a polynomial.
  static __device__ __forceinline__ double logarithm(double x) {
    std::uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const std::int32_t exponent = (static_cast<std::int32_t>(bits >> 32) - 0x3fe6a09e) >> 20;
    bits -= static_cast<std::uint64_t>(static_cast<std::int64_t>(exponent)) << 52;
    double fraction;
    memcpy(&fraction, &bits, sizeof fraction);
    const double denominator = fraction + 1, first = approximate_reciprocal(denominator);
    const double root = (fraction - 1) * fma(fma(-denominator, first, 1.0), first, first);
    const double z = root * root;
    double p = 0.27935754767843424;
    p = fma(p, z, 0.32015344881280949);
    p = fma(p, z, 0.4122033003562911);
    p = fma(p, z, 0.57707799891661449);
    p = fma(p, z, 0.96179669393629874);
    return exponent + fma(root * z, p, root * 2.8853900817779268);
  }
};

}  // namespace relayout::RELAYOUT_BACKEND
