// An f32 number as quarters of a turn: x is quarters * pi / 2 + rest. Numbers of any size are reduced in
// vectors: the C library would take those beyond some 100 000 one by one, which integers often are.
#pragma once

#include <array>

#include "host/cpu/elementwise/double_pairs.hpp"

#if defined(RELAYOUT_X86)

namespace relayout::native::RELAYOUT_VECTORS {

/// For numbers m * 2^e of a whole m below 2^24: 2^e * 2 / pi less its multiples of 4, in three parts. Each
/// part's product with m is exact.
class QuartersOfPowers {
 public:
  /// The first exponent of a number that asks, and those of f32.
  static constexpr int kLeast = 40, kExponents = 128 - kLeast;

  QuartersOfPowers() {
    for (int i = 0; i < kExponents; ++i) {
      const int first = kLeast + i - 23 - 1;  // the bit of weight 2
      parts_[0][i] = bits(first, 29) * 0x1p-27;
      parts_[1][i] = bits(first + 29, 28) * 0x1p-55;
      parts_[2][i] = bits(first + 57, 28) * 0x1p-83;
    }
  }
  const double* part(int number) const { return parts_[number].data(); }

 private:
  /// `count` bits of 2 / pi from bit `first` on, of which the first one behind the point is number 1.
  static double bits(int first, int count) {
    constexpr std::uint32_t kTwoOverPi[] = {0xA2F983, 0x6E4E44, 0x1529FC, 0x2757D1,
                                            0xF534DD, 0xC0DB62, 0x95993C, 0x439041};
    double number = 0;
    for (int bit = first - 1; bit < first - 1 + count; ++bit)
      number = 2 * number + (kTwoOverPi[bit / 24] >> (23 - bit % 24) & 1u);
    return number;
  }
  std::array<double, kExponents> parts_[3];
};

struct QuarterTurns {
  Wholes quarters;  // the low bits of each number
  Doubles rest;     // between -0.8 and 0.8

  RELAYOUT_VECTOR explicit QuarterTurns(Doubles x) {
    const Doubles whole = whole_of(x * all(kQuartersPerRadian));
    quarters = bits_of(whole + all(0x1.8p52));
    rest = fnma(whole, all(kPiLow / 2), fnma(whole, all(kPi / 2), x));
    if (are_less(all(kFar), magnitude(x)) != 0) reduce_far(x);
  }

 private:
  static constexpr double kFar = 0x1p40;

  /// Up to there the rest is right to 2^-67, and no f32 number is nearer than 2^-35 to a multiple of pi / 2.
  RELAYOUT_VECTOR void reduce_far(Doubles x) {
    static const QuartersOfPowers powers;
    const Doubles size = at_least(at_most(magnitude(x), all(0x1.fffffep127)), all(kFar));  // NaN too
    const Wholes index = difference(down<52>(bits_of(size)), all_wholes(1023 + QuartersOfPowers::kLeast));
    // The number's digits as a whole number of 24 bits.
    const Doubles digits =
        of_bits(difference(bits_of(size), up<52>(sum(index, all_wholes(QuartersOfPowers::kLeast - 23)))));
    const Doubles high = digits * gathered(powers.part(0), index),
                  middle = digits * gathered(powers.part(1), index);
    const Doubles low = digits * gathered(powers.part(2), index), whole = whole_of(high + middle);
    const Doubles turns = ((high - whole) + middle) + low, signs = x - x;  // NaN of infinity
    const Doubles far_quarters = flipped(whole, x) + all(0x1.8p52);
    const Doubles far_rest = flipped(turns * all(kPi / 2), x) + signs;
    quarters = bits_of(if_less(all(kFar), magnitude(x), far_quarters, of_bits(quarters)));
    rest = if_less(all(kFar), magnitude(x), far_rest, rest);
  }
};

}  // namespace relayout::native::RELAYOUT_VECTORS
#endif
