// The kernel of words of depthwise_update with rows of a table (depthwise_update.cpp).
#pragma once

#include "core/depthwise_sequence_params.hpp"
#include "core/kernel_table.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Whether it takes an update: each sequence has as many samples, and its state is a few columns, appended
/// to, and a row of memory for each channel or for each column.
bool takes_update_words(const DepthwiseSequenceParams& q);
void launch_depthwise_indexed_words(const LaunchContext& context, const DepthwiseSequenceParams& q);

}  // namespace relayout::RELAYOUT_BACKEND
