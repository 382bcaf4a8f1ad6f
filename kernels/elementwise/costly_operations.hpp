// The operations of many instructions, on a few elements at a time, so that the code has each of them once or
// twice. is_costly (elementwise_params.hpp) lists them.
#pragma once

#include <cmath>

#include "kernels/elementwise/activations.hpp"
#include "kernels/elementwise/angle_functions.hpp"
#include "kernels/elementwise/directed_rounding.hpp"
#include "kernels/elementwise/integer_operations.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// The result is infinite where either operand is, even beside NaN: adding 0 makes signalling NaNs quiet
/// first.
template <class C>
__device__ __forceinline__ C length(C a, C b) {
  return std::hypot(a + C{0}, b + C{0});
}

/// How many elements are computed side by side, so that one hides the latency of another.
template <int kCount>
constexpr int together = kCount >= 8 ? 2 : 1;

/// a = f(a, b), kStep elements at a time. The vectors are rotated, since an index that the compiler does not
/// know would put them into memory.
template <int kStep, class C, int kCount, class F>
__device__ __forceinline__ void in_turn(C (&a)[kCount], const C (&b)[kCount], const F& f) {
  C second[kCount];
#pragma unroll
  for (int i = 0; i < kCount; ++i) second[i] = b[i];
#pragma unroll 1
  for (int turn = 0; turn < kCount; turn += kStep) {
    C results[kStep], operands[kStep];
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      results[i] = a[i];
      operands[i] = second[i];
    }
    call_each(f, results, operands);
#pragma unroll
    for (int i = 0; i + kStep < kCount; ++i) {
      a[i] = a[i + kStep];
      second[i] = second[i + kStep];
    }
#pragma unroll
    for (int i = 0; i < kStep; ++i) a[kCount - kStep + i] = results[i];
  }
}

/// Calls visit(f) with the function that a costly operation of two operands is; returns false where it is
/// none of these.
template <class C, class Visit>
__device__ __forceinline__ bool visit_costly_pair(Operation operation, Visit&& visit) {
  switch (operation) {
    case Operation::div_trunc:
      visit(WholeQuotient<C, false>{});
      return true;
    case Operation::div_floor:
      visit(WholeQuotient<C, true>{});
      return true;
    case Operation::mod:
      visit(Modulo<C>{});
      return true;
    case Operation::fmod:
      visit(Remainder<C>{});
      return true;
    case Operation::pow:
      visit(Power<C>{});
      return true;
    case Operation::hypot:
      visit([](C x, C y) { return length(x, y); });
      return true;
    case Operation::atan2:
      visit(AngleOfPoint<C>{});
      return true;
    default:
      return false;
  }
}

/// The same of one operand.
template <class C, class Visit>
__device__ __forceinline__ bool visit_function(Operation operation, Visit&& visit) {
  if (visit_activation<C>(operation, visit)) return true;
  switch (operation) {
    case Operation::exp2:
      visit([](C x) { return std::exp2(x); });
      return true;
    case Operation::expm1:
      visit([](C x) { return exp_minus_one(x); });
      return true;
    case Operation::log:
      visit([](C x) { return std::log(x); });
      return true;
    case Operation::log2:
      visit([](C x) { return std::log2(x); });
      return true;
    case Operation::log1p:
      visit([](C x) { return log_of_one_plus(x); });
      return true;
    case Operation::sin:
      visit(Sine<C, 0>{});
      return true;
    case Operation::cos:
      visit(Sine<C, 1>{});
      return true;
    case Operation::tan:
      visit(Tangent<C>{});
      return true;
    case Operation::sinh:
      visit([](C x) { return std::sinh(x); });
      return true;
    case Operation::cosh:
      visit([](C x) { return std::cosh(x); });
      return true;
    case Operation::asin:
      visit([](C x) { return std::asin(x); });
      return true;
    case Operation::acos:
      visit([](C x) { return std::acos(x); });
      return true;
    case Operation::atan:
      visit([](C x) { return std::atan(x); });
      return true;
    case Operation::erf:
      visit([](C x) { return std::erf(x); });
      return true;
    case Operation::softplus:
      visit([](C x) { return softplus(x); });
      return true;
    case Operation::elu:
      visit([](C x) { return x > 0 ? x : exp_minus_one(x); });
      return true;
    default:
      return false;
  }
}

template <class C, class Visit>
__device__ __forceinline__ bool visit_costly(Operation operation, Visit&& visit) {
  return visit_function<C>(operation, visit) || visit_costly_pair<C>(operation, visit);
}

/// Computes an operation for which is_costly holds; add, sub, mul, truediv and sqrt are among them where they
/// round otherwise than to nearest. `a` becomes the result.
template <class C, int kCount>
__device__ __forceinline__ void costly_operation(const ElementwiseParams& p, Operation operation,
                                                 C (&a)[kCount], const C (&b)[kCount]) {
  if constexpr (is_real<C>) {
    if (visit_costly<C>(operation, [&](const auto& f) { in_turn<together<kCount>>(a, b, f); })) return;
    in_turn<together<kCount>>(a, b, [&](C x, C y) { return directed_operation(p, operation, x, y); });
  } else {
    in_turn<together<kCount>>(a, b, [&](C x, C y) { return integer_operation(p, operation, x, y); });
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
