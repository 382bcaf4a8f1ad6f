// The operations of many instructions, on a few elements at a time, so that each stands in the code once or
// twice. Which they are: is_costly (elementwise_params.hpp).
#pragma once

#include <cmath>

#include "kernels/elementwise/activations.hpp"
#include "kernels/elementwise/directed_rounding.hpp"
#include "kernels/elementwise/guarded_functions.hpp"
#include "kernels/elementwise/integer_operations.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Infinite where either is, whatever the other is: the sums make signalling NaNs quiet.
template <class C>
__device__ __forceinline__ C length(C a, C b) {
  return std::hypot(a + C{0}, b + C{0});
}

/// Elements that stand in the code beside each other: one hides what another waits for.
template <int kCount>
constexpr int together = kCount >= 8 ? 2 : 1;

/// a = f(a, b), some elements at a time: the vectors turn round, since an index would put them into memory.
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

/// visit(f) with the function of one or two elements that the operation is; false where it is none of these.
template <class C, class Visit>
__device__ __forceinline__ bool visit_costly(Operation operation, Visit&& visit) {
  if (visit_activation<C>(operation, visit)) return true;
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
      visit([](C x, C y) { return std::atan2(x, y); });
      return true;
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

/// One of those for which is_costly holds, add, sub, mul, truediv and sqrt with another rounding among them.
/// a becomes the result.
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
