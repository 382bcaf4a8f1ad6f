// From the elements' bits to the numbers that are computed with, and back. int32 holds all integers of up to
// 32 bits, and the bits of unsigned ones of 32; int64 holds integers of 64 bits; float holds f16, bf16 and
// f32.
#pragma once

#include "core/convert_bits.hpp"
#include "kernels/elementwise/byte_operations.hpp"
#include "kernels/elementwise/elementwise_words.hpp"

namespace relayout::RELAYOUT_BACKEND {

template <class C>
constexpr bool is_real = std::is_floating_point_v<C>;

/// An integer as a float that, rounded to f16 or bf16, gives what one rounding of the integer gives: bits
/// beyond 24 make the last one a sticky bit (S. Boldo, G. Melquiond, "Emulation of FMA and correctly rounded
/// sums", 2008).
template <class S>
__device__ __forceinline__ float marked_float(S value) {
  const bool negative = std::is_signed_v<S> && static_cast<std::make_signed_t<S>>(value) < 0;
  const std::uint64_t bits = static_cast<std::uint64_t>(value);
  const std::uint64_t magnitude = negative ? 0 - bits : bits;
  if (magnitude < 1u << 24) return static_cast<float>(static_cast<std::int32_t>(value));
  const int drop = 40 - leading_zeros(magnitude);
  std::uint64_t kept = magnitude >> drop;
  if (kept << drop != magnitude) kept |= 1;
  const float scale = __uint_as_float(static_cast<std::uint32_t>(127 + drop) << 23);
  const float result = static_cast<float>(static_cast<std::int32_t>(kept)) * scale;  // exact
  return negative ? -result : result;
}

/// kVectors vectors of kWidth elements each, and the numbers of all of them.
template <int kVectors>
using Vectors = Words[kVectors];

/// S is the element's type. Wide integers are rounded to C once.
template <class S, int kWidth, class C, int kVectors, int kCount>
__device__ __forceinline__ void read_integers(const Vectors<kVectors>& vectors, bool marked,
                                              C (&numbers)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const S value = static_cast<S>(element_of<std::make_unsigned_t<S>>(vectors[i / kWidth], i % kWidth));
    if constexpr (std::is_same_v<C, float> && sizeof(S) >= 4) {
      numbers[i] = marked ? marked_float(value) : static_cast<float>(value);
    } else if constexpr (is_real<C> && sizeof(S) <= 2) {
      numbers[i] = static_cast<C>(static_cast<std::int32_t>(value));
    } else {
      numbers[i] = static_cast<C>(value);
    }
  }
}

template <class S, int kWidth, class C, int kVectors, int kCount>
__device__ __forceinline__ void read_halves(const Vectors<kVectors>& vectors, C (&numbers)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; i += 2) {
    float pair[2];
    word_to_floats(S{}, vectors[i / kWidth].values[i % kWidth / 2], pair);
    numbers[i] = static_cast<C>(pair[0]);
    numbers[i + 1] = static_cast<C>(pair[1]);
  }
}

/// Reads x != 0 from elements of any type; zeros of either sign are the only floats whose bits below the sign
/// are all 0.
template <class Bits, int kWidth, class C, int kVectors, int kCount>
__device__ __forceinline__ void read_truths(const Vectors<kVectors>& vectors, bool floating,
                                            C (&numbers)[kCount]) {
  const Bits all = static_cast<Bits>(~Bits{0}), counted = static_cast<Bits>(floating ? all >> 1 : all);
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    numbers[i] = static_cast<C>((element_of<Bits>(vectors[i / kWidth], i % kWidth) & counted) != 0 ? 1 : 0);
}

template <int kWidth, class C, int kVectors, int kCount>
__device__ __forceinline__ void read_bools(const Vectors<kVectors>& vectors, C (&numbers)[kCount]) {
  Words truths[kVectors];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
#pragma unroll
    for (int k = 0; k < 4; ++k) truths[v].values[k] = byte_truths(vectors[v].values[k]);
  }
  read_integers<std::uint8_t, kWidth>(truths, false, numbers);
}

/// Rounds the numbers where `type` is f16 or bf16, and leaves them as they are for other types.
template <int kCount>
__device__ __forceinline__ void round_to_half(DType type, float (&numbers)[kCount]) {
  if (type == DType::f16) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) numbers[i] = half_to_float(float_to_half(numbers[i]));
  } else if (type == DType::bf16) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) numbers[i] = bfloat_to_float(float_to_bfloat(numbers[i]));
  }
}

template <int kWidth, class C, int kVectors, int kCount>
__device__ __forceinline__ void read_values(DType type, bool marked, const Vectors<kVectors>& vectors,
                                            C (&numbers)[kCount]) {
  constexpr bool kReal = is_real<C>;
  if constexpr (kWidth <= 4 && std::is_same_v<C, float>) {
    if (type == DType::f32) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) numbers[i] = __uint_as_float(vectors[i / kWidth].values[i % kWidth]);
      return;
    }
  }
  if constexpr (kWidth <= 2 && std::is_same_v<C, double>) {
    if (type == DType::f64) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v) memcpy(numbers + v * kWidth, &vectors[v], kWidth * sizeof(C));
      return;
    }
    if (type == DType::f32) {
#pragma unroll
      for (int i = 0; i < kCount; ++i)
        numbers[i] = static_cast<C>(__uint_as_float(vectors[i / kWidth].values[i % kWidth]));
      return;
    }
  }
  if constexpr (kWidth <= 8 && kReal) {
    if (type == DType::f16) return read_halves<f16, kWidth>(vectors, numbers);
    if (type == DType::bf16) return read_halves<bf16, kWidth>(vectors, numbers);
  }
  switch (type) {
    case DType::bool_:
      return read_bools<kWidth>(vectors, numbers);
    case DType::u8:
      return read_integers<std::uint8_t, kWidth>(vectors, false, numbers);
    case DType::i8:
      return read_integers<std::int8_t, kWidth>(vectors, false, numbers);
    default:
      break;
  }
  if constexpr (kWidth <= 8) {
    if (type == DType::u16) return read_integers<std::uint16_t, kWidth>(vectors, false, numbers);
    if (type == DType::i16) return read_integers<std::int16_t, kWidth>(vectors, false, numbers);
  }
  if constexpr (kWidth <= 4) {
    if (type == DType::u32) return read_integers<std::uint32_t, kWidth>(vectors, marked, numbers);
    if (type == DType::i32) return read_integers<std::int32_t, kWidth>(vectors, marked, numbers);
  }
  if constexpr (kWidth <= 2 && (kReal || sizeof(C) == 8)) {
    if (type == DType::u64) return read_integers<std::uint64_t, kWidth>(vectors, marked, numbers);
    if (type == DType::i64) return read_integers<std::int64_t, kWidth>(vectors, marked, numbers);
  }
}

/// The numbers must be 0 before the call.
template <int kWidth, class C, int kVectors, int kCount>
__device__ __forceinline__ void read_numbers(const ElementwiseParams& p, const TensorOperand& tensor,
                                             const Vectors<kVectors>& vectors, C (&numbers)[kCount]) {
  if (tensor.reading == Reading::as_bool) {
    if (tensor.bytes == 1) return read_bools<kWidth>(vectors, numbers);
    const bool floating = tensor.type >= DType::f16;
    visit_fitting_sizes<kWidth>(tensor.bytes, [&](auto bits) {
      read_truths<typename decltype(bits)::type, kWidth>(vectors, floating, numbers);
    });
    return;
  }
  read_values<kWidth>(tensor.type, tensor.reading == Reading::round_to_half, vectors, numbers);
  if constexpr (std::is_same_v<C, float>) {
    if (tensor.reading == Reading::round_to_half) round_to_half(p.common, numbers);
  }
}

template <class C>
__device__ __forceinline__ C constant_of(std::uint64_t bits) {
  C value;
  if constexpr (sizeof(C) == 4) {
    const std::uint32_t low = static_cast<std::uint32_t>(bits);
    memcpy(&value, &low, sizeof value);
  } else {
    memcpy(&value, &bits, sizeof value);
  }
  return value;
}

/// Makes of each number what an intermediate result, stored in the common type, would be read as.
template <class C, int kCount>
__device__ __forceinline__ void narrow(const ElementwiseParams& p, C (&numbers)[kCount]) {
  if constexpr (std::is_same_v<C, float>) {
    round_to_half(p.common, numbers);
  } else if constexpr (std::is_same_v<C, std::int32_t>) {
    const int spare = 32 - 8 * p.common_bytes;
    const bool has_sign = p.common == DType::i8 || p.common == DType::i16;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const std::uint32_t high = static_cast<std::uint32_t>(numbers[i]) << spare;
      numbers[i] =
          has_sign ? static_cast<std::int32_t>(high) >> spare : static_cast<std::int32_t>(high >> spare);
    }
  }
}

/// The low bytes of four numbers.
__device__ __forceinline__ std::uint32_t joined_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                                      std::uint32_t d) {
  return permute_bytes<0x5410>(permute_bytes<0x0040>(a, b), permute_bytes<0x0040>(c, d));
}

/// The low bits of integers.
template <class Bits, int kWidth, class C>
__device__ __forceinline__ Words write_integers(const C* numbers) {
  Words words{};
  if constexpr (sizeof(Bits) == 1 && kWidth % 4 == 0) {
#pragma unroll
    for (int i = 0; i < kWidth; i += 4) {
      const auto bits = [&](int k) { return static_cast<std::uint32_t>(numbers[i + k]); };
      words.values[i / 4] = joined_bytes(bits(0), bits(1), bits(2), bits(3));
    }
  } else {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) put_element<Bits>(words, i, static_cast<Bits>(numbers[i]));
  }
  return words;
}

template <class S, int kWidth>
__device__ __forceinline__ Words write_halves(const float* numbers) {
  Words words{};
#pragma unroll
  for (int i = 0; i < kWidth; i += 2) {
    const float pair[2] = {numbers[i], numbers[i + 1]};
    words.values[i / 2] = floats_to_word(S{}, pair);
  }
  return words;
}

/// The bits of elements of `type`, kWidth to a vector: one rounding to 16-bit floats, the low bits of
/// integers; bool from 0 and 1.
template <int kWidth, class C, int kVectors, int kCount>
__device__ __forceinline__ void write_numbers(DType type, int bytes, const C (&numbers)[kCount],
                                              Vectors<kVectors>& vectors) {
  const auto each = [&](auto&& write) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) vectors[v] = write(numbers + v * kWidth);
  };
  if constexpr (is_real<C>) {
    if (type == DType::bool_) {
      std::int32_t truths[kCount];
#pragma unroll
      for (int i = 0; i < kCount; ++i) truths[i] = numbers[i] != 0 ? 1 : 0;
#pragma unroll
      for (int v = 0; v < kVectors; ++v)
        vectors[v] = write_integers<std::uint8_t, kWidth>(truths + v * kWidth);
      return;
    }
    if constexpr (std::is_same_v<C, float>) {
      if (type == DType::f16) return each([](const float* x) { return write_halves<f16, kWidth>(x); });
      if (type == DType::bf16) return each([](const float* x) { return write_halves<bf16, kWidth>(x); });
    }
    if constexpr (kWidth * sizeof(C) <= 16) {
      each([](const C* x) {
        Words words{};
        memcpy(&words, x, kWidth * sizeof(C));
        return words;
      });
    }
  } else {
    visit_fitting_sizes<kWidth>(bytes, [&](auto tag) {
      each([](const C* x) { return write_integers<typename decltype(tag)::type, kWidth>(x); });
    });
  }
}

/// Converts between two types, an element at a time: this is rare, so the code has it once.
template <int kWidth>
__device__ __forceinline__ Words convert_words(const ElementwiseParams& p, const Words& words) {
  Words converted{};
#pragma unroll 1
  for (int i = 0; i < kWidth; ++i) {
    const std::uint64_t bits = convert_bits<std::uint64_t>(p.cast, any_element(words, i, p.result_bytes));
    put_any(converted, i, p.out_bytes, bits & (~std::uint64_t{0} >> (64 - 8 * p.out_bytes)));
  }
  return converted;
}

}  // namespace relayout::RELAYOUT_BACKEND
