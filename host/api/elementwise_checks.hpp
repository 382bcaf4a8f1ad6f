// The checks of an element-wise call, one by one; host/api/elementwise_types.cpp has their order. Errors name
// the operation.
#pragma once

#include "host/api/elementwise_types.hpp"

namespace relayout {

/// Calls check(QuantizedTensor) for all codes of the call, the output's last.
template <class Check>
void for_each_codes(const ElementwiseCall& call, const Check& check) {
  for (const Operand& operand : call.operands) {
    if (operand.quantized() != nullptr) check(*operand.quantized());
  }
  if (call.out.quantized() != nullptr) check(*call.out.quantized());
}

/// Whether everything is f32, as codes are.
bool works_in_f32(const ElementwiseCall& call);

/// Checks the numbers of operations, operands and tensors.
void check_counts(const ElementwiseCall& call);
/// Checks where operations stand: a bool result may only be what `where` chooses by, and operations that read
/// their operands as true or false stand alone.
void check_places(const ElementwiseCall& call);
void check_operand_types(const ElementwiseCall& call, const ElementwiseTypes& types);
/// Checks that a call with codes can be computed in f32, and that no operation reads codes as true or false.
void check_beside_codes(const ElementwiseCall& call, DType common);
/// Checks the options: rounding, precision, flush_to_zero, the tolerances of isclose.
void check_options(const ElementwiseCall& call, DType common);
/// Error{dtype} or {rounding_mode} for an output that the result does not go to.
void check_output_type(const ElementwiseCall& call, DType result);

}  // namespace relayout
