// Operations on the four bytes of a word at once, without unpacking them.
#pragma once

#include "kernels/elementwise/elementwise_words.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// The bits of `chosen` where the mask has ones, else those of `other`.
__device__ __forceinline__ std::uint32_t select_bits(std::uint32_t mask, std::uint32_t chosen,
                                                     std::uint32_t other) {
  return (chosen & mask) | (other & ~mask);
}

/// 1 in every byte that is not 0: a carry into the highest bit says that one of the lower bits was set.
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

/// f(x, y) for each byte, of numbers that have it in their lowest byte, with any bits above. The lowest byte
/// of the result counts.
template <int kVectors, class F>
__device__ __forceinline__ void each_byte(Words (&a)[kVectors], const Words (&b)[kVectors], F&& f) {
  each_word(a, b, [&](std::uint32_t x, std::uint32_t y) {
    const std::uint32_t low = permute_bytes<0x40>(f(x, y), f(x >> 8, y >> 8)),
                        high = permute_bytes<0x40>(f(x >> 16, y >> 16), f(x >> 24, y >> 24));
    return permute_bytes<0x5410>(low, high);
  });
}
/// By how much a byte is shifted. From 8 on all of its bits are shifted out, as by a negative count.
__device__ __forceinline__ int shift_count(std::uint32_t byte) {
  const std::uint32_t count = byte & 0xff;
  return static_cast<int>(count < 8 ? count : 8);
}

// Four bytes are added at once. No carry goes from one to the next, since the highest bits are added
// separately.
constexpr std::uint32_t kByteSigns = 0x80808080u;
__device__ __forceinline__ std::uint32_t add_bytes(std::uint32_t x, std::uint32_t y) {
  return ((x & ~kByteSigns) + (y & ~kByteSigns)) ^ ((x ^ y) & kByteSigns);
}
__device__ __forceinline__ std::uint32_t sub_bytes(std::uint32_t x, std::uint32_t y) {
  return ((x | kByteSigns) - (y & ~kByteSigns)) ^ ((x ^ ~y) & kByteSigns);
}
/// All bits of each byte whose highest bit is set.
__device__ __forceinline__ std::uint32_t byte_masks(std::uint32_t x) {
  const std::uint32_t ones = x >> 7 & 0x01010101u;
  return (ones << 8) - ones;
}
/// Sets all bits of each byte of x that is less than y's; kSigned compares them as signed numbers.
template <bool kSigned>
__device__ __forceinline__ std::uint32_t less_bytes(std::uint32_t x, std::uint32_t y) {
  if (kSigned) {
    x ^= kByteSigns;
    y ^= kByteSigns;
  }
  const std::uint32_t difference = (x | kByteSigns) - (y & ~kByteSigns);  // its sign: of the lower bits
  return byte_masks((~x & y) | (~(x ^ y) & ~difference));
}

/// `a` becomes the result where the operation is one of these; otherwise returns false. With kBool, bytes are
/// read as 0 or 1, and these are all operations on bool. With kSigned, bytes are signed numbers.
template <bool kBool, bool kSigned, int kVectors>
__device__ __forceinline__ bool byte_operation(Operation operation, Words (&a)[kVectors],
                                               const Words (&b)[kVectors]) {
  using W = std::uint32_t;
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
    const auto negative = [](W x) { return kSigned ? byte_masks(x) : 0; };
    switch (operation) {
      case Operation::add:
        each_word(a, b, [](W x, W y) { return add_bytes(x, y); });
        return true;
      case Operation::sub:
        each_word(a, b, [](W x, W y) { return sub_bytes(x, y); });
        return true;
      case Operation::mul:
        each_byte(a, b, [](W x, W y) { return x * y; });
        return true;
      case Operation::square:
        each_byte(a, a, [](W x, W) { return x * x; });
        return true;
      case Operation::squared_diff:
        each_byte(a, b, [](W x, W y) { return (x - y) * (x - y); });
        return true;
      case Operation::shift_left:
        each_byte(a, b, [](W x, W y) { return x << shift_count(y); });
        return true;
      case Operation::shift_right:
        each_byte(a, b, [](W x, W y) {
          if constexpr (kSigned)
            return static_cast<W>(static_cast<std::int32_t>(static_cast<std::int8_t>(x)) >> shift_count(y));
          return (x & 0xff) >> shift_count(y);
        });
        return true;
      case Operation::maximum:
      case Operation::fmax:
        each_word(a, b, [](W x, W y) { return select_bits(less_bytes<kSigned>(x, y), y, x); });
        return true;
      case Operation::minimum:
      case Operation::fmin:
        each_word(a, b, [](W x, W y) { return select_bits(less_bytes<kSigned>(x, y), x, y); });
        return true;
      case Operation::abs_diff:
        each_word(a, b, [](W x, W y) {
          const W less = less_bytes<kSigned>(x, y);
          return sub_bytes(sub_bytes(x, y) ^ less, less);
        });
        return true;
      case Operation::neg:
        each_word(a, a, [](W x, W) { return sub_bytes(0, x); });
        return true;
      case Operation::abs:
        each_word(a, a, [=](W x, W) { return sub_bytes(x ^ negative(x), negative(x)); });
        return true;
      case Operation::sign:
        each_word(a, a, [=](W x, W) { return byte_truths(x) | negative(x); });
        return true;
      case Operation::relu:
        each_word(a, a, [=](W x, W) { return x & ~negative(x); });
        return true;
      case Operation::step:
        each_word(a, a, [=](W x, W) { return byte_truths(x) & ~negative(x); });
        return true;
      case Operation::bit_not:
        each_word(a, a, [](W x, W) { return ~x; });
        return true;
      case Operation::floor:
      case Operation::ceil:
      case Operation::trunc:
      case Operation::round:
        return true;
      default:
        return false;
    }
  }
}

/// Comparisons and logical operations on numbers, whose results are bool.
template <bool kSigned, int kVectors>
__device__ __forceinline__ bool byte_relation(Operation operation, Words (&a)[kVectors],
                                              const Words (&b)[kVectors]) {
  using W = std::uint32_t;
  constexpr W kOnes = 0x01010101u;
  const auto less = [](W x, W y) { return less_bytes<kSigned>(x, y) & kOnes; };
  switch (operation) {
    case Operation::equal:
      each_word(a, b, [](W x, W y) { return byte_truths(x ^ y) ^ kOnes; });
      return true;
    case Operation::not_equal:
      each_word(a, b, [](W x, W y) { return byte_truths(x ^ y); });
      return true;
    case Operation::less:
      each_word(a, b, [=](W x, W y) { return less(x, y); });
      return true;
    case Operation::less_equal:
      each_word(a, b, [=](W x, W y) { return less(y, x) ^ kOnes; });
      return true;
    case Operation::greater:
      each_word(a, b, [=](W x, W y) { return less(y, x); });
      return true;
    case Operation::greater_equal:
      each_word(a, b, [=](W x, W y) { return less(x, y) ^ kOnes; });
      return true;
    case Operation::logical_and:
      each_word(a, b, [](W x, W y) { return byte_truths(x) & byte_truths(y); });
      return true;
    case Operation::logical_or:
      each_word(a, b, [](W x, W y) { return byte_truths(x | y); });
      return true;
    case Operation::logical_xor:
      each_word(a, b, [](W x, W y) { return byte_truths(x) ^ byte_truths(y); });
      return true;
    case Operation::logical_not:
      each_word(a, a, [](W x, W) { return byte_truths(x) ^ kOnes; });
      return true;
    default:
      return false;
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
