#include "relayout/permute.hpp"

#include <algorithm>
#include <numeric>

#include "host/api/checks.hpp"
#include "host/api/window.hpp"
#include "host/plan/copy_plan.hpp"
#include "kernels/kernel_table.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

void* advanced(const TensorView& view, std::int64_t elements) {
  return static_cast<char*>(view.data()) + elements * static_cast<std::int64_t>(size_of(view.dtype()));
}

/// A nest of at most three axes whose two sides run along different ones is a window of one tap: the output's
/// fastest axis takes the place of the channels, the input's that of time. False when its rows are not
/// aligned.
bool transpose_as_window(const Stream& stream, const CopyParams& copy) {
  if (copy.rank > 3 || stream.device().kind() == DeviceKind::cpu) return false;
  const int channel = copy.rank - 1, time = copy.in_axis, batch = copy.rank == 3 ? 1 - time : -1;
  WindowParams window;
  window.in = copy.in;
  window.out = copy.out;
  window.in_type = copy.in_type;
  window.out_type = copy.out_type;
  window.batch = batch < 0 ? 1 : copy.extents[batch];
  window.channels = copy.extents[channel];
  window.length = window.positions = copy.extents[time];
  window.in_batch = batch < 0 ? 0 : copy.in_strides[batch];
  window.in_channel = copy.in_strides[channel];
  window.in_time = copy.in_strides[time];
  window.out_batch = batch < 0 ? 0 : copy.out_strides[batch];
  window.out_position = copy.out_strides[time];
  window.out_channel = copy.out_strides[channel];
  return launch_window_if_vector(stream, window);
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
  if (chosen.kernel == plan::CopyKernel::gather) return kernels.gather(context_of(stream), params);
  if (!transpose_as_window(stream, params)) kernels.tile(context_of(stream), params);
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
