// The copies that every row is compared with: they move as many bytes as the case, and are timed right after
// it. On a processor the triad of the STREAM benchmark is timed, too.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/bench_case.hpp"

namespace relayout::bench {

/// The name of the one that is not a copy.
constexpr const char* kTriad = "triad";

struct Copier {
  std::string name;
  Prepared prepared;
};

/// Copies of bytes / 2, so that `bytes` are read and written together: by Stream::copy, by relayout's own
/// cast f32 -> f32, and on a processor also by memcpy on all threads. A processor also has the triad: c[i] =
/// a[i] + 3 * b[i] of f32 on all threads, as the compiler makes it, where a, b and c each have a third of
/// `bytes`. All of them use the same rotated memory.
std::vector<Copier> prepare_copiers(const Stream& stream, std::int64_t bytes);

}  // namespace relayout::bench
