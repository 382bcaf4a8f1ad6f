// The operations of few instructions, on a vector of numbers at once: the whole vector takes one branch, and
// then nothing but the operation. The others are in costly_operations.hpp.
#pragma once

#include <cmath>

#include "kernels/elementwise/elementwise_numbers.hpp"

namespace relayout::RELAYOUT_BACKEND {

template <class C, int kCount, class F>
__device__ __forceinline__ void each(C (&a)[kCount], F&& f) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) a[i] = f(a[i]);
}
template <class C, int kCount, class F>
__device__ __forceinline__ void each(C (&a)[kCount], const C (&b)[kCount], F&& f) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) a[i] = f(a[i], b[i]);
}
template <class C, int kCount, class F>
__device__ __forceinline__ void each(C (&a)[kCount], const C (&b)[kCount], const C (&c)[kCount], F&& f) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) a[i] = f(a[i], b[i], c[i]);
}

__device__ __forceinline__ float absolute(float x) { return fabsf(x); }
__device__ __forceinline__ double absolute(double x) { return fabs(x); }
__device__ __forceinline__ float square_root(float x) { return sqrtf(x); }
__device__ __forceinline__ double square_root(double x) { return sqrt(x); }
/// Within 2 ulp in f32, without the branches that a quotient takes for zeros and infinities.
__device__ __forceinline__ float reciprocal_root(float x) { return rsqrtf(x); }
__device__ __forceinline__ double reciprocal_root(double x) { return 1 / sqrt(x); }
__device__ __forceinline__ float round_down(float x) { return floorf(x); }
__device__ __forceinline__ double round_down(double x) { return floor(x); }
__device__ __forceinline__ float round_up(float x) { return ceilf(x); }
__device__ __forceinline__ double round_up(double x) { return ceil(x); }
__device__ __forceinline__ float round_to_zero(float x) { return truncf(x); }
__device__ __forceinline__ double round_to_zero(double x) { return trunc(x); }
__device__ __forceinline__ float round_to_even(float x) { return rintf(x); }
__device__ __forceinline__ double round_to_even(double x) { return rint(x); }
__device__ __forceinline__ float with_sign_of(float x, float sign) { return copysignf(x, sign); }
__device__ __forceinline__ double with_sign_of(double x, double sign) { return copysign(x, sign); }

/// The result is NaN if either operand is. kOneZero: it does not matter which of 0 and -0 is larger.
template <bool kOneZero = false, class C>
__device__ __forceinline__ C larger(C a, C b) {
  if constexpr (kOneZero) {
    return larger_or_nan(a, b);
  } else {
    return a < b || b != b ? b : a;
  }
}
template <bool kOneZero = false, class C>
__device__ __forceinline__ C smaller(C a, C b) {
  if constexpr (kOneZero) {
    return smaller_or_nan(a, b);
  } else {
    return b < a || b != b ? b : a;
  }
}
template <class C>
__device__ __forceinline__ C finite_part(C x) {  // 0; NaN of infinities and NaN
  return x - x;
}

/// Makes numbers of C comparable: unsigned ones that take all its bits become signed ones with the highest
/// bit flipped.
template <class C>
struct Order {
  C flip = 0;

  __device__ __forceinline__ explicit Order(const ElementwiseParams& p) {
    if constexpr (!is_real<C>) {
      using Bits = std::make_unsigned_t<C>;
      const bool flipped = p.common == DType::u32 || p.common == DType::u64;
      flip = static_cast<C>(flipped ? Bits{1} << (8 * sizeof(C) - 1) : Bits{0});
    }
  }
  __device__ __forceinline__ C operator()(C x) const {
    if constexpr (is_real<C>) {
      return x;
    } else {
      return x ^ flip;
    }
  }
};

/// x / 6 for 0 and for 2^-22 <= x <= 6, rounded once; it was compared with the division for all these floats.
/// A division takes a hundred instructions for 0.
__device__ __forceinline__ float sixth(float x) {
  constexpr float kReciprocal = 1.0f / 6.0f;
  const float quotient = x * kReciprocal;
  return fmaf(fmaf(-quotient, 6.0f, x), kReciprocal, quotient);
}
__device__ __forceinline__ double sixth(double x) { return x / 6.0; }
/// (x + 3) / 6 between 0 and 1.
template <bool kOneZero, class C>
__device__ __forceinline__ C hard_sigmoid(C x) {
  return sixth(smaller<kOneZero>(larger<kOneZero>(x + C{3}, C{0}), C{6}));
}

template <class C>
__device__ __forceinline__ C truth_of(bool value) {
  return static_cast<C>(value ? 1 : 0);
}

template <class C, int kCount>
__device__ __forceinline__ void is_close(const ElementwiseParams& p, C (&a)[kCount], const C (&b)[kCount]) {
  const C rtol = static_cast<C>(p.rtol), atol = static_cast<C>(p.atol);
  const bool equal_nan = p.equal_nan;
  each(a, b, [=](C x, C y) {
    const bool finite = finite_part(x) == 0 && finite_part(y) == 0;
    const bool near = finite && absolute(x - y) <= atol + rtol * absolute(y);
    return static_cast<C>(near || x == y || (equal_nan && x != x && y != y) ? 1 : 0);
  });
}

/// The operations on float and double. `a` becomes the result.
template <bool kOneZero, class C, int kCount>
__device__ __forceinline__ void cheap_real(Operation operation, C (&a)[kCount], const C (&b)[kCount],
                                           const C (&c)[kCount]) {
  switch (operation) {
    case Operation::add:
      return each(a, b, [](C x, C y) { return x + y; });
    case Operation::sub:
      return each(a, b, [](C x, C y) { return x - y; });
    case Operation::mul:
      return each(a, b, [](C x, C y) { return x * y; });
    case Operation::div:
    case Operation::truediv:
      return each(a, b, [](C x, C y) { return x / y; });
    case Operation::maximum:
      return each(a, b, [](C x, C y) { return larger<kOneZero>(x, y); });
    case Operation::minimum:
      return each(a, b, [](C x, C y) { return smaller<kOneZero>(x, y); });
    case Operation::fmax:
      return each(a, b, [](C x, C y) { return x < y || x != x ? y : x; });
    case Operation::fmin:
      return each(a, b, [](C x, C y) { return y < x || x != x ? y : x; });
    case Operation::prelu:
      return each(a, b, [](C x, C y) { return x > 0 ? x : x * y; });
    case Operation::abs_diff:
      return each(a, b, [](C x, C y) { return absolute(x - y); });
    case Operation::squared_diff:
      return each(a, b, [](C x, C y) { return (x - y) * (x - y); });
    case Operation::copysign:
      return each(a, b, [](C x, C y) { return with_sign_of(x, y); });
    case Operation::lerp:
      return each(a, b, c, [](C x, C y, C t) { return x + t * (y - x); });
    case Operation::floor:
      return each(a, [](C x) { return round_down(x); });
    case Operation::ceil:
      return each(a, [](C x) { return round_up(x); });
    case Operation::trunc:
      return each(a, [](C x) { return round_to_zero(x); });
    case Operation::round:
      return each(a, [](C x) { return round_to_even(x); });
    case Operation::neg:
      return each(a, [](C x) { return -x; });
    case Operation::abs:
      return each(a, [](C x) { return absolute(x); });
    case Operation::sqrt:
      return each(a, [](C x) { return square_root(x); });
    case Operation::rsqrt:
      return each(a, [](C x) { return reciprocal_root(x); });
    case Operation::reciprocal:
      return each(a, [](C x) { return C{1} / x; });
    case Operation::hardswish:
      return each(a, [](C x) { return x * hard_sigmoid<kOneZero>(x); });
    case Operation::hardsigmoid:
      return each(a, [](C x) { return hard_sigmoid<kOneZero>(x); });
    default:
      return;
  }
}

/// The operations on int32 and int64, which work on the bits: results wrap, and signed and unsigned numbers
/// differ only in how they compare.
template <class C, int kCount>
__device__ __forceinline__ void cheap_integer(const ElementwiseParams& p, Operation operation, C (&a)[kCount],
                                              const C (&b)[kCount]) {
  using Bits = std::make_unsigned_t<C>;
  const Order<C> ordered(p);
  const auto bits = [](C x) { return static_cast<Bits>(x); };
  const auto number = [](Bits x) { return static_cast<C>(x); };
  // A negative count, or one of at least the width, shifts every bit out. So does the greatest count of C
  // where numbers are narrower than C: a bound on counts is enough there.
  constexpr Bits kMost = 8 * sizeof(C) - 1;
  const auto count = [=](C y) { return static_cast<int>(bits(y) < kMost ? bits(y) : kMost); };
  const bool is_narrow = p.common_bytes < static_cast<int>(sizeof(C));
  switch (operation) {
    case Operation::add:
      return each(a, b, [=](C x, C y) { return number(bits(x) + bits(y)); });
    case Operation::sub:
      return each(a, b, [=](C x, C y) { return number(bits(x) - bits(y)); });
    case Operation::mul:
      return each(a, b, [=](C x, C y) { return number(bits(x) * bits(y)); });
    case Operation::maximum:
    case Operation::fmax:
      return each(a, b, [=](C x, C y) { return ordered(x) < ordered(y) ? y : x; });
    case Operation::minimum:
    case Operation::fmin:
      return each(a, b, [=](C x, C y) { return ordered(y) < ordered(x) ? y : x; });
    case Operation::prelu:
      return each(a, b, [=](C x, C y) { return ordered(x) > ordered(0) ? x : number(bits(x) * bits(y)); });
    case Operation::abs_diff:
      return each(a, b, [=](C x, C y) {
        return ordered(x) < ordered(y) ? number(bits(y) - bits(x)) : number(bits(x) - bits(y));
      });
    case Operation::squared_diff:
      return each(a, b, [=](C x, C y) { return number((bits(x) - bits(y)) * (bits(x) - bits(y))); });
    case Operation::bit_and:
      return each(a, b, [=](C x, C y) { return x & y; });
    case Operation::bit_or:
      return each(a, b, [=](C x, C y) { return x | y; });
    case Operation::bit_xor:
      return each(a, b, [=](C x, C y) { return x ^ y; });
    case Operation::shift_left:
      if (is_narrow) return each(a, b, [=](C x, C y) { return number(bits(x) << count(y)); });
      return each(a, b, [=](C x, C y) { return bits(y) <= kMost ? number(bits(x) << count(y)) : C{0}; });
    case Operation::shift_right:
      if (is_signed(p.common)) return each(a, b, [=](C x, C y) { return x >> count(y); });
      if (is_narrow) return each(a, b, [=](C x, C y) { return number(bits(x) >> count(y)); });
      return each(a, b, [=](C x, C y) { return bits(y) <= kMost ? number(bits(x) >> count(y)) : C{0}; });
    case Operation::floor:
    case Operation::ceil:
    case Operation::trunc:
    case Operation::round:
      return;
    case Operation::neg:
      return each(a, [=](C x) { return number(0 - bits(x)); });
    case Operation::abs:
      return each(a, [=](C x) { return ordered(x) < ordered(0) ? number(0 - bits(x)) : x; });
    case Operation::bit_not: {
      const C mask = p.common == DType::bool_ ? C{1} : C{-1};
      return each(a, [=](C x) { return x ^ mask; });
    }
    default:
      return;
  }
}

/// Comparisons, predicates and logical operations: `a` becomes 1 or 0. Returns false for other operations.
template <class C, int kCount>
__device__ __forceinline__ bool cheap_relation(const ElementwiseParams& p, Operation operation,
                                               C (&a)[kCount], const C (&b)[kCount]) {
  const Order<C> ordered(p);
  switch (operation) {
    case Operation::equal:
      each(a, b, [](C x, C y) { return truth_of<C>(x == y); });
      return true;
    case Operation::not_equal:
      each(a, b, [](C x, C y) { return truth_of<C>(x != y); });
      return true;
    case Operation::less:
      each(a, b, [=](C x, C y) { return truth_of<C>(ordered(x) < ordered(y)); });
      return true;
    case Operation::less_equal:
      each(a, b, [=](C x, C y) { return truth_of<C>(ordered(x) <= ordered(y)); });
      return true;
    case Operation::greater:
      each(a, b, [=](C x, C y) { return truth_of<C>(ordered(x) > ordered(y)); });
      return true;
    case Operation::greater_equal:
      each(a, b, [=](C x, C y) { return truth_of<C>(ordered(x) >= ordered(y)); });
      return true;
    case Operation::logical_and:
      each(a, b, [](C x, C y) { return truth_of<C>((x != 0) & (y != 0)); });
      return true;
    case Operation::logical_or:
      each(a, b, [](C x, C y) { return truth_of<C>((x != 0) | (y != 0)); });
      return true;
    case Operation::logical_xor:
      each(a, b, [](C x, C y) { return truth_of<C>((x != 0) != (y != 0)); });
      return true;
    case Operation::logical_not:
      each(a, [](C x) { return truth_of<C>(x == 0); });
      return true;
    default:
      break;
  }
  if constexpr (is_real<C>) {
    switch (operation) {
      case Operation::isclose:
        is_close(p, a, b);
        return true;
      case Operation::isnan:
        each(a, [](C x) { return truth_of<C>(x != x); });
        return true;
      case Operation::isinf:
        each(a, [](C x) { return truth_of<C>(x == x && finite_part(x) != 0); });
        return true;
      case Operation::isfinite:
        each(a, [](C x) { return truth_of<C>(finite_part(x) == 0); });
        return true;
      default:
        break;
    }
  }
  return false;
}

/// The operations whose result has the operands' type; `a` becomes the result. kOneZero: on floats, where 0
/// and -0 are the same.
template <bool kOneZero = false, class C, int kCount>
__device__ __forceinline__ void cheap_value(const ElementwiseParams& p, Operation operation, C (&a)[kCount],
                                            const C (&b)[kCount], const C (&c)[kCount]) {
  const Order<C> ordered(p);
  switch (operation) {
    case Operation::where:
      return each(a, b, c, [](C x, C y, C z) { return x != 0 ? y : z; });
    case Operation::clip:
      return each(a, b, c, [=](C x, C low, C high) {
        const C above = ordered(x) < ordered(low) || low != low ? low : x;
        return ordered(high) < ordered(above) || high != high ? high : above;
      });
    case Operation::square:
      return each(a, [](C x) {
        if constexpr (is_real<C>) {
          return x * x;
        } else {
          using Bits = std::make_unsigned_t<C>;
          return static_cast<C>(static_cast<Bits>(x) * static_cast<Bits>(x));
        }
      });
    case Operation::sign:
      return each(a, [=](C x) {
        const C sign = truth_of<C>(ordered(x) > ordered(0)) - truth_of<C>(ordered(x) < ordered(0));
        return x != x ? x : sign;
      });
    case Operation::relu:
      if constexpr (kOneZero) return each(a, [](C x) { return larger_or_nan(x, C{0}); });
      return each(a, [=](C x) { return ordered(x) > ordered(0) || x != x ? x : C{0}; });
    case Operation::step:
      return each(a, [=](C x) { return truth_of<C>(ordered(x) > ordered(0)); });
    default:
      break;
  }
  if constexpr (is_real<C>) {
    cheap_real<kOneZero>(operation, a, b, c);
  } else {
    cheap_integer(p, operation, a, b);
  }
}

template <class C, int kCount>
__device__ __forceinline__ void cheap_operation(const ElementwiseParams& p, Operation operation,
                                                C (&a)[kCount], const C (&b)[kCount], const C (&c)[kCount]) {
  if (!cheap_relation(p, operation, a, b)) cheap_value(p, operation, a, b, c);
}

}  // namespace relayout::RELAYOUT_BACKEND
