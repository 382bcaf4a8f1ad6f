#include "host/api/cast_rule.hpp"

#include <string>

#include "host/api/checks.hpp"
#include "relayout/error.hpp"

namespace relayout {

const char* name_of(Rounding rounding) noexcept {
  switch (rounding) {
    case Rounding::nearest_even:
      return "nearest_even";
    case Rounding::nearest_away:
      return "nearest_away";
    case Rounding::toward_zero:
      return "toward_zero";
    case Rounding::down:
      return "down";
    case Rounding::up:
      return "up";
  }
  return "?";
}

void check_cast_options(const char* operation, DType in, DType out, const CopyPlanOptions& options) {
  const CastOptions& cast = options.cast;
  check_enumerator(operation, "the rounding", cast.rounding.value_or(Rounding::nearest_even), Rounding::up);
  check_enumerator(operation, "integer_overflow", cast.integer_overflow, IntegerOverflow::saturate);
  const auto fail = [&](ErrorCode code, const std::string& what, const std::string& why) {
    relayout::fail(operation, code, what + " from " + name_of(in) + " to " + name_of(out) + why);
  };
  if (in == DType::b128 && out == DType::b128) {
    if (cast.rounding) fail(ErrorCode::rounding_mode, "a rounding", ", whose elements move as they are");
    if (!cast.saturate_fp8 || cast.integer_overflow != IntegerOverflow::wrap)
      fail(ErrorCode::dtype, "options of a cast", ", whose elements move as they are");
    return;
  }
  if (!is_castable(in) || !is_castable(out))
    fail(ErrorCode::dtype, "no cast", "; b128 elements are only copied and permuted");
  if (cast.rounding && !rounds(in, out))
    fail(ErrorCode::rounding_mode, std::string("the rounding ") + name_of(*cast.rounding),
         ", which rounds nothing; leave it out");
  if (!cast.saturate_fp8 && !is_fp8(out))
    fail(ErrorCode::dtype, "saturate_fp8 = false", "; it is for casts to e4m3fn and e5m2");
  if (cast.integer_overflow == IntegerOverflow::saturate && !is_integral(out))
    fail(ErrorCode::dtype, "IntegerOverflow::saturate", "; it is for casts to integers");
  if (is_scaled(options.scale) && cast.rounding.value_or(Rounding::nearest_even) != Rounding::nearest_even)
    fail(ErrorCode::rounding_mode,
         std::string("the rounding ") + name_of(*cast.rounding) + " with alpha and beta",
         "; they round to nearest even");
}

}  // namespace relayout
