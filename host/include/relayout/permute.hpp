// permute, transpose, copy, contiguous and cast: out = in under another order of axes, another shape, another
// layout, another element type.
//
// `in` has any strides. `out` shares no byte with it, and has strides under which no two elements share an
// address. Elements move as bytes where both types are equal. Other pairs of types, except those with b128,
// are cast: each element is rounded once, as CastOptions say. With a CopyScale the result is alpha * in +
// beta * out.
//
// All functions throw these errors: dtype, shape, rounding_mode, output_overlap, partial_overlap; rank for
// b128 with 32 axes that cannot be merged; literal_range for a scale; invalid_shape for a view that reaches
// over more than 2^57 bytes; invalid_argument for an address that is no multiple of the element size.
// Functions that run throw null_pointer for a view with elements and a null pointer.
//
// The plan_* functions check and plan without running. A view with a null pointer is planned as if it began
// at a multiple of every power of two. The memory that CopyPlan::run or run_indirect is then given must be
// aligned as CopySide::alignment says, which is never more than 16 bytes.
#pragma once

#include <vector>

#include <relayout/copy_plan.hpp>
#include <relayout/export.hpp>
#include <relayout/stream.hpp>
#include <relayout/tensor_view.hpp>

namespace relayout {

/// Reorders axes: result axis j is in's axis axes[j], as numpy.transpose does, so out has extent
/// in.extent(axes[j]) along axis j. Error{invalid_argument} unless axes is a permutation.
RELAYOUT_API void permute(const Stream& stream, const TensorView& in, const std::vector<int>& axes,
                          const TensorView& out, const CopyScale& scale = {},
                          const CastOptions& options = {});
/// Plans permute() without running it.
RELAYOUT_API CopyPlan plan_permute(const PlanTarget& target, const TensorView& in,
                                   const std::vector<int>& axes, const TensorView& out,
                                   const CopyPlanOptions& options = {});

/// permute with the last two axes exchanged: in [..., m, n] -> out [..., n, m]; rank 2 or more, else
/// Error{rank}.
RELAYOUT_API void transpose(const Stream& stream, const TensorView& in, const TensorView& out,
                            const CopyScale& scale = {}, const CastOptions& options = {});
/// Plans transpose() without running it.
RELAYOUT_API CopyPlan plan_transpose(const PlanTarget& target, const TensorView& in, const TensorView& out,
                                     const CopyPlanOptions& options = {});

/// Element number i of out = element number i of in, both counted in C order. The shapes may differ, the
/// numbers of elements may not: Error{shape}.
RELAYOUT_API void copy(const Stream& stream, const TensorView& in, const TensorView& out,
                       const CopyScale& scale = {}, const CastOptions& options = {});
/// Plans copy() without running it.
RELAYOUT_API CopyPlan plan_copy(const PlanTarget& target, const TensorView& in, const TensorView& out,
                                const CopyPlanOptions& options = {});

/// Writes in to `memory` in C order, in.elements() elements of in's type without gaps, and returns the view
/// of it: in's shape, contiguous.
RELAYOUT_API TensorView contiguous(const Stream& stream, const TensorView& in, void* memory);
/// Plans contiguous() without running it. With a null `memory`, run() is given the memory.
RELAYOUT_API CopyPlan plan_contiguous(const PlanTarget& target, const TensorView& in, void* memory = nullptr,
                                      const CopyPlanOptions& options = {});

/// out = in, both of one shape, with elements converted to out's type.
RELAYOUT_API void cast(const Stream& stream, const TensorView& in, const TensorView& out,
                       const CopyScale& scale = {}, const CastOptions& options = {});
/// Plans cast() without running it.
RELAYOUT_API CopyPlan plan_cast(const PlanTarget& target, const TensorView& in, const TensorView& out,
                                const CopyPlanOptions& options = {});

}  // namespace relayout
