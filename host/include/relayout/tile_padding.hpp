// What the places of a tile hold where they lie outside the tensor.
#pragma once

#include <cstdint>
#include <type_traits>

#include <relayout/dtype.hpp>
#include <relayout/export.hpp>
#include <relayout/host_device.hpp>

namespace relayout {

/// What the places of a tile hold where they lie outside the tensor.
enum class TilePadding : std::uint8_t {
  undetermined,       ///< nothing is written there: the tile's memory keeps what it held
  zero,               ///< 0, +0 or false, which every type has
  negative_zero,      ///< -0
  nan,                ///< a quiet NaN with sign bit 0
  positive_infinity,  ///< +infinity
  negative_infinity   ///< -infinity
};

/// The enumerator's name, as in "negative_zero".
RELAYOUT_API const char* name_of(TilePadding padding) noexcept;

namespace detail {
/// Bits of a floating type; 0 for what the type does not have.
struct SpecialBits {
  std::uint64_t sign, infinity, nan;
};

RELAYOUT_HOST_DEVICE constexpr SpecialBits special_bits(DType type) noexcept {
  switch (type) {
    case DType::f16:
      return {0x8000, 0x7c00, 0x7e00};
    case DType::bf16:
      return {0x8000, 0x7f80, 0x7fc0};
    case DType::f32:
    case DType::tf32:
      return {0x80000000, 0x7f800000, 0x7fc00000};
    case DType::f64:
      return {0x8000000000000000, 0x7ff0000000000000, 0x7ff8000000000000};
    case DType::e4m3fn:
      return {0x80, 0, 0x7f};
    case DType::e5m2:
      return {0x80, 0x7c, 0x7e};
    default:
      return {0, 0, 0};
  }
}
}  // namespace detail

/// Whether the type has such an element. f16, bf16, f32, f64, tf32, e4m3fn and e5m2 have negative_zero and
/// nan, and all of these except e4m3fn have the infinities.
RELAYOUT_HOST_DEVICE constexpr bool has_padding(DType type, TilePadding padding) noexcept {
  const detail::SpecialBits special = detail::special_bits(type);
  switch (padding) {
    case TilePadding::negative_zero:
      return special.sign != 0;
    case TilePadding::nan:
      return special.nan != 0;
    case TilePadding::positive_infinity:
    case TilePadding::negative_infinity:
      return special.infinity != 0;
    default:
      return true;
  }
}

/// Throws Error{padding_mode} unless has_padding(). It is for the code that launches a kernel: load_tile
/// itself cannot throw.
RELAYOUT_API void check_padding(DType type, TilePadding padding);

/// The bits of the padding element in the low bytes; 0 for undetermined, and for what check_padding()
/// refuses.
RELAYOUT_HOST_DEVICE constexpr std::uint64_t padding_bits(DType type, TilePadding padding) noexcept {
  const detail::SpecialBits special = detail::special_bits(type);
  switch (padding) {
    case TilePadding::negative_zero:
      return special.sign;
    case TilePadding::nan:
      return special.nan;
    case TilePadding::positive_infinity:
      return special.infinity;
    case TilePadding::negative_infinity:
      return special.infinity == 0 ? 0 : special.sign | special.infinity;
    default:
      return 0;
  }
}

/// The padding element itself. T has the size of `type`; a vendor's half is as good as relayout's f16.
template <class T>
RELAYOUT_HOST_DEVICE T padding_element(DType type, TilePadding padding) noexcept {
  static_assert(std::is_trivially_copyable<T>::value && sizeof(T) <= 16,
                "an element is at most 16 bytes that may be copied one by one");
  // By bytes, lowest first: memcpy is a host function to a compiler that has not seen its vendor's header
  // yet.
  const std::uint64_t bits = padding_bits(type, padding);
  T element;
  auto* const bytes = reinterpret_cast<unsigned char*>(&element);
  for (unsigned i = 0; i < sizeof(T); ++i) {
    bytes[i] = static_cast<unsigned char>(i < sizeof(bits) ? bits >> 8 * i : 0);
  }
  return element;
}

}  // namespace relayout
