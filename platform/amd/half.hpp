// f16 and bf16 conversions of device code; bit for bit those of relayout/dtype.hpp, NaN payloads apart.
#pragma once

#include "kernel_language.hpp"
#include "relayout/dtype.hpp"

namespace relayout::RELAYOUT_BACKEND {

__device__ __forceinline__ float half_to_float(f16 value) {
  return static_cast<float>(__builtin_bit_cast(_Float16, value.bits));
}
__device__ __forceinline__ f16 float_to_half(float value) {
  return {__builtin_bit_cast(std::uint16_t, static_cast<_Float16>(value))};
}

/// a * b, of which an f16 may be made. The compiler would join a product and the conversion to
/// v_fma_mix_f16 a, b, +0, in which -0 becomes +0. The same instruction with -0 is right, but the compiler
/// must not see what is added, or it would take that for a product, too: no bytes differ, and -0 is added.
__device__ __forceinline__ float product_for_half(float a, float b) {
  return fmaf(a, b, __uint_as_float(__builtin_amdgcn_sad_u8(0, 0, 0x80000000u)));
}

__device__ __forceinline__ float bfloat_to_float(bf16 value) {
  return __uint_as_float(static_cast<unsigned>(value.bits) << 16);
}
/// By integers, since gfx90a and gfx942 have no conversion instruction, and without a branch: eight
/// conversions at a time would need more lane masks than there are scalar registers.
__device__ __forceinline__ bf16 float_to_bfloat(float value) {
  const unsigned bits = __float_as_uint(value);
  const unsigned rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16, quiet = (bits >> 16) | 0x40u;
  const unsigned is_nan = 0u - ((0x7f800000u - (bits & 0x7fffffffu)) >> 31);  // all ones or none
  return {static_cast<std::uint16_t>(rounded ^ ((rounded ^ quiet) & is_nan))};
}

/// The 29 bits that a float cannot hold are gathered in the last one that it can: round to odd within a
/// float's normal range, beyond which f16 has only zeros and infinities. By integers: eight conversions at a
/// time would need more lane masks than there are scalar registers.
__device__ __forceinline__ f16 double_to_half(double value) {
  constexpr std::uint64_t kLost = (std::uint64_t{1} << 29) - 1;
  const std::uint64_t bits = __builtin_bit_cast(std::uint64_t, value);
  const std::uint64_t odd = (bits | ((bits & kLost) + kLost)) & ~kLost;
  return float_to_half(static_cast<float>(__builtin_bit_cast(double, odd)));
}
__device__ __forceinline__ bf16 double_to_bfloat(double value) {
  return float_to_bfloat(detail::round_to_odd(value));
}

// Two numbers at a time, of one word: the first lies in its low half.
__device__ __forceinline__ void word_to_floats(f16, std::uint32_t word, float (&values)[2]) {
  values[0] = half_to_float({static_cast<std::uint16_t>(word & 0xffffu)});
  values[1] = half_to_float({static_cast<std::uint16_t>(word >> 16)});
}
__device__ __forceinline__ void word_to_floats(bf16, std::uint32_t word, float (&values)[2]) {
  values[0] = __uint_as_float(word << 16);
  values[1] = __uint_as_float(word & 0xffff0000u);
}
__device__ __forceinline__ std::uint32_t floats_to_word(f16, const float (&values)[2]) {
  return float_to_half(values[0]).bits | static_cast<std::uint32_t>(float_to_half(values[1]).bits) << 16;
}
__device__ __forceinline__ std::uint32_t floats_to_word(bf16, const float (&values)[2]) {
  return float_to_bfloat(values[0]).bits | static_cast<std::uint32_t>(float_to_bfloat(values[1]).bits) << 16;
}

/// There are no instructions for e4m3fn and e5m2: kernels convert them by integers
/// (kernels/copy/quick_cast.hpp).
constexpr bool kHasFp8Conversion = false;
template <int kFractionBits>
__device__ std::uint32_t floats_to_fp8(float first, float second);                            // never called
__device__ __forceinline__ std::uint32_t e4m3_to_halves(std::uint32_t pair) { return pair; }  // never called

// The two numbers of a word at once; sums and products are rounded once. There are no instructions for bf16.
template <class T>
constexpr bool kHasHalfArithmetic = std::is_same_v<T, f16>;
using HalfPair = _Float16 __attribute__((ext_vector_type(2)));
__device__ __forceinline__ std::uint32_t add_halves(f16, std::uint32_t a, std::uint32_t b) {
  return __builtin_bit_cast(std::uint32_t, __builtin_bit_cast(HalfPair, a) + __builtin_bit_cast(HalfPair, b));
}
__device__ __forceinline__ std::uint32_t sub_halves(f16, std::uint32_t a, std::uint32_t b) {
  return __builtin_bit_cast(std::uint32_t, __builtin_bit_cast(HalfPair, a) - __builtin_bit_cast(HalfPair, b));
}
__device__ __forceinline__ std::uint32_t mul_halves(f16, std::uint32_t a, std::uint32_t b) {
  return __builtin_bit_cast(std::uint32_t, __builtin_bit_cast(HalfPair, a) * __builtin_bit_cast(HalfPair, b));
}

/// All bits of each number for which a < b, or a == b, which no NaN is.
__device__ __forceinline__ std::uint32_t less_halves(f16, std::uint32_t a, std::uint32_t b) {
  return __builtin_bit_cast(std::uint32_t, __builtin_bit_cast(HalfPair, a) < __builtin_bit_cast(HalfPair, b));
}
__device__ __forceinline__ std::uint32_t equal_halves(f16, std::uint32_t a, std::uint32_t b) {
  return __builtin_bit_cast(std::uint32_t,
                            __builtin_bit_cast(HalfPair, a) == __builtin_bit_cast(HalfPair, b));
}
/// All bits of each number that is NaN.
__device__ __forceinline__ std::uint32_t nan_halves(f16, std::uint32_t a) {
  return __builtin_bit_cast(std::uint32_t,
                            __builtin_bit_cast(HalfPair, a) != __builtin_bit_cast(HalfPair, a));
}

/// value / (1 + exp(-value)), off by a few units in the last place.
__device__ __forceinline__ float silu(float value) {
  return product_for_half(value, __builtin_amdgcn_rcpf(1.0f + __expf(-value)));
}

}  // namespace relayout::RELAYOUT_BACKEND
