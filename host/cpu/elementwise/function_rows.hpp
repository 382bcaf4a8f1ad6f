// The functions that are computed in vectors, as rows: for a source file that has included the words of one
// width.
#pragma once

#include "host/cpu/elementwise/arc_functions.hpp"
#include "host/cpu/elementwise/elementwise_rows.hpp"
#include "host/cpu/elementwise/error_functions.hpp"
#include "host/cpu/elementwise/exponential_functions.hpp"
#include "host/cpu/elementwise/half_functions.hpp"
#include "host/cpu/elementwise/logarithm_functions.hpp"
#include "host/cpu/elementwise/power_functions.hpp"
#include "host/cpu/elementwise/remainder_functions.hpp"
#include "host/cpu/elementwise/sine_functions.hpp"
#include "host/cpu/elementwise/single_activations.hpp"
#include "host/cpu/elementwise/single_functions.hpp"
#include "host/cpu/elementwise/single_logarithms.hpp"
#include "host/cpu/elementwise/vector_functions.hpp"

namespace relayout::native::RELAYOUT_VECTORS {

ElementwiseRow vector_row(Operation operation, ComputeClass compute, DType common) {
  if (!has_vectors()) return nullptr;
  if (compute == ComputeClass::f64) {
    for (const auto row_of :
         {exponential_row, sine_row, logarithm_row, arc_row, power_row, error_row, remainder_row}) {
      if (const ElementwiseRow row = row_of(operation)) return row;
    }
    return nullptr;
  }
  if (compute == ComputeClass::f32 && common == DType::f32) {
    for (const auto row_of : {single_row, single_activation_row}) {
      if (const ElementwiseRow row = row_of(operation)) return row;
    }
  }
  if (compute == ComputeClass::f32) {
    const ElementwiseRow row = common == DType::f16 ? half_row(operation) : single_logarithm_row(operation);
    if (row != nullptr) return row;
    if (operation == Operation::gelu && common == DType::bf16) return half_row(operation);
  }
#if defined(__linux__)
  if (compute == ComputeClass::f32) return vector_function_row(operation, common);
#endif
  return nullptr;
}

}  // namespace relayout::native::RELAYOUT_VECTORS
