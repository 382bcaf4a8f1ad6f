// Pairs of f64 numbers, in vectors: the second number is what the first one has lost. For vector functions
// that need more than f64's own precision.
#pragma once

#include <cstdint>

#include "core/elementwise_params.hpp"
#include "host/cpu/elementwise/vector_words.hpp"

#if defined(RELAYOUT_X86)

namespace relayout::native::RELAYOUT_VECTORS {

/// NaN stays.
RELAYOUT_VECTOR inline Doubles between(double low, double high, Doubles x) {
  return at_least(all(low), at_most(all(high), x));
}

struct DoublePair {
  Doubles high, low;
};

/// a + b, where |a| >= |b| or a is 0.
RELAYOUT_VECTOR inline DoublePair sum_of(Doubles a, Doubles b) {
  const Doubles sum = a + b;
  return {sum, (a - sum) + b};
}
/// a + b of any two numbers (Knuth, The Art of Computer Programming, volume 2, 4.2.2).
RELAYOUT_VECTOR inline DoublePair sum_of_any(Doubles a, Doubles b) {
  const Doubles sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}
RELAYOUT_VECTOR inline DoublePair product_of(Doubles a, DoublePair b) {
  const Doubles product = a * b.high;
  return {product, fma(a, b.low, fms(a, b.high, product))};
}
RELAYOUT_VECTOR inline DoublePair product_of(DoublePair a, DoublePair b) {
  const DoublePair product = product_of(a.high, b);
  return {product.high, fma(a.low, b.high, product.low)};
}
RELAYOUT_VECTOR inline DoublePair quotient_of(DoublePair a, DoublePair b) {
  const Doubles quotient = a.high / b.high;
  const Doubles rest = fnma(quotient, b.high, a.high) + fnma(quotient, b.low, a.low);
  return {quotient, rest / b.high};
}
/// The second number is 0 or none where the first one is 0, whose sign stays, or infinite.
RELAYOUT_VECTOR inline Doubles rounded(DoublePair a) {
  return if_equal_or_nan(a.low, all(0), a.high, a.high + a.low);
}

/// `result`, but what the C library gives where a bit of `which` is set.
template <double (*kLibrary)(double)>
RELAYOUT_VECTOR Doubles one_by_one(unsigned which, Doubles x, Doubles result) {
  double numbers[kDoubles], results[kDoubles];
  store(x, numbers);
  store(result, results);
  for (unsigned i = 0; i < kDoubles; ++i) {
    if ((which & 1u << i) != 0) results[i] = kLibrary(numbers[i]);
  }
  return load(results);
}
template <double (*kLibrary)(double, double)>
RELAYOUT_VECTOR Doubles one_by_one(unsigned which, Doubles x, Doubles y, Doubles result) {
  double first[kDoubles], second[kDoubles], results[kDoubles];
  store(x, first);
  store(y, second);
  store(result, results);
  for (unsigned i = 0; i < kDoubles; ++i) {
    if ((which & 1u << i) != 0) results[i] = kLibrary(first[i], second[i]);
  }
  return load(results);
}

/// Rows of functions of one and of two numbers.
template <Doubles (*kFunction)(Doubles)>
RELAYOUT_VECTOR void row_of_doubles(const void* a, const void*, const void*, void* r, std::int64_t count,
                                    const ElementwiseParams&) {
  struct Function {
    RELAYOUT_VECTOR Doubles operator()(Doubles x, Doubles) const { return kFunction(x); }
  };
  each_vector<double>(a, a, r, count, Function{});
}
template <Doubles (*kFunction)(Doubles, Doubles)>
RELAYOUT_VECTOR void row_of_two_doubles(const void* a, const void* b, const void*, void* r,
                                        std::int64_t count, const ElementwiseParams&) {
  struct Function {
    RELAYOUT_VECTOR Doubles operator()(Doubles x, Doubles y) const { return kFunction(x, y); }
  };
  each_vector<double>(a, b, r, count, Function{});
}

}  // namespace relayout::native::RELAYOUT_VECTORS
#endif
