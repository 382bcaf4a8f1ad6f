// The operations of many instructions, on one element at a time, so that each stands in the code once. Which
// they are: is_costly (elementwise_params.hpp).
#pragma once

#include <cmath>

#include "kernels/elementwise/activations.hpp"
#include "kernels/elementwise/directed_rounding.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// |a| / |b| toward zero, and whether something is left: the quotient rounded to nearest is too large by 1 if
/// |a| - quotient * |b| is negative, a sign that a fused multiplication gets right. Exact below 2^24 or 2^53.
template <class C>
struct WholeQuotient {
  C quotient;
  bool rest;

  __device__ __forceinline__ WholeQuotient(C a, C b) {
    const C numerator = absolute(a), denominator = absolute(b);
    quotient = round_to_zero(numerator / denominator);
    const C difference = fused_multiply_add(-quotient, denominator, numerator);
    rest = difference != 0;
    if (difference < 0) quotient -= 1;
  }
  static __device__ __forceinline__ float fused_multiply_add(float x, float y, float z) {
    return fmaf(x, y, z);
  }
  static __device__ __forceinline__ double fused_multiply_add(double x, double y, double z) {
    return fma(x, y, z);
  }
};

template <class C>
__device__ __forceinline__ C whole_quotient(C a, C b, bool to_floor) {
  if (b == 0 || a != a || b != b) return a / b;
  if (finite_part(a) != 0) return finite_part(a);  // infinite: NaN
  const bool negative = with_sign_of(C{1}, a) != with_sign_of(C{1}, b);
  C magnitude = 0;
  bool rest = a != 0;
  if (finite_part(b) == 0) {
    const WholeQuotient<C> whole(a, b);
    magnitude = whole.quotient;
    rest = whole.rest;
  }
  if (to_floor && negative && rest) magnitude += 1;
  return negative ? -magnitude : magnitude;
}

/// The remainder with b's sign.
template <class C>
__device__ __forceinline__ C modulo(C a, C b) {
  const C rest = std::fmod(a, b);
  if (rest == 0) return with_sign_of(rest, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

/// Infinite where either is, whatever the other is: the sums make signalling NaNs quiet.
template <class C>
__device__ __forceinline__ C length(C a, C b) {
  return std::hypot(a + C{0}, b + C{0});
}

/// 1 where C99 has 1 whatever the other is, signalling NaNs included.
__device__ __forceinline__ double power(double a, double b) { return a == 1 || b == 0 ? 1 : std::pow(a, b); }
/// pow of f32 goes by way of f64, which loses few bits: else it would be off by more than 2 units in the last
/// place.
__device__ __forceinline__ float power(float a, float b) {
  return static_cast<float>(power(static_cast<double>(a), static_cast<double>(b)));
}
__device__ __forceinline__ float tangent(float x) {
  return static_cast<float>(std::tan(static_cast<double>(x)));
}
__device__ __forceinline__ double tangent(double x) { return std::tan(x); }

/// Elements that stand in the code beside each other: one hides what another waits for.
template <int kCount>
constexpr int together = kCount >= 8 ? 2 : 1;

/// a = f(a, b), some elements at a time: the vectors turn round, since an index would put them into memory.
template <class C, int kCount, class F>
__device__ __forceinline__ void in_turn(C (&a)[kCount], const C (&b)[kCount], F&& f) {
  constexpr int kStep = together<kCount>;
  C second[kCount];
#pragma unroll
  for (int i = 0; i < kCount; ++i) second[i] = b[i];
#pragma unroll 1
  for (int turn = 0; turn < kCount; turn += kStep) {
    C results[kStep];
#pragma unroll
    for (int i = 0; i < kStep; ++i) results[i] = f(a[i], second[i]);
#pragma unroll
    for (int i = 0; i + kStep < kCount; ++i) {
      a[i] = a[i + kStep];
      second[i] = second[i + kStep];
    }
#pragma unroll
    for (int i = 0; i < kStep; ++i) a[kCount - kStep + i] = results[i];
  }
}
template <class C, int kCount, class F>
__device__ __forceinline__ void in_turn(C (&a)[kCount], F&& f) {
  in_turn(a, a, [&](C x, C) { return f(x); });
}

template <class C, int kCount>
__device__ __forceinline__ void costly_real(const ElementwiseParams& p, Operation operation, C (&a)[kCount],
                                            const C (&b)[kCount]) {
  if (visit_activation<C>(operation, [&](auto f) { in_turn(a, f); })) return;
  switch (operation) {
    case Operation::add:
    case Operation::sub:
    case Operation::mul:
    case Operation::truediv:
    case Operation::sqrt:
      return in_turn(a, b, [&](C x, C y) { return directed_operation(p, operation, x, y); });
    case Operation::div_trunc:
      return in_turn(a, b, [](C x, C y) { return whole_quotient(x, y, false); });
    case Operation::div_floor:
      return in_turn(a, b, [](C x, C y) { return whole_quotient(x, y, true); });
    case Operation::mod:
      return in_turn(a, b, [](C x, C y) { return modulo(x, y); });
    case Operation::fmod:
      return in_turn(a, b, [](C x, C y) { return std::fmod(x, y); });
    case Operation::pow:
      return in_turn(a, b, [](C x, C y) { return power(x, y); });
    case Operation::hypot:
      return in_turn(a, b, [](C x, C y) { return length(x, y); });
    case Operation::atan2:
      return in_turn(a, b, [](C x, C y) { return std::atan2(x, y); });
    case Operation::exp2:
      return in_turn(a, [](C x) { return std::exp2(x); });
    case Operation::expm1:
      return in_turn(a, [](C x) { return std::expm1(x); });
    case Operation::log:
      return in_turn(a, [](C x) { return std::log(x); });
    case Operation::log2:
      return in_turn(a, [](C x) { return std::log2(x); });
    case Operation::log1p:
      return in_turn(a, [](C x) { return std::log1p(x); });
    case Operation::sin:
      return in_turn(a, [](C x) { return std::sin(x); });
    case Operation::cos:
      return in_turn(a, [](C x) { return std::cos(x); });
    case Operation::tan:
      return in_turn(a, [](C x) { return tangent(x); });
    case Operation::sinh:
      return in_turn(a, [](C x) { return std::sinh(x); });
    case Operation::cosh:
      return in_turn(a, [](C x) { return std::cosh(x); });
    case Operation::asin:
      return in_turn(a, [](C x) { return std::asin(x); });
    case Operation::acos:
      return in_turn(a, [](C x) { return std::acos(x); });
    case Operation::atan:
      return in_turn(a, [](C x) { return std::atan(x); });
    case Operation::erf:
      return in_turn(a, [](C x) { return std::erf(x); });
    case Operation::softplus:
      return in_turn(a, [](C x) { return larger(x, C{0}) + std::log1p(std::exp(-absolute(x))); });
    case Operation::elu:
      return in_turn(a, [](C x) { return x > 0 ? x : std::expm1(x); });
    default:
      return;
  }
}

/// Magnitudes are divided; a quotient by 0 is 0.
template <class Bits>
struct DividedIntegers {
  Bits quotient = 0, rest = 0;

  __device__ __forceinline__ DividedIntegers(Bits a, Bits b) {
    if (b == 0) return;
    quotient = a / b;
    rest = a - quotient * b;
  }
};

/// Integers wrap, so that powers are exact modulo 2^n.
template <class Bits>
__device__ __forceinline__ Bits integer_power(Bits base, Bits exponent) {
  Bits result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result *= base;
    base *= base;
  }
  return result;
}

template <class C>
__device__ __forceinline__ C costly_integer(const ElementwiseParams& p, Operation operation, C a, C b) {
  using Bits = std::make_unsigned_t<C>;
  const bool has_sign = !is_unsigned(p.common);
  const bool a_negative = has_sign && a < 0, b_negative = has_sign && b < 0;
  const auto bits = [](C x) { return static_cast<Bits>(x); };
  if (operation == Operation::pow) {
    if (!b_negative) return static_cast<C>(integer_power(bits(a), bits(b)));
    if (a == 1) return 1;
    if (a == -1) return (b & 1) != 0 ? -1 : 1;
    return 0;
  }
  const DividedIntegers<Bits> divided(a_negative ? 0 - bits(a) : bits(a), b_negative ? 0 - bits(b) : bits(b));
  const Bits quotient = a_negative != b_negative ? 0 - divided.quotient : divided.quotient;
  const Bits rest = a_negative ? 0 - divided.rest : divided.rest;
  const bool below = divided.rest != 0 && a_negative != b_negative;
  switch (operation) {
    case Operation::div_floor:
      return static_cast<C>(below ? quotient - 1 : quotient);
    case Operation::mod:
      return static_cast<C>(below ? rest + bits(b) : rest);
    case Operation::fmod:
      return static_cast<C>(rest);
    default:
      return static_cast<C>(quotient);
  }
}

/// One of those for which is_costly holds. a becomes the result.
template <class C, int kCount>
__device__ __forceinline__ void costly_operation(const ElementwiseParams& p, Operation operation,
                                                 C (&a)[kCount], const C (&b)[kCount]) {
  if constexpr (is_real<C>) {
    costly_real(p, operation, a, b);
  } else {
    in_turn(a, b, [&](C x, C y) { return costly_integer(p, operation, x, y); });
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
