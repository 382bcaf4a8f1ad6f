// Random problems: a pure function of the generator's version, a seed, the family, the problem's number and
// the sizes that are asked for. docs/benchmarks.md has the distribution.
#pragma once

#include <cstdint>

#include "bench/random/problem.hpp"

namespace relayout::bench::random {

/// Changes with every change to what is drawn, and for a reason that docs/benchmarks.md states.
constexpr int kGeneratorVersion = 1;

/// The range of Problem::bytes(). Each octave in it is equally likely.
struct Bytes {
  std::int64_t least = 8 << 20, most = 128 << 20;
};

Problem generate(std::uint64_t seed, Family family, std::int64_t index, const Bytes& bytes);

}  // namespace relayout::bench::random
