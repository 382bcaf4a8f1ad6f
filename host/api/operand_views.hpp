// The tensors that an element-wise operation reads, beside the one that it writes: shapes that meet, memory
// that may be shared.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "relayout/tensor_view.hpp"

namespace relayout {

/// The operands over the output's shape by numpy's rules. Error{shape} unless it is the one that they meet
/// in, {rank}; both name the operation.
std::vector<TensorView> broadcast_operands(const std::string& operation,
                                           const std::vector<TensorView>& operands, const TensorView& out);

/// Whether the views' elements would lie on each other at one address.
bool same_places(const TensorView& a, const TensorView& b);

/// Checks views of one shape, to be used at other addresses. Error{partial_overlap} for a tensor that shares
/// bytes with the output and is none of the first `in_place` ones or not identical to it: others are read
/// again for other elements; then {null_pointer}, {invalid_argument} for addresses.
void check_operand_memory(const std::string& operation, const std::vector<TensorView>& operands,
                          const std::vector<const void*>& inputs, int in_place, const TensorView& out_view,
                          void* out);

/// The byte address of an element `offset` elements from the one at `data`.
std::uintptr_t address_of(const void* data, std::int64_t offset, DType type);

}  // namespace relayout
