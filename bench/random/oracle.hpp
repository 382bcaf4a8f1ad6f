// A problem's result on the device against host/reference: all of a small one, boxes of a large one.
#pragma once

#include <string>
#include <vector>

#include "bench/random/problem.hpp"

namespace relayout::bench::random {

/// Outputs of at most so many elements are compared as a whole; of larger ones four boxes at most of
/// kBoxElements each: one at either end, two anywhere.
constexpr std::int64_t kWholeElements = 64 << 10, kBoxElements = 4 << 10;

/// Empty where the result is right, else what is wrong. Tensors are copied to the host box by box.
std::string check_by_reference(const Stream& stream, const Problem& problem,
                               const std::vector<TensorView>& inputs, const TensorView& out);

}  // namespace relayout::bench::random
