// Operations on four bytes of a word at once, for which nothing is unpacked.
#pragma once

#include "kernels/elementwise/elementwise_words.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// 1 of every byte that is not 0: a carry into the highest bit says that one below it was set.
__device__ __forceinline__ std::uint32_t byte_truths(std::uint32_t word) {
  return (((word & 0x7f7f7f7fu) + 0x7f7f7f7fu) | word) >> 7 & 0x01010101u;
}

template <int kVectors, class F>
__device__ __forceinline__ void each_word(Words (&a)[kVectors], const Words (&b)[kVectors], F&& f) {
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
#pragma unroll
    for (int k = 0; k < 4; ++k) a[v].values[k] = f(a[v].values[k], b[v].values[k]);
  }
}

/// a becomes the result, where the operation is one of these; else false. kBool: bytes are read as 0 or 1;
/// these are all operations on bool.
template <bool kBool, int kVectors>
__device__ __forceinline__ bool byte_operation(Operation operation, Words (&a)[kVectors],
                                               const Words (&b)[kVectors]) {
  using W = std::uint32_t;
  constexpr W kSign = 0x80808080u;
  const auto number = [](W word) { return kBool ? byte_truths(word) : word; };
  switch (operation) {
    case Operation::bit_and:
      each_word(a, b, [=](W x, W y) { return number(x) & number(y); });
      return true;
    case Operation::bit_or:
      each_word(a, b, [=](W x, W y) { return number(x | y); });
      return true;
    case Operation::bit_xor:
      each_word(a, b, [=](W x, W y) { return number(x) ^ number(y); });
      return true;
    default:
      break;
  }
  if constexpr (kBool) {
    switch (operation) {
      case Operation::logical_and:
        each_word(a, b, [=](W x, W y) { return number(x) & number(y); });
        return true;
      case Operation::logical_or:
        each_word(a, b, [=](W x, W y) { return number(x | y); });
        return true;
      case Operation::logical_xor:
      case Operation::not_equal:
        each_word(a, b, [=](W x, W y) { return number(x) ^ number(y); });
        return true;
      case Operation::equal:
        each_word(a, b, [=](W x, W y) { return number(x) ^ number(y) ^ 0x01010101u; });
        return true;
      case Operation::logical_not:
      case Operation::bit_not:
        each_word(a, b, [=](W x, W) { return number(x) ^ 0x01010101u; });
        return true;
      case Operation::less:
        each_word(a, b, [=](W x, W y) { return ~number(x) & number(y); });
        return true;
      case Operation::less_equal:
        each_word(a, b, [=](W x, W y) { return (number(x) ^ 0x01010101u) | number(y); });
        return true;
      case Operation::greater:
        each_word(a, b, [=](W x, W y) { return number(x) & ~number(y); });
        return true;
      case Operation::greater_equal:
        each_word(a, b, [=](W x, W y) { return number(x) | (number(y) ^ 0x01010101u); });
        return true;
      default:
        return false;
    }
  } else {
    switch (operation) {
      case Operation::add:  // the highest bits apart, whose carries go nowhere
        each_word(a, b, [](W x, W y) { return ((x & ~kSign) + (y & ~kSign)) ^ ((x ^ y) & kSign); });
        return true;
      case Operation::sub:
        each_word(a, b, [](W x, W y) { return ((x | kSign) - (y & ~kSign)) ^ ((x ^ ~y) & kSign); });
        return true;
      default:
        return false;
    }
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
