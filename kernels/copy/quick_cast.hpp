// The casts by format for which a processor has instructions: narrow integers to floats and floats to narrow
// integers, at a few instructions an element where convert_bits takes a hundred. ElementCast says whether a
// cast is one of them: a branch that all lanes take, in the instances of the general conversion.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "core/number_format.hpp"
#include "kernels/element_ops.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Whether elements of these sizes may be cast quickly.
template <class T, class To>
constexpr bool from_narrow_integers = sizeof(T) <= 2 && (sizeof(To) == 2 || sizeof(To) == 4);
template <class T, class To>
constexpr bool to_narrow_integers = sizeof(To) <= 2 && (sizeof(T) == 2 || sizeof(T) == 4);
template <class T, class To>
constexpr bool may_be_quick = from_narrow_integers<T, To> || to_narrow_integers<T, To>;

/// Calls visit(number) with one of the float types of T's size.
template <class T, class Visit>
__device__ __forceinline__ void visit_quick_floats(const NumberFormat& format, Visit&& visit) {
  if constexpr (sizeof(T) == 4) {
    visit(0.0f);
  } else if (format.fraction_bits == 10) {
    visit(f16{});
  } else {
    visit(bf16{});
  }
}

template <class T, class Visit>
__device__ __forceinline__ void visit_quick_integers(const NumberFormat& format, Visit&& visit) {
  if (format.kind == NumberKind::integer) return visit(std::make_signed_t<T>{});
  if constexpr (sizeof(T) == 1) {
    if (format.kind == NumberKind::boolean) return visit(false);
  }
  visit(T{});
}

/// Calls visit(from, to) with numbers of both types where the cast is quick, and says whether it is. The sign
/// of an integer that is written does not matter: its bounds are in the cast.
template <class T, class To, class Visit>
__device__ __forceinline__ bool visit_quick(const ElementCast& cast, Visit&& visit) {
  if constexpr (from_narrow_integers<T, To>) {
    if (cast.quick == QuickCast::integer_to_float) {
      visit_quick_integers<T>(
          cast.from, [&](auto from) { visit_quick_floats<To>(cast.to, [&](auto to) { visit(from, to); }); });
      return true;
    }
  }
  if constexpr (to_narrow_integers<T, To>) {
    if (cast.quick == QuickCast::float_to_integer) {
      visit_quick_floats<T>(cast.from, [&](auto from) { visit(from, To{}); });
      return true;
    }
  }
  return false;
}

/// Elements i and i + 1 of words; i is even, and the compiler knows it. They come in pairs, since a word
/// holds two elements of 2 bytes, for which there are instructions.
template <class From>
__device__ __forceinline__ void read_pair(const std::uint32_t* words, int i, float (&values)[2]) {
  if constexpr (std::is_same_v<From, float>) {
    memcpy(values, words + i, sizeof values);
  } else if constexpr (std::is_integral_v<From>) {
    using Bits = std::conditional_t<sizeof(From) == 1, std::uint8_t, std::uint16_t>;
    constexpr int kPerWord = 4 / static_cast<int>(sizeof(From)), kBits = 32 / kPerWord;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const Bits bits = static_cast<Bits>(words[i / kPerWord] >> ((i + k) % kPerWord * kBits));
      values[k] = static_cast<float>(static_cast<int>(static_cast<From>(bits)));
    }
  } else {
    word_to_floats(From{}, words[i / 2], values);
  }
}

/// The words are 0 before the first pair. Numbers beyond the bounds are clamped before they become integers,
/// because the conversion has no result for them, nor for NaN.
template <class To>
__device__ __forceinline__ void write_pair(const ElementCast& cast, std::uint32_t* words, int i,
                                           const float (&values)[2]) {
  if constexpr (std::is_same_v<To, float>) {
    memcpy(words + i, values, sizeof values);
  } else if constexpr (std::is_integral_v<To>) {
    constexpr int kPerWord = 4 / static_cast<int>(sizeof(To)), kBits = 32 / kPerWord;
    // The bounds come from data that the general conversion needs as well: more parameters would spill scalar
    // registers on MI300.
    const float least = -static_cast<float>(static_cast<std::uint32_t>(cast.limit[1]));
    const float most = static_cast<float>(static_cast<std::uint32_t>(cast.limit[0]));
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const float number = values[k] == values[k] ? values[k] : 0.0f;
      const float value = fminf(fmaxf(number, least), most);
      const To bits = static_cast<To>(static_cast<int>(value));
      words[i / kPerWord] |= static_cast<std::uint32_t>(bits) << ((i + k) % kPerWord * kBits);
    }
  } else {
    words[i / 2] = floats_to_word(To{}, values);
  }
}

/// Converts a piece of elements of type From to as many elements of type To.
template <class From, class To, class In, class Out>
__device__ __forceinline__ void convert_quickly(const ElementCast& cast, const In& in, Out& out) {
  constexpr int kCount = static_cast<int>(sizeof(In) / sizeof(From));
  static_assert(kCount % 2 == 0 && sizeof(Out) == kCount * sizeof(To), "as many of both");
  std::uint32_t from[sizeof(In) / 4], to[sizeof(Out) / 4] = {};
  memcpy(from, &in, sizeof from);
#pragma unroll
  for (int i = 0; i < kCount; i += 2) {
    float values[2];
    read_pair<From>(from, i, values);
    write_pair<To>(cast, to, i, values);
  }
  memcpy(&out, to, sizeof out);
}

}  // namespace relayout::RELAYOUT_BACKEND
