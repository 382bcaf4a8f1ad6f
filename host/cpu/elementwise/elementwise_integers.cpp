// Element-wise operations on integers of 8 to 64 bits, which wrap: sums and products are those of unsigned
// numbers, whose overflow C++ defines.
#include <cstdint>
#include <type_traits>

#include "host/cpu/elementwise/elementwise_loops.hpp"
#include "host/cpu/elementwise/elementwise_shifts.hpp"
#include "relayout/dtype.hpp"

namespace relayout::native {
namespace {

/// The type in which numbers are multiplied. It has 32 bits at least: C++ would multiply shorter numbers as
/// int, which may overflow.
template <class T>
using Product = std::common_type_t<Natural<T>, std::uint32_t>;

template <class T>
T add(T a, T b) {
  return static_cast<T>(natural(a) + natural(b));
}
template <class T>
T sub(T a, T b) {
  return static_cast<T>(natural(a) - natural(b));
}
template <class T>
T mul(T a, T b) {
  return static_cast<T>(Product<T>{natural(a)} * natural(b));
}
template <class T>
T neg(T a) {
  return static_cast<T>(Natural<T>{0} - natural(a));
}

/// Neither 0 nor the one quotient that does not fit is asked of the processor.
template <class T>
bool is_plain_divisor(T b) {
  return b != 0 && (!std::is_signed_v<T> || b != static_cast<T>(-1));
}
/// Below 2^32, by a floating quotient, of which several are computed at once: it is rounded by less than it
/// is away from the next whole number. f32 has digits enough for numbers of 16 bits, f64 for those of 32.
template <class T>
T plain_quotient(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    return a / b;
  } else {
    using Real = std::conditional_t<sizeof(T) <= 2, float, double>;
    using Whole = std::conditional_t<sizeof(T) <= 2, std::int32_t, T>;
    return static_cast<T>(static_cast<Whole>(static_cast<Real>(a) / static_cast<Real>(b)));
  }
}
template <class T>
T div_trunc(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    if (!is_plain_divisor(b)) return b == 0 ? T{0} : neg(a);
    return plain_quotient(a, b);
  } else {
    const bool plain = is_plain_divisor(b);
    const T quotient = plain_quotient(a, plain ? b : T{1}), other = b == 0 ? T{0} : neg(a);
    return plain ? quotient : other;
  }
}
template <class T>
T fmod(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    return is_plain_divisor(b) ? a % b : T{0};
  } else {
    return b == 0 ? T{0} : sub(a, mul(div_trunc(a, b), b));
  }
}
template <class T>
T mod(T a, T b) {
  const T rest = fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
}
template <class T>
T div_floor(T a, T b) {
  const T quotient = div_trunc(a, b);
  return fmod(a, b) != 0 && (a < 0) != (b < 0) ? static_cast<T>(quotient - 1) : quotient;
}
/// By squaring. Where all bits of the exponent are looked at, several powers are computed at once; from 64 on
/// that takes longer.
template <class T>
T natural_power(T a, T b) {
  Product<T> power = 1, square = natural(a);
  if constexpr (sizeof(T) == 8) {
    for (Natural<T> rest = natural(b); rest != 0; rest >>= 1) {
      if (rest % 2 != 0) power *= square;
      square *= square;
    }
  } else {
    for (unsigned bit = 0; bit < 8 * sizeof(T); ++bit) {
      power *= (natural(b) >> bit & 1) != 0 ? square : Product<T>{1};
      square *= square;
    }
  }
  return static_cast<T>(power);
}
/// Below 0, powers of 1 and -1 are those of the exponent's bits, whose last one tells the sign; others are 0.
/// These bits are taken away, since compilers would make a branch of a choice, around the loop.
template <class T>
T pow(T a, T b) {
  const bool vanishes = (b < 0) & (a != 1) & (a != static_cast<T>(-1));
  if constexpr (sizeof(T) == 8) {
    return vanishes ? T{0} : natural_power(a, b);
  } else {
    return static_cast<T>(natural_power(a, b) & ~-static_cast<std::int32_t>(vanishes));
  }
}

template <class T>
T maximum(T a, T b) {
  return a > b ? a : b;
}
template <class T>
T minimum(T a, T b) {
  return a < b ? a : b;
}
template <class T>
T clip(T a, T b, T c) {
  return minimum(maximum(a, b), c);
}
template <class T>
T prelu(T a, T b) {
  return a > 0 ? a : mul(a, b);
}
template <class T>
T abs_diff(T a, T b) {
  return a > b ? sub(a, b) : sub(b, a);
}
template <class T>
T squared_diff(T a, T b) {
  return mul(sub(a, b), sub(a, b));
}
template <class T>
T bit_and(T a, T b) {
  return a & b;
}
template <class T>
T bit_or(T a, T b) {
  return a | b;
}
template <class T>
T bit_xor(T a, T b) {
  return a ^ b;
}
template <class T>
T abs(T a) {
  return a < 0 ? neg(a) : a;
}
template <class T>
T sign(T a) {
  return static_cast<T>((a > 0) - (a < 0));
}
template <class T>
T relu(T a) {
  return a > 0 ? a : T{0};
}
template <class T>
T square(T a) {
  return mul(a, a);
}
template <class T>
T same(T a) {
  return a;
}

template <class T>
void bit_not(const void* a, const void*, const void*, void* r, std::int64_t count,
             const ElementwiseParams& p) {
  const T* x = static_cast<const T*>(a);
  T* result = static_cast<T*>(r);
  const T flipped = p.common == DType::bool_ ? T{1} : static_cast<T>(-1);
  RELAYOUT_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) result[i] = x[i] ^ flipped;
}

/// Those for which it matters whether numbers have a sign.
template <class T>
ElementwiseRow signed_row(Operation operation) {
  switch (operation) {
    case Operation::div:
    case Operation::div_trunc:
      return of_two<T, div_trunc<T>>();
    case Operation::div_floor:
      return of_two<T, div_floor<T>>();
    case Operation::mod:
      return of_two<T, mod<T>>();
    case Operation::fmod:
      return of_two<T, fmod<T>>();
    case Operation::pow:
      return of_two<T, pow<T>>();
    case Operation::maximum:
    case Operation::fmax:
      return of_two<T, maximum<T>>();
    case Operation::minimum:
    case Operation::fmin:
      return of_two<T, minimum<T>>();
    case Operation::clip:
      return of_three<T, clip<T>>();
    case Operation::prelu:
      return of_two<T, prelu<T>>();
    case Operation::abs_diff:
      return of_two<T, abs_diff<T>>();
    case Operation::shift_right:
      return vectorised<shift<T, moved_right<T>>>();
    case Operation::abs:
      return of_one<T, abs<T>>();
    case Operation::sign:
      return of_one<T, sign<T>>();
    case Operation::relu:
      return of_one<T, relu<T>>();
    default:
      return common_row<T>(operation);
  }
}

template <class T>
ElementwiseRow unsigned_row(Operation operation) {
  switch (operation) {
    case Operation::add:
      return of_two<T, add<T>>();
    case Operation::sub:
      return of_two<T, sub<T>>();
    case Operation::mul:
      return of_two<T, mul<T>>();
    case Operation::squared_diff:
      return of_two<T, squared_diff<T>>();
    case Operation::bit_and:
      return of_two<T, bit_and<T>>();
    case Operation::bit_or:
      return of_two<T, bit_or<T>>();
    case Operation::bit_xor:
      return of_two<T, bit_xor<T>>();
    case Operation::bit_not:
      return vectorised<bit_not<T>>();
    case Operation::shift_left:
      return vectorised<shift<T, moved_left<T>>>();
    case Operation::neg:
      return of_one<T, neg<T>>();
    case Operation::square:
      return of_one<T, square<T>>();
    case Operation::floor:
    case Operation::ceil:
    case Operation::trunc:
    case Operation::round:
      return of_one<T, same<T>>();
    default:
      return nullptr;
  }
}

template <class T>
ElementwiseRow row_of(Operation operation, bool is_unsigned) {
  if (const ElementwiseRow row = unsigned_row<Natural<T>>(operation)) return row;
  return is_unsigned ? signed_row<Natural<T>>(operation) : signed_row<T>(operation);
}

}  // namespace

ElementwiseRow short_integer_row(Operation operation, DType common) {
  return size_of(common) == 1 ? row_of<std::int8_t>(operation, is_unsigned(common))
                              : row_of<std::int16_t>(operation, is_unsigned(common));
}

ElementwiseRow integer_row(Operation operation, ComputeClass compute, bool is_unsigned) {
  return compute == ComputeClass::i32 ? row_of<std::int32_t>(operation, is_unsigned)
                                      : row_of<std::int64_t>(operation, is_unsigned);
}

}  // namespace relayout::native
