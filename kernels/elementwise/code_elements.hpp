// One operation in f32 at most, on the elements that a lane has of codes and numbers, to codes or numbers.
// How many elements a lane has is known to the compiler, their types, scales and operation to the launch: all
// lanes take the same branches, once for all elements of a lane.
//
// A Place says where they lie: elements(p, tensor, elements) loads a lane's elements of a tensor, 0 for those
// that do not exist; first<Bits>(p, tensor) that of a tensor which has one for all of them; store(p,
// elements) stores the output's.
#pragma once

#include "kernels/elementwise/cheap_operations.hpp"
#include "kernels/elementwise/code_numbers.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// The scales and zero points of a lane's codes. kEach: each code may have its own, else all have the same.
template <bool kEach, int kCount>
struct CodeScales {
  static constexpr int kScales = kEach ? kCount : 1;
  float scales[kScales] = {};
  std::int32_t zeros[kScales] = {};

  template <class Place>
  __device__ __forceinline__ void load(const ElementwiseParams& p, const CodeNumbers& codes,
                                       const Place& place) {
    std::uint32_t scale_bits[kScales] = {};
    std::uint8_t zero_bits[kScales] = {};
    load_each(p, codes.scale_tensor, place, scale_bits);
    load_each(p, codes.zero_tensor, place, zero_bits);
#pragma unroll
    for (int i = 0; i < kScales; ++i) {
      scales[i] = codes.scale_tensor < 0 ? codes.scale : __uint_as_float(scale_bits[i]);
      zeros[i] = codes.zero_tensor < 0 ? codes.zero : code_of(zero_bits[i], codes.is_signed);
    }
  }
  __device__ __forceinline__ float scale(int i) const { return scales[kEach ? i : 0]; }
  __device__ __forceinline__ std::int32_t zero(int i) const { return zeros[kEach ? i : 0]; }

 private:
  template <class Place, class Bits>
  static __device__ __forceinline__ void load_each(const ElementwiseParams& p, int tensor, const Place& place,
                                                   Bits (&bits)[kScales]) {
    if (tensor < 0) return;
    if constexpr (kEach) {
      place.elements(p, tensor, bits);
    } else {
      bits[0] = place.template first<Bits>(p, tensor);
    }
  }
};

/// An operand as it lies in memory: loaded before anything is made of it, so that the loads of all operands
/// are under way together.
template <bool kEach, int kCount>
struct CodeOperand {
  std::uint32_t bits[kCount] = {};
  CodeScales<kEach, kCount> codes;

  template <class Place>
  __device__ __forceinline__ void load(const ElementwiseParams& p, const Argument& argument,
                                       const Place& place) {
    if (argument.tensor < 0) return;
    visit_fitting_sizes<4>(p.tensor[argument.tensor].bytes, [&](auto tag) {
      typename decltype(tag)::type elements[kCount];
      place.elements(p, argument.tensor, elements);
#pragma unroll
      for (int i = 0; i < kCount; ++i) bits[i] = elements[i];
    });
    if (p.tensor[argument.tensor].reading == Reading::codes) codes.load(p, p.codes[argument.tensor], place);
  }

  __device__ __forceinline__ void numbers(const ElementwiseParams& p, const Argument& argument,
                                          float (&numbers)[kCount]) const {
    const auto each_number = [&](auto&& number_of) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) numbers[i] = number_of(i);
    };
    if (argument.tensor < 0) return each_number([&](int) { return __uint_as_float(argument.low); });
    const TensorOperand& tensor = p.tensor[argument.tensor];
    if (tensor.reading == Reading::codes) {
      // A byte becomes the low bits of a float from 2^23 on; signed codes are in order with their highest bit
      // flipped.
      const bool is_signed = p.codes[argument.tensor].is_signed;
      const std::uint32_t flip = is_signed ? 0x80 : 0;
      const std::int32_t lowest = is_signed ? 128 : 0;
      return each_number([&](int i) {
        const float offset = 0x1p23f + static_cast<float>(codes.zero(i) + lowest);
        return (__uint_as_float((bits[i] ^ flip) | 0x4b000000u) - offset) * codes.scale(i);
      });
    }
    const auto half = [&](int i) { return static_cast<std::uint16_t>(bits[i]); };
    if (tensor.type == DType::f16) return each_number([&](int i) { return half_to_float(f16{half(i)}); });
    if (tensor.type == DType::bf16) return each_number([&](int i) { return bfloat_to_float(bf16{half(i)}); });
    each_number([&](int i) { return __uint_as_float(bits[i]); });
  }
};

/// The code of a number, by the reciprocal of its scale, which lies between kMinFoldedScale and
/// kMaxFoldedScale. kExact: the quotient is rounded once, as by a division; else beside a tie the code may be
/// the neighbour of what a division gives.
template <bool kExact>
__device__ __forceinline__ std::uint32_t folded_code(float number, std::int32_t zero, float scale,
                                                     float reciprocal, std::int32_t lowest) {
  float units = number * reciprocal;
  if constexpr (kExact) {
    // Far beyond the codes nothing overflows. Twice what is left of the number makes up for the reciprocal's
    // rounding: with the first the quotient is off by less than its last bit, with the second it is right
    // (Markstein, IA-64 and Elementary Functions, chapter 8).
    const float limit = 1024.0f * scale, inside = fminf(fmaxf(number, -limit), limit);
    units = inside * reciprocal;
    units = fmaf(fmaf(-units, scale, inside), reciprocal, units);
    units = fmaf(fmaf(-units, scale, inside), reciprocal, units);
  }
  units = number == number ? units : 0.0f;
  const auto low = static_cast<float>(lowest - zero), high = low + 255.0f;
  const float inside = fminf(fmaxf(units, low), high);
  constexpr float kWhole = 0x1.8p23f;  // a sum with it has no bits below 1
  return __float_as_uint(inside + kWhole) - 0x4b400000u + static_cast<std::uint32_t>(zero);
}

template <bool kEach, int kCount>
__device__ __forceinline__ void codes_of_numbers(const ElementwiseParams& p, const float (&numbers)[kCount],
                                                 const CodeScales<kEach, kCount>& codes,
                                                 std::uint8_t (&results)[kCount]) {
  const bool is_signed = p.out_codes.is_signed;
  if constexpr (!kEach) {
    const float scale = codes.scale(0), reciprocal = 1.0f / scale;
    const std::int32_t zero = codes.zero(0), lowest = is_signed ? -128 : 0;
    const auto fold = [&](auto exact) {
#pragma unroll
      for (int i = 0; i < kCount; ++i)
        results[i] = static_cast<std::uint8_t>(
            folded_code<decltype(exact)::value>(numbers[i], zero, scale, reciprocal, lowest));
    };
    if (scale >= kMinFoldedScale && scale <= kMaxFoldedScale)
      return p.steps == 0 ? fold(std::true_type{}) : fold(std::false_type{});
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    results[i] =
        static_cast<std::uint8_t>(code_of_number(numbers[i], codes.zero(i), codes.scale(i), is_signed));
}

/// Makes a lane's elements of the output.
template <bool kEach, int kCount, class Place>
__device__ __forceinline__ void make_codes(const ElementwiseParams& p, const Place& place) {
  const Operation operation = p.step[0].operation;
  const int operands = p.steps == 0 ? 1 : p.step[0].operands;
  CodeOperand<kEach, kCount> first, second;
  CodeScales<kEach, kCount> out;
  first.load(p, p.argument[0], place);
  if (operands >= 2) second.load(p, p.argument[1], place);
  if (p.out_coded) out.load(p, p.out_codes, place);
  float a[kCount], b[kCount] = {}, c[kCount];
  first.numbers(p, p.argument[0], a);
  if (operands >= 2) second.numbers(p, p.argument[1], b);
#pragma unroll
  for (float& number : c) number = __uint_as_float(p.argument[2].low);
  if (p.steps != 0) cheap_value(p, operation, a, b, c);
  if (p.out_coded) {
    std::uint8_t results[kCount];
    codes_of_numbers(p, a, out, results);
    place.store(p, results);
  } else if (p.out_type == DType::f32) {
    std::uint32_t results[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) results[i] = __float_as_uint(a[i]);
    place.store(p, results);
  } else {
    std::uint16_t results[kCount];
    const bool is_f16 = p.out_type == DType::f16;
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      results[i] = is_f16 ? float_to_half(product_for_half(a[i], 1.0f)).bits : float_to_bfloat(a[i]).bits;
    place.store(p, results);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
