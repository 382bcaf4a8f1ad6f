// What convolutions ask of their views.
#pragma once

#include <vector>

#include "relayout/buffer.hpp"
#include "relayout/tensor_view.hpp"

namespace relayout {

/// Whether the channels of a [batch, channels, length] view are neighbours in memory.
bool is_channels_last(const TensorView& ncl);

/// Error{shape} unless the view has the problem's shape.
void check_problem_shape(const char* operation, const char* name, const TensorView& view, const Dims& shape);
/// Error{shape, dtype, null_pointer, invalid_argument} unless the bias is contiguous f32 [out_channels].
void check_conv_bias(const char* operation, const TensorView& bias, std::int64_t out_channels);
/// A contiguous tensor in memory of its own, which `buffers` keeps.
TensorView allocate_in(std::vector<Buffer>& buffers, const Device& device, DType type, const Dims& shape);

/// Error{shape}, {dtype} (none that can be cast), {null_pointer} or
/// {invalid_argument} (a misaligned pointer) that names the view.
void check_host_view(const TensorView& view, const Dims& shape, const char* name);

}  // namespace relayout
