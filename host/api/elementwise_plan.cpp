#include "host/api/elementwise_plan.hpp"

#include <iterator>
#include <numeric>
#include <utility>

#include "core/bytes.hpp"
#include "core/kernel_table.hpp"
#include "host/api/checks.hpp"
#include "host/api/copy.hpp"
#include "host/api/operand_views.hpp"
#include "host/api/plan_checks.hpp"
#include "host/api/repeated_operands.hpp"
#include "host/plan/copy/tile_tuning.hpp"
#include "host/plan/elementwise/byte_table.hpp"
#include "host/plan/elementwise/elementwise_nest.hpp"
#include "host/plan/elementwise/one_result.hpp"
#include "platform/backend.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

/// `view`, broadcast to a shape; the error names the operation.
TensorView spread(const std::string& name, const TensorView& view, const Dims& shape) {
  try {
    return view.broadcast_to(shape);
  } catch (const Error& error) {
    fail(name, error.code(), error.what());
  }
}

/// Scales and zero points over the codes' shape, in the order of the parameters, and which of them belong to
/// the first operand.
struct Numbers {
  std::vector<TensorView> views;
  std::vector<bool> firsts;
};

Numbers numbers_of(const ElementwiseCall& call) {
  Numbers numbers;
  const auto add_codes = [&](const QuantizedTensor& codes, bool first) {
    const auto add = [&](const TensorView& view) {
      numbers.views.push_back(spread(call.name, view, codes.codes.shape()));
      numbers.firsts.push_back(first);
    };
    if (const auto* scale = std::get_if<TensorView>(&codes.scale)) add(*scale);
    if (const auto* zero = std::get_if<TensorView>(&codes.zero)) add(*zero);
  };
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    if (const QuantizedTensor* codes = call.operands[i].quantized()) add_codes(*codes, i == 0);
  }
  if (const QuantizedTensor* codes = call.out.quantized()) add_codes(*codes, false);
  return numbers;
}

/// The tensors that are read over the output's shape: the operands', then scales and zero points.
ShapedOperands shaped_operands(const ElementwiseCall& call, int& operands) {
  const TensorView& out = call.out.tensor();
  std::vector<TensorView> tensors;
  std::vector<bool> firsts;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    if (call.operands[i].is_literal()) continue;
    tensors.push_back(call.operands[i].tensor());
    firsts.push_back(i == 0);
  }
  operands = static_cast<int>(tensors.size());
  const Numbers numbers = numbers_of(call);
  if (call.options.broadcasting == Broadcasting::repeat) {
    tensors.insert(tensors.end(), numbers.views.begin(), numbers.views.end());
    firsts.insert(firsts.end(), numbers.firsts.begin(), numbers.firsts.end());
    return repeat_operands(call.name, tensors, firsts, out);
  }
  if (call.converts) {
    for (TensorView& tensor : tensors) tensor = spread(call.name, tensor, out.shape());
  } else {
    tensors = broadcast_operands(call.name, tensors, out);
  }
  for (const TensorView& view : numbers.views) tensors.push_back(spread(call.name, view, out.shape()));
  return {out, std::move(tensors)};
}

/// The operand whose tensor this is, counted from 1 as the caller gave them, constants too; or the operand or
/// the output whose scale or zero point it is.
std::string name_of_tensor(const ElementwiseParams& p, std::size_t tensor) {
  const int wanted = static_cast<int>(tensor);
  for (std::int32_t i = 0; i < p.arguments; ++i) {
    const std::int32_t own = p.argument[i].tensor;
    if (own < 0) continue;
    const std::string operand = "operand " + std::to_string(i + 1);
    if (own == wanted) return operand;
    if (p.codes[own].scale_tensor == wanted) return "the scale of " + operand;
    if (p.codes[own].zero_tensor == wanted) return "the zero point of " + operand;
  }
  return p.out_codes.scale_tensor == wanted ? "the scale of the output" : "the zero point of the output";
}

/// Where the operands' tensors are, then where the scales and zero points were planned; `room` is for both.
const std::vector<const void*>& all_tensors(const ElementwisePlan::State& state,
                                            const std::vector<const void*>& inputs,
                                            std::vector<const void*>& room) {
  if (inputs.size() == state.tensors.size()) return inputs;
  room = inputs;
  for (std::size_t t = inputs.size(); t < state.tensors.size(); ++t) room.push_back(state.tensors[t].data());
  return room;
}

/// The program's result for each byte, by the processor's own code.
ByteTable results_of_bytes(const ElementwiseParams& params) {
  ByteTable bytes, results;
  std::iota(std::begin(bytes.values), std::end(bytes.values), std::uint8_t{0});
  find_backend("cpu")->kernels().elementwise({}, plan::on_each_byte(params, bytes, results));
  return results;
}

/// Plans the operation as a copy with a table, and computes the table where that copy is taken.
void set_table_copy(const PlanTarget& target, ElementwisePlan::State& state) {
  state.no_table = plan::obstacle_to_table(state.params);
  if (state.no_table != nullptr || is_native(target)) return;
  plan::PlannedCopy copy = plan::plan_table_copy(state.tensors[0], state.out, target.properties());
  state.no_table = plan::obstacle_to_table_copy(copy);
  if (state.no_table != nullptr) return;
  copy.table = results_of_bytes(state.params);
  state.table_copy = std::move(copy);
}

/// Whether a kernel for the planned memory serves this, too: it depends on where addresses lie in vectors,
/// and on which tensors are written in place.
bool lies_as_planned(const ElementwisePlan::State& state, const std::vector<const void*>& tensors,
                     const void* out) {
  const void* const planned_out = state.out.data();
  if (!plan::lie_alike(out, planned_out)) return false;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const void* const planned = state.tensors[t].data();
    if (!plan::lie_alike(tensors[t], planned) || (tensors[t] == out) != (planned == planned_out))
      return false;
  }
  return true;
}

/// Whether this is the planned memory itself.
bool is_as_planned(const ElementwisePlan::State& state, const std::vector<const void*>& inputs,
                   const void* out) {
  for (std::size_t t = 0; t < inputs.size(); ++t) {
    if (inputs[t] != state.tensors[t].data()) return false;
  }
  return out == state.out.data();
}

/// The parameters of a launch with the kernel that is chosen for this memory.
ElementwiseParams params_with_new_kernel(const ElementwisePlan::State& state,
                                         const std::vector<const void*>& inputs, void* out) {
  ElementwiseParams p = launch_params(state, inputs, out);
  plan::set_kernel(state.target.properties(), p);
  return p;
}

/// The same, with the plan's kernel where that serves this memory. A plan that has one has no codes, and so
/// no tensors but the inputs.
ElementwiseParams params_for_memory(const ElementwisePlan::State& state,
                                    const std::vector<const void*>& inputs, void* out) {
  if (!state.planned_params || !lies_as_planned(state, inputs, out))
    return params_with_new_kernel(state, inputs, out);
  ElementwiseParams p = *state.planned_params;
  plan::set_memory_anew(state.nest, inputs, out, p);
  return p;
}

}  // namespace

std::string name_of(const std::vector<Step>& steps) {
  std::string name;
  for (const Step& step : steps) name += (name.empty() ? "" : "+") + std::string(name_of(step.operation));
  return name.empty() ? "chain" : name;
}

void set_nest(const PlanTarget& target, ElementwisePlan::State& state) {
  state.nest = plan::normalise(plan::make_nest(state.out, state.tensors));
  state.target = PlannedFor(target);
  const std::int64_t elements = state.out.elements();
  if (elements == 0) return;
  plan::set_nest(state.nest, state.params);
  state.params.streaming =
      elements * bytes_of(state.out.dtype()) >= plan::tile_tuning(target.properties()).streaming_bytes;
}

ElementwisePlan::State plan_elementwise_of(const PlanTarget& target, const ElementwiseCall& call) {
  ElementwisePlan::State state;
  state.name = call.name;
  state.types = resolve_types(call);
  ShapedOperands shaped = shaped_operands(call, state.operands);
  check_distinct(call.name.c_str(), call.out.tensor());
  state.params = typed_params(call, state.types);
  for (std::size_t t = 0; t < shaped.tensors.size(); ++t)
    check_reach(call.name.c_str(), name_of_tensor(state.params, t).c_str(), shaped.tensors[t]);
  state.tensors = std::move(shaped.tensors);
  state.out = std::move(shaped.out);
  set_nest(target, state);
  set_table_copy(target, state);
  return state;
}

std::shared_ptr<const ElementwisePlan::State> kept(ElementwisePlan::State state) {
  const auto result = std::make_shared<ElementwisePlan::State>(std::move(state));
  if (result->target.device() && !result->target.is_native() && result->out.elements() > 0 &&
      !has_codes(result->params))
    result->planned_params = params_with_new_kernel(*result, planned_inputs(*result), result->out.data());
  return result;
}

const char* obstacle_to_table(const ElementwisePlan::State& state, const std::vector<const void*>& inputs,
                              const void* out) {
  if (!state.table_copy) return state.no_table;
  return plan::obstacle_to_table_memory(*state.table_copy, inputs[0], out);
}

std::vector<const void*> planned_inputs(const ElementwisePlan::State& state) {
  std::vector<const void*> inputs;
  for (int t = 0; t < state.operands; ++t)
    inputs.push_back(state.tensors[static_cast<std::size_t>(t)].data());
  return inputs;
}

void check_elementwise_memory(const ElementwisePlan::State& state, const std::vector<const void*>& inputs,
                              void* out) {
  if (static_cast<int>(inputs.size()) != state.operands)
    fail(state.name, ErrorCode::invalid_argument,
         std::to_string(inputs.size()) + " pointers for " + std::to_string(state.operands) +
             " tensors among the operands");
  std::vector<const void*> room;
  check_operand_memory(state.name, state.tensors, all_tensors(state, inputs, room), state.operands, state.out,
                       out, [&state](std::size_t tensor) { return name_of_tensor(state.params, tensor); });
}

ElementwiseParams launch_params(const ElementwisePlan::State& state, const std::vector<const void*>& inputs,
                                void* out) {
  ElementwiseParams p = state.params;
  std::vector<const void*> room;
  plan::set_memory(state.nest, all_tensors(state, inputs, room), out, p);
  plan::leave_out_unneeded(p);
  return p;
}

void launch_elementwise(const Stream& stream, const ElementwisePlan::State& state,
                        const std::vector<const void*>& inputs, void* out) {
  if (state.out.elements() == 0) return;
  if (state.table_copy && obstacle_to_table(state, inputs, out) == nullptr)
    return launch_copy(stream, *state.table_copy, {inputs[0], out});
  const auto launch = [&](const ElementwiseParams& params) {
    kernels_of(stream).elementwise(context_of(stream), params);
  };
  if (is_native(stream.device())) return launch(launch_params(state, inputs, out));
  if (state.planned_params && is_as_planned(state, inputs, out)) return launch(*state.planned_params);
  launch(params_for_memory(state, inputs, out));
}

}  // namespace relayout
