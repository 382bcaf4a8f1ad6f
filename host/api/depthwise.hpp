// The parameters of a depthwise convolution, from views that were checked.
#pragma once

#include "core/depthwise_params.hpp"
#include "relayout/depthwise.hpp"
#include "relayout/tensor_view.hpp"

namespace relayout {

/// What both public functions have in common; no bias where `bias` is a default TensorView.
DepthwiseParams depthwise_params(const TensorView& in, const TensorView& weights, const TensorView& bias,
                                 Activation activation, const TensorView& out);

/// The samples in front of the signal's first one, [batch, channels, taps - 1].
void set_initial_state(DepthwiseParams& params, const TensorView& state);

}  // namespace relayout
