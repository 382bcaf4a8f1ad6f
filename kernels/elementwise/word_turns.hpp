// Costly operations on the elements of vectors. A few elements are computed side by side, so that one hides
// the latency of another.
#pragma once

#include "kernels/elementwise/half_pairs.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// How many elements are computed side by side.
template <class C>
constexpr int kTurn = 16 / static_cast<int>(sizeof(C));

/// a = f(a, b), or f(a), on kTurn elements of T as numbers of C, in the words from `first` on.
template <class T, class C, int kVectors, class F>
__device__ __forceinline__ void take_turn(int first, Words (&a)[kVectors], const Words (&b)[kVectors],
                                          const F& f) {
  constexpr int kWords = kTurn<C> * static_cast<int>(sizeof(T)) / 4;
  Words x[1] = {}, y[1] = {};
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    x[0].values[i] = a[(first + i) / 4].values[(first + i) % 4];
    y[0].values[i] = b[(first + i) / 4].values[(first + i) % 4];
  }
  C numbers[kTurn<C>] = {}, others[kTurn<C>] = {};
  read_values<kTurn<C>>(dtype_of<T>, false, x, numbers);
  read_values<kTurn<C>>(dtype_of<T>, false, y, others);
  call_each(f, numbers, others);
  write_numbers<kTurn<C>>(dtype_of<T>, sizeof(T), numbers, x);
#pragma unroll
  for (int i = 0; i < kWords; ++i) a[(first + i) / 4].values[(first + i) % 4] = x[0].values[i];
}

/// The same on all words of the vectors, at least on those of the first `count` elements.
template <class T, class C, int kVectors, class F>
__device__ __forceinline__ void in_turns(Words (&a)[kVectors], const Words (&b)[kVectors], int count,
                                         const F& f) {
  constexpr int kStep = kTurn<C> * static_cast<int>(sizeof(T)) / 4;
  constexpr bool kMayStop = may_have_half_strips(std::is_same_v<C, float>, sizeof(T));
#pragma unroll
  for (int turn = 0; turn * kStep < 4 * kVectors; ++turn) {
    if (turn == 0 || !kMayStop || turn * kTurn<C> < count) take_turn<T, C>(turn * kStep, a, b, f);
  }
}

/// Computes a costly operation of one or two operands, rounded to nearest, for the first `count` elements at
/// least. `a` becomes the result. Integers have none of one operand.
template <class T, class C, int kOperands, int kVectors>
__device__ __forceinline__ void costly_words(Operation operation, Words (&a)[kVectors],
                                             const Words (&b)[kVectors], int count) {
  const auto visit = [&](const auto& f) { in_turns<T, C>(a, b, count, f); };
  if constexpr (!is_real<C>) {
    visit_integer<T, C>(operation, visit);
  } else if constexpr (sizeof(T) == 2 && kOperands == 1) {
    visit_half_function<T>(operation, visit);
  } else if constexpr (sizeof(T) == 2) {
    visit_half_pair<T>(operation, visit);
  } else if constexpr (kOperands == 1) {
    visit_function<C>(operation, visit);
  } else {
    visit_costly_pair<C>(operation, visit);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
