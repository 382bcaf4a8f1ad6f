// Division and powers of integers.
#pragma once

#include "kernels/elementwise/exponential.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// The quotient and the remainder of two magnitudes. A quotient by 0 is 0.
///
/// One of 64 bits is a sum of parts that come from floats: each is the part before the point of rest /
/// divisor, made smaller by 2^-20 so that no rounding makes it too large, and leaves at most 2^-19 of the
/// quotient, and 1. Numbers of any bits, whose quotient is small, need two parts, and the largest quotient of
/// all five.
template <class Bits>
struct DividedIntegers {
  Bits quotient = 0, rest = 0;

  __device__ __forceinline__ DividedIntegers(Bits a, Bits b) {
    if (b == 0) return;
    if constexpr (sizeof(Bits) == 8) {
      const float inverse = approximate_reciprocal(static_cast<float>(b)) * (1 - 0x1p-20f);
      rest = a;
      while (rest >= b) {
        const Bits part = static_cast<Bits>(static_cast<float>(rest) * inverse), least = 1;
        const Bits taken = part < least ? least : part;
        quotient += taken;
        rest -= taken * b;
      }
    } else {
      quotient = a / b;
      rest = a - quotient * b;
    }
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

/// The inverse of an odd number modulo 2^32: each step doubles the number of bits that are right.
constexpr std::uint32_t inverse_of_odd(std::uint32_t number) {
  std::uint32_t inverse = number;  // right modulo 8
  for (int bits = 3; bits < 32; bits *= 2) inverse *= 2 - number * inverse;
  return inverse;
}
constexpr int twos_in(int number) { return number % 2 != 0 ? 0 : 1 + twos_in(number / 2); }

/// Adds to `sum` the terms from number kTerm on of (1 + w)^exponent, by the binomial theorem; w is a multiple
/// of 4, `binomial` that of the exponent and kTerm, and `power` w^kTerm. As many terms as are not 0 modulo
/// 2^kBits. The binomials come one from the other: a division by an odd number is exact, and so a
/// multiplication; one by a power of 2 loses the highest bits, of which the term does not need as many.
template <int kTerm, int kBits>
__device__ __forceinline__ void add_terms(std::uint32_t w, std::uint32_t exponent, std::uint32_t binomial,
                                          std::uint32_t power, std::uint32_t& sum) {
  if constexpr (2 * kTerm < kBits) {
    constexpr int kTwos = twos_in(kTerm + 1);
    constexpr std::uint32_t kInverse = inverse_of_odd((kTerm + 1) >> kTwos);
    sum += binomial * power;
    const std::uint32_t next = ((binomial * (exponent - kTerm)) >> kTwos) * kInverse;
    add_terms<kTerm + 1, kBits>(w, exponent, next, power * w, sum);
  }
}

/// A power modulo 2^kBits without a loop: an odd number or its negative is 1 plus a multiple of 4, and an
/// even one is an odd one times a power of 2.
template <int kBits>
__device__ __forceinline__ std::uint32_t power_by_terms(std::uint32_t base, std::uint32_t exponent) {
  const std::uint32_t lowest = base & (0u - base);  // the highest power of 2 that divides it; 0 of 0
  const std::uint32_t twos = lowest == 0 ? kBits : (__float_as_uint(static_cast<float>(lowest)) >> 23) - 127;
  const std::uint32_t odd = twos < 32 ? base >> twos : 0;
  const bool turned = (odd & 2) != 0;
  const std::uint32_t w = (turned ? 0u - odd : odd) - 1;
  std::uint32_t power = 0;
  add_terms<0, kBits>(w, exponent, 1, 1, power);
  const std::uint32_t of_odd = turned && (exponent & 1) != 0 ? 0u - power : power;
  const std::uint32_t limited = exponent < kBits ? exponent : kBits, shift = twos * limited;
  return shift < kBits ? of_odd << shift : 0;
}

/// Powers of S in C, of all elements at once: by squaring until the exponents have no more bits, or where
/// they have many by power_by_terms(), which for 8 bits is always as fast.
template <class S, class C>
struct IntegerPower {
  using Bits = std::make_unsigned_t<C>;

  template <int kCount>
  __device__ __forceinline__ void operator()(C (&a)[kCount], const C (&b)[kCount]) const {
    if constexpr (sizeof(S) == 1) {
      by_terms(a, b);
    } else if constexpr (sizeof(S) == 8) {
      by_squares(a, b);
    } else {
      Bits all = 0;
#pragma unroll
      for (int i = 0; i < kCount; ++i) all |= exponent_of(b[i]);
      all < (sizeof(S) == 2 ? 16 : 256) ? by_squares(a, b) : by_terms(a, b);
    }
  }

 private:
  static __device__ __forceinline__ bool is_negative(C exponent) {
    return std::is_signed_v<S> && exponent < 0;
  }
  /// For a base of 1 or -1 an exponent below 0 is as one of its two lowest bits; others have 0 as the result.
  static __device__ __forceinline__ Bits exponent_of(C exponent) {
    return static_cast<Bits>(is_negative(exponent) ? exponent & 1 : exponent);
  }
  static __device__ __forceinline__ C result_of(C base, C exponent, Bits power) {
    const bool one = base == 1 || base == -1;
    return is_negative(exponent) && !one ? 0 : static_cast<C>(power);
  }

  /// Wider integers go one after the other, for which the vectors are rotated: side by side they take all
  /// registers.
  template <int kCount>
  static __device__ __forceinline__ void by_terms(C (&a)[kCount], const C (&b)[kCount]) {
    const auto power = [](C base, C exponent) {
      return result_of(
          base, exponent,
          power_by_terms<8 * static_cast<int>(sizeof(S))>(static_cast<std::uint32_t>(base),
                                                          static_cast<std::uint32_t>(exponent_of(exponent))));
    };
    if constexpr (sizeof(S) == 1) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) a[i] = power(a[i], b[i]);
    } else {
      C exponents[kCount];
#pragma unroll
      for (int i = 0; i < kCount; ++i) exponents[i] = b[i];
#pragma unroll 1
      for (int turn = 0; turn < kCount; ++turn) {
        const C result = power(a[0], exponents[0]);
#pragma unroll
        for (int i = 0; i + 1 < kCount; ++i) {
          a[i] = a[i + 1];
          exponents[i] = exponents[i + 1];
        }
        a[kCount - 1] = result;
      }
    }
  }

  template <int kCount>
  static __device__ __forceinline__ void by_squares(C (&a)[kCount], const C (&b)[kCount]) {
    Bits base[kCount], exponent[kCount], result[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      base[i] = static_cast<Bits>(a[i]);
      exponent[i] = exponent_of(b[i]);
      result[i] = 1;
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
    for (int i = 0; i < kCount; ++i) a[i] = result_of(a[i], b[i], result[i]);
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
