// Element-wise operations on bools as they lie in memory, of which any byte but 0 is true.
#include <cstdint>

#include "host/cpu/elementwise/elementwise_loops.hpp"

namespace relayout::native {
namespace {

using Byte = std::uint8_t;

inline Byte truth(Byte a) { return static_cast<Byte>(a != 0); }
inline Byte both(Byte a, Byte b) { return truth(a) & truth(b); }
inline Byte either(Byte a, Byte b) { return truth(a) | truth(b); }
inline Byte unequal(Byte a, Byte b) { return truth(a) ^ truth(b); }
inline Byte untrue(Byte a) { return static_cast<Byte>(a == 0); }
inline Byte equal(Byte a, Byte b) { return truth(a) ^ untrue(b); }
inline Byte less(Byte a, Byte b) { return untrue(a) & truth(b); }
inline Byte less_equal(Byte a, Byte b) { return untrue(a) | truth(b); }
inline Byte greater(Byte a, Byte b) { return less(b, a); }
inline Byte greater_equal(Byte a, Byte b) { return less_equal(b, a); }

}  // namespace

ElementwiseRow bool_row(Operation operation) {
  switch (operation) {
    case Operation::logical_and:
    case Operation::bit_and:
    case Operation::minimum:
    case Operation::fmin:
      return of_two<Byte, both>();
    case Operation::logical_or:
    case Operation::bit_or:
    case Operation::maximum:
    case Operation::fmax:
      return of_two<Byte, either>();
    case Operation::logical_xor:
    case Operation::bit_xor:
    case Operation::not_equal:
      return of_two<Byte, unequal>();
    case Operation::equal:
      return of_two<Byte, equal>();
    case Operation::less:
      return of_two<Byte, less>();
    case Operation::less_equal:
      return of_two<Byte, less_equal>();
    case Operation::greater:
      return of_two<Byte, greater>();
    case Operation::greater_equal:
      return of_two<Byte, greater_equal>();
    case Operation::logical_not:
    case Operation::bit_not:
      return of_one<Byte, untrue>();
    default:
      return nullptr;
  }
}

}  // namespace relayout::native
