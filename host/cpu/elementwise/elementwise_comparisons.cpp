// Element-wise operations whose results are bools, which they write as the output's bytes: from numbers of
// any size, without numbers of 0 and 1 in between.
#include <cmath>
#include <cstdint>
#include <functional>
#include <type_traits>

#include "host/cpu/elementwise/elementwise_loops.hpp"
#include "host/cpu/elementwise/half_bits.hpp"
#include "relayout/dtype.hpp"

namespace relayout::native {
namespace {

/// An element of f16 or bf16, compared by its bits.
template <class T>
struct Half {
  T element;

  friend bool operator==(Half a, Half b) { return (a.number() == b.number()) & are_ordered(a, b); }
  friend bool operator!=(Half a, Half b) { return !(a == b); }
  friend bool operator<(Half a, Half b) { return (a.number() < b.number()) & are_ordered(a, b); }
  friend bool operator<=(Half a, Half b) { return (a.number() <= b.number()) & are_ordered(a, b); }
  friend bool operator>(Half a, Half b) { return b < a; }
  friend bool operator>=(Half a, Half b) { return b <= a; }

 private:
  static bool are_ordered(Half a, Half b) { return !is_nan(a.element) & !is_nan(b.element); }
  /// In the order of the numbers, and the same for both zeros.
  std::int16_t number() const {
    const auto below_0 = static_cast<std::int16_t>(static_cast<std::int16_t>(element.bits) >> 15);
    return static_cast<std::int16_t>((magnitude(element) ^ below_0) - below_0);
  }
};

template <class T>
bool is_infinite(T a) {
  return std::fabs(a) == static_cast<T>(INFINITY);
}
template <class T>
bool is_infinite(Half<T> a) {
  return magnitude(a.element) == kHalfInfinity<T>;
}
template <class T>
bool is_finite(T a) {
  return std::fabs(a) < static_cast<T>(INFINITY);
}
template <class T>
bool is_finite(Half<T> a) {
  return static_cast<std::int16_t>(magnitude(a.element)) < static_cast<std::int16_t>(kHalfInfinity<T>);
}

struct IsNan {
  template <class T>
  bool operator()(T a) const {
    return a != a;
  }
};
struct IsInfinite {
  template <class T>
  bool operator()(T a) const {
    return is_infinite(a);
  }
};
struct IsFinite {
  template <class T>
  bool operator()(T a) const {
    return is_finite(a);
  }
};

template <class T, class Test>
void row_of_one_tested(const void* a, const void*, const void*, void* r, std::int64_t count,
                       const ElementwiseParams&) {
  const T* x = static_cast<const T*>(a);
  auto* result = static_cast<std::uint8_t*>(r);
  RELAYOUT_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) result[i] = Test()(x[i]);
}
template <class T, class Comparison>
void row_of_two_compared(const void* a, const void* b, const void*, void* r, std::int64_t count,
                         const ElementwiseParams&) {
  const T *x = static_cast<const T*>(a), *y = static_cast<const T*>(b);
  auto* result = static_cast<std::uint8_t*>(r);
  RELAYOUT_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) result[i] = Comparison()(x[i], y[i]);
}

template <class T>
ElementwiseRow row_of(Operation operation) {
  switch (operation) {
    case Operation::equal:
      return vectorised<row_of_two_compared<T, std::equal_to<>>>();
    case Operation::not_equal:
      return vectorised<row_of_two_compared<T, std::not_equal_to<>>>();
    case Operation::less:
      return vectorised<row_of_two_compared<T, std::less<>>>();
    case Operation::less_equal:
      return vectorised<row_of_two_compared<T, std::less_equal<>>>();
    case Operation::greater:
      return vectorised<row_of_two_compared<T, std::greater<>>>();
    case Operation::greater_equal:
      return vectorised<row_of_two_compared<T, std::greater_equal<>>>();
    default:
      break;
  }
  if constexpr (!std::is_integral_v<T>) {
    if (operation == Operation::isnan) return vectorised<row_of_one_tested<T, IsNan>>();
    if (operation == Operation::isinf) return vectorised<row_of_one_tested<T, IsInfinite>>();
    if (operation == Operation::isfinite) return vectorised<row_of_one_tested<T, IsFinite>>();
  }
  return nullptr;
}

/// Compares integers as signed or as unsigned numbers, whichever the common type is.
template <class Signed>
ElementwiseRow row_of_integers(Operation operation, DType common) {
  return is_unsigned(common) ? row_of<std::make_unsigned_t<Signed>>(operation) : row_of<Signed>(operation);
}

ElementwiseRow row_of_short(Operation operation, DType common) {
  if (common == DType::f16) return row_of<Half<f16>>(operation);
  if (common == DType::bf16) return row_of<Half<bf16>>(operation);
  return size_of(common) == 1 ? row_of_integers<std::int8_t>(operation, common)
                              : row_of_integers<std::int16_t>(operation, common);
}

}  // namespace

ElementwiseRow comparison_row(Operation operation, const ElementwiseParams& p) {
  if (is_short(p)) return row_of_short(operation, p.common);
  switch (p.compute) {
    case ComputeClass::i32:
      return row_of_integers<std::int32_t>(operation, p.common);
    case ComputeClass::i64:
      return row_of_integers<std::int64_t>(operation, p.common);
    case ComputeClass::f32:
      return row_of<float>(operation);
    default:
      return row_of<double>(operation);
  }
}

}  // namespace relayout::native
