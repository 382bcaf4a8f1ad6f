// Rounding to odd, for a number that is rounded twice on its way: the second rounding then gives what one
// rounding of the first number would have given.
#pragma once

#include <cstdint>

#include <relayout/host_device.hpp>

namespace relayout::detail {

/// The same bits as a value of another type.
template <class To, class From>
RELAYOUT_HOST_DEVICE To bit_cast(From from) noexcept {
  static_assert(sizeof(To) == sizeof(From), "bit_cast needs equal sizes");
  To to;
  __builtin_memcpy(&to, &from, sizeof(To));  // for host and device alike
  return to;
}

/// binary64 -> binary32 toward zero, with the last bit set where anything was lost: a later rounding to 22 or
/// fewer significand bits is then the same as one rounding of the double (Boldo and Melquiond, "Emulation of
/// FMA and correctly rounded sums", 2008). Infinity stays infinity, NaN stays NaN.
RELAYOUT_HOST_DEVICE inline float round_to_odd(double value) noexcept {
  const float nearest = static_cast<float>(value);
  const double back = static_cast<double>(nearest);
  const std::uint32_t bits = bit_cast<std::uint32_t>(nearest);
  const bool away = (back < 0 ? -back : back) > (value < 0 ? -value : value);
  const bool exact = !(back < value || back > value);
  return bit_cast<float>(exact ? bits : (bits - (away ? 1u : 0u)) | 1u);
}

}  // namespace relayout::detail
