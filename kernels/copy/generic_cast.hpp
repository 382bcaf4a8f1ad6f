// Conversions between any two element types in kernels. An instance knows the sizes of both; the parameters
// describe everything else.
#pragma once

#include <type_traits>

#include "core/convert_bits.hpp"
#include "core/copy_operands.hpp"
#include "kernels/copy/quick_cast.hpp"
#include "kernels/element_ops.hpp"
#include "kernels/vector.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// An element of the input before its conversion. It has a type of its own, since the element of the output
/// may be the same unsigned integer.
template <class T>
struct Untyped {
  using Bits = T;
  T bits;
  __device__ __forceinline__ operator T() const { return bits; }
};
template <class T>
constexpr bool is_untyped = false;
template <class T>
constexpr bool is_untyped<Untyped<T>> = true;

/// Converts an Untyped element to the bits of p.out_type, in 32 bits where both types fit them.
template <class To, class T>
__device__ __forceinline__ To generic_convert(const CopyOperands& p, Untyped<T> value) {
  constexpr bool kNarrow = sizeof(T) <= 4 && sizeof(To) <= 4;
  using Word = std::conditional_t<kNarrow, std::uint32_t, std::uint64_t>;
  return static_cast<To>(convert_bits(p.cast, static_cast<Word>(value.bits)));
}

/// How many elements are converted together: 16 bytes of the larger type.
template <class T, class To>
constexpr int piece_count = 16 / static_cast<int>(sizeof(T) > sizeof(To) ? sizeof(T) : sizeof(To));

/// The first element's bytes leave, the others move up.
template <int kBytes, int kWords>
__device__ __forceinline__ void move_up(std::uint32_t (&words)[kWords]) {
  static_assert(kBytes <= 4, "a word or a part of one");
#pragma unroll
  for (int i = 0; i + 1 < kWords; ++i)
    words[i] = kBytes == 4 ? words[i + 1] : __funnelshift_r(words[i], words[i + 1], 8 * kBytes % 32);
  words[kWords - 1] = kBytes == 4 ? 0 : words[kWords - 1] >> (8 * kBytes % 32);
}

/// The general conversion takes about a hundred instructions. For 8 bytes two copies of it stand in the code;
/// smaller elements go through a loop. Their bytes move up, because an index would put them into memory.
template <class T, class To, int kCount>
__device__ __forceinline__ CastWords<To, kCount> convert_words(const CopyOperands& p, Vector<T, kCount> in) {
  if (p.cast.quick) return quick_words<T, To>(p.cast, in);
  CastWords<To, kCount> out = {};
  if constexpr (kCount == 2) {
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      put_bits<To>(out.values, i, generic_convert<To>(p, Untyped<T>{in.values[i]}));
  } else {
    constexpr int kRead = sizeof(T), kWritten = sizeof(To), kLast = kCount * kWritten / 4 - 1;
    std::uint32_t from[kCount * kRead / 4];
    memcpy(from, &in, sizeof from);
#pragma unroll 1
    for (int i = 0; i < kCount; ++i) {
      const To value = generic_convert<To>(p, Untyped<T>{static_cast<T>(from[0])});
      move_up<kRead>(from);
      move_up<kWritten>(out.values);
      out.values[kLast] |= static_cast<std::uint32_t>(value) << (32 - 8 * kWritten);
    }
  }
  return out;
}

template <class T, class To, int kCount>
__device__ __forceinline__ Vector<To, kCount> convert_vector(const CopyOperands& p,
                                                             const Vector<T, kCount>& in) {
  return elements_of_words<To, kCount>(convert_words<T, To>(p, in));
}

/// Calls visit(TypeTag<T>, TypeTag<To>) with the unsigned integers of the elements' sizes.
template <class Visit>
void visit_both_sizes(DType in, DType out, Visit&& visit) {
  visit_element_sizes(in, [&](auto from) { visit_element_sizes(out, [&](auto to) { visit(from, to); }); });
}

}  // namespace relayout::RELAYOUT_BACKEND
