// Operations on the two numbers of a word of f16 or bf16, without unpacking them. They give the bits that the
// operation in f32 and a rounding give: f32 has twice the digits of these types and two more, with which a
// second rounding changes nothing (S. A. Figueroa, "When is double rounding innocuous?", 1995). rsqrt, which
// rounds twice in f32, has a bound instead.
#pragma once

#include "kernels/elementwise/byte_operations.hpp"
#include "kernels/elementwise/half_quotients.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// The larger of two numbers: b where a is less than it or it is NaN, otherwise a. A `less` that swaps its
/// operands makes it the smaller one.
template <class T, class Less>
__device__ __forceinline__ std::uint32_t better_halves(std::uint32_t a, std::uint32_t b, Less&& less) {
  return select_bits(less(a, b) | nan_halves(T{}, b), b, a);
}

/// `a` becomes the result where the operation is one of these; otherwise returns false. Products of bf16 are
/// not among them: they may be too small for f32, whose rounding would then count.
template <class T, int kVectors>
__device__ __forceinline__ bool half_operation(Operation operation, Words (&a)[kVectors],
                                               const Words (&b)[kVectors], const Words (&c)[kVectors]) {
  using W = std::uint32_t;
  using Quotients = HalfQuotients<T>;
  constexpr W kSigns = 0x80008000u;
  const auto below = [](W x, W y) { return less_halves(T{}, x, y); };
  const auto above = [](W x, W y) { return less_halves(T{}, y, x); };
  switch (operation) {
    case Operation::add:
      each_word(a, b, [](W x, W y) { return add_halves(T{}, x, y); });
      return true;
    case Operation::sub:
      each_word(a, b, [](W x, W y) { return sub_halves(T{}, x, y); });
      return true;
    case Operation::mul:
      if constexpr (std::is_same_v<T, f16>) {
        each_word(a, b, [](W x, W y) { return mul_halves(T{}, x, y); });
        return true;
      }
      return false;
    case Operation::maximum:
      each_word(a, b, [=](W x, W y) { return better_halves<T>(x, y, below); });
      return true;
    case Operation::minimum:
      each_word(a, b, [=](W x, W y) { return better_halves<T>(x, y, above); });
      return true;
    case Operation::clip:
      each_word(a, b, [=](W x, W low) { return better_halves<T>(x, low, below); });
      each_word(a, c, [=](W x, W high) { return better_halves<T>(x, high, above); });
      return true;
    case Operation::relu:
      each_word(a, a, [=](W x, W) { return x & (above(x, 0) | nan_halves(T{}, x)); });
      return true;
    case Operation::neg:
      each_word(a, a, [=](W x, W) { return x ^ kSigns; });
      return true;
    case Operation::abs:
      each_word(a, a, [=](W x, W) { return x & ~kSigns; });
      return true;
    case Operation::div:
    case Operation::truediv:
      each_word(a, b, [](W x, W y) {
        return of_halves<T>(x, y, [](float m, float n) { return Quotients::quotient(m, n); });
      });
      return true;
    case Operation::sqrt:
      each_word(a, a, [](W x, W) { return of_halves<T>(x, [](float n) { return Quotients::root(n); }); });
      return true;
    case Operation::rsqrt:
      each_word(a, a, [](W x, W) {
        return of_halves<T>(x, [](float n) { return Quotients::reciprocal_root(n); });
      });
      return true;
    case Operation::reciprocal:
      each_word(a, a,
                [](W x, W) { return of_halves<T>(x, [](float n) { return Quotients::reciprocal(n); }); });
      return true;
    default:
      return false;
  }
}

/// Comparisons, predicates and logical operations on numbers of T, whose results are bool; false where the
/// operation is none of these.
template <class T, int kVectors>
__device__ __forceinline__ bool half_relation(Operation operation, const Words (&a)[kVectors],
                                              const Words (&b)[kVectors], Words (&results)[kVectors]) {
  using W = std::uint32_t;
  constexpr W kBoth = 0x00010001u, kMagnitudes = 0x7fff * kBoth,
              kInfinities = (std::is_same_v<T, f16> ? 0x7c00 : 0x7f80) * kBoth;
  // The highest bit of a number says whether the relation holds. The magnitude's other bits carry into it.
  const auto at_least = [](W x, W least) { return (x & kMagnitudes) + (kMagnitudes + kBoth - least); };
  const auto is_true = [=](W x) { return at_least(x, kBoth); };
  const auto less = [](W x, W y) { return less_halves(T{}, x, y); };
  const auto equal = [](W x, W y) { return equal_halves(T{}, x, y); };
  const auto give = [&](const auto& holds) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      results[v] = {};
#pragma unroll
      for (int k = 0; k < 4; k += 2) {
        const W low = holds(a[v].values[k], b[v].values[k]),
                high = holds(a[v].values[k + 1], b[v].values[k + 1]);
        results[v].values[k / 2] = permute_bytes<0x7531>(low, high) >> 7 & 0x01010101u;
      }
    }
    return true;
  };
  switch (operation) {
    case Operation::equal:
      return give(equal);
    case Operation::not_equal:
      return give([=](W x, W y) { return ~equal(x, y); });
    case Operation::less:
      return give(less);
    case Operation::less_equal:
      return give([=](W x, W y) { return less(x, y) | equal(x, y); });
    case Operation::greater:
      return give([=](W x, W y) { return less(y, x); });
    case Operation::greater_equal:
      return give([=](W x, W y) { return less(y, x) | equal(x, y); });
    case Operation::logical_and:
      return give([=](W x, W y) { return is_true(x) & is_true(y); });
    case Operation::logical_or:
      return give([=](W x, W y) { return is_true(x) | is_true(y); });
    case Operation::logical_xor:
      return give([=](W x, W y) { return is_true(x) ^ is_true(y); });
    case Operation::logical_not:
      return give([=](W x, W) { return ~is_true(x); });
    case Operation::isnan:
      return give([=](W x, W) { return at_least(x, kInfinities + kBoth); });
    case Operation::isinf:
      return give([=](W x, W) { return ~is_true(x ^ kInfinities); });
    case Operation::isfinite:
      return give([=](W x, W) { return ~at_least(x, kInfinities); });
    default:
      return false;
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
