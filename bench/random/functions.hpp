// The functions that are drawn, and the element types that each takes. The list is the generator's own: a new
// operation of the library changes no problem before it is added here, with a new version.
#pragma once

#include <string>
#include <vector>

#include "bench/random/problem.hpp"

namespace relayout::bench::random {

struct Function {
  const char* name;
  enum class Takes { numbers, numbers_as_floats, bits, shifts, anything } takes;
  bool gives_bool = false;

  /// The element types that it takes.
  const std::vector<DType>& types() const;
  /// What it gives for operands of a type: numbers_as_floats makes f32 of integers and bool first.
  DType result(DType type) const;
};

/// The functions of Family::binary and Family::unary.
const std::vector<Function>& functions_of(Family family);
/// quantize and dequantize, and operations on codes.
const std::vector<std::string>& quantized_functions();
/// The library's operation of that name. Error{invalid_argument} where there is none.
Operation operation_of(const std::string& name);

/// All element types but b128.
const std::vector<DType>& castable_types();
const std::vector<DType>& floating_types();
/// Those that have a constant: bool, integers and floating_types().
const std::vector<DType>& number_types();

}  // namespace relayout::bench::random
