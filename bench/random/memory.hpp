// The device memory of all problems of a run: allocated and filled once, and handed out in pieces, so that a
// problem costs no more than its calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "bench/random/problem.hpp"

namespace relayout::bench::random {

class Memory {
 public:
  /// For each kind of elements one piece that has room for the operands of any of the problems, and where
  /// `rotated` for as many sets of a small problem's as exceed the caches.
  Memory(const Stream& stream, const std::vector<Problem>& problems, bool rotated);

  /// How many sets of operands the problem's calls use in turn.
  std::size_t sets_of(const Problem& problem) const;

  /// Memory of random numbers of this type, and memory for an output: behind the last piece of the kind, or
  /// from its beginning again. Aligned to 256 bytes. What a problem's inputs get does not overlap.
  const void* next_input(DType type, std::int64_t bytes);
  void* next_output(std::int64_t bytes);

 private:
  struct Piece {
    Buffer memory;
    std::size_t at = 0;
    char* next(std::int64_t bytes);
  };
  /// Floating types: numbers between 1/8 and 100, half of them below 1, so that no function but asin and acos
  /// gives NaN. bool: 0 and 1. Integers: any bits.
  std::map<DType, Piece> inputs_;  // all integers have the piece of u64
  Piece output_;
  Device device_;
  bool rotated_;
};

}  // namespace relayout::bench::random
