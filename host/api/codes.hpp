// The checks of 8-bit codes among the operands and as the output.
#pragma once

#include <string>

#include "relayout/operand.hpp"

namespace relayout {

/// Error{dtype} of codes, of a scale or of a zero point.
void check_code_types(const std::string& operation, const QuantizedTensor& tensor);

/// Error{scale}, {literal_range} of numbers that are no tensors.
void check_code_numbers(const std::string& operation, const QuantizedTensor& tensor);

/// How many tensors its scale and its zero point are.
int number_tensors(const QuantizedTensor& tensor);

}  // namespace relayout
