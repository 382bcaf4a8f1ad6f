// DLPack's tensors as views, checked.
#pragma once

#include <utility>

#include "bindings/c/src/guard.hpp"
#include "relayout/device.hpp"
#include "relayout/tensor_view.hpp"

namespace relayout::c {

/// The view of an argument called `name`. Errors: null_pointer, rank, dtype, invalid_argument for memory that
/// the device cannot reach, those of TensorView. A null data pointer stays one.
TensorView view_of(const Device& device, const relayout_tensor* tensor, const char* name);

/// The same for a tensor that may be left out: a null pointer is "none".
TensorView optional_view(const Device& device, const relayout_tensor* tensor, const char* name);

/// The views of a copy's two sides. Elements of one type that relayout does not compute with count as bytes.
std::pair<TensorView, TensorView> moved_views(const Device& device, const relayout_tensor* in,
                                              const relayout_tensor* out);

/// The type as DLPack has it.
relayout_dl_dtype dtype_in_dlpack(DType type) noexcept;

}  // namespace relayout::c
