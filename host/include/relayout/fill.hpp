// fill: every element of a tensor becomes one constant.
#pragma once

#include <relayout/elementwise.hpp>
#include <relayout/export.hpp>

namespace relayout {

/// out[..] = value, cast to out's type. out has any type except b128, and strides under which no two elements
/// share an address. An integer constant is cast like an element of i64 (u64 where i64 is too small), a
/// floating one like an element of f64, as `cast` says: into u8, 1000 gives its low bits, 1000.0 gives 255.
///
/// Errors: dtype, rounding_mode, output_overlap; for an output with elements, null_pointer and
/// invalid_argument (no multiple of the element size).
RELAYOUT_API void fill(const Stream& stream, const Literal& value, const TensorView& out,
                       const CastOptions& cast = {});
/// Checks and plans fill() without running it. run() on other memory takes no inputs: plan.run(stream, {},
/// memory).
RELAYOUT_API ElementwisePlan plan_fill(const PlanTarget& target, const Literal& value, const TensorView& out,
                                       const CastOptions& cast = {});

}  // namespace relayout
