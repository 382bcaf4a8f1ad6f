#include "host/cpu/elementwise/elementwise_codes.hpp"

#include <type_traits>

#include "host/cpu/vectorised.hpp"

namespace relayout::native {
namespace {

template <class Code>
void dequantize(const Code* codes, const Code* zeros, const float* scales, float* numbers,
                std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    numbers[i] = static_cast<float>(static_cast<int>(codes[i]) - static_cast<int>(zeros[i])) * scales[i];
}

/// Clamped before it is rounded, which is the same between bounds that are whole. Adding 1.5 * 2^23 and
/// taking it away rounds to whole numbers, halves to even.
template <class Code>
void quantize(const float* numbers, const Code* zeros, const float* scales, Code* codes, std::int64_t count) {
  constexpr float kWhole = 0x1.8p23f;
  constexpr int kLowest = std::is_signed_v<Code> ? -128 : 0, kHighest = kLowest + 255;
  for (std::int64_t i = 0; i < count; ++i) {
    const float units = numbers[i] / scales[i];
    const int zero = zeros[i];
    const float low = static_cast<float>(kLowest - zero), high = static_cast<float>(kHighest - zero);
    const float above = units > low ? units : low, inside = above < high ? above : high;
    const float whole = inside + kWhole - kWhole;
    codes[i] = static_cast<Code>(static_cast<int>(units == units ? whole : 0.0f) + zero);
  }
}

}  // namespace

void dequantize_row(bool is_signed, const void* codes, const void* zeros, const float* scales, float* numbers,
                    std::int64_t count) {
  using S = std::int8_t;
  using U = std::uint8_t;
  static const auto signed_row = vectorised<dequantize<S>>();
  static const auto unsigned_row = vectorised<dequantize<U>>();
  if (is_signed)
    return signed_row(static_cast<const S*>(codes), static_cast<const S*>(zeros), scales, numbers, count);
  unsigned_row(static_cast<const U*>(codes), static_cast<const U*>(zeros), scales, numbers, count);
}

void quantize_row(bool is_signed, const float* numbers, const void* zeros, const float* scales, void* codes,
                  std::int64_t count) {
  using S = std::int8_t;
  using U = std::uint8_t;
  static const auto signed_row = vectorised<quantize<S>>();
  static const auto unsigned_row = vectorised<quantize<U>>();
  if (is_signed)
    return signed_row(numbers, static_cast<const S*>(zeros), scales, static_cast<S*>(codes), count);
  unsigned_row(numbers, static_cast<const U*>(zeros), scales, static_cast<U*>(codes), count);
}

}  // namespace relayout::native
