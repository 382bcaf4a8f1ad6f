// One operation in f32, or a conversion alone, on a lane's elements, which are codes or numbers, as is the
// result. The compiler knows how many elements a lane has; only the launch knows their types, scales and
// operation, so all lanes take the same branches, once for all elements of a lane.
//
// A Place says where they lie: elements<Bits>(p, tensor, numbers) loads the bits of a lane's elements of a
// tensor into numbers that are 0 before, and leaves those that do not exist; first<Bits>(p, tensor) loads the
// element of a tensor that has one for all of them; store(p, elements) stores the output's. There are
// kTensors at most, with the numbers that core/elementwise_params.hpp says, so that the compiler knows which
// is which.
#pragma once

#include "kernels/elementwise/cheap_operations.hpp"
#include "kernels/elementwise/code_numbers.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// The scales of a lane's codes, and the zero point that they share. With kEach, each code may have a scale
/// of its own.
template <bool kEach, int kCount>
struct CodeScales {
  static constexpr int kScales = kEach ? kCount : 1;
  float scales[kScales] = {};
  std::int32_t zero = 0;

  /// party: 0 or 1 for an operand, 2 for the output.
  template <class Place>
  __device__ __forceinline__ void load(const ElementwiseParams& p, const CodeNumbers& codes, int party,
                                       const Place& place) {
    std::uint32_t bits[kScales];
#pragma unroll
    for (std::uint32_t& scale : bits) scale = __float_as_uint(codes.scale);
    zero = codes.zero;
    if constexpr (Place::kTensors > kScaleTensors) {
      if (codes.scale_tensor >= 0) {
        if constexpr (kEach) {
          place.template elements<std::uint32_t>(p, kScaleTensors + party, bits);
        } else {
          bits[0] = place.template first<std::uint32_t>(p, kScaleTensors + party);
        }
      }
    }
    if constexpr (Place::kTensors > kZeroTensors) {
      if (codes.zero_tensor >= 0)
        zero = code_of(place.template first<std::uint8_t>(p, kZeroTensors + party), codes.is_signed);
    }
#pragma unroll
    for (int i = 0; i < kScales; ++i) scales[i] = __uint_as_float(bits[i]);
  }
  __device__ __forceinline__ float scale(int i) const { return scales[kEach ? i : 0]; }

  /// Whether all scales lie in the range where their reciprocals may be used.
  __device__ __forceinline__ bool fold() const {
    bool result = true;
#pragma unroll
    for (const float scale : scales) result &= scale >= kMinFoldedScale && scale <= kMaxFoldedScale;
    return result;
  }
};

/// A byte becomes the low bits of a float between 2^23 and 2^24; flipping the highest bit of signed codes
/// puts them in order.
template <bool kEach, int kCount>
__device__ __forceinline__ void numbers_of_codes(const std::uint32_t (&bits)[kCount],
                                                 const CodeScales<kEach, kCount>& codes, bool is_signed,
                                                 float (&numbers)[kCount]) {
  const std::uint32_t flip = is_signed ? 0x80 : 0;
  const float offset = 0x1p23f + static_cast<float>(is_signed ? codes.zero + 128 : codes.zero);
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    numbers[i] = (__uint_as_float((bits[i] ^ flip) | kCodeExponent) - offset) * codes.scale(i);
}

/// An operand as it lies in memory. It is loaded before anything is computed, so that the loads of all
/// operands are under way together.
template <bool kEach, int kCount>
struct CodeOperand {
  std::uint32_t bits[kCount] = {};
  CodeScales<kEach, kCount> codes;

  template <class Place>
  __device__ __forceinline__ void load(const ElementwiseParams& p, int number, const Place& place) {
    if (p.argument[number].tensor < 0) return;
    visit_fitting_sizes<4>(p.tensor[number].bytes, [&](auto tag) {
      place.template elements<typename decltype(tag)::type>(p, number, bits);
    });
    if (p.tensor[number].reading == Reading::codes) codes.load(p, p.codes[number], number, place);
  }

  __device__ __forceinline__ void numbers(const ElementwiseParams& p, int number,
                                          float (&numbers)[kCount]) const {
    const auto each_number = [&](auto&& number_of) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) numbers[i] = number_of(i);
    };
    if (p.argument[number].tensor < 0)
      return each_number([&](int) { return __uint_as_float(p.argument[number].low); });
    const TensorOperand& tensor = p.tensor[number];
    if (tensor.reading == Reading::codes)
      return numbers_of_codes(bits, codes, p.codes[number].is_signed, numbers);
    const auto half = [&](int i) { return static_cast<std::uint16_t>(bits[i]); };
    if (tensor.type == DType::f16) return each_number([&](int i) { return half_to_float(f16{half(i)}); });
    if (tensor.type == DType::bf16) return each_number([&](int i) { return bfloat_to_float(bf16{half(i)}); });
    each_number([&](int i) { return __uint_as_float(bits[i]); });
  }
};

/// The codes of numbers, by the reciprocals of their scales, which lie between kMinFoldedScale and
/// kMaxFoldedScale: a division takes a hundred instructions for a number of 0. With kExact, quotients are
/// rounded once, as by a division; without it the code beside a tie may be the neighbour of what a division
/// gives.
template <bool kExact, bool kEach, int kCount>
__device__ __forceinline__ void fold_codes(const float (&numbers)[kCount],
                                           const CodeScales<kEach, kCount>& codes, bool is_signed,
                                           std::uint8_t (&results)[kCount]) {
  const auto low = static_cast<float>((is_signed ? -128 : 0) - codes.zero), high = low + 255.0f;
  const std::uint32_t zero = static_cast<std::uint32_t>(codes.zero) - kWholeBits;
  float reciprocals[CodeScales<kEach, kCount>::kScales];
#pragma unroll
  for (int i = 0; i < codes.kScales; ++i) reciprocals[i] = 1.0f / codes.scales[i];
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const float scale = codes.scale(i), reciprocal = reciprocals[kEach ? i : 0];
    float units = numbers[i] * reciprocal;
    if constexpr (kExact) {
      // Numbers are clamped far beyond the codes, so that nothing overflows. Two corrections by the remainder
      // make up for the reciprocal's rounding: after the first the quotient is off by less than its last bit,
      // after the second it is right (Markstein, IA-64 and Elementary Functions, chapter 8).
      const float limit = 1024.0f * scale, inside = fminf(fmaxf(numbers[i], -limit), limit);
      units = inside * reciprocal;
      units = fmaf(fmaf(-units, scale, inside), reciprocal, units);
      units = fmaf(fmaf(-units, scale, inside), reciprocal, units);
    }
    units = numbers[i] == numbers[i] ? units : 0.0f;
    const float inside = fminf(fmaxf(units, low), high);
    results[i] = static_cast<std::uint8_t>(__float_as_uint(inside + kWhole) + zero);
  }
}

/// The codes of any numbers, by divisions.
template <bool kEach, int kCount>
__device__ __forceinline__ void divided_codes(const float (&numbers)[kCount],
                                              const CodeScales<kEach, kCount>& codes, bool is_signed,
                                              std::uint8_t (&results)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    results[i] = static_cast<std::uint8_t>(code_of_number(numbers[i], codes.zero, codes.scale(i), is_signed));
}

template <bool kEach, int kCount>
__device__ __forceinline__ void codes_of_numbers(const ElementwiseParams& p, const float (&numbers)[kCount],
                                                 const CodeScales<kEach, kCount>& codes,
                                                 std::uint8_t (&results)[kCount]) {
  const bool is_signed = p.out_codes.is_signed;
  if (!codes.fold()) return divided_codes(numbers, codes, is_signed, results);
  return p.steps == 0 ? fold_codes<true>(numbers, codes, is_signed, results)
                      : fold_codes<false>(numbers, codes, is_signed, results);
}

/// Makes a lane's elements of the output.
template <bool kEach, int kCount, class Place>
__device__ __forceinline__ void make_codes(const ElementwiseParams& p, const Place& place) {
  const Operation operation = p.step[0].operation;
  const int operands = p.steps == 0 ? 1 : p.step[0].operands;
  CodeOperand<kEach, kCount> first, second;
  CodeScales<kEach, kCount> out;
  first.load(p, 0, place);
  if (operands >= 2) second.load(p, 1, place);
  if (p.out_coded) out.load(p, p.out_codes, 2, place);
  float a[kCount], b[kCount] = {}, c[kCount];
  first.numbers(p, 0, a);
  if (operands >= 2) second.numbers(p, 1, b);
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
