// Division by a number that is known at the launch: a multiplication and a shift in the kernel.
#pragma once

#include <cstdint>

#include "kernel_language.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Of dividends below 2^31, like a block's number. With 2^(s-1) < d <= 2^s and m = ceil(2^(31+s) / d), m * d
/// is less than 2^s above 2^(31+s), so that n * m / 2^(31+s) is less than 1/d above n / d.
class Divisor {
 public:
  explicit Divisor(std::uint32_t divisor) : divisor_(divisor) {
    while (std::uint64_t{1} << (shift_ - 31) < divisor) ++shift_;
    multiplier_ = static_cast<std::uint32_t>(((std::uint64_t{1} << shift_) + divisor_ - 1) / divisor_);
  }
  __device__ __forceinline__ unsigned quotient(unsigned dividend) const {
    return static_cast<unsigned>(std::uint64_t{dividend} * multiplier_ >> shift_);
  }
  __device__ __forceinline__ unsigned remainder(unsigned dividend) const {
    return dividend - quotient(dividend) * divisor_;
  }

 private:
  std::uint32_t divisor_, multiplier_ = 0;
  int shift_ = 31;
};

}  // namespace relayout::RELAYOUT_BACKEND
