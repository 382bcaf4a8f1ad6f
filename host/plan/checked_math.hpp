// Size and offset arithmetic that cannot wrap: every product of user-given sizes goes through here.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "relayout/error.hpp"

namespace relayout::plan {

/// Wide enough for sums of offsets that fit 64 bits each.
__extension__ typedef __int128 Int128;  // NOLINT(modernize-use-using): `using` takes no __extension__

/// a * b in `result`; false when it does not fit 64 bits.
[[nodiscard]] inline bool multiply(std::int64_t a, std::int64_t b, std::int64_t& result) noexcept {
  return !__builtin_mul_overflow(a, b, &result);
}

/// a + b in `result`; false when it does not fit 64 bits.
[[nodiscard]] inline bool add(std::int64_t a, std::int64_t b, std::int64_t& result) noexcept {
  return !__builtin_add_overflow(a, b, &result);
}

/// a * b + c in `result`; false when it, or the product alone, does not fit 64 bits.
[[nodiscard]] inline bool multiply_add(std::int64_t a, std::int64_t b, std::int64_t c,
                                       std::int64_t& result) noexcept {
  std::int64_t product = 0;
  return multiply(a, b, product) && add(product, c, result);
}

[[noreturn]] inline void throw_too_large(const std::string& what) {
  throw Error(ErrorCode::invalid_shape, what + " does not fit 63 bits.");
}

/// The product; Error{invalid_shape} "`what` does not fit 63 bits." A factor 0 gives 0 whatever the others
/// are.
inline std::int64_t checked_product(std::initializer_list<std::int64_t> factors, const char* what) {
  for (const std::int64_t factor : factors) {
    if (factor == 0) return 0;
  }
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) {
    if (!multiply(product, factor, product)) throw_too_large(what);
  }
  return product;
}

/// The sum; Error{invalid_shape} "`what` does not fit 63 bits."
inline std::int64_t checked_sum(std::initializer_list<std::int64_t> terms, const char* what) {
  std::int64_t sum = 0;
  for (const std::int64_t term : terms) {
    if (!add(sum, term, sum)) throw_too_large(what);
  }
  return sum;
}

}  // namespace relayout::plan
