// What the memory has to move for a problem: not its elements alone, but the whole sectors in which they lie.
#pragma once

#include <cstdint>

#include "bench/random/problem.hpp"

namespace relayout::bench::random {

/// The least that an NVIDIA GPU's memory moves at once, from a multiple of as many bytes.
constexpr std::int64_t kSectorBytes = 32;

/// Bytes of the sectors that hold an element of the tensor, whose aligned address begins a sector.
std::int64_t sector_bytes(const Tensor& tensor);
/// The same of all inputs and of the output, each by itself.
std::int64_t sector_bytes(const Problem& problem);

}  // namespace relayout::bench::random
