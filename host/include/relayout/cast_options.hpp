// How a conversion between two element types rounds, and what happens to numbers that the target type cannot
// hold.
#pragma once

#include <cstdint>
#include <optional>

#include <relayout/export.hpp>

namespace relayout {

/// Which of its two neighbours a number becomes when it lies between two numbers of the target type.
enum class Rounding : std::uint8_t {
  nearest_even,  ///< the nearer one; in the middle the one with the even significand
  nearest_away,  ///< the nearer one; in the middle the one further from zero
  toward_zero,   ///< the one nearer to zero
  down,          ///< toward minus infinity
  up             ///< toward plus infinity
};
/// The name of the enumerator, as in "nearest_even".
RELAYOUT_API const char* name_of(Rounding rounding) noexcept;

/// What an integer becomes when the target type cannot hold it.
enum class IntegerOverflow : std::uint8_t {
  wrap,     ///< the low bits
  saturate  ///< the target's largest or smallest number
};

/// Options of a cast, each with its default (docs/arithmetic.md has the formulas).
///
/// - To bool: x != 0, and a NaN is true. From bool: 0 or 1; any byte other than 0 reads as true.
/// - Integer to integer: as integer_overflow says.
/// - Floating to integer: rounded, then the nearest number that the type has; NaN gives 0.
/// - Anything to floating: one rounding; NaN gives a quiet NaN of its sign.
/// - Between equal types nothing is converted, so elements keep their bits.
///
/// Errors: rounding_mode for a rounding where neither type is floating, and where out is bool; dtype for
/// saturate_fp8 = false where out is neither e4m3fn nor e5m2, and for IntegerOverflow::saturate where out is
/// not an integer type; either of them for an option that is set together with an alpha or a beta.
struct CastOptions {
  /// Without a value: nearest_even to floating types, toward_zero to integers.
  std::optional<Rounding> rounding;
  /// For casts to e4m3fn and e5m2. True: infinity, and numbers that would be rounded to it, become the
  /// largest finite number, 448 or 57344. False: they become infinity in e5m2, and NaN in e4m3fn, which has
  /// no infinity.
  bool saturate_fp8 = true;
  /// What becomes of integers that the target cannot hold.
  IntegerOverflow integer_overflow = IntegerOverflow::wrap;
};

}  // namespace relayout
