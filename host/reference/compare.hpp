// Whether two tensors are equal bit for bit.
#pragma once

#include <cmath>
#include <cstdint>

#include <relayout/error.hpp>

#include "host/reference/scalar.hpp"

namespace relayout::reference {

/// How many elements of `got` differ in their bits from `expected`. Two NaNs count as equal whatever their
/// payload and sign: a conversion keeps a NaN, but not its payload. Shapes and element types must be equal.
inline std::int64_t count_mismatches(const TensorView& got, const TensorView& expected) {
  if (got.shape() != expected.shape() || got.dtype() != expected.dtype()) {
    throw Error(ErrorCode::shape,
                "Cannot compare " + got.to_string() + " with " + expected.to_string() + ".");
  }
  std::int64_t mismatches = 0;
  const bool has_nan = is_floating(got.dtype());
  for_each_index(got.shape(), [&](const Dims& index) {
    const std::uint64_t a = load_bits(got, index), b = load_bits(expected, index);
    if (a == b) return;
    const bool both_nan = has_nan && std::isnan(decode(got.dtype(), a)) && std::isnan(decode(got.dtype(), b));
    if (!both_nan) ++mismatches;
  });
  return mismatches;
}

}  // namespace relayout::reference
