// Which types the operands of a chain of operations are read as, computed in and written as.
#pragma once

#include <vector>

#include "core/elementwise_params.hpp"
#include "relayout/elementwise.hpp"

namespace relayout {

/// The operations, operands and options of one call; `name` is for messages.
struct ElementwiseCall {
  std::string name;
  const std::vector<Operation>& operations;
  const std::vector<Operand>& operands;
  const ElementwiseOptions& options;
};

struct ElementwiseTypes {
  DType common = DType::f32;        // operands are cast to it, operations work in it
  DType result = DType::f32;        // of the last operation
  std::vector<bool> as_bool_value;  // of each operand: x != 0 is taken, whatever its type
};

/// Errors: see relayout/elementwise.hpp: the number of operands, dtype, promotion, literal_range,
/// rounding_mode.
ElementwiseTypes resolve_types(const ElementwiseCall& call);

/// Error{dtype} or {rounding_mode} for an output that the result does not go to.
void check_output_type(const ElementwiseCall& call, DType result, DType out);

/// Everything of the parameters but memory and the nest: types, steps, constants, how tensors are read.
ElementwiseParams typed_params(const ElementwiseCall& call, const ElementwiseTypes& types, DType out);

}  // namespace relayout
