#include "relayout/permute.hpp"

#include <algorithm>
#include <numeric>

#include "host/api/checks.hpp"
#include "host/plan/copy_plan.hpp"
#include "kernels/kernel_table.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

void* advanced(const TensorView& view, std::int64_t elements) {
  return static_cast<char*>(view.data()) + elements * static_cast<std::int64_t>(size_of(view.dtype()));
}

/// out = in, of one shape: check -> nest -> plan -> launch.
void copy_elements(const char* operation, const Stream& stream, const TensorView& in, const TensorView& out) {
  check_cast(operation, in.dtype(), out.dtype());
  check_shape(operation, out, in.shape());
  check_memory(operation, in, out);
  if (out.elements() == 0) return;

  const plan::LoopNest nest = plan::normalise(plan::make_nest(out, {in}));
  const plan::CopyPlan chosen = plan::choose_copy(nest);
  CopyParams params;
  params.out = advanced(out, nest.offsets[0]);
  params.in = advanced(in, nest.offsets[1]);
  params.in_type = in.dtype();
  params.out_type = out.dtype();
  params.rank = nest.rank();
  params.elements = nest.elements();
  std::copy(nest.extents.begin(), nest.extents.end(), params.extents);
  std::copy(nest.strides[0].begin(), nest.strides[0].end(), params.out_strides);
  std::copy(nest.strides[1].begin(), nest.strides[1].end(), params.in_strides);
  params.in_axis = chosen.in_axis;
  const KernelTable& kernels = kernels_of(stream);
  (chosen.kernel == plan::CopyKernel::tile ? kernels.tile : kernels.gather)(context_of(stream), params);
}

}  // namespace

void permute(const Stream& stream, const TensorView& in, const std::vector<int>& axes,
             const TensorView& out) {
  copy_elements("permute", stream, in.permuted(axes), out);
}

void transpose(const Stream& stream, const TensorView& in, const TensorView& out) {
  if (in.rank() < 2) {
    throw Error(ErrorCode::rank, "transpose: the input " + in.to_string() + " needs two axes or more");
  }
  std::vector<int> axes(static_cast<std::size_t>(in.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  copy_elements("transpose", stream, in.permuted(axes), out);
}

void cast(const Stream& stream, const TensorView& in, const TensorView& out) {
  copy_elements("cast", stream, in, out);
}

}  // namespace relayout
