// The oracle of arithmetic on integers and bool: exact numbers in 128 bits, whose low bits are the result.
#pragma once

#include <cstdint>
#include <stdexcept>

#include <relayout/dtype.hpp>
#include <relayout/operation.hpp>

namespace relayout::reference {

__extension__ typedef __int128 WideInteger;

inline std::uint64_t low_bits(DType type, WideInteger value) {
  const int width = 8 * static_cast<int>(size_of(type));
  const std::uint64_t bits = static_cast<std::uint64_t>(value);
  return width == 64 ? bits : bits & ((std::uint64_t{1} << width) - 1);
}

/// The number that the bits stand for. A bool is 0 or 1; any byte other than 0 is true.
inline WideInteger integer_value(DType type, std::uint64_t bits) {
  if (type == DType::bool_) return bits != 0 ? 1 : 0;
  const WideInteger value = low_bits(type, bits), size = WideInteger{1} << (8 * size_of(type));
  return is_signed(type) && value >= size / 2 ? value - size : value;
}

/// A product modulo 2^64. The exact product of two 65-bit numbers may not fit 128 bits with a sign.
inline WideInteger wrapped_product(WideInteger a, WideInteger b) {
  return static_cast<WideInteger>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

/// 0 ** 0 is 1. With a negative exponent 1 and -1 give their inverses, which are integers, and all others
/// give 0.
inline WideInteger integer_power(WideInteger base, WideInteger exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    return 0;
  }
  WideInteger power = 1, square = base;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) power = wrapped_product(power, square);
    square = wrapped_product(square, square);
  }
  return power;
}

inline WideInteger floor_quotient(WideInteger a, WideInteger b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

inline WideInteger shifted_left(DType type, WideInteger value, WideInteger count) {
  if (count < 0 || count >= static_cast<WideInteger>(8 * size_of(type))) return 0;
  return wrapped_product(value, WideInteger{1} << static_cast<int>(count));
}

inline WideInteger shifted_right(DType type, WideInteger value, WideInteger count) {
  if (count < 0 || count >= static_cast<WideInteger>(8 * size_of(type))) return value < 0 ? -1 : 0;
  return floor_quotient(value, WideInteger{1} << static_cast<int>(count));
}

/// equal ... greater_equal for integers and floating-point numbers. With a NaN only not_equal is true.
template <class Number>
bool related(Operation operation, Number a, Number b) {
  switch (operation) {
    case Operation::equal:
      return a == b;
    case Operation::not_equal:
      return a != b;
    case Operation::less:
      return a < b;
    case Operation::less_equal:
      return a <= b;
    case Operation::greater:
      return a > b;
    case Operation::greater_equal:
      return a >= b;
    default:
      throw std::invalid_argument("not relational");
  }
}

/// The exact result, or a number that equals it modulo 2^64.
inline WideInteger integer_result(Operation operation, DType type, WideInteger a, WideInteger b,
                                  WideInteger c) {
  switch (operation) {
    case Operation::add:
      return a + b;
    case Operation::sub:
      return a - b;
    case Operation::mul:
      return wrapped_product(a, b);
    case Operation::div:
    case Operation::div_trunc:
      return b == 0 ? 0 : a / b;
    case Operation::div_floor:
      return b == 0 ? 0 : floor_quotient(a, b);
    case Operation::mod:
      return b == 0 ? 0 : a - floor_quotient(a, b) * b;
    case Operation::fmod:
      return b == 0 ? 0 : a % b;
    case Operation::pow:
      return integer_power(a, b);
    case Operation::maximum:
    case Operation::fmax:
      return a > b ? a : b;
    case Operation::minimum:
    case Operation::fmin:
      return a < b ? a : b;
    case Operation::prelu:
      return a > 0 ? a : wrapped_product(a, b);
    case Operation::abs_diff:  // the exact distance wraps: i8 -128 and 127 give 255, whose bits are -1
      return a > b ? a - b : b - a;
    case Operation::squared_diff:
      return wrapped_product(a - b, a - b);
    case Operation::bit_and:
      return a & b;
    case Operation::bit_or:
      return a | b;
    case Operation::bit_xor:
      return a ^ b;
    case Operation::shift_left:
      return shifted_left(type, a, b);
    case Operation::shift_right:
      return shifted_right(type, a, b);
    case Operation::clip: {
      const WideInteger raised = a > b ? a : b;
      return raised < c ? raised : c;
    }
    case Operation::neg:
      return -a;
    case Operation::abs:
      return a < 0 ? -a : a;
    case Operation::sign:
      return a > 0 ? 1 : a < 0 ? -1 : 0;
    case Operation::relu:
      return a > 0 ? a : 0;
    case Operation::square:
      return wrapped_product(a, a);
    case Operation::step:
      return a > 0 ? 1 : 0;
    case Operation::floor:
    case Operation::ceil:
    case Operation::trunc:
    case Operation::round:
      return a;
    case Operation::bit_not:
      return type == DType::bool_ ? 1 - a : -1 - a;
    default:
      throw std::invalid_argument("no operation of integers");
  }
}

inline bool takes_bool(Operation operation) {
  return operation == Operation::bit_and || operation == Operation::bit_or ||
         operation == Operation::bit_xor || operation == Operation::bit_not;
}

/// Bits of integers or bools to bits of the same type.
inline std::uint64_t apply_to_integers(Operation operation, DType type, std::uint64_t a, std::uint64_t b,
                                       std::uint64_t c) {
  if (type == DType::bool_ && !takes_bool(operation)) throw std::invalid_argument("no arithmetic of bools");
  return low_bits(type, integer_result(operation, type, integer_value(type, a), integer_value(type, b),
                                       integer_value(type, c)));
}

}  // namespace relayout::reference
