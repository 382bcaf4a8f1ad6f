// Loops over rows that the compiler vectorises, and the operations that are the same for all numbers.
#pragma once

#include <cstdint>

#include "host/cpu/elementwise/elementwise_rows.hpp"
#include "host/cpu/vectorised.hpp"

// A row may be computed in place, which is no dependency from one element to another. clang finds out at run
// time, and warns of loops that it was told and does not vectorise.
#if defined(__GNUC__) && !defined(__clang__)
#define RELAYOUT_INDEPENDENT _Pragma("GCC ivdep")
#else
#define RELAYOUT_INDEPENDENT
#endif

namespace relayout::native {

template <class T, T (*kOperation)(T)>
void row_of_one(const void* a, const void*, const void*, void* r, std::int64_t count,
                const ElementwiseParams&) {
  const T* x = static_cast<const T*>(a);
  T* result = static_cast<T*>(r);
  RELAYOUT_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) result[i] = kOperation(x[i]);
}

template <class T, T (*kOperation)(T, T)>
void row_of_two(const void* a, const void* b, const void*, void* r, std::int64_t count,
                const ElementwiseParams&) {
  const T *x = static_cast<const T*>(a), *y = static_cast<const T*>(b);
  T* result = static_cast<T*>(r);
  RELAYOUT_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) result[i] = kOperation(x[i], y[i]);
}

template <class T, T (*kOperation)(T, T, T)>
void row_of_three(const void* a, const void* b, const void* c, void* r, std::int64_t count,
                  const ElementwiseParams&) {
  const T *x = static_cast<const T*>(a), *y = static_cast<const T*>(b), *z = static_cast<const T*>(c);
  T* result = static_cast<T*>(r);
  RELAYOUT_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) result[i] = kOperation(x[i], y[i], z[i]);
}

template <class T, T (*kOperation)(T)>
ElementwiseRow of_one() {
  return vectorised<row_of_one<T, kOperation>>();
}
template <class T, T (*kOperation)(T, T)>
ElementwiseRow of_two() {
  return vectorised<row_of_two<T, kOperation>>();
}
template <class T, T (*kOperation)(T, T, T)>
ElementwiseRow of_three() {
  return vectorised<row_of_three<T, kOperation>>();
}

namespace operation {

template <class T>
T equal(T a, T b) {
  return static_cast<T>(a == b);
}
template <class T>
T not_equal(T a, T b) {
  return static_cast<T>(a != b);
}
template <class T>
T less(T a, T b) {
  return static_cast<T>(a < b);
}
template <class T>
T less_equal(T a, T b) {
  return static_cast<T>(a <= b);
}
template <class T>
T greater(T a, T b) {
  return static_cast<T>(a > b);
}
template <class T>
T greater_equal(T a, T b) {
  return static_cast<T>(a >= b);
}
template <class T>
T logical_and(T a, T b) {
  return static_cast<T>((a != 0) & (b != 0));
}
template <class T>
T logical_or(T a, T b) {
  return static_cast<T>((a != 0) | (b != 0));
}
template <class T>
T logical_xor(T a, T b) {
  return static_cast<T>((a != 0) != (b != 0));
}
template <class T>
T logical_not(T a) {
  return static_cast<T>(a == 0);
}
template <class T>
T where(T a, T b, T c) {
  return a != 0 ? b : c;
}
template <class T>
T step(T a) {
  return static_cast<T>(a > 0);
}

}  // namespace operation

/// The loop of one of the operations above; null for others.
template <class T>
ElementwiseRow common_row(Operation which) {
  switch (which) {
    case Operation::equal:
      return of_two<T, operation::equal<T>>();
    case Operation::not_equal:
      return of_two<T, operation::not_equal<T>>();
    case Operation::less:
      return of_two<T, operation::less<T>>();
    case Operation::less_equal:
      return of_two<T, operation::less_equal<T>>();
    case Operation::greater:
      return of_two<T, operation::greater<T>>();
    case Operation::greater_equal:
      return of_two<T, operation::greater_equal<T>>();
    case Operation::logical_and:
      return of_two<T, operation::logical_and<T>>();
    case Operation::logical_or:
      return of_two<T, operation::logical_or<T>>();
    case Operation::logical_xor:
      return of_two<T, operation::logical_xor<T>>();
    case Operation::logical_not:
      return of_one<T, operation::logical_not<T>>();
    case Operation::where:
      return of_three<T, operation::where<T>>();
    case Operation::step:
      return of_one<T, operation::step<T>>();
    default:
      return nullptr;
  }
}

}  // namespace relayout::native
