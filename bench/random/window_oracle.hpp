// Boxes of the results of img2col, pad and depthwise against host/reference.
#pragma once

#include <string>
#include <vector>

#include "bench/random/host_tensor.hpp"
#include "bench/random/problem.hpp"

namespace relayout::bench::random {

/// Checks a box of the result of img2col or pad. A box whose samples lie too far from each other counts as
/// right: the check on the device sees all of the result.
std::string check_window_box(const Stream& stream, const Problem& problem, const TensorView& in,
                             const TensorView& out, const Box& box);
std::string check_depthwise_box(const Stream& stream, const Problem& problem,
                                const std::vector<TensorView>& inputs, const TensorView& out, const Box& box);

}  // namespace relayout::bench::random
