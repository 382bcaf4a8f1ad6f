// How a conversion between two element types rounds, and what becomes of numbers that the target has no room
// for.
#pragma once

#include <cstdint>
#include <optional>

namespace relayout {

/// Which of the two neighbours of a number that lies between them.
enum class Rounding : std::uint8_t {
  nearest_even,  // the nearer one; in the middle the one with the even significand
  nearest_away,  // the nearer one; in the middle the one further from zero
  toward_zero,
  down,  // toward minus infinity
  up     // toward plus infinity
};
/// "nearest_even", ...
const char* name_of(Rounding rounding) noexcept;

/// Of integers that the target type has no room for.
enum class IntegerOverflow : std::uint8_t {
  wrap,     // the low bits
  saturate  // the target's largest or smallest number
};

/// Options of a cast, each with its default (docs/arithmetic.md has the formulas).
///
/// bool from x: x != 0, NaN included. From bool: 0 or 1; any byte but 0 reads as true. Integer from integer:
/// integer_overflow. Integer from floating: rounded, then the nearest number that the type has; NaN gives 0.
/// Floating from anything: one rounding; NaN gives a quiet NaN of its sign. Between equal types nothing is
/// converted: elements keep their bits.
///
/// Errors: rounding_mode for a rounding where neither type is floating, and where out is bool; dtype for
/// saturate_fp8 = false where out is neither e4m3fn nor e5m2, for IntegerOverflow::saturate where out is not
/// an integer type; both for any option beside alpha and beta.
struct CastOptions {
  /// None: nearest_even to floating types, toward_zero to integers.
  std::optional<Rounding> rounding;
  /// To e4m3fn and e5m2. True: infinity, and numbers that would be rounded to it, become the largest finite
  /// number, 448 or 57344. False: infinity, which e4m3fn does not have; there they become NaN.
  bool saturate_fp8 = true;
  IntegerOverflow integer_overflow = IntegerOverflow::wrap;
};

}  // namespace relayout
