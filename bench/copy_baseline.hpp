// What every row is held against: copies that move as many bytes as the case, timed beside it; on a processor
// also the triad of the STREAM benchmark.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/bench_case.hpp"

namespace relayout::bench {

/// The name of the copier that is none.
constexpr const char* kTriad = "triad";

struct Copier {
  std::string name;
  Prepared prepared;
};

/// Copies of bytes / 2, so that read and written together are `bytes`: by Stream::copy; by relayout's own
/// cast f32 -> f32; on a processor also by memcpy on all threads. There the triad, too: c[i] = a[i] + 3 *
/// b[i] of f32 on all threads, as the compiler makes it, each of a, b and c a third of `bytes`. All of them
/// on the same rotated memory.
std::vector<Copier> prepare_copiers(const Stream& stream, std::int64_t bytes);

}  // namespace relayout::bench
