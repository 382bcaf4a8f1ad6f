#include "host/api/elementwise_plan.hpp"

#include <algorithm>

#include "core/kernel_table.hpp"
#include "host/api/checks.hpp"
#include "host/api/operand_views.hpp"
#include "host/plan/copy/tile_tuning.hpp"
#include "host/plan/elementwise/elementwise_rows.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

std::string name_of(const std::vector<Operation>& operations) {
  std::string name;
  for (const Operation operation : operations)
    name += (name.empty() ? "" : "+") + std::string(name_of(operation));
  return name.empty() ? "chain" : name;
}

[[noreturn]] void fail(const std::string& name, ErrorCode code, const std::string& what) {
  throw Error(code, name + ": " + what);
}

/// The operands and the output over one shape, in which every axis of the output along which something is
/// repeated as a whole is two: the round and the place in it.
struct Operands {
  TensorView out;
  std::vector<TensorView> tensors;
};

Operands numpy_operands(const ElementwiseCall& call, const TensorView& out) {
  std::vector<TensorView> tensors;
  for (const Operand& operand : call.operands) {
    if (!operand.is_literal()) tensors.push_back(operand.tensor());
  }
  return {out, broadcast_operands(call.name, tensors, out)};
}

/// The view of the same shape with `axis` split into rounds of `period`.
TensorView split_axis(const TensorView& view, std::size_t axis, std::int64_t period) {
  Dims shape = view.shape(), strides = view.strides();
  const std::int64_t rounds = period == 0 ? 0 : shape[axis] / period;
  shape[axis] = period;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), rounds);
  strides.insert(strides.begin() + static_cast<std::ptrdiff_t>(axis),
                 rounds > 1 ? strides[axis] * period : 0);
  return TensorView(view.data(), view.dtype(), std::move(shape), std::move(strides));
}

/// A view of extent `period` along `axis`, repeated.
TensorView repeat_axis(const TensorView& view, std::size_t axis, std::int64_t rounds) {
  Dims shape = view.shape(), strides = view.strides();
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), rounds);
  strides.insert(strides.begin() + static_cast<std::ptrdiff_t>(axis), 0);
  return TensorView(view.data(), view.dtype(), std::move(shape), std::move(strides));
}

/// Without the axes along which the output has one element, as all operands then have.
TensorView without_ones(const TensorView& view, const Dims& out_shape) {
  Dims shape, strides;
  for (std::size_t axis = 0; axis < out_shape.size(); ++axis) {
    if (out_shape[axis] == 1) continue;
    shape.push_back(view.shape()[axis]);
    strides.push_back(view.strides()[axis]);
  }
  return TensorView(view.data(), view.dtype(), std::move(shape), std::move(strides));
}

TensorView with_rank(const TensorView& view, std::size_t rank) {
  Dims shape = view.shape();
  shape.insert(shape.begin(), rank - std::min(rank, shape.size()), 1);
  return view.reshaped(shape);
}

Operands repeated_operands(const ElementwiseCall& call, const TensorView& out) {
  Operands result{out, {}};
  const std::size_t rank = out.shape().size();
  const auto refuse = [&](const TensorView& view) {
    fail(call.name, ErrorCode::shape,
         "the operand's shape " + to_string(view.shape()) + " does not repeat to the output's " +
             to_string(out.shape()));
  };
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    if (call.operands[i].is_literal()) continue;
    const TensorView& view = call.operands[i].tensor();
    if (view.shape().size() > rank) refuse(view);
    result.tensors.push_back(with_rank(view, rank));
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const std::int64_t whole = out.shape()[axis], part = result.tensors.back().shape()[axis];
      const bool divides = part == whole || (i > 0 && part > 0 && whole % part == 0);
      if (!divides) refuse(view);
    }
  }
  for (TensorView& tensor : result.tensors) tensor = without_ones(tensor, out.shape());
  result.out = without_ones(out, out.shape());
  for (std::size_t axis = result.out.shape().size(); axis-- > 0;) {
    const std::int64_t whole = result.out.shape()[axis];
    std::int64_t period = whole;
    for (const TensorView& tensor : result.tensors) {
      const std::int64_t part = tensor.shape()[axis];
      if (part == whole || part == 1 || part == period) continue;
      if (period != whole)
        fail(call.name, ErrorCode::unsupported, "operands that repeat in different rounds along one axis");
      period = part;
    }
    if (period == whole) continue;
    if (result.out.rank() == kMaxRank)
      fail(call.name, ErrorCode::rank,
           "an axis along which operands repeat counts as two, and more than " + std::to_string(kMaxRank) +
               " are left");
    for (TensorView& tensor : result.tensors) {
      const std::int64_t part = tensor.shape()[axis];
      if (part == whole) {
        tensor = split_axis(tensor, axis, period);
      } else {
        tensor = repeat_axis(tensor, axis, 1);
      }
    }
    result.out = split_axis(result.out, axis, period);
  }
  for (TensorView& tensor : result.tensors) tensor = tensor.broadcast_to(result.out.shape());
  return result;
}

void fill_nest(const plan::LoopNest& nest, ElementwiseParams& p) {
  p.rank = std::max(nest.rank(), 1);
  p.elements = nest.elements();
  p.extents[0] = p.out_strides[0] = 1;  // of a single element
  std::copy(nest.extents.begin(), nest.extents.end(), p.extents);
  std::copy(nest.strides[0].begin(), nest.strides[0].end(), p.out_strides);
  for (int t = 0; t < p.tensors; ++t) {
    const Dims& strides = nest.strides[static_cast<std::size_t>(t) + 1];
    std::copy(strides.begin(), strides.end(), p.tensor[t].strides);
  }
}

}  // namespace

void set_nest(const PlanTarget& target, ElementwisePlan::State& state) {
  state.nest = plan::normalise(plan::make_nest(state.out, state.tensors));
  if (target.device() != nullptr) state.device = *target.device();
  state.properties = target.properties();
  const std::int64_t elements = state.out.elements();
  if (elements == 0) return;
  fill_nest(state.nest, state.params);
  state.params.streaming = elements * static_cast<std::int64_t>(size_of(state.out.dtype())) >=
                           plan::tile_tuning(target.properties()).streaming_bytes;
}

ElementwisePlan::State plan_elementwise_of(const PlanTarget& target, const std::vector<Operation>& operations,
                                           const std::vector<Operand>& operands, const TensorView& out,
                                           const ElementwiseOptions& options) {
  const ElementwiseCall call{name_of(operations), operations, operands, options};
  ElementwisePlan::State state;
  state.name = call.name;
  state.types = resolve_types(call);
  check_output_type(call, state.types.result, out.dtype());
  const Operands shaped =
      options.broadcasting == Broadcasting::numpy ? numpy_operands(call, out) : repeated_operands(call, out);
  check_distinct(call.name.c_str(), out);
  state.tensors = shaped.tensors;
  state.out = shaped.out;
  state.params = typed_params(call, state.types, out.dtype());
  set_nest(target, state);
  return state;
}

std::vector<const void*> planned_inputs(const ElementwisePlan::State& state) {
  std::vector<const void*> inputs;
  for (const TensorView& tensor : state.tensors) inputs.push_back(tensor.data());
  return inputs;
}

void check_elementwise_memory(const ElementwisePlan::State& state, const std::vector<const void*>& inputs,
                              void* out) {
  if (inputs.size() != state.tensors.size())
    fail(state.name, ErrorCode::invalid_argument,
         std::to_string(inputs.size()) + " pointers for " + std::to_string(state.tensors.size()) +
             " tensors among the operands");
  check_operand_memory(state.name, state.tensors, inputs, state.out, out);
}

ElementwiseParams launch_params(const ElementwisePlan::State& state, const std::vector<const void*>& inputs,
                                void* out) {
  ElementwiseParams p = state.params;
  const auto& offsets = state.nest.offsets;
  p.out = reinterpret_cast<void*>(address_of(out, offsets[0], state.out.dtype()));
  for (std::size_t t = 0; t < inputs.size(); ++t)
    p.tensor[t].data =
        reinterpret_cast<const void*>(address_of(inputs[t], offsets[t + 1], state.tensors[t].dtype()));
  if (!state.device || state.device->kind() != DeviceKind::cpu) join_short_rows(p);
  cut_rows(p);
  return p;
}

void launch_elementwise(const Stream& stream, const ElementwisePlan::State& state,
                        const std::vector<const void*>& inputs, void* out) {
  if (state.out.elements() == 0) return;
  kernels_of(stream).elementwise(context_of(stream), launch_params(state, inputs, out));
}

}  // namespace relayout
