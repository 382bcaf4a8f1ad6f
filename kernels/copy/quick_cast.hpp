// The casts that do what casts do by default (ElementCast::quick), at a few instructions an element where
// convert_bits takes a hundred. The elements of a vector are made floats, doubles or integers, whatever holds
// them and what the result depends on, and then elements of the other type. Which types these are is data: a
// branch for each half of the way that all lanes take, once a vector.
#pragma once

#include "kernels/copy/quick_write.hpp"
#include "kernels/vector.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// The words of converted elements, the last one filled up with zeros.
template <class To, int kCount>
using CastWords = Vector<std::uint32_t, cast_words<To, kCount>>;

template <class To, int kCount>
__device__ __forceinline__ Vector<To, kCount> elements_of_words(const CastWords<To, kCount>& words) {
  Vector<To, kCount> elements;
  memcpy(&elements, &words, sizeof elements);
  return elements;
}

/// Converts elements of T's size to elements of To's size, for a cast that is quick. As words: a choice
/// between this and another conversion's elements would take them apart, byte by byte.
template <class T, class To, int kCount>
__device__ __forceinline__ CastWords<To, kCount> quick_words(const ElementCast& cast,
                                                             const Vector<T, kCount>& in) {
  static_assert(kCount % 2 == 0, "pairs");
  std::uint32_t from[cast_words<T, kCount>] = {};
  CastWords<To, kCount> out = {};
  std::uint32_t* const to = out.values;
  memcpy(from, &in, sizeof in);
  const bool to_f32 = sizeof(To) == 4 && cast.to.low_zeros == 0;
  float floats[kCount];
  bool done = false;
  if (cast.from.kind != NumberKind::floating) {
    using Int = CastInteger<T, To>;
    Int values[kCount];
    read_integers<T>(cast.from, from, values);
    if (cast.to.kind != NumberKind::floating) {
      write_integers<To>(cast, values, to);
      done = true;
    } else {
      // Integers of 1 and 2 bytes are exact in a float; others that are not lie beyond all numbers of f16 and
      // fp8.
      const bool once = sizeof(T) <= 2 || to_f32 || cast.to.bias < 127;
      const auto convert_all = [&](auto type) {
        using Number = decltype(type);
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
          const Number value = static_cast<Number>(values[i]);
          if constexpr (sizeof(To) == 8) {
            put_bits<To>(to, i, static_cast<To>(__double_as_longlong(static_cast<double>(value))));
          } else {
            floats[i] = float_of(value, once);
          }
        }
      };
      if constexpr (sizeof(T) <= 2) {
        convert_all(Int{});
      } else {
        visit_sign<T>(cast.from, convert_all);
      }
      done = sizeof(To) == 8;
    }
  } else {
    if constexpr (sizeof(T) == 8 && sizeof(To) >= 4) {
      if (cast.to.kind != NumberKind::floating) {
        double doubles[kCount];
        memcpy(doubles, from, sizeof doubles);
        if constexpr (sizeof(To) == 8) {
          write_wide(cast, doubles, to);
        } else {
          visit_sign<To>(cast.to, [&](auto type) {
#pragma unroll
            for (int i = 0; i < kCount; ++i)
              put_bits<To>(to, i, static_cast<To>(truncated<decltype(type)>(doubles[i])));
          });
        }
        done = true;
      }
    }
    if (!done) read_floats<T>(cast.from, from, to_f32, floats);
  }
  if (!done) {
    if constexpr (sizeof(To) == 8) {
      write_wide(cast, floats, to);
    } else {
      write_floats<To>(cast, floats, to);
    }
  }
  return out;
}

template <class T, class To, int kCount>
__device__ __forceinline__ Vector<To, kCount> quick_vector(const ElementCast& cast,
                                                           const Vector<T, kCount>& in) {
  return elements_of_words<To, kCount>(quick_words<T, To>(cast, in));
}

}  // namespace relayout::RELAYOUT_BACKEND
