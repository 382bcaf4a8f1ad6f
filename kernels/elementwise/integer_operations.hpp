// Division and powers of integers.
#pragma once

#include "kernels/elementwise/exponential.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// The quotient and the remainder of two magnitudes. A quotient by 0 is 0.
template <class Bits>
struct DividedIntegers {
  Bits quotient = 0, rest = 0;

  __device__ __forceinline__ DividedIntegers(Bits a, Bits b) {
    if (b == 0) return;
    quotient = a / b;
    rest = a - quotient * b;
  }
};

/// A power modulo 2^n, as integers wrap.
template <class Bits>
__device__ __forceinline__ Bits integer_power(Bits base, Bits exponent) {
  Bits result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result *= base;
    base *= base;
  }
  return result;
}

/// The result of an operation, from the quotient toward zero and its remainder. `opposite` says that the
/// operands have different signs.
template <class Bits>
__device__ __forceinline__ Bits divided_result(Operation operation, Bits quotient, Bits rest, Bits divisor,
                                               bool opposite) {
  const bool below = rest != 0 && opposite;
  switch (operation) {
    case Operation::div_floor:
      return below ? quotient - 1 : quotient;
    case Operation::mod:
      return below ? rest + divisor : rest;
    case Operation::fmod:
      return rest;
    default:
      return quotient;
  }
}

/// The result in a type that only the launch knows.
template <class C>
__device__ __forceinline__ C integer_operation(const ElementwiseParams& p, Operation operation, C a, C b) {
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
  const bool opposite = a_negative != b_negative;
  return static_cast<C>(divided_result<Bits>(operation, opposite ? 0 - divided.quotient : divided.quotient,
                                             a_negative ? 0 - divided.rest : divided.rest, bits(b),
                                             opposite));
}

/// A quotient of integers of type S, which the compiler knows, in C. Numbers of 16 bits are divided as
/// floats: (|a| + 1/2) / |b| is at least 1 / (2 * |b|) away from every whole number, far more than its
/// rounding errors.
template <class S, class C, Operation kOperation>
struct IntegerQuotient {
  using Bits = std::make_unsigned_t<C>;

  __device__ __forceinline__ C operator()(C a, C b) const {
    if constexpr (sizeof(S) <= 2) {
      const float numerator = whole_float(a), denominator = whole_float(b);
      const float half = copysignf(0.5f, numerator);
      const float quotient = (numerator + half) * approximate_reciprocal(denominator);
      const C whole = b == 0 ? 0 : whole_of((quotient - copysignf(0.5f, quotient)) + kWholeFloat);
      const C rest = b == 0 ? 0 : a - whole * b;
      return static_cast<C>(divided_result<Bits>(kOperation, static_cast<Bits>(whole),
                                                 static_cast<Bits>(rest), static_cast<Bits>(b),
                                                 std::is_signed_v<S> && (a ^ b) < 0));
    } else {
      const bool a_negative = std::is_signed_v<S> && a < 0, b_negative = std::is_signed_v<S> && b < 0;
      const Bits x = static_cast<Bits>(a), y = static_cast<Bits>(b);
      const DividedIntegers<Bits> divided(a_negative ? 0 - x : x, b_negative ? 0 - y : y);
      const bool opposite = a_negative != b_negative;
      return static_cast<C>(divided_result<Bits>(kOperation,
                                                 opposite ? 0 - divided.quotient : divided.quotient,
                                                 a_negative ? 0 - divided.rest : divided.rest, y, opposite));
    }
  }
};

/// Powers of S in C, of all elements at once, until the exponents have no more bits. Those of odd numbers of
/// 8 bits repeat after 64, and those of even ones are 0 from the eighth on.
template <class S, class C>
struct IntegerPower {
  template <int kCount>
  __device__ __forceinline__ void operator()(C (&a)[kCount], const C (&b)[kCount]) const {
    using Bits = std::make_unsigned_t<C>;
    Bits base[kCount], exponent[kCount], result[kCount];
    bool negative[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      negative[i] = std::is_signed_v<S> && b[i] < 0;
      base[i] = static_cast<Bits>(a[i]);
      exponent[i] = negative[i] ? static_cast<Bits>(b[i] & 1) : static_cast<Bits>(b[i]);
      result[i] = 1;
      if constexpr (sizeof(S) == 1) {
        const bool vanishes = (base[i] & 1) == 0 && exponent[i] >= 8;
        exponent[i] = vanishes ? 8 : exponent[i] & 63;
      }
    }
    for (;;) {
      Bits left = 0;
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        result[i] = (exponent[i] & 1) != 0 ? result[i] * base[i] : result[i];
        base[i] *= base[i];
        exponent[i] >>= 1;
        left |= exponent[i];
      }
      if (left == 0) break;
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const bool one = a[i] == 1 || a[i] == -1;
      a[i] = negative[i] && !one ? 0 : static_cast<C>(result[i]);
    }
  }
};

/// Calls visit(f) with the operation's function on integers of S, in C.
template <class S, class C, class Visit>
__device__ __forceinline__ void visit_integer(Operation operation, Visit&& visit) {
  switch (operation) {
    case Operation::pow:
      return visit(IntegerPower<S, C>{});
    case Operation::div_floor:
      return visit(IntegerQuotient<S, C, Operation::div_floor>{});
    case Operation::mod:
      return visit(IntegerQuotient<S, C, Operation::mod>{});
    case Operation::fmod:
      return visit(IntegerQuotient<S, C, Operation::fmod>{});
    default:
      return visit(IntegerQuotient<S, C, Operation::div_trunc>{});
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
