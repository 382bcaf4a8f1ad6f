// The checks of 8-bit codes among the operands and as the output.
#pragma once

#include <string>

#include "relayout/operand.hpp"

namespace relayout {

/// Error{dtype} for the type of the codes, of the scale or of the zero point.
void check_code_types(const std::string& operation, const QuantizedTensor& tensor);

/// Error{scale} or {literal_range} for a scale or zero point that is a number, not a tensor.
void check_code_numbers(const std::string& operation, const QuantizedTensor& tensor);

/// How many of its scale and its zero point are tensors: 0, 1 or 2.
int number_tensors(const QuantizedTensor& tensor);

}  // namespace relayout
