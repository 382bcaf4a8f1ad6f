// Which of the element-wise kernels takes what.
#include <algorithm>

#include "core/elementwise_params.hpp"
#include "kernels/backend_kernels.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

bool is_half(DType type) { return type == DType::f16 || type == DType::bf16; }

/// Of the two operands that typed kernels have; a constant has the type of the other.
struct OperandTypes {
  DType a, b;
};

/// Whether there is an instance for operands of these types.
bool has_instance(const ElementwiseParams& p, const OperandTypes& types) {
  const bool to_bool = p.out_type == DType::bool_;
  if (types.a == types.b)
    return types.a == p.common && types.a != DType::u16 && types.a != DType::i16 &&
           (p.out_type == p.common || to_bool);
  return p.out_type == DType::f32 &&
         ((is_half(types.a) && types.b == DType::f32) || (types.a == DType::f32 && is_half(types.b)));
}

/// Whether there is an instance for vectors from any address: of operands of one type.
bool has_unaligned_instance(const ElementwiseParams& p, const OperandTypes& types) {
  if (types.a != types.b || types.a == DType::bool_ || types.a == DType::u64 || types.a == DType::i64)
    return false;
  return std::all_of(p.tensor, p.tensor + p.tensors,
                     [](const TensorOperand& tensor) { return tensor.access != Access::strided; });
}

/// The first two arguments as tensors 0 and 1, constants being tensors without memory.
ElementwiseParams with_operands_in_place(const ElementwiseParams& p) {
  ElementwiseParams placed = p;
  for (int i = 0; i < 2; ++i) {
    const int tensor = i < p.step[0].operands ? p.argument[i].tensor : -1;
    placed.tensor[i] = tensor < 0 ? TensorOperand{} : p.tensor[tensor];
    if (tensor < 0) placed.tensor[i].access = Access::constant;
    placed.piece_strides[i] = tensor < 0 ? 0 : p.piece_strides[tensor];
  }
  return placed;
}

/// Whether there is an instance for a transposed operand.
bool has_transposed_instance(const ElementwiseParams& p, const OperandTypes& types) {
  return p.transposed_tensor >= 0 && types.a == types.b && types.a == p.common && p.out_type == p.common &&
         (is_floating(p.common) || p.common == DType::i32 || p.common == DType::u32);
}

/// One cheap operation on tensors of types that have an instance. False: another kernel takes it.
bool launch_typed(const LaunchContext& context, const ElementwiseParams& p) {
  const Step& step = p.step[0];
  if (p.steps != 1 || has_costly(p) || p.precision != Precision::accurate || p.tensors > 2 ||
      !p.fits_32_bits || p.convert || p.flush_to_zero || p.out_strides[p.rank - 1] != 1 ||
      (step.operands == 3 && p.argument[2].tensor >= 0) || step.operation == Operation::where)
    return false;
  for (int t = 0; t < p.tensors; ++t) {
    const Reading reading = p.tensor[t].reading;
    if (reading == Reading::round_to_half ||
        (reading == Reading::as_bool && p.tensor[t].type != DType::bool_))
      return false;
  }
  const ElementwiseParams placed = with_operands_in_place(p);
  const auto type_of = [&](int operand) {
    if (p.tensors == 0) return p.common;
    const int other = placed.tensor[operand].access == Access::constant ? 1 - operand : operand;
    return placed.tensor[other].type;
  };
  const OperandTypes types{type_of(0), type_of(1)};
  if (has_transposed_instance(p, types)) {
    ElementwiseParams transposed = placed;
    transposed.transposed_tensor = p.argument[0].tensor == p.transposed_tensor ? 0 : 1;
    launch_transposed(context, transposed, types.a);
    return true;
  }
  if (!has_instance(p, types)) return false;
  if (!p.aligned) {
    if (!has_unaligned_instance(p, types)) return false;
    const auto launch = has_periodic_row(p) ? launch_typed_periodic_row : launch_typed_unaligned;
    launch(context, placed, types.a);
  } else if (p.compute == ComputeClass::i32 || p.compute == ComputeClass::i64)
    launch_typed_integer(context, placed, types.a);
  else
    launch_typed_real(context, placed, types.a, types.b);
  return true;
}

}  // namespace

void launch_elementwise(const LaunchContext& context, const ElementwiseParams& p) {
  if (launch_typed(context, p)) return;
  if (p.precision != Precision::accurate) {
    return p.typed_chain ? launch_chain_approximate(context, p) : launch_elementwise_approximate(context, p);
  }
  const bool costly = has_costly(p);
  if (p.typed_chain) {
    if (!costly) return launch_chain_cheap(context, p);
    return has_costly(p, is_activation) ? launch_chain_costly(context, p)
                                        : launch_chain_activation(context, p);
  }
  if (costly) return launch_elementwise_costly(context, p);
  switch (p.compute) {
    case ComputeClass::i32:
      return launch_elementwise_i32(context, p);
    case ComputeClass::f32:
      return launch_elementwise_f32(context, p);
    case ComputeClass::i64:
    case ComputeClass::f64:
      return launch_elementwise_wide(context, p);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
