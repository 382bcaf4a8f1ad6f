// The tensors that an element-wise operation reads, beside the one that it writes: shapes that meet, memory
// that may be shared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "relayout/tensor_view.hpp"

namespace relayout {

/// The operands, broadcast to the output's shape by numpy's rules. Error{shape} unless that is the shape that
/// they broadcast to, and Error{rank}; both name the operation.
std::vector<TensorView> broadcast_operands(const std::string& operation,
                                           const std::vector<TensorView>& operands, const TensorView& out);

/// Checks views of one shape at the addresses of a run. Error{partial_overlap} for a tensor that shares bytes
/// with the output, unless it is one of the first `in_place` and identical to the output: other tensors are
/// read again for other elements. Then {null_pointer} and {invalid_argument} for addresses, with the name
/// that `name_of_tensor` gives to a tensor.
void check_operand_memory(const std::string& operation, const std::vector<TensorView>& operands,
                          const std::vector<const void*>& inputs, int in_place, const TensorView& out_view,
                          void* out, const std::function<std::string(std::size_t)>& name_of_tensor);

}  // namespace relayout
