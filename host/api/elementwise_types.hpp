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
  /// Functions on codes set these: in_f32 says that everything is computed in f32, whatever the operands are;
  /// converts says that the call is a conversion alone, without a step.
  bool in_f32 = false, converts = false;
};

struct ElementwiseTypes {
  DType common = DType::f32;        // operands are cast to it, operations work in it
  DType result = DType::f32;        // of the last operation
  std::vector<bool> as_bool_value;  // of each operand: x != 0 is taken, whatever its type
};

/// Throws what relayout/elementwise.hpp says of the numbers of operands and tensors, and Error{dtype},
/// {promotion}, {literal_range}, {scale} or {rounding_mode}; {dtype} or {rounding_mode} also for an output
/// that the result cannot be cast to.
ElementwiseTypes resolve_types(const ElementwiseCall& call);

/// All parameters but memory and the nest: types, steps, constants, how tensors are read. The operands'
/// tensors come first; then the scales and zero points of each that is codes, and of the output's.
ElementwiseParams typed_params(const ElementwiseCall& call, const ElementwiseTypes& types);

}  // namespace relayout
