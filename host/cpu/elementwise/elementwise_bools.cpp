// Element-wise operations on bools as they lie in memory, of which any byte but 0 is true.
#include <cstdint>

#include "host/cpu/elementwise/elementwise_loops.hpp"

namespace relayout::native {
namespace {

using namespace operation;
using Byte = std::uint8_t;

inline Byte same_truth(Byte a, Byte b) { return logical_not(logical_xor(a, b)); }
inline Byte less_true(Byte a, Byte b) { return logical_and(logical_not(a), b); }
inline Byte at_most_as_true(Byte a, Byte b) { return logical_or(logical_not(a), b); }
inline Byte more_true(Byte a, Byte b) { return less_true(b, a); }
inline Byte at_least_as_true(Byte a, Byte b) { return at_most_as_true(b, a); }

}  // namespace

ElementwiseRow bool_row(Operation operation) {
  switch (operation) {
    case Operation::logical_and:
    case Operation::bit_and:
    case Operation::minimum:
    case Operation::fmin:
      return of_two<Byte, logical_and<Byte>>();
    case Operation::logical_or:
    case Operation::bit_or:
    case Operation::maximum:
    case Operation::fmax:
      return of_two<Byte, logical_or<Byte>>();
    case Operation::logical_xor:
    case Operation::bit_xor:
    case Operation::not_equal:
      return of_two<Byte, logical_xor<Byte>>();
    case Operation::equal:
      return of_two<Byte, same_truth>();
    case Operation::less:
      return of_two<Byte, less_true>();
    case Operation::less_equal:
      return of_two<Byte, at_most_as_true>();
    case Operation::greater:
      return of_two<Byte, more_true>();
    case Operation::greater_equal:
      return of_two<Byte, at_least_as_true>();
    case Operation::logical_not:
    case Operation::bit_not:
      return of_one<Byte, logical_not<Byte>>();
    default:
      return nullptr;
  }
}

}  // namespace relayout::native
