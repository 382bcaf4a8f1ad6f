#include "relayout/permute.hpp"

#include <algorithm>
#include <numeric>

#include "host/api/checks.hpp"
#include "host/api/tile_launch.hpp"
#include "host/api/window.hpp"
#include "host/plan/copy_plan.hpp"
#include "kernels/kernel_table.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

void* advanced(const TensorView& view, std::int64_t elements) {
  return static_cast<char*>(view.data()) + elements * static_cast<std::int64_t>(size_of(view.dtype()));
}

/// A transpose of at most three axes is a window of one tap: the output's fastest axis takes the place of the
/// channels, the input's that of time. Where rows are aligned, that kernel is 3 to 5 % faster than tiles.
/// False when they are not.
bool transpose_as_window(const Stream& stream, const plan::LoopNest& nest, const void* in, DType in_type,
                         void* out, DType out_type) {
  const Dims &extents = nest.extents, &out_strides = nest.strides[0], &in_strides = nest.strides[1];
  const int channel = nest.rank() - 1, time = plan::fastest_input_axis(nest);
  if (nest.rank() < 2 || nest.rank() > 3 || time == channel) return false;
  const int batch = nest.rank() == 3 ? 1 - time : -1;
  WindowParams window;
  window.in = in;
  window.out = out;
  window.in_type = in_type;
  window.out_type = out_type;
  window.batch = batch < 0 ? 1 : extents[batch];
  window.channels = extents[channel];
  window.length = window.positions = extents[time];
  window.in_batch = batch < 0 ? 0 : in_strides[batch];
  window.in_channel = in_strides[channel];
  window.in_time = in_strides[time];
  window.out_batch = batch < 0 ? 0 : out_strides[batch];
  window.out_position = out_strides[time];
  window.out_channel = out_strides[channel];
  return launch_window_if_vector(stream, window);
}

plan::TileTarget tile_target(const Device& device, const void* in, DType in_type, const void* out,
                             DType out_type) {
  plan::TileTarget target;
  target.in_bytes = static_cast<int>(size_of(in_type));
  target.out_bytes = static_cast<int>(size_of(out_type));
  target.in_offset = static_cast<int>(reinterpret_cast<std::uintptr_t>(in) % 16);
  target.out_offset = static_cast<int>(reinterpret_cast<std::uintptr_t>(out) % 32);
  target.shared_bytes = device.properties().shared_memory_per_block;
  target.multiprocessors = device.properties().multiprocessors;
  return target;
}

void run_gather(const Stream& stream, const plan::LoopNest& nest, const void* in, DType in_type, void* out,
                DType out_type) {
  CopyParams params;
  params.in = in;
  params.out = out;
  params.in_type = in_type;
  params.out_type = out_type;
  params.rank = nest.rank();
  params.elements = nest.elements();
  std::copy(nest.extents.begin(), nest.extents.end(), params.extents);
  std::copy(nest.strides[0].begin(), nest.strides[0].end(), params.out_strides);
  std::copy(nest.strides[1].begin(), nest.strides[1].end(), params.in_strides);
  params.in_axis = plan::fastest_input_axis(nest);
  kernels_of(stream).gather(context_of(stream), params);
}

/// out = in, of one shape: check -> nest -> plan -> launch.
void copy_elements(const char* operation, const Stream& stream, const TensorView& in, const TensorView& out) {
  check_cast(operation, in.dtype(), out.dtype());
  check_shape(operation, out, in.shape());
  check_memory(operation, in, out);
  if (out.elements() == 0) return;

  const plan::LoopNest nest = plan::normalise(plan::make_nest(out, {in}));
  void* to = advanced(out, nest.offsets[0]);
  const void* from = advanced(in, nest.offsets[1]);
  if (stream.device().kind() != DeviceKind::cpu) {
    if (transpose_as_window(stream, nest, from, in.dtype(), to, out.dtype())) return;
    const plan::CopyPlan chosen =
        plan::choose_copy(nest, tile_target(stream.device(), from, in.dtype(), to, out.dtype()));
    if (chosen.kernel == plan::CopyKernel::tile) {
      TileParams params;
      params.in = from;
      params.out = to;
      params.in_type = in.dtype();
      params.out_type = out.dtype();
      fill_tile_params(nest, chosen.tile, params);
      return kernels_of(stream).tile(context_of(stream), params);
    }
  }
  run_gather(stream, nest, from, in.dtype(), to, out.dtype());
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
