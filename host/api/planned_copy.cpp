#include "host/api/planned_copy.hpp"

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>

#include "core/kernel_table.hpp"
#include "host/api/cast_rule.hpp"
#include "host/api/checks.hpp"
#include "host/api/window.hpp"
#include "host/plan/copy/copy_nest.hpp"
#include "host/plan/copy/tile_params_builder.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

constexpr std::int64_t kMaxAlignment = 16;

/// Elements of 16 bytes move as two of 8.
bool is_pair(const TensorView& in, const TensorView& out) {
  return in.dtype() == DType::b128 && out.dtype() == DType::b128;
}

/// The same memory as elements of 8 bytes, the two of an element along a new last axis.
TensorView as_u64_pairs(const TensorView& view) {
  Dims shape = view.shape(), strides = view.strides();
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    strides[axis] = shape[axis] == 1 ? 0 : 2 * strides[axis];  // an extent of 1 may come with any stride
  shape.push_back(2);
  strides.push_back(1);
  return TensorView(view.data(), DType::u64, std::move(shape), std::move(strides));
}

/// Types, numbers of elements and memory; null pointers share no bytes with anything.
void check_copy(const char* operation, const TensorView& in, const TensorView& out) {
  if (in.elements() != out.elements()) {
    throw Error(ErrorCode::shape, std::string(operation) + ": the input " + in.to_string() + " has " +
                                      std::to_string(in.elements()) + " elements and the output " +
                                      out.to_string() + " has " + std::to_string(out.elements()));
  }
  check_address(operation, "the input", in);
  check_address(operation, "the output", out);
  check_distinct(operation, out);
  if (in.data() != nullptr && out.data() != nullptr) check_disjoint(operation, in, out);
}

CopyOperand operand_of(const TensorView& view, std::int64_t offset) {
  CopyOperand operand;
  operand.data = view.data();
  operand.offset = offset * static_cast<std::int64_t>(size_of(view.dtype()));
  operand.range = view.byte_range();
  const std::uintptr_t start = operand.start(operand.data);
  while (operand.alignment < kMaxAlignment && start % static_cast<std::uintptr_t>(2 * operand.alignment) == 0)
    operand.alignment *= 2;
  return operand;
}

/// What the parameters of a tile and of a copy have in common, but for the pointers.
void set_operation(const PlannedCopy& planned, CopyOperands& params) {
  params.in_type = planned.in_type;
  params.out_type = planned.out_type;
  params.scaled = is_scaled(planned.options.scale);
  params.alpha = planned.options.scale.alpha;
  params.beta = planned.options.scale.beta;
  params.generic_cast = needs_generic_cast(planned.in_type, planned.out_type, planned.options.cast);
  if (params.generic_cast)
    params.cast = element_cast(planned.in_type, planned.out_type, planned.options.cast);
}

/// A transpose of at most three axes is a window of one tap: the output's fastest axis takes the place of the
/// channels, the input's that of time. Where rows are aligned, that kernel is 3 to 5 % faster than tiles.
/// It knows neither a scale nor slots, and of casts those among the floating types to nearest even.
bool plan_as_window(const DeviceProperties& device, PlannedCopy& planned) {
  if (is_scaled(planned.options.scale) || planned.options.indirect) return false;
  if (needs_generic_cast(planned.in_type, planned.out_type, planned.options.cast)) return false;
  const plan::LoopNest& nest = planned.nest;
  const Dims &extents = nest.extents, &out_strides = nest.strides[0], &in_strides = nest.strides[1];
  const int channel = nest.rank() - 1, time = plan::fastest_input_axis(nest);
  if (nest.rank() < 2 || nest.rank() > 3 || time == channel) return false;
  const int batch = nest.rank() == 3 ? 1 - time : -1;
  WindowParams window;
  window.in = reinterpret_cast<const void*>(planned.in.start(planned.in.data));
  window.out = reinterpret_cast<void*>(planned.out.start(planned.out.data));
  window.in_type = planned.in_type;
  window.out_type = planned.out_type;
  window.batch = batch < 0 ? 1 : extents[batch];
  window.channels = extents[channel];
  window.length = window.positions = extents[time];
  window.in_batch = batch < 0 ? 0 : in_strides[batch];
  window.in_channel = in_strides[channel];
  window.in_time = in_strides[time];
  window.out_batch = batch < 0 ? 0 : out_strides[batch];
  window.out_position = out_strides[time];
  window.out_channel = out_strides[channel];
  if (!plan_vector_window(device, window)) return false;
  planned.kernel = CopyKernel::window;
  planned.params = window;
  return true;
}

/// Whether to store past the caches.
bool is_streaming(const DeviceProperties& device, const PlannedCopy& planned) {
  return planned.nest.elements() * static_cast<std::int64_t>(size_of(planned.out_type)) >=
         plan::tile_tuning(device).streaming_bytes;
}

/// Aligned and in one piece on both sides.
bool plan_as_stream(const DeviceProperties& device, PlannedCopy& planned) {
  const plan::LoopNest& nest = planned.nest;
  if (nest.rank() != 1 || nest.strides[0][0] != 1 || nest.strides[1][0] != 1) return false;
  if (planned.in.alignment < kMaxAlignment || planned.out.alignment < kMaxAlignment) return false;
  if (is_scaled(planned.options.scale)) return false;
  StreamParams params;
  set_operation(planned, params);
  params.elements = nest.elements();
  params.streaming = is_streaming(device, planned);
  planned.kernel = CopyKernel::stream;
  planned.params = params;
  return true;
}

plan::TileTarget tile_target(const DeviceProperties& device, const PlannedCopy& planned) {
  plan::TileTarget target = plan::tile_target(device, static_cast<int>(size_of(planned.in_type)),
                                              static_cast<int>(size_of(planned.out_type)));
  target.groups = !needs_generic_cast(planned.in_type, planned.out_type, planned.options.cast);
  target.in_offset = static_cast<int>(planned.in.start(planned.in.data) % 16);
  target.out_offset = static_cast<int>(planned.out.start(planned.out.data) % 32);
  return target;
}

void take_tile(const DeviceProperties& device, const plan::TilePlan& tile, PlannedCopy& planned) {
  planned.tile = tile;
  planned.kernel = CopyKernel::tile;
  auto& params = planned.params.emplace<TileParams>();
  set_operation(planned, params);
  fill_tile_params(planned.nest, planned.tile, params);
  params.streaming = is_streaming(device, planned);
}

/// A tile holds elements of the output's type, in which alpha * in would be rounded before beta * out is
/// added.
bool plan_as_tiles(const DeviceProperties& device, PlannedCopy& planned) {
  if (planned.options.scale.beta != 0 && planned.in_type != planned.out_type) return false;
  const plan::TilePlan tile = plan::choose_tile(planned.nest, tile_target(device, planned));
  if (tile.valid) take_tile(device, tile, planned);
  return tile.valid;
}

/// The kernel that takes everything; native code on the processor.
CopyParams copy_params(const PlannedCopy& planned) {
  const plan::LoopNest& nest = planned.nest;
  CopyParams params;
  set_operation(planned, params);
  params.rank = nest.rank();
  params.elements = nest.elements();
  std::copy(nest.extents.begin(), nest.extents.end(), params.extents);
  std::copy(nest.strides[0].begin(), nest.strides[0].end(), params.out_strides);
  return params;
}

PlannedCopy plan_checked(const char* operation, const PlanTarget& target, const TensorView& in,
                         const TensorView& out, const CopyPlanOptions& options) {
  PlannedCopy planned;
  planned.operation = operation;
  planned.out_type = out.dtype();
  planned.in_type = keeps_bits(in.dtype(), out.dtype(), options.cast) ? out.dtype() : in.dtype();
  planned.options = options;
  if (out.elements() == 0) return planned;

  planned.nest = plan::common_nest(out, in);
  const bool common = planned.nest.operands() == 2;
  if (!common) planned.nest = plan::own_nest(out);
  planned.out = operand_of(out, planned.nest.offsets[0]);
  planned.in = operand_of(in, common ? planned.nest.offsets[1] : 0);

  const bool native = target.device() != nullptr && target.device()->kind() == DeviceKind::cpu;
  if (common && !native &&
      (plan_as_stream(target.properties(), planned) || plan_as_window(target.properties(), planned) ||
       plan_as_tiles(target.properties(), planned)))
    return planned;
  planned.kernel = native ? CopyKernel::native : CopyKernel::gather;
  CopyParams params = copy_params(planned);
  if (common) {
    std::copy(planned.nest.strides[1].begin(), planned.nest.strides[1].end(), params.in_strides);
    params.in_axis = plan::fastest_input_axis(planned.nest);
  } else {
    const plan::LoopNest own = plan::own_nest(in);
    params.in_rank = own.rank();
    std::copy(own.extents.begin(), own.extents.end(), params.in_extents);
    std::copy(own.strides[0].begin(), own.strides[0].end(), params.in_strides);
  }
  planned.params = params;
  return planned;
}

}  // namespace

PlannedCopy plan_copy_of(const char* operation, const PlanTarget& target, const TensorView& in,
                         const TensorView& out, const CopyPlanOptions& options) {
  check_cast_options(operation, in.dtype(), out.dtype(), options);
  check_copy(operation, in, out);
  CopyPlanOptions checked = options;
  checked.scale = checked_scale(operation, options.scale, in.dtype(), out.dtype());
  return is_pair(in, out) ? plan_checked(operation, target, as_u64_pairs(in), as_u64_pairs(out), checked)
                          : plan_checked(operation, target, in, out, checked);
}

std::vector<PlannedCopy> candidates_of(const DeviceProperties& device, const PlannedCopy& planned) {
  if (planned.kernel != CopyKernel::tile && planned.kernel != CopyKernel::window) return {planned};
  std::vector<PlannedCopy> candidates;
  PlannedCopy next = planned;
  if (plan_as_window(device, next)) candidates.push_back(next);
  for (const plan::TilePlan& tile : plan::tile_candidates(planned.nest, tile_target(device, planned))) {
    take_tile(device, tile, next);
    candidates.push_back(next);
  }
  return candidates;
}

void check_given(const PlannedCopy& planned, const CopyMemory& memory) {
  if (planned.kernel == CopyKernel::nothing) return;
  const bool has_in = memory.in != nullptr || memory.in_slot != nullptr,
             has_out = memory.out != nullptr || memory.out_slot != nullptr;
  if (!has_in || !has_out) {
    throw Error(ErrorCode::null_pointer, std::string(planned.operation) + ": the " +
                                             (has_in ? "output" : "input") +
                                             " has elements and a null pointer");
  }
}

void launch_copy(const Stream& stream, const PlannedCopy& planned, const CopyMemory& memory) {
  if (planned.kernel == CopyKernel::nothing) return;
  check_given(planned, memory);
  const KernelTable& kernels = kernels_of(stream);
  const LaunchContext context = context_of(stream);
  const auto with_memory = [&](auto params) {
    params.in = reinterpret_cast<const void*>(planned.in.start(memory.in));
    params.out = reinterpret_cast<void*>(planned.out.start(memory.out));
    if constexpr (std::is_base_of_v<CopyOperands, decltype(params)>) {
      params.in_slot = memory.in_slot;
      params.out_slot = memory.out_slot;
      params.in_slot_offset = planned.in.offset;
      params.out_slot_offset = planned.out.offset;
    }
    return params;
  };
  if (const auto* tile = std::get_if<TileParams>(&planned.params))
    return kernels.tile(context, with_memory(*tile));
  if (const auto* one_piece = std::get_if<StreamParams>(&planned.params))
    return kernels.stream(context, with_memory(*one_piece));
  if (const auto* window = std::get_if<WindowParams>(&planned.params))
    return kernels.window(context, with_memory(*window));
  kernels.gather(context, with_memory(std::get<CopyParams>(planned.params)));
}

}  // namespace relayout
