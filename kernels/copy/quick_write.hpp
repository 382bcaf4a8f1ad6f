// The second half of a quick cast (quick_cast.hpp): integers, floats or doubles as the elements of a vector.
#pragma once

#include "kernels/copy/quick_read.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// The bits of a positive or negative number in an fp8 type, rounded to nearest even, saturated.
template <int kFractionBits>
__device__ __forceinline__ std::uint32_t fp8_of(float number) {
  constexpr int kDropped = 23 - kFractionBits, kBias = kFractionBits == 3 ? 7 : 15;
  constexpr std::uint32_t kLargest = kFractionBits == 3 ? 0x7e : 0x7b;
  constexpr std::uint32_t kLeastNormal = static_cast<std::uint32_t>(128 - kBias) << 23;
  // Added to a subnormal number, it leaves the number's multiples of the least one in the last bits.
  constexpr std::uint32_t kShifter = static_cast<std::uint32_t>(127 + 1 - kBias - kFractionBits + 23) << 23;
  const std::uint32_t bits = __float_as_uint(number), magnitude = bits & 0x7fffffffu;
  const std::uint32_t rounded =
      (magnitude + (1u << (kDropped - 1)) - 1 + (magnitude >> kDropped & 1)) >> kDropped;
  const std::uint32_t normal = rounded - (static_cast<std::uint32_t>(127 - kBias) << kFractionBits);
  const std::uint32_t limited = normal < kLargest ? normal : kLargest;
  const std::uint32_t subnormal =
      __float_as_uint(__uint_as_float(magnitude) + __uint_as_float(kShifter)) - kShifter;
  return (magnitude < kLeastNormal ? subnormal : limited) | (bits >> 24 & 0x80u);
}

template <int kFractionBits, int kCount>
__device__ __forceinline__ void write_fp8(const float (&values)[kCount], std::uint32_t* words) {
#pragma unroll
  for (int i = 0; i < kCount; i += 2) {
    std::uint32_t pair;
    if constexpr (kHasFp8Conversion) {
      pair = floats_to_fp8<kFractionBits>(values[i], values[i + 1]);
    } else {
      pair = fp8_of<kFractionBits>(values[i]) | fp8_of<kFractionBits>(values[i + 1]) << 8;
    }
    words[i / 4] |= pair << (i % 4 * 8);
  }
}

/// A number truncated to an integer type; the nearest one that it has beyond its ends, and 0 for NaN: the
/// language's conversion has no result for these.
template <class Int, class Float>
__device__ __forceinline__ Int truncated(Float value) {
  constexpr bool kSigned = std::is_signed_v<Int>;
  constexpr int kBits = 8 * static_cast<int>(sizeof(Int)) - (kSigned ? 1 : 0);
  constexpr Int kMax = static_cast<Int>(~std::uint64_t{0} >> (64 - kBits));
  constexpr Float kEnd = static_cast<Float>(std::uint64_t{1} << (kBits - 1)) * 2;
  const bool above = value >= kEnd, inside = kSigned ? value > -kEnd : value > -1;
  const Int number = static_cast<Int>(inside && !above ? value : Float{0});
  return above ? kMax : kSigned && value <= -kEnd ? static_cast<Int>(-kMax - 1) : number;
}

/// Puts the NaN of the type, with its sign, in the place of what conversions make of one.
template <class To, int kCount>
__device__ __forceinline__ void write_nans(const ElementCast& cast, const float (&values)[kCount],
                                           std::uint32_t* words) {
  static_assert(sizeof(To) <= 4, "a word or a part of one");
  bool any = false;  // by pairs: one comparison sees both
#pragma unroll
  for (int i = 0; i < kCount; i += 2)
    any = any | ((values[i] != values[i]) | (values[i + 1] != values[i + 1]));
  if (!any) return;
  constexpr int kPerWord = 4 / static_cast<int>(sizeof(To)), kBits = 32 / kPerWord;
  constexpr std::uint32_t kAll = ~std::uint32_t{0} >> (32 - kBits);
  const std::uint32_t nan = static_cast<std::uint32_t>(cast.nan) << cast.to.low_zeros;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const std::uint32_t sign = __float_as_uint(values[i]) >> 31 << (kBits - 1);
    const int at = i % kPerWord * kBits;
    const std::uint32_t word = words[i / kPerWord];
    words[i / kPerWord] = values[i] != values[i] ? (word & ~(kAll << at)) | (sign | nan) << at : word;
  }
}

/// The words are 0 before.
template <class To, int kCount>
__device__ __forceinline__ void write_floats(const ElementCast& cast, const float (&values)[kCount],
                                             std::uint32_t* words) {
  if (cast.to.kind == NumberKind::boolean) {
    if constexpr (sizeof(To) == 1) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) put_bits<To>(words, i, values[i] != 0 ? 1 : 0);
    }
    return;
  }
  if (cast.to.kind != NumberKind::floating) {
    if constexpr (sizeof(To) == 4) {
      visit_sign<To>(cast.to, [&](auto type) {
#pragma unroll
        for (int i = 0; i < kCount; ++i)
          put_bits<To>(words, i, static_cast<To>(truncated<decltype(type)>(values[i])));
      });
    } else {
      const float least = -static_cast<float>(static_cast<std::uint32_t>(cast.limit[1]));
      const float most = static_cast<float>(static_cast<std::uint32_t>(cast.limit[0]));
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        const float number = values[i] == values[i] ? values[i] : 0.0f;
        const float value = fminf(fmaxf(number, least), most);
        put_bits<To>(words, i, static_cast<To>(static_cast<int>(value)));
      }
    }
    return;
  }
  if constexpr (sizeof(To) == 1) {
    if (cast.to.fraction_bits == 3) {
      write_fp8<3>(values, words);
    } else {
      write_fp8<2>(values, words);
    }
  } else if constexpr (sizeof(To) == 2) {
    const auto write = [&](auto type) {
#pragma unroll
      for (int i = 0; i < kCount; i += 2) {
        const float pair[2] = {values[i], values[i + 1]};
        words[i / 2] = floats_to_word(type, pair);
      }
    };
    if (cast.to.fraction_bits == 10) {
      write(f16{});
    } else {
      write(bf16{});
    }
  } else {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const std::uint32_t bits = __float_as_uint(values[i]);
      words[i] = cast.to.low_zeros == 0 ? bits : (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu;
    }
  }
  write_nans<To>(cast, values, words);
}

/// Floats or doubles as elements of 8 bytes.
template <class Float, int kCount>
__device__ __forceinline__ void write_wide(const ElementCast& cast, const Float (&values)[kCount],
                                           std::uint32_t* words) {
  using To = std::uint64_t;
  if (cast.to.kind != NumberKind::floating) {
    visit_sign<To>(cast.to, [&](auto type) {
#pragma unroll
      for (int i = 0; i < kCount; ++i)
        put_bits<To>(words, i, static_cast<To>(truncated<decltype(type)>(values[i])));
    });
    return;
  }
  if constexpr (std::is_same_v<Float, float>) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const double value = static_cast<double>(values[i]);
      const To nan = static_cast<To>(__float_as_uint(values[i]) >> 31) << 63 | cast.nan;
      put_bits<To>(words, i, value == value ? static_cast<To>(__double_as_longlong(value)) : nan);
    }
  }
}

/// Integers as elements of integer types.
template <class To, class Int, int kCount>
__device__ __forceinline__ void write_integers(const ElementCast& cast, const Int (&values)[kCount],
                                               std::uint32_t* words) {
  const bool boolean = cast.to.kind == NumberKind::boolean;
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    put_bits<To>(words, i, static_cast<To>(boolean ? Int{values[i] != 0} : values[i]));
}

}  // namespace relayout::RELAYOUT_BACKEND
