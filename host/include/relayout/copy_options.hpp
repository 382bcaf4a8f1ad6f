// What a copy does beside moving elements: alpha and beta, how a cast rounds, and pointers that are read when
// it starts.
#pragma once

#include <relayout/cast_options.hpp>

namespace relayout {

/// out = alpha * in + beta * out, element by element, for in and out of f16, bf16, f32 and f64, with or
/// without a cast. 1 and 0 mean the plain copy, of any types: the same kernel, the same bits.
///
/// The arithmetic is f64 where in or out is f64, else f32. alpha and beta are first rounded to it, and what
/// follows counts as rounded. in and out are widened, which is exact; the product alpha * in is rounded;
/// where beta is not 0, beta * out is added to it with one rounding (a fused multiply-add); what comes out is
/// rounded to out's type. All of it to nearest even, bit for bit the same on every device, NaN payloads
/// apart.
///
/// beta = 0: out is not read, whatever it holds; a NaN there does not spread. alpha = 0 multiplies like any
/// other: in is read, and its NaNs and infinities give NaN.
///
/// Errors: dtype for other values than 1 and 0 with types that are not floating; literal_range for a finite
/// alpha or beta that becomes infinite when it is rounded.
struct CopyScale {
  double alpha = 1, beta = 0;
};

/// What a plan_* function plans for.
struct CopyPlanOptions {
  CopyScale scale;
  /// For CopyPlan::run_indirect; kernels that cannot read slots do not take such a plan.
  bool indirect = false;
  CastOptions cast = {};
};

}  // namespace relayout
