// Which types the operands of a chain of operations are read as, computed in and written as.
#pragma once

#include <vector>

#include "core/elementwise_params.hpp"
#include "relayout/elementwise.hpp"

namespace relayout {

/// One call; `name` is for messages.
struct ElementwiseCall {
  std::string name;
  const std::vector<Step>& steps;
  const std::vector<Operand>& operands;
  const Output& out;
  const ElementwiseOptions& options;
  /// For the functions on codes: everything is f32, whatever the operands are; and nothing but a conversion
  /// is wanted, without a step.
  bool in_f32 = false, converts = false;
};

struct ElementwiseTypes {
  DType common = DType::f32;        // operands are cast to it, operations work in it
  DType result = DType::f32;        // of the last operation
  std::vector<bool> as_bool_value;  // of each operand: x != 0 is taken, whatever its type
};

/// Errors: see relayout/elementwise.hpp: the numbers of operands and tensors, dtype, promotion,
/// literal_range, scale, rounding_mode; dtype or rounding_mode for an output that the result does not go to.
ElementwiseTypes resolve_types(const ElementwiseCall& call);

/// Everything of the parameters but memory and the nest: types, steps, constants, how tensors are read. The
/// operands' tensors come first; then the scales and zero points of each that is codes, and of the output's.
ElementwiseParams typed_params(const ElementwiseCall& call, const ElementwiseTypes& types);

}  // namespace relayout
