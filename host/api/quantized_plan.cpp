#include "host/api/quantized_plan.hpp"

#include <algorithm>
#include <cmath>

#include "core/kernel_table.hpp"
#include "host/api/checks.hpp"
#include "host/api/operand_views.hpp"
#include "host/api/operation_rules.hpp"
#include "host/plan/copy/tile_tuning.hpp"
#include "host/plan/elementwise/quantized_rows.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

using State = QuantizedPlan::State;

[[noreturn]] void fail(const std::string& name, ErrorCode code, const std::string& what) {
  throw Error(code, name + ": " + what);
}

std::string name_of_call(const QuantizedCall& call) {
  if (call.operation) return std::string("quantized ") + name_of(*call.operation);
  return call.out.quantized() != nullptr ? "quantize" : "dequantize";
}

bool gives_bool(const QuantizedCall& call) {
  if (!call.operation) return false;
  const OperationKind kind = rule_of(*call.operation).kind;
  return kind == OperationKind::relational || kind == OperationKind::predicate;
}

void check_operation(const std::string& name, const QuantizedCall& call) {
  const std::size_t wanted =
      call.operation ? static_cast<std::size_t>(rule_of(*call.operation).operands) : std::size_t{1};
  if (call.operands.size() != wanted)
    fail(name, ErrorCode::invalid_argument,
         std::to_string(call.operands.size()) + " operands; it takes " + std::to_string(wanted));
  const auto is_constant = [](const QuantizedOperand& operand) { return operand.constant() != nullptr; };
  if (std::all_of(call.operands.begin(), call.operands.end(), is_constant))
    fail(name, ErrorCode::invalid_argument, "no operand is a tensor");
  if (!call.operation) return;
  const OperationKind kind = rule_of(*call.operation).kind;
  if (kind == OperationKind::bits || kind == OperationKind::shift || kind == OperationKind::logical ||
      *call.operation == Operation::isclose)
    fail(name, ErrorCode::dtype, "not an operation on quantised numbers");
}

void check_type(const std::string& name, const char* what, const TensorView& view, DType wanted) {
  if (view.dtype() == wanted) return;
  fail(name, ErrorCode::dtype,
       std::string(what) + " has elements of " + name_of(view.dtype()) + " and must have " + name_of(wanted));
}

void check_types(const std::string& name, const QuantizedTensor& tensor) {
  const DType codes = tensor.codes.dtype();
  if (codes != DType::i8 && codes != DType::u8)
    fail(name, ErrorCode::dtype, std::string("codes are i8 or u8, not ") + name_of(codes));
  if (const auto* scale = std::get_if<TensorView>(&tensor.scale))
    check_type(name, "a scale", *scale, DType::f32);
  if (const auto* zero = std::get_if<TensorView>(&tensor.zero))
    check_type(name, "a zero point", *zero, codes);
}

void check_numbers(const std::string& name, const QuantizedTensor& tensor) {
  if (const float* scale = std::get_if<float>(&tensor.scale)) {
    if (!(*scale > 0) || std::isinf(*scale))
      fail(name, ErrorCode::scale,
           "a scale is " + std::to_string(*scale) + "; it must be finite and above 0");
  }
  if (const int* zero = std::get_if<int>(&tensor.zero)) {
    const int lowest = tensor.codes.dtype() == DType::i8 ? -128 : 0;
    if (*zero < lowest || *zero > lowest + 255)
      fail(name, ErrorCode::literal_range,
           "the zero point " + std::to_string(*zero) + " is no " + name_of(tensor.codes.dtype()));
  }
}

/// Calls check(QuantizedTensor) for all codes of the call.
template <class Check>
void for_each_quantized(const QuantizedCall& call, const Check& check) {
  for (const QuantizedOperand& operand : call.operands) {
    if (operand.quantized() != nullptr) check(*operand.quantized());
  }
  if (call.out.quantized() != nullptr) check(*call.out.quantized());
}

void check_values(const std::string& name, const QuantizedCall& call) {
  for (const QuantizedOperand& operand : call.operands) {
    if (operand.tensor() != nullptr)
      check_type(name, "an operand without codes", *operand.tensor(), DType::f32);
  }
  for_each_quantized(call, [&](const QuantizedTensor& tensor) { check_types(name, tensor); });
  const bool to_bool = gives_bool(call);
  if (to_bool && call.out.quantized() != nullptr)
    fail(name, ErrorCode::dtype, "the result is a bool, which has no scale");
  if (call.out.tensor() != nullptr)
    check_type(name, "the output", *call.out.tensor(), to_bool ? DType::bool_ : DType::f32);
  for_each_quantized(call, [&](const QuantizedTensor& tensor) { check_numbers(name, tensor); });
}

const TensorView* view_of(const QuantizedOperand& operand) {
  return operand.quantized() != nullptr ? &operand.quantized()->codes : operand.tensor();
}

/// Collects the tensors and gives them their numbers in QuantizedParams.
class Tensors {
 public:
  Tensors(State& state, Dims shape) : state_(state), shape_(std::move(shape)) {}

  std::int32_t add(const TensorView& view) {
    if (state_.tensors.size() == kMaxQuantizedTensors)
      fail(state_.name, ErrorCode::unsupported,
           "more than " + std::to_string(kMaxQuantizedTensors) +
               " tensors of codes, f32, scales and zero points");
    try {
      state_.tensors.push_back(view.broadcast_to(shape_));
    } catch (const Error& error) {
      fail(state_.name, error.code(), error.what());
    }
    TensorOperand& tensor = state_.params.tensor[state_.params.tensors];
    tensor.data = view.data();
    tensor.type = view.dtype();
    tensor.bytes = static_cast<std::int32_t>(size_of(view.dtype()));
    return state_.params.tensors++;
  }

  CodeNumbers add_numbers(const QuantizedTensor& tensor) {
    CodeNumbers numbers;
    numbers.is_signed = tensor.codes.dtype() == DType::i8;
    if (const float* scale = std::get_if<float>(&tensor.scale)) numbers.scale.constant = *scale;
    if (const int* zero = std::get_if<int>(&tensor.zero)) numbers.zero.constant = *zero;
    if (const auto* scale = std::get_if<TensorView>(&tensor.scale))
      numbers.scale.tensor = add(spread(*scale, tensor.codes));
    if (const auto* zero = std::get_if<TensorView>(&tensor.zero))
      numbers.zero.tensor = add(spread(*zero, tensor.codes));
    return numbers;
  }

  QuantizedArgument add_operand(const QuantizedOperand& operand) {
    QuantizedArgument argument;
    if (operand.constant() != nullptr) {
      argument.value.constant = *operand.constant();
      return argument;
    }
    argument.value.tensor = add(*view_of(operand));
    if (operand.quantized() == nullptr) return argument;
    argument.coded = true;
    argument.codes = add_numbers(*operand.quantized());
    return argument;
  }

 private:
  /// Over the codes' shape, which may be smaller than the output's.
  TensorView spread(const TensorView& numbers, const TensorView& codes) const {
    try {
      return numbers.broadcast_to(codes.shape());
    } catch (const Error& error) {
      fail(state_.name, error.code(), error.what());
    }
  }

  State& state_;
  Dims shape_;
};

void check_result_shape(const std::string& name, const QuantizedCall& call, const TensorView& out) {
  Dims shape;
  for (const QuantizedOperand& operand : call.operands) {
    if (operand.constant() != nullptr) continue;
    try {
      shape = broadcast_shapes(shape, view_of(operand)->shape());
    } catch (const Error& error) {
      fail(name, error.code(), error.what());
    }
  }
  if (call.operation) return check_shape(name.c_str(), out, shape);
  static_cast<void>(view_of(call.operands[0])->broadcast_to(out.shape()));
}

/// Only operands may be the output itself: scales and zero points are read again for other elements.
void check_overlap(const State& state) {
  const QuantizedParams& p = state.params;
  for (int t = 0; t < p.tensors; ++t) {
    const TensorView& tensor = state.tensors[static_cast<std::size_t>(t)];
    const bool is_operand = std::any_of(p.argument, p.argument + p.operands,
                                        [&](const QuantizedArgument& a) { return a.value.tensor == t; });
    if (is_operand && tensor.data() == state.out.data() && same_places(tensor, state.out)) continue;
    if (tensor.data() != nullptr && state.out.data() != nullptr)
      check_disjoint(state.name.c_str(), tensor, state.out);
  }
}

void fill_nest(const State& state, QuantizedParams& p) {
  const plan::LoopNest& nest = state.nest;
  p.rank = std::max(nest.rank(), 1);
  p.elements = nest.elements();
  p.extents[0] = p.out_strides[0] = 1;  // of a single element
  std::copy(nest.extents.begin(), nest.extents.end(), p.extents);
  std::copy(nest.strides[0].begin(), nest.strides[0].end(), p.out_strides);
  p.out = reinterpret_cast<void*>(address_of(state.out.data(), nest.offsets[0], state.out.dtype()));
  for (std::size_t t = 0; t < state.tensors.size(); ++t) {
    const TensorView& view = state.tensors[t];
    std::copy(nest.strides[t + 1].begin(), nest.strides[t + 1].end(), p.tensor[t].strides);
    p.tensor[t].data =
        reinterpret_cast<const void*>(address_of(view.data(), nest.offsets[t + 1], view.dtype()));
  }
}

}  // namespace

State plan_quantized_of(const PlanTarget& target, const QuantizedCall& call) {
  State state;
  state.name = name_of_call(call);
  check_operation(state.name, call);
  check_values(state.name, call);
  state.out = *view_of(call.out);
  check_result_shape(state.name, call, state.out);
  QuantizedParams& p = state.params;
  p.converts = !call.operation;
  p.operation = call.operation.value_or(Operation::add);
  p.operands = static_cast<std::int32_t>(call.operands.size());
  Tensors tensors(state, state.out.shape());
  for (std::size_t i = 0; i < call.operands.size(); ++i)
    p.argument[i] = tensors.add_operand(call.operands[i]);
  p.out_type = state.out.dtype();
  p.out_bytes = static_cast<std::int32_t>(size_of(p.out_type));
  p.out_coded = call.out.quantized() != nullptr;
  if (p.out_coded) p.out_codes = tensors.add_numbers(*call.out.quantized());
  check_distinct(state.name.c_str(), state.out);
  check_overlap(state);
  state.nest = plan::normalise(plan::make_nest(state.out, state.tensors));
  if (target.device() != nullptr) state.device = *target.device();
  state.properties = target.properties();
  if (state.out.elements() == 0) return state;
  fill_nest(state, p);
  p.streaming = state.out.elements() * p.out_bytes >= plan::tile_tuning(target.properties()).streaming_bytes;
  cut_rows(p);
  return state;
}

void launch_quantized(const Stream& stream, const State& state) {
  if (state.out.elements() == 0) return;
  for (const TensorView& tensor : state.tensors) check_pointer(state.name.c_str(), "an operand", tensor);
  check_pointer(state.name.c_str(), "the output", state.out);
  kernels_of(stream).quantized(context_of(stream), state.params);
}

}  // namespace relayout
