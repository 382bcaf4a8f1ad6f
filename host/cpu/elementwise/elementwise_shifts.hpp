// Shifts of integers of 8 to 64 bits, a row at a time. A shift by as many bits as a number has, or more, or
// by a negative number, leaves nothing but signs.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/bytes.hpp"
#include "host/cpu/elementwise/elementwise_loops.hpp"

namespace relayout::native {

template <class T>
using Natural = std::make_unsigned_t<T>;
template <class T>
Natural<T> natural(T value) {
  return static_cast<Natural<T>>(value);
}

/// Whether a row is shifted by one number: AVX2 has no shifts of 8 and 16 bits by different ones, and no
/// arithmetic ones of 64.
template <class T>
bool is_one_number(const T* numbers, std::int64_t count) {
  if (numbers[0] != numbers[count - 1]) return false;
  T differences = 0;
  for (std::int64_t i = 0; i < count; ++i)
    differences = static_cast<T>(differences | (numbers[i] ^ numbers[0]));
  return differences == 0;
}

template <class T>
T moved_left(T a, Natural<T> by, Natural<T> width) {
  return by < width ? static_cast<T>(natural(a) << (by & (width - 1))) : T{0};
}
/// Signs come in from above, as many as there are bits.
template <class T>
T moved_right(T a, Natural<T> by, Natural<T> width) {
  const auto last = static_cast<Natural<T>>(width - 1);
  if constexpr (std::is_signed_v<T>) return static_cast<T>(a >> (by < width ? by : last));
  return by < width ? static_cast<T>(a >> (by & last)) : T{0};
}

template <class T, T (*kShift)(T, Natural<T>, Natural<T>)>
void shift(const void* a, const void* b, const void*, void* r, std::int64_t count,
           const ElementwiseParams& p) {
  const T *x = static_cast<const T*>(a), *y = static_cast<const T*>(b);
  T* result = static_cast<T*>(r);
  const auto width = static_cast<Natural<T>>(8 * size_of(p.common));
  if (is_one_number(y, count)) {
    const Natural<T> by = natural(y[0]);
    RELAYOUT_INDEPENDENT
    for (std::int64_t i = 0; i < count; ++i) result[i] = kShift(x[i], by, width);
    return;
  }
  RELAYOUT_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) result[i] = kShift(x[i], natural(y[i]), width);
}

}  // namespace relayout::native
