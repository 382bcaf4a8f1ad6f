// permute, transpose, copy, contiguous and cast: out = in under another order of axes, another shape, another
// layout, another element type.
//
// All take: in of any strides; out of any strides under which no two elements share an address, and no byte
// of in's. Equal element types move as bytes, b128 with at most 31 axes; between any others but b128 elements
// are cast, rounded once, as CastOptions say. With a CopyScale, out = alpha * in + beta * out. Errors of all:
// dtype, shape, rounding_mode, output_overlap, partial_overlap, null_pointer and invalid_argument (no
// multiple of the element size) of views with elements, literal_range of a scale.
//
// The plan_* functions check and plan without running. A view with a null pointer is planned as if its
// pointer were aligned to 256 bytes; memory is then given to CopyPlan::run or run_indirect.
#pragma once

#include <vector>

#include <relayout/copy_plan.hpp>
#include <relayout/stream.hpp>
#include <relayout/tensor_view.hpp>

namespace relayout {

/// out = in with result axis j = in's axis axes[j] (numpy.transpose): out has extent in.extent(axes[j]) along
/// axis j. Error{invalid_argument} unless axes is a permutation.
void permute(const Stream& stream, const TensorView& in, const std::vector<int>& axes, const TensorView& out,
             const CopyScale& scale = {}, const CastOptions& options = {});
CopyPlan plan_permute(const PlanTarget& target, const TensorView& in, const std::vector<int>& axes,
                      const TensorView& out, const CopyPlanOptions& options = {});

/// permute with the last two axes exchanged: in [..., m, n] -> out [..., n, m]; rank 2 or more, else
/// Error{rank}.
void transpose(const Stream& stream, const TensorView& in, const TensorView& out, const CopyScale& scale = {},
               const CastOptions& options = {});
CopyPlan plan_transpose(const PlanTarget& target, const TensorView& in, const TensorView& out,
                        const CopyPlanOptions& options = {});

/// Element number i of out = element number i of in, both counted in C order; as many elements, of any two
/// shapes.
void copy(const Stream& stream, const TensorView& in, const TensorView& out, const CopyScale& scale = {},
          const CastOptions& options = {});
CopyPlan plan_copy(const PlanTarget& target, const TensorView& in, const TensorView& out,
                   const CopyPlanOptions& options = {});

/// Writes in to `memory` in C order, in.elements() elements of in's type without gaps, and returns the view
/// of it: in's shape, contiguous.
TensorView contiguous(const Stream& stream, const TensorView& in, void* memory);
CopyPlan plan_contiguous(const PlanTarget& target, const TensorView& in, void* memory = nullptr,
                         const CopyPlanOptions& options = {});

/// copy between equal shapes.
void cast(const Stream& stream, const TensorView& in, const TensorView& out, const CopyScale& scale = {},
          const CastOptions& options = {});
CopyPlan plan_cast(const PlanTarget& target, const TensorView& in, const TensorView& out,
                   const CopyPlanOptions& options = {});

}  // namespace relayout
