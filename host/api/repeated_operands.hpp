// Operands over the output's shape, by either way of broadcasting.
#pragma once

#include <string>
#include <vector>

#include "relayout/elementwise.hpp"

namespace relayout {

/// The operands and the output over one shape. Where operands repeat as a whole, every axis of the output
/// along which they do is two: the round and the place in it.
struct ShapedOperands {
  TensorView out;
  std::vector<TensorView> tensors;
};

/// Broadcasting::repeat: `firsts` says which of the tensors are the first operand's, which repeats nothing.
/// Error{shape}, {rank}, {unsupported}; all name the operation.
ShapedOperands repeat_operands(const std::string& operation, const std::vector<TensorView>& tensors,
                               const std::vector<bool>& firsts, const TensorView& out);

}  // namespace relayout
