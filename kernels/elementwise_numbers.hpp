// From the elements' bits to the numbers that are computed with, and back. Computing types: int32 holds all
// integers of up to 32 bits, unsigned ones of 32 as their bits; int64 those of 64; float f16, bf16 and f32.
#pragma once

#include "kernels/convert_bits.hpp"
#include "kernels/elementwise_words.hpp"

namespace relayout::RELAYOUT_BACKEND {

template <class C>
constexpr bool is_real = std::is_floating_point_v<C>;

/// An integer as a float of which a rounding to f16 or bf16 gives what one rounding of the integer gives:
/// bits beyond 24 leave a mark in the last one (S. Boldo, G. Melquiond, "Emulation of FMA and correctly
/// rounded sums", 2008).
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

/// S: the element's type. Wide integers are rounded to C once.
template <class C, class S, int kWidth>
__device__ __forceinline__ void read_integers(const Words& words, bool marked, C (&numbers)[kWidth]) {
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    const S value = static_cast<S>(element_of<std::make_unsigned_t<S>>(words, i));
    if constexpr (std::is_same_v<C, float> && sizeof(S) >= 4) {
      numbers[i] = marked ? marked_float(value) : static_cast<float>(value);
    } else if constexpr (is_real<C> && sizeof(S) <= 2) {
      numbers[i] = static_cast<C>(static_cast<std::int32_t>(value));
    } else {
      numbers[i] = static_cast<C>(value);
    }
  }
}

template <class C, class S, int kWidth>
__device__ __forceinline__ void read_halves(const Words& words, C (&numbers)[kWidth]) {
#pragma unroll
  for (int i = 0; i < kWidth; i += 2) {
    float pair[2];
    word_to_floats(S{}, words.values[i / 2], pair);
    numbers[i] = static_cast<C>(pair[0]);
    numbers[i + 1] = static_cast<C>(pair[1]);
  }
}

/// x != 0 of elements of any type; zeros of either sign are the only floats whose bits below the sign are 0.
template <class C, class Bits, int kWidth>
__device__ __forceinline__ void read_truths(const Words& words, bool floating, C (&numbers)[kWidth]) {
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    const Bits bits = element_of<Bits>(words, i);
    numbers[i] = static_cast<C>((floating ? static_cast<Bits>(bits << 1) : bits) != 0 ? 1 : 0);
  }
}

/// Calls visit(TypeTag<Bits>) for the sizes of which kWidth elements fit 16 bytes.
template <int kWidth, class Visit>
__device__ __forceinline__ void visit_fitting_sizes(int bytes, Visit&& visit) {
  if (bytes == 1) return visit(TypeTag<std::uint8_t>{});
  if constexpr (kWidth <= 8) {
    if (bytes == 2) return visit(TypeTag<std::uint16_t>{});
  }
  if constexpr (kWidth <= 4) {
    if (bytes == 4) return visit(TypeTag<std::uint32_t>{});
  }
  if constexpr (kWidth <= 2) {
    if (bytes == 8) return visit(TypeTag<std::uint64_t>{});
  }
}

/// The numbers of 16-bit floats' type, or, of any other type, as they are.
template <int kWidth>
__device__ __forceinline__ void round_to_half(DType type, float (&numbers)[kWidth]) {
  if (type == DType::f16) {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) numbers[i] = half_to_float(float_to_half(numbers[i]));
  } else if (type == DType::bf16) {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) numbers[i] = bfloat_to_float(float_to_bfloat(numbers[i]));
  }
}

template <class C, int kWidth>
__device__ __forceinline__ void read_values(DType type, bool marked, const Words& words,
                                            C (&numbers)[kWidth]) {
  constexpr bool kReal = is_real<C>;
  switch (type) {
    case DType::bool_:
      return read_truths<C, std::uint8_t>(words, false, numbers);
    case DType::u8:
      return read_integers<C, std::uint8_t>(words, false, numbers);
    case DType::i8:
      return read_integers<C, std::int8_t>(words, false, numbers);
    default:
      break;
  }
  if constexpr (kWidth <= 8) {
    if (type == DType::u16) return read_integers<C, std::uint16_t>(words, false, numbers);
    if (type == DType::i16) return read_integers<C, std::int16_t>(words, false, numbers);
    if constexpr (kReal) {
      if (type == DType::f16) return read_halves<C, f16>(words, numbers);
      if (type == DType::bf16) return read_halves<C, bf16>(words, numbers);
    }
  }
  if constexpr (kWidth <= 4) {
    if (type == DType::u32) return read_integers<C, std::uint32_t>(words, marked, numbers);
    if (type == DType::i32) return read_integers<C, std::int32_t>(words, marked, numbers);
    if constexpr (kReal) {
      if (type == DType::f32) {
#pragma unroll
        for (int i = 0; i < kWidth; ++i) numbers[i] = static_cast<C>(__uint_as_float(words.values[i]));
        return;
      }
    }
  }
  if constexpr (kWidth <= 2 && sizeof(C) == 4) {
    if constexpr (kReal) {
      if (type == DType::u64) return read_integers<C, std::uint64_t>(words, marked, numbers);
      if (type == DType::i64) return read_integers<C, std::int64_t>(words, marked, numbers);
    }
  } else if constexpr (kWidth <= 2) {
    if (type == DType::u64) return read_integers<C, std::uint64_t>(words, false, numbers);
    if (type == DType::i64) return read_integers<C, std::int64_t>(words, false, numbers);
    if constexpr (std::is_same_v<C, double>) {
      if (type == DType::f64) {
        memcpy(numbers, &words, sizeof numbers);
        return;
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kWidth; ++i) numbers[i] = 0;  // no such type is read at this width
}

template <class C, int kWidth>
__device__ __forceinline__ void read_numbers(const ElementwiseParams& p, const TensorOperand& tensor,
                                             const Words& words, C (&numbers)[kWidth]) {
  if (tensor.reading == Reading::truth) {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) numbers[i] = 0;
    const NumberKind kind = number_format(tensor.type).kind;
    visit_fitting_sizes<kWidth>(bytes_of(tensor.type), [&](auto bits) {
      read_truths<C, typename decltype(bits)::type>(words, kind == NumberKind::floating, numbers);
    });
    return;
  }
  read_values(tensor.type, tensor.reading == Reading::half, words, numbers);
  if constexpr (std::is_same_v<C, float>) {
    if (tensor.reading == Reading::half) round_to_half(p.common, numbers);
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

/// What an intermediate result of the common type would read as.
template <class C, int kWidth>
__device__ __forceinline__ void narrow(DType common, C (&numbers)[kWidth]) {
  if constexpr (std::is_same_v<C, float>) {
    round_to_half(common, numbers);
  } else if constexpr (std::is_same_v<C, std::int32_t>) {
    const int spare = 32 - 8 * bytes_of(common);
    const bool has_sign = common == DType::i8 || common == DType::i16;
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      const std::uint32_t high = static_cast<std::uint32_t>(numbers[i]) << spare;
      numbers[i] =
          has_sign ? static_cast<std::int32_t>(high) >> spare : static_cast<std::int32_t>(high >> spare);
    }
  }
}

/// The bits of elements of `type`: one rounding to 16-bit floats, the low bits of integers; bool from 0
/// and 1.
template <class C, int kWidth>
__device__ __forceinline__ Words write_numbers(DType type, const C (&numbers)[kWidth]) {
  Words words{};
  if constexpr (is_real<C>) {
    if (type == DType::bool_) {
#pragma unroll
      for (int i = 0; i < kWidth; ++i) put_element<std::uint8_t>(words, i, numbers[i] != 0 ? 1 : 0);
    } else if constexpr (std::is_same_v<C, double>) {
      memcpy(&words, numbers, sizeof words);
    } else if (type == DType::f16 || type == DType::bf16) {
#pragma unroll
      for (int i = 0; i < kWidth; i += 2) {
        if constexpr (kWidth <= 8) {
          const float pair[2] = {numbers[i], numbers[i + 1]};
          words.values[i / 2] =
              type == DType::f16 ? floats_to_word(f16{}, pair) : floats_to_word(bf16{}, pair);
        }
      }
    } else if constexpr (kWidth <= 4) {
      memcpy(&words, numbers, sizeof numbers);
    }
  } else {
    visit_fitting_sizes<kWidth>(bytes_of(type), [&](auto tag) {
      using Bits = typename decltype(tag)::type;
#pragma unroll
      for (int i = 0; i < kWidth; ++i) put_element<Bits>(words, i, static_cast<Bits>(numbers[i]));
    });
  }
  return words;
}

/// By a conversion between two types, an element at a time: rare enough to stand in the code once.
template <int kWidth>
__device__ __forceinline__ Words convert_words(const ElementCast& cast, int from, int to,
                                               const Words& words) {
  Words converted{};
#pragma unroll 1
  for (int i = 0; i < kWidth; ++i) {
    const std::uint64_t bits = convert_bits<std::uint64_t>(cast, any_element(words, i, from));
    put_any(converted, i, to, bits & (~std::uint64_t{0} >> (64 - 8 * to)));
  }
  return converted;
}

}  // namespace relayout::RELAYOUT_BACKEND
