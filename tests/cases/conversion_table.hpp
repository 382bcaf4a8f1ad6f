// Conversions worked out by hand from the definitions of the formats: the bits of one element before and
// after.
#pragma once

#include <cstdint>
#include <vector>

#include <relayout/cast_options.hpp>
#include <relayout/dtype.hpp>

namespace relayout::cases {

struct Conversion {
  DType from;
  std::uint64_t bits;
  DType to;
  std::uint64_t expected;
  CastOptions options = {};
};

inline CastOptions rounding(Rounding mode) {
  CastOptions options;
  options.rounding = mode;
  return options;
}
inline CastOptions unsaturated() {
  CastOptions options;
  options.saturate_fp8 = false;
  return options;
}
inline CastOptions unsaturated(Rounding mode) {
  CastOptions options = unsaturated();
  options.rounding = mode;
  return options;
}
inline CastOptions saturating() {
  CastOptions options;
  options.integer_overflow = IntegerOverflow::saturate;
  return options;
}

inline std::vector<Conversion> conversion_table() {
  constexpr DType b1 = DType::bool_, u8 = DType::u8, u16 = DType::u16, u32 = DType::u32, u64 = DType::u64,
                  i8 = DType::i8, i16 = DType::i16, i32 = DType::i32, i64 = DType::i64, f16 = DType::f16,
                  bf16 = DType::bf16, f32 = DType::f32, f64 = DType::f64, tf32 = DType::tf32,
                  e4 = DType::e4m3fn, e5 = DType::e5m2;
  const CastOptions even = rounding(Rounding::nearest_even), away = rounding(Rounding::nearest_away),
                    zero = rounding(Rounding::toward_zero), down = rounding(Rounding::down),
                    up = rounding(Rounding::up);
  const std::uint64_t minus_1 = ~std::uint64_t{0}, least = std::uint64_t{1} << 63, most = least - 1;
  return {
      // e4m3fn: 448 is 0x7e; 464 lies half way to 480, which the type does not have; 465 is nearer to 480.
      {f32, 0x43e00000, e4, 0x7e},
      {f32, 0x43e80000, e4, 0x7e, unsaturated()},
      {f32, 0x43e80001, e4, 0x7f, unsaturated()},
      {f32, 0x43e80001, e4, 0x7e},
      {f32, 0xc3e80001, e4, 0xff, unsaturated()},
      {f32, 0xc3e80001, e4, 0xfe},
      {f32, 0x43e80000, e4, 0x7f, unsaturated(Rounding::nearest_away)},
      {f32, 0x43efffff, e4, 0x7e, unsaturated(Rounding::toward_zero)},
      {f32, 0x7f7fffff, e4, 0x7e, unsaturated(Rounding::down)},
      {f32, 0x43e00001, e4, 0x7f, unsaturated(Rounding::up)},
      {f32, 0x43e00001, e4, 0x7e, up},
      {f32, 0xc3e00001, e4, 0xfe, unsaturated(Rounding::up)},
      {f32, 0xc3e00001, e4, 0xff, unsaturated(Rounding::down)},
      {f32, 0x7f800000, e4, 0x7e},
      {f32, 0xff800000, e4, 0xfe},
      {f32, 0x7f800000, e4, 0x7f, unsaturated()},
      {f32, 0x7fc00000, e4, 0x7f},
      {f32, 0xffc00000, e4, 0xff},
      {f32, 0x3b000000, e4, 0x01},  // 2^-9, the smallest
      {f32, 0x3a800000, e4, 0x00},  // half of it: the tie goes to the even 0
      {f32, 0x3a800001, e4, 0x01},
      {f32, 0xba800000, e4, 0x80},
      {f32, 0x3a800000, e4, 0x01, away},
      {f32, 0x00000001, e4, 0x01, up},
      {f32, 0x80000001, e4, 0x81, down},
      {f32, 0x80000001, e4, 0x80, up},
      {f32, 0x80000000, e4, 0x80},
      {e4, 0x01, f32, 0x3b000000},
      {e4, 0x7e, f16, 0x5f00},
      {e4, 0x7f, f16, 0x7e00},
      {e4, 0xff, f32, 0xffc00000},
      {e4, 0x7e, i16, 448},
      {e4, 0x7f, i16, 0},
      {e4, 0x7e, i8, 127},
      // e5m2: 57344 is 0x7b; 61440 lies half way to 65536, whose significand is even.
      {f32, 0x47600000, e5, 0x7b},
      {f32, 0x476fffff, e5, 0x7b, unsaturated()},
      {f32, 0x47700000, e5, 0x7c, unsaturated()},
      {f32, 0x47700000, e5, 0x7b},
      {f32, 0xc7700000, e5, 0xfc, unsaturated()},
      {f32, 0x7f800000, e5, 0x7b},
      {f32, 0x7f800000, e5, 0x7c, unsaturated()},
      {f32, 0x7f800000, e5, 0x7c, unsaturated(Rounding::toward_zero)},
      {f32, 0x7f7fffff, e5, 0x7b, unsaturated(Rounding::toward_zero)},
      {f32, 0x7fc00000, e5, 0x7e},
      {f16, 0x7bff, e5, 0x7c, unsaturated()},
      {f16, 0x7c01, e5, 0x7e},
      {e5, 0x7c, f32, 0x7f800000},
      {e5, 0x7d, f32, 0x7fc00000},
      {e5, 0x7c, e4, 0x7e},
      {e5, 0x7c, e4, 0x7f, unsaturated()},
      {e5, 0x01, f64, 0x3ef0000000000000},  // 2^-16
      {u32, 61440, e5, 0x7c, unsaturated()},
      {i64, minus_1 - 499, e4, 0xfe},  // -500
      // f16: 65520 is half way to 65536.
      {f32, 0x477ff000, f16, 0x7c00},
      {f32, 0x477ff000, f16, 0x7bff, zero},
      {f32, 0x477ff000, f16, 0x7bff, down},
      {f32, 0x477fe001, f16, 0x7c00, up},
      {f32, 0xc77ff000, f16, 0xfbff, up},
      {f32, 0xc77fe001, f16, 0xfc00, down},
      {f32, 0x477fefff, f16, 0x7bff, away},
      {i32, 65519, f16, 0x7bff},
      {i32, 65520, f16, 0x7c00},
      {i32, 70000, f16, 0x7c00},
      {i32, 70000, f16, 0x7bff, zero},
      // A double beside a tie, which f32 would round to the tie.
      {f64, 0x3ff0020000000001, f16, 0x3c01},
      {f64, 0x3ff0020000000000, f16, 0x3c00},
      {f64, 0x3ff0020000000000, f16, 0x3c01, away},
      {f64, 0x3ff0010000000001, e4, 0x38},
      {f64, 0x3ff1000000000001, e4, 0x39},
      {f64, 0x3ff1000000000000, e4, 0x38},
      {f64, 0x3ff2000000000001, e5, 0x3d},
      {f64, 0x0000000000000001, f16, 0x0001, up},
      {f64, 0x8000000000000001, f32, 0x80000001, down},
      // NaN: quiet, its sign kept, never infinity.
      {f32, 0x7f800001, bf16, 0x7fc0, zero},
      {f32, 0xff800001, bf16, 0xffc0, up},
      {f32, 0x7f800001, tf32, 0x7fc00000},
      {f32, 0xffbfffff, f16, 0xfe00, down},
      {f64, 0xfff0000000000001, e5, 0xfe},
      // tf32: 11 significand bits, 13 zeros behind them.
      {f32, 0x3f800fff, tf32, 0x3f800000},
      {f32, 0x3f801000, tf32, 0x3f800000},
      {f32, 0x3f801001, tf32, 0x3f802000},
      {f32, 0x3f803000, tf32, 0x3f804000},
      {f32, 0x3f801000, tf32, 0x3f802000, away},
      {f32, 0x3f801fff, tf32, 0x3f800000, zero},
      {f32, 0x7f7fffff, tf32, 0x7f800000},
      {f32, 0x7f7fffff, tf32, 0x7f7fe000, zero},
      {f32, 0x00000fff, tf32, 0x00000000},
      {f32, 0x00001001, tf32, 0x00002000},
      {i32, 2049, tf32, 0x45000000},
      {i32, 2051, tf32, 0x45004000},
      {tf32, 0x3f801fff, f32, 0x3f801fff},  // read as the f32 that it is
      {tf32, 0x3f801fff, f16, 0x3c01},
      // Integers to floating types, in one step.
      {i64, most, f32, 0x5f000000},
      {i64, most, f32, 0x5effffff, zero},
      {i64, most, f32, 0x5effffff, down},
      {i64, least, f32, 0xdf000000},
      {i64, least + 1, f32, 0xdeffffff, up},
      {i64, least + 1, f32, 0xdf000000, down},
      {u64, minus_1, f32, 0x5f800000},
      {u64, minus_1, f32, 0x5f7fffff, zero},
      {u64, minus_1, f64, 0x43f0000000000000},
      {u64, minus_1, f64, 0x43efffffffffffff, down},
      {i64, most, f64, 0x43e0000000000000},
      {i64, most, f64, 0x43dfffffffffffff, zero},
      {u64, 0x8000000000000400, f64, 0x43e0000000000000},  // a tie
      {u64, 0x8000000000000400, f64, 0x43e0000000000001, away},
      {u64, 0x8000000000000401, f64, 0x43e0000000000001},
      {u64, 0x8000000000000c00, f64, 0x43e0000000000002},
      // Beside a tie of f32 by one: f64 on the way would round to the tie.
      {u64, 0x8000008000000001, f32, 0x5f000001},
      {u64, 0x8000008000000000, f32, 0x5f000000},
      {i64, 0x4000004000000001, f32, 0x5e800001},
      {i32, 16777217, f32, 0x4b800000},
      {i32, 16777219, f32, 0x4b800002},
      {i32, 0x80000000, f32, 0xcf000000},
      {u32, 0xffffffff, f32, 0x4f800000},
      {u32, 0xffffffff, f32, 0x4f7fffff, down},
      {i8, 0x80, bf16, 0xc300},
      {u8, 0xff, e4, 0x78},  // 255 lies nearest to 256
      {i32, 0, f64, 0},
      // To integers: toward zero, then the nearest number of the type; a NaN gives 0.
      {f32, 0x3fffffff, i32, 1},
      {f32, 0xbfffffff, i32, 0xffffffff},
      {f32, 0x3fc00000, i32, 2, even},
      {f32, 0x40200000, i32, 2, even},
      {f32, 0x40200000, i32, 3, away},
      {f32, 0xbfc00000, i32, 0xfffffffe, away},
      {f32, 0xbf000000, i32, 0xffffffff, down},
      {f32, 0xbf000000, i32, 0, up},
      {f32, 0x3e800000, u8, 1, up},
      {f32, 0xbe800000, u8, 0, down},
      {f32, 0x4f000000, i32, 0x7fffffff},
      {f32, 0xcf000000, i32, 0x80000000},
      {f32, 0xcf000001, i32, 0x80000000},
      {f32, 0x4f800000, u32, 0xffffffff},
      {f32, 0x4f7fffff, u32, 0xffffff00},
      {f32, 0xbf800000, u32, 0},
      {f32, 0x7fc00000, i32, 0},
      {f32, 0xff800001, u8, 0},
      {f32, 0x7f800000, i8, 0x7f},
      {f32, 0xff800000, i8, 0x80},
      {f32, 0xff800000, u16, 0},
      {f32, 0x42ff8000, i8, 0x7f},  // 127.75
      {f32, 0xc300c000, i8, 0x80},  // -128.75
      {f16, 0x7c00, i32, 0x7fffffff},
      {f16, 0xfc00, i64, least},
      {f64, 0x43e0000000000000, i64, most},
      {f64, 0xc3e0000000000000, i64, least},
      {f64, 0x43dfffffffffffff, i64, most - 1023},
      {f64, 0x43f0000000000000, u64, minus_1},
      {f64, 0x43efffffffffffff, u64, minus_1 - 2047},
      {f64, 0x41dfffffffffffff, i32, 0x7fffffff, even},
      {f64, 0x0000000000000001, i64, 1, up},
      {f64, 0x3fe0000000000000, u64, 0, even},
      {f64, 0x3fe0000000000001, u64, 1, even},
      // bool: every number other than 0 is true, a NaN too, and so is any byte other than 0.
      {f32, 0x7fc00000, b1, 1},
      {f32, 0x00000001, b1, 1},
      {f32, 0x80000000, b1, 0},
      {f16, 0x8000, b1, 0},
      {e4, 0x80, b1, 0},
      {e5, 0x7c, b1, 1},
      {i64, std::uint64_t{1} << 40, b1, 1},
      {b1, 0x02, u8, 1},
      {b1, 0xff, f32, 0x3f800000},
      {b1, 0x80, i64, 1},
      {b1, 0x01, e4, 0x38},
      {b1, 0x00, f16, 0},
      // Between integers: the low bits, extended by the source's sign, or the nearest.
      {i8, 0xff, u32, 0xffffffff},
      {u8, 0xff, i32, 255},
      {i32, 300, u8, 44},
      {i32, 300, u8, 255, saturating()},
      {i32, 0xffffffff, u8, 255},
      {i32, 0xffffffff, u8, 0, saturating()},
      {i64, least, i32, 0},
      {i64, least, i32, 0x80000000, saturating()},
      {u64, minus_1, i64, most, saturating()},
      {u64, minus_1, i64, minus_1},
      {i64, minus_1, u64, 0, saturating()},
      {u8, 0x80, i8, 0x80},
      {u8, 0x80, i8, 0x7f, saturating()},
      {i16, 0xff00, i8, 0x80, saturating()},
      {u32, 0x80000000, i32, 0x7fffffff, saturating()},
  };
}

}  // namespace relayout::cases
