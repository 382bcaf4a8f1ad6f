#include "host/cpu/copy/cast_loops.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "host/cpu/convert.hpp"
#include "host/cpu/vectorised.hpp"
#include "host/cpu/wide_integers.hpp"

namespace relayout::native {
namespace {

// What follows is inlined into loops without branches, which the compiler vectorises.

RELAYOUT_INLINE std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
RELAYOUT_INLINE float float_of(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

constexpr std::uint32_t kSign = 0x80000000u, kQuietNan = 0x7fc00000u;

/// Both have the exponents of f16, but that e4m3fn has one bit of them less: its numbers are 256 times
/// theirs.
template <int kFractionBits>
void f16_from_fp8(const void* in, void* out, std::int64_t count) {
  const auto* from = static_cast<const std::uint8_t*>(in);
  auto* to = static_cast<std::uint16_t*>(out);
  for (std::int64_t i = 0; i < count; ++i) {
    const int magnitude = from[i] & 0x7f, most = kFractionBits == 3 ? 0x7e : 0x7c;
    const int half = magnitude > most ? 0x7e00 : magnitude << (10 - kFractionBits);
    to[i] = static_cast<std::uint16_t>(half | (from[i] & 0x80) << 8);
  }
}

void scale_by_256(const void* in, void* out, std::int64_t count) {
  const auto* from = static_cast<const float*>(in);
  auto* to = static_cast<float*>(out);
  for (std::int64_t i = 0; i < count; ++i) to[i] = 256.0f * from[i];
}

template <int kFractionBits>
void load_fp8(const void* in, void* out, std::int64_t count) {
  constexpr std::int64_t kLine = 256;
  f16 halves[kLine];
  float numbers[kLine];
  for (std::int64_t i = 0; i < count; i += kLine) {
    const std::int64_t part = std::min(kLine, count - i);
    float* to = static_cast<float*>(out) + i;
    vectorised_conversion<f16_from_fp8<kFractionBits>>()(static_cast<const std::uint8_t*>(in) + i, halves,
                                                         part);
    convert_row(halves, kFractionBits == 3 ? numbers : to, part);
    if (kFractionBits == 3) vectorised_conversion<scale_by_256>()(numbers, to, part);
  }
}

void load_tf32(const void* in, void* out, std::int64_t count) {
  const auto* from = static_cast<const float*>(in);
  auto* to = static_cast<float*>(out);
  for (std::int64_t i = 0; i < count; ++i)
    to[i] = from[i] != from[i] ? float_of((bits_of(from[i]) & kSign) | kQuietNan) : from[i];
}

RELAYOUT_INLINE float odd_f32(double value) {
  const float near = static_cast<float>(value);
  const double back = static_cast<double>(near);
  const std::uint32_t bits = bits_of(near), lower = bits - (std::fabs(back) > std::fabs(value) ? 1 : 0);
  return float_of(back < value || back > value ? lower | 1 : bits);
}

/// The first 17 bits of an integer as a double, the last of which is set where any behind it was.
RELAYOUT_INLINE float shortened(double value) {
  constexpr std::uint64_t kDropped = (std::uint64_t{1} << 36) - 1;
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  bits = (bits | ((bits & kDropped) + kDropped)) & ~kDropped;
  std::memcpy(&value, &bits, sizeof bits);
  return static_cast<float>(value);
}

/// f32 holds integers of 24 bits. Of longer ones all but the last 8 bits are left, and the last of these is
/// set where any was: that rounds to odd numbers of negative ones in two's complement, too.
template <class Word>
RELAYOUT_INLINE float odd_f32_of_word(Word value) {
  constexpr Word kHeld = Word{1} << 24;
  const auto bits = static_cast<std::uint32_t>(value);
  const auto joined = static_cast<Word>((bits | ((bits & 0xff) + 0xff)) & ~std::uint32_t{0xff});
  const bool held = value <= kHeld && (std::is_unsigned_v<Word> || value >= Word{0} - kHeld);
  return static_cast<float>(held ? value : joined);
}

template <class T>
void load_odd(const void* in, void* out, std::int64_t count) {
  const T* from = static_cast<const T*>(in);
  auto* to = static_cast<float*>(out);
  for (std::int64_t i = 0; i < count; ++i) {
    if constexpr (sizeof(T) == 4) {
      to[i] = odd_f32_of_word(from[i]);
    } else if constexpr (std::is_same_v<T, double>) {
      to[i] = odd_f32(from[i]);
    } else {
      to[i] = shortened(to_odd_double(from[i]));
    }
  }
}

RELAYOUT_INLINE std::uint32_t tf32_of(float value) {
  const std::uint32_t bits = bits_of(value);
  const std::uint32_t rounded = (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu;
  return value != value ? (bits & kSign) | kQuietNan : rounded;
}

template <int kFractionBits>
RELAYOUT_INLINE std::uint8_t fp8_of(float value) {
  constexpr int kDropped = 23 - kFractionBits, kBias = kFractionBits == 3 ? 7 : 15;
  constexpr std::uint32_t kMax = kFractionBits == 3 ? 0x7e : 0x7b, kNan = kFractionBits == 3 ? 0x7f : 0x7e;
  constexpr std::uint32_t kLeastNormal = static_cast<std::uint32_t>(128 - kBias) << 23;
  // The sum of it and a subnormal number has the multiples of the least one in its last bits, rounded.
  constexpr std::uint32_t kShifter = static_cast<std::uint32_t>(128 - kBias - kFractionBits + 23) << 23;
  const std::uint32_t bits = bits_of(value), magnitude = bits & ~kSign;
  const std::uint32_t rounded =
      (magnitude + (1u << (kDropped - 1)) - 1 + (magnitude >> kDropped & 1)) >> kDropped;
  const std::uint32_t normal = rounded - (static_cast<std::uint32_t>(127 - kBias) << kFractionBits);
  const std::uint32_t limited = normal < kMax ? normal : kMax;
  const std::uint32_t subnormal = bits_of(float_of(magnitude) + float_of(kShifter)) - kShifter;
  const std::uint32_t number = magnitude < kLeastNormal ? subnormal : limited;
  return static_cast<std::uint8_t>((value != value ? kNan : number) | (bits >> 24 & 0x80u));
}

void store_tf32(const void* in, void* out, std::int64_t count) {
  const auto* from = static_cast<const float*>(in);
  auto* to = static_cast<std::uint32_t*>(out);
  for (std::int64_t i = 0; i < count; ++i) to[i] = tf32_of(from[i]);
}

template <int kFractionBits>
void store_fp8(const void* in, void* out, std::int64_t count) {
  const auto* from = static_cast<const float*>(in);
  auto* to = static_cast<std::uint8_t*>(out);
  for (std::int64_t i = 0; i < count; ++i) to[i] = fp8_of<kFractionBits>(from[i]);
}

}  // namespace

ConvertRow restricted_to_f32(DType in) {
  if (in == DType::tf32) return vectorised_conversion<load_tf32>();
  return in == DType::e4m3fn ? load_fp8<3> : load_fp8<2>;
}

ConvertRow odd_f32_row(DType in) {
  switch (in) {
    case DType::u32:
      return vectorised_conversion<load_odd<std::uint32_t>>();
    case DType::i32:
      return vectorised_conversion<load_odd<std::int32_t>>();
    case DType::u64:
      return vectorised_conversion<load_odd<std::uint64_t>>();
    case DType::i64:
      return vectorised_conversion<load_odd<std::int64_t>>();
    default:
      return vectorised_conversion<load_odd<double>>();
  }
}

ConvertRow rounded_row(DType out) {
  if (out == DType::tf32) return vectorised_conversion<store_tf32>();
  return out == DType::e4m3fn ? vectorised_conversion<store_fp8<3>>() : vectorised_conversion<store_fp8<2>>();
}

}  // namespace relayout::native
