// The operations that Precision makes faster on f32: relayout/operation.hpp has their bounds, and each
// platform's approximate_functions.hpp has what its hardware offers.
#pragma once

#include "approximate_functions.hpp"
#include "kernels/elementwise/cheap_operations.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Computes an operation for which is_approximated holds; `a` becomes the result.
template <int kCount>
__device__ __forceinline__ void approximate_operation(Precision precision, Operation operation,
                                                      float (&a)[kCount], const float (&b)[kCount]) {
  switch (operation) {
    case Operation::truediv:
      if (precision == Precision::full)
        return each(a, b, [](float x, float y) { return full_range_quotient(x, y); });
      return each(a, b, [](float x, float y) { return approximate_quotient(x, y); });
    case Operation::sqrt:
      return each(a, [](float x) { return approximate_root(x); });
    case Operation::tanh:
      return each(a, [](float x) { return approximate_tanh(x); });
    case Operation::exp:
      return each(a, [](float x) { return approximate_exp(x); });
    default:
      return;
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
