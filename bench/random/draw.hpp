// Random numbers that are the same everywhere: a problem is found again by its seed, whatever compiler and
// library the program was built with. So all arithmetic is of integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace relayout::bench::random {

class Draw {
 public:
  explicit Draw(std::uint64_t state) : state_(state) {}

  /// splitmix64 (Steele, Lea, Flood 2014).
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  /// 0 .. choices - 1; choices up to 2^31 are alike to 2^-32, further ones nearly so.
  std::int64_t below(std::int64_t choices) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(choices));
  }
  /// low .. high
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }
  bool one_in(int count) { return below(count) == 0; }

  template <class T>
  const T& pick(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(below(static_cast<std::int64_t>(choices.size())))];
  }
  /// Fisher and Yates.
  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i)
      std::swap(values[i - 1], values[static_cast<std::size_t>(below(static_cast<std::int64_t>(i)))]);
  }

 private:
  std::uint64_t state_;
};

}  // namespace relayout::bench::random
