// Sums, products, quotients and roots rounded toward zero, down or up, from the one rounded to nearest and
// the sign of its error, which fused multiplication and addition find exactly (T. J. Dekker, "A
// floating-point technique for extending the available precision", 1971).
// Results are the same on every device.
#pragma once

#include "kernels/elementwise/cheap_operations.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// The next number of type C away from zero (step 1) or toward it (step -1); x is not 0 where the step is -1.
template <class C>
__device__ __forceinline__ C neighbour(C x, int step) {
  using Bits = std::conditional_t<sizeof(C) == 4, std::uint32_t, std::uint64_t>;
  Bits bits;
  memcpy(&bits, &x, sizeof bits);
  bits += static_cast<Bits>(static_cast<std::int64_t>(step));
  memcpy(&x, &bits, sizeof x);
  return x;
}

/// Returns `nearest`, or its neighbour where `nearest` lies on the wrong side of the exact result. `error`
/// has the sign of the exact result minus `nearest`.
template <class C>
__device__ __forceinline__ C directed(Rounding rounding, C nearest, double error) {
  if (error == 0 || nearest != nearest) return nearest;
  const bool negative = with_sign_of(C{1}, nearest) < 0;
  const bool is_above = error < 0;  // nearest lies above the exact result
  const bool goes_down = rounding == Rounding::down || (rounding == Rounding::toward_zero && !negative);
  if (is_above != goes_down) return nearest;
  if (nearest == 0) {  // the result is the smallest number on the error's side
    if (rounding == Rounding::toward_zero) return nearest;
    return with_sign_of(neighbour(C{0}, 1), goes_down ? C{-1} : C{1});
  }
  return neighbour(nearest, negative == goes_down ? 1 : -1);
}

constexpr double kScale = 0x1p200, kRootScale = 0x1p100, kSmall = 0x1p-900;

/// The signs of the errors of numbers that were rounded to nearest.
__device__ __forceinline__ double sum_error(double a, double b, double sum) {
  if (finite_part(sum) != 0) return finite_part(a) == 0 && finite_part(b) == 0 ? -sum : 0;
  // The sum is finite. Taking the larger number from it does not overflow; taking the smaller one could.
  const bool swapped = absolute(a) < absolute(b);
  const double large = swapped ? b : a, small = swapped ? a : b;
  return small - (sum - large);
}
__device__ __forceinline__ double product_error(double a, double b, double product) {
  if (finite_part(product) != 0) return finite_part(a) == 0 && finite_part(b) == 0 ? -product : 0;
  if (a == 0 || b == 0) return 0;
  if (product == 0) return with_sign_of(1.0, product);
  if (absolute(product) > kSmall) return fma(a, b, -product);
  const bool a_is_small = absolute(a) < absolute(b);
  return fma(a_is_small ? a * kScale : a, a_is_small ? b : b * kScale, -product * kScale);
}
__device__ __forceinline__ double quotient_error(double a, double b, double quotient) {
  if (finite_part(a) != 0 || finite_part(b) != 0 || a == 0 || b == 0) return 0;
  if (finite_part(quotient) != 0) return -quotient;
  if (quotient == 0) return with_sign_of(1.0, quotient);
  const double scale = absolute(a) < kSmall ? kScale : 1.0;
  return fma(-quotient, b * scale, a * scale) * with_sign_of(1.0, b);
}
__device__ __forceinline__ double root_error(double a, double root) {
  if (finite_part(root) != 0 || a == 0) return 0;
  return a < kSmall ? fma(-root * kRootScale, root * kRootScale, a * kScale) : fma(-root, root, a);
}

/// The result of add, sub, mul, truediv or sqrt rounded to nearest, and its error's sign.
struct Rounded {
  double nearest, error;
};
__device__ __forceinline__ Rounded rounded_to_nearest(Rounding rounding, Operation operation, double a,
                                                      double b) {
  if (operation == Operation::sub) b = -b;
  switch (operation) {
    case Operation::mul:
      return {a * b, product_error(a, b, a * b)};
    case Operation::truediv:
      return {a / b, quotient_error(a, b, a / b)};
    case Operation::sqrt:
      return {sqrt(a), root_error(a, sqrt(a))};
    default: {
      const double sum = a + b;
      // IEEE 754: a sum of numbers of both signs that is 0 is -0 when rounding down.
      const bool both_signs = with_sign_of(1.0, a) != with_sign_of(1.0, b);
      const bool is_negative_zero = sum == 0 && both_signs && rounding == Rounding::down;
      return {is_negative_zero ? -0.0 : sum, sum_error(a, b, sum)};
    }
  }
}

__device__ __forceinline__ double directed_operation(const ElementwiseParams& p, Operation operation,
                                                     double a, double b) {
  const Rounded result = rounded_to_nearest(p.rounding, operation, a, b);
  return directed(p.rounding, result.nearest, result.error);
}

/// The result is rounded to a double, and that to the common type in the same direction.
__device__ __forceinline__ float directed_operation(const ElementwiseParams& p, Operation operation, float a,
                                                    float b) {
  const double wide = directed_operation(p, operation, static_cast<double>(a), static_cast<double>(b));
  std::uint64_t bits;
  memcpy(&bits, &wide, sizeof bits);
  const std::uint32_t rounded = static_cast<std::uint32_t>(convert_bits(p.rounding_cast, bits));
  const std::uint16_t half = static_cast<std::uint16_t>(rounded);
  if (p.common == DType::f16) return half_to_float(f16{half});
  if (p.common == DType::bf16) return bfloat_to_float(bf16{half});
  return __uint_as_float(rounded);
}

}  // namespace relayout::RELAYOUT_BACKEND
