// What the conv1d pipelines ask of views of host tensors.
#pragma once

#include "relayout/tensor_view.hpp"

namespace relayout {

/// Whether the channels of a [batch, channels, length] view are neighbours in memory.
bool is_channels_last(const TensorView& ncl);

/// Error{shape}, {dtype} (none that can be cast), {null_pointer} or
/// {invalid_argument} (a misaligned pointer) that names the view.
void check_host_view(const TensorView& view, const Dims& shape, const char* name);

}  // namespace relayout
