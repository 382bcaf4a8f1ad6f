// The parameters of a depthwise convolution, from views that were checked.
#pragma once

#include "core/depthwise_params.hpp"
#include "relayout/depthwise.hpp"
#include "relayout/tensor_view.hpp"

namespace relayout {

/// What the public functions have in common; no bias or output where these are default TensorViews.
DepthwiseParams depthwise_params(const TensorView& in, const TensorView& weights, const TensorView& bias,
                                 Activation activation, const TensorView& out);

/// The samples in front of the signal's first one, [batch, channels, taps - 1].
void set_initial_state(DepthwiseParams& params, const TensorView& state);

void set_sequence_ids(DepthwiseParams& params, const TensorView& ids);

}  // namespace relayout
