// fill: every element of a tensor becomes one constant.
#pragma once

#include <relayout/elementwise.hpp>

namespace relayout {

/// out[..] = value, cast to out's type: any type but b128, any strides under which no two elements share an
/// address. Integers and floating constants are cast as i64 (u64 where that is too small) and f64 are, as
/// `cast` says: fill(stream, 1000, u8) gives the low bits, fill(stream, 1000.0, u8) gives 255.
///
/// Errors: dtype, rounding_mode, output_overlap, null_pointer and invalid_argument (no multiple of the
/// element size) of an output with elements.
void fill(const Stream& stream, const Literal& value, const TensorView& out, const CastOptions& cast = {});
/// run() on other memory takes no inputs: plan.run(stream, {}, memory).
ElementwisePlan plan_fill(const PlanTarget& target, const Literal& value, const TensorView& out,
                          const CastOptions& cast = {});

}  // namespace relayout
