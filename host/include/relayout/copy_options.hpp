// What a copy does besides moving elements: alpha and beta, how a cast rounds, and pointers that are read
// when the copy starts.
#pragma once

#include <relayout/cast_options.hpp>

namespace relayout {

/// out = alpha * in + beta * out, element by element, for in and out of f16, bf16, f32 and f64, with or
/// without a cast. alpha = 1 with beta = 0 means the plain copy, which takes any types: the same kernel, the
/// same bits.
///
/// The arithmetic is f64 where in or out is f64, else f32. alpha and beta are first rounded to that type, and
/// only the rounded values count. in and out are widened, which is exact; the product alpha * in is rounded;
/// where beta is not 0, beta * out is added to it with one rounding (a fused multiply-add); the result is
/// rounded to out's type. All roundings are to nearest even, and every device gives the same bits, except for
/// NaN payloads.
///
/// With beta = 0, out is not read, so a NaN there does not spread. alpha = 0 multiplies like any other
/// number: in is read, and its NaNs and infinities give NaN.
///
/// Errors: dtype for other values than 1 and 0 with types that are not floating; literal_range for a finite
/// alpha or beta that becomes infinite when it is rounded.
struct CopyScale {
  double alpha = 1;  ///< the factor of in
  double beta = 0;   ///< the factor of what out held
};

/// The options of the plan_* functions of copies.
struct CopyPlanOptions {
  CopyScale scale;  ///< alpha and beta
  /// Whether CopyPlan::run_indirect may be called; kernels that cannot read slots do not take such a plan.
  bool indirect = false;
  CastOptions cast = {};  ///< how elements are converted
};

}  // namespace relayout
