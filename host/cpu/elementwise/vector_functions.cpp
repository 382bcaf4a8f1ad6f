// Functions of f32 numbers by the vector functions of the C library (libmvec of glibc 2.35 and later), eight
// at a time. Its error is at most 4 units: f32's functions with a smaller bound are computed in f64, whose
// result is rounded once, those of f16 and bf16 in f32. The last elements of a row are computed in a whole
// vector, too, so that a result does not depend on where its element lies.
#include "host/cpu/elementwise/elementwise_rows.hpp"
#include "host/cpu/processor.hpp"

#if defined(RELAYOUT_X86) && defined(__linux__)
#include <dlfcn.h>

#include <cstring>
#include <limits>
#include <type_traits>

#define RELAYOUT_AVX2 __attribute__((target("avx2")))

namespace relayout::native {
namespace {

using Floats = __m256;
using Doubles = __m256d;

/// The vector of a type: a template's own argument would lose the vectors' attributes.
template <class T>
struct VectorOf {
  using Type = Floats;
};
template <>
struct VectorOf<double> {
  using Type = Doubles;
};
template <class T>
using Vector = typename VectorOf<T>::Type;

/// What the library has for vectors of f32 or of f64.
template <class T>
struct VectorLibrary {
  using OfOne = Vector<T> (*)(Vector<T>);
  using OfTwo = Vector<T> (*)(Vector<T>, Vector<T>);
  OfOne exp, exp2, expm1, log, log2, log1p, sin, cos, tan, sinh, cosh, asin, acos, atan, erf, erfc;
  OfTwo pow, atan2;
  bool is_complete = true;

  explicit VectorLibrary(void* library) {
    find(library, exp, "_ZGVdN4v_exp", "_ZGVdN8v_expf");
    find(library, exp2, "_ZGVdN4v_exp2", "_ZGVdN8v_exp2f");
    find(library, expm1, "_ZGVdN4v_expm1", "_ZGVdN8v_expm1f");
    find(library, log, "_ZGVdN4v_log", "_ZGVdN8v_logf");
    find(library, log2, "_ZGVdN4v_log2", "_ZGVdN8v_log2f");
    find(library, log1p, "_ZGVdN4v_log1p", "_ZGVdN8v_log1pf");
    find(library, sin, "_ZGVdN4v_sin", "_ZGVdN8v_sinf");
    find(library, cos, "_ZGVdN4v_cos", "_ZGVdN8v_cosf");
    find(library, tan, "_ZGVdN4v_tan", "_ZGVdN8v_tanf");
    find(library, sinh, "_ZGVdN4v_sinh", "_ZGVdN8v_sinhf");
    find(library, cosh, "_ZGVdN4v_cosh", "_ZGVdN8v_coshf");
    find(library, asin, "_ZGVdN4v_asin", "_ZGVdN8v_asinf");
    find(library, acos, "_ZGVdN4v_acos", "_ZGVdN8v_acosf");
    find(library, atan, "_ZGVdN4v_atan", "_ZGVdN8v_atanf");
    find(library, erf, "_ZGVdN4v_erf", "_ZGVdN8v_erff");
    find(library, erfc, "_ZGVdN4v_erfc", "_ZGVdN8v_erfcf");
    find(library, pow, "_ZGVdN4vv_pow", "_ZGVdN8vv_powf");
    find(library, atan2, "_ZGVdN4vv_atan2", "_ZGVdN8vv_atan2f");
  }

 private:
  template <class Function>
  void find(void* library, Function& function, const char* of_doubles, const char* of_floats) {
    void* const symbol =
        library == nullptr ? nullptr : dlsym(library, std::is_same_v<T, double> ? of_doubles : of_floats);
    is_complete = is_complete && symbol != nullptr;
    std::memcpy(&function, &symbol, sizeof symbol);
  }
};

/// It stays open: other threads may compute while the program ends.
void* open_library() {
  static void* const library = dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL);
  return library;
}
template <class T>
const VectorLibrary<T>& library() {
  static const VectorLibrary<T> found(open_library());
  return found;
}

template <class T>
RELAYOUT_AVX2 inline Vector<T> all(double value) {
  if constexpr (std::is_same_v<T, double>) {
    return _mm256_set1_pd(value);
  } else {
    return _mm256_set1_ps(static_cast<float>(value));
  }
}
RELAYOUT_AVX2 inline Floats magnitude(Floats x) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x); }
RELAYOUT_AVX2 inline Doubles magnitude(Doubles x) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), x); }
RELAYOUT_AVX2 inline Floats root(Floats x) { return _mm256_sqrt_ps(x); }
RELAYOUT_AVX2 inline Doubles root(Doubles x) { return _mm256_sqrt_pd(x); }
/// NaN stays.
RELAYOUT_AVX2 inline Floats at_least(Floats bound, Floats x) { return _mm256_max_ps(bound, x); }
RELAYOUT_AVX2 inline Doubles at_least(Doubles bound, Doubles x) { return _mm256_max_pd(bound, x); }
RELAYOUT_AVX2 inline Floats at_most(Floats bound, Floats x) { return _mm256_min_ps(bound, x); }
RELAYOUT_AVX2 inline Doubles at_most(Doubles bound, Doubles x) { return _mm256_min_pd(bound, x); }
/// x < 0 ? negative : other.
RELAYOUT_AVX2 inline Floats by_sign(Floats x, Floats negative, Floats other) {
  return _mm256_blendv_ps(other, negative, _mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_LT_OQ));
}
RELAYOUT_AVX2 inline Doubles by_sign(Doubles x, Doubles negative, Doubles other) {
  return _mm256_blendv_pd(other, negative, _mm256_cmp_pd(x, _mm256_setzero_pd(), _CMP_LT_OQ));
}
RELAYOUT_AVX2 inline bool is_any_negative(Floats x) { return _mm256_movemask_ps(x) != 0; }
RELAYOUT_AVX2 inline bool is_any_negative(Doubles x) { return _mm256_movemask_pd(x) != 0; }
/// x == value ? chosen : other.
RELAYOUT_AVX2 inline Floats if_equal(Floats x, Floats value, Floats chosen, Floats other) {
  return _mm256_blendv_ps(other, chosen, _mm256_cmp_ps(x, value, _CMP_EQ_OQ));
}
RELAYOUT_AVX2 inline Doubles if_equal(Doubles x, Doubles value, Doubles chosen, Doubles other) {
  return _mm256_blendv_pd(other, chosen, _mm256_cmp_pd(x, value, _CMP_EQ_OQ));
}
template <class T>
RELAYOUT_AVX2 inline Vector<T> between(double low, double high, Vector<T> x) {
  return at_least(all<T>(low), at_most(all<T>(high), x));
}

// The library computes results that overflow or are subnormal one by one, in ten times the time. So a power
// is the square of that of half the exponent, which is kept where it is far from both; the square overflows
// and underflows as the result must.
template <class T>
constexpr double kMaxExponent = sizeof(T) == 4 ? 87 : 300;

template <class T>
RELAYOUT_AVX2 inline Vector<T> half_exponent(Vector<T> x) {
  return between<T>(-kMaxExponent<T>, kMaxExponent<T>, all<T>(0.5) * x);
}
/// The power of x, by the library's exp or exp2.
template <class T>
RELAYOUT_AVX2 inline Vector<T> power(typename VectorLibrary<T>::OfOne function, Vector<T> x) {
  const Vector<T> root = function(half_exponent<T>(x));
  return root * root;
}
/// exp(x) - 1.
template <class T>
RELAYOUT_AVX2 inline Vector<T> growth(const VectorLibrary<T>& call, Vector<T> x) {
  const Vector<T> of_half = call.expm1(half_exponent<T>(x));
  return of_half * (of_half + all<T>(2));
}
/// exp(-|z|), and 0 where all f32 are greater. Where z is positive it is added to more than its last digit,
/// and does not get smaller than exp(-80).
template <class T>
RELAYOUT_AVX2 inline Vector<T> tail_of(const VectorLibrary<T>& call, Vector<T> z) {
  const Vector<T> least = by_sign(z, all<T>(-std::numeric_limits<double>::infinity()), all<T>(-80));
  const Vector<T> tail = power<T>(call.exp, at_least(least, -magnitude(z)));
  return by_sign(z + all<T>(2 * kMaxExponent<T>), all<T>(0), tail);
}
/// x / (1 + exp(-z)), where x has z's sign or is 1.
template <class T>
RELAYOUT_AVX2 inline Vector<T> gated(const VectorLibrary<T>& call, Vector<T> x, Vector<T> z) {
  const Vector<T> tail = tail_of(call, z), one = all<T>(1);
  return by_sign(z, tail, one) * x / (one + tail);
}
/// For |x| > 1 the result is NaN. The library would compute it one by one, too.
template <class T>
RELAYOUT_AVX2 inline Vector<T> of_sine(typename VectorLibrary<T>::OfOne function, Vector<T> x) {
  const Vector<T> inside = between<T>(-1, 1, x);
  return if_equal(x, inside, function(inside), all<T>(std::numeric_limits<double>::quiet_NaN()));
}
/// A logarithm, which is minus infinity at `pole` and NaN below it: those, too.
template <class T>
RELAYOUT_AVX2 inline Vector<T> logarithm(typename VectorLibrary<T>::OfOne function, Vector<T> x,
                                         double pole) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Vector<T> least = all<T>(pole), above = at_least(least, x);
  const Vector<T> result = function(if_equal(above, least, all<T>(1), x));
  const Vector<T> below =
      if_equal(x, least, all<T>(-kInfinity), all<T>(std::numeric_limits<double>::quiet_NaN()));
  return if_equal(above, least, below, result);
}

template <Operation kOperation, class T>
RELAYOUT_AVX2 inline Vector<T> value(const VectorLibrary<T>& call, Vector<T> x, Vector<T> y) {
  switch (kOperation) {
    case Operation::exp:
      return power<T>(call.exp, x);
    case Operation::exp2:
      return power<T>(call.exp2, x);
    case Operation::expm1:
      return growth(call, x);
    case Operation::log:
      return logarithm<T>(call.log, x, 0);
    case Operation::log2:
      return logarithm<T>(call.log2, x, 0);
    case Operation::log1p:
      return logarithm<T>(call.log1p, x, -1);
    case Operation::sin:
      return call.sin(x);
    case Operation::cos:
      return call.cos(x);
    case Operation::tan:
      return call.tan(x);
    case Operation::sinh: {  // 2 * sinh(x / 2) * cosh(x / 2)
      const Vector<T> sine = call.sinh(half_exponent<T>(x));
      return all<T>(2) * sine * root(all<T>(1) + sine * sine);
    }
    case Operation::cosh: {
      const Vector<T> sine = call.sinh(half_exponent<T>(x));
      return all<T>(1) + all<T>(2) * sine * sine;
    }
    case Operation::tanh: {  // in less time than the library's; from 20 on the result is 1
      const Vector<T> inside = between<T>(-20, 20, x), grown = call.expm1(inside + inside);
      return grown / (grown + all<T>(2));
    }
    case Operation::asin:
      return of_sine<T>(call.asin, x);
    case Operation::acos:
      return of_sine<T>(call.acos, x);
    case Operation::atan:
      return call.atan(x);
    case Operation::erf:
      return call.erf(x);
    case Operation::sigmoid:
      return gated(call, all<T>(1), x);
    case Operation::silu:
      return gated(call, x, x);
    case Operation::gelu: {  // 1 + erf(z) is erfc(-z), which has no cancellation
      // There the product is less than all f16, or all f32.
      constexpr double kLeastTail = sizeof(T) == 4 ? 9 : 26;
      const Vector<T> z = between<T>(-kLeastTail, kLeastTail, x * all<T>(-0.70710678118654752440));
      const Vector<T> tail = call.erfc(z);
      return all<T>(0.5) * x * by_sign(z - all<T>(kLeastTail), tail, all<T>(0));
    }
    case Operation::gelu_tanh:  // 1 + tanh(z) is 2 / (1 + exp(-2 z))
      return gated(call, x, x * (all<T>(1.5957691216057307117) + all<T>(0.071354816272600252) * x * x));
    case Operation::softplus: {  // with log1p as the logarithm of 1 + tail and what that sum has lost
      const Vector<T> tail = tail_of(call, x), sum = all<T>(1) + tail;
      return at_least(all<T>(0), x) + (call.log(sum) + (tail - (sum - all<T>(1))));
    }
    case Operation::elu:
      return is_any_negative(x) ? by_sign(x, growth(call, x), x) : x;
    case Operation::pow:  // C99 leaves 1 to the power of a signalling NaN open
      return if_equal(x, all<T>(1), x, if_equal(y, all<T>(0), all<T>(1), call.pow(x, y)));
    default:
      return call.atan2(x, y);
  }
}

/// Eight results in the precision of T.
template <Operation kOperation, class T>
RELAYOUT_AVX2 inline Floats values(const VectorLibrary<T>& call, Floats x, Floats y) {
  if constexpr (std::is_same_v<T, float>) {
    return value<kOperation, T>(call, x, y);
  } else {
    const Doubles first = value<kOperation, T>(call, _mm256_cvtps_pd(_mm256_castps256_ps128(x)),
                                               _mm256_cvtps_pd(_mm256_castps256_ps128(y)));
    const Doubles second = value<kOperation, T>(call, _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)),
                                                _mm256_cvtps_pd(_mm256_extractf128_ps(y, 1)));
    return _mm256_set_m128(_mm256_cvtpd_ps(second), _mm256_cvtpd_ps(first));
  }
}

template <Operation kOperation, class T>
RELAYOUT_AVX2 void row(const void* a, const void* b, const void*, void* r, std::int64_t count,
                       const ElementwiseParams&) {
  constexpr std::int64_t kWidth = 8;
  constexpr bool kTwo = kOperation == Operation::pow || kOperation == Operation::atan2;
  const auto *x = static_cast<const float*>(a), *y = static_cast<const float*>(kTwo ? b : a);
  auto* const result = static_cast<float*>(r);
  const VectorLibrary<T>& call = library<T>();
  std::int64_t i = 0;
  for (; i + kWidth <= count; i += kWidth)
    _mm256_storeu_ps(result + i, values<kOperation, T>(call, _mm256_loadu_ps(x + i), _mm256_loadu_ps(y + i)));
  if (i == count) return;
  float last_x[kWidth] = {}, last_y[kWidth] = {};
  const std::size_t bytes = static_cast<std::size_t>(count - i) * sizeof(float);
  std::memcpy(last_x, x + i, bytes);
  std::memcpy(last_y, y + i, bytes);
  _mm256_storeu_ps(last_x, values<kOperation, T>(call, _mm256_loadu_ps(last_x), _mm256_loadu_ps(last_y)));
  std::memcpy(result + i, last_x, bytes);
}

template <Operation... kOperations>
struct Functions {
  /// Null for another operation.
  template <class T>
  static ElementwiseRow row_in(Operation operation) {
    ElementwiseRow found = nullptr;
    ((operation == kOperations ? static_cast<void>(found = row<kOperations, T>) : static_cast<void>(0)), ...);
    return found;
  }
};

/// Those for which the library's error is not too large in f32.
using Near = Functions<Operation::log2, Operation::log1p, Operation::asin, Operation::acos, Operation::atan,
                       Operation::atan2>;
/// Those with a smaller bound, and formulas of several steps.
using Exact = Functions<Operation::exp, Operation::exp2, Operation::expm1, Operation::log, Operation::sin,
                        Operation::cos, Operation::tan, Operation::sinh, Operation::cosh, Operation::tanh,
                        Operation::erf, Operation::sigmoid, Operation::silu, Operation::gelu_tanh,
                        Operation::softplus, Operation::elu>;

}  // namespace

ElementwiseRow vector_function_row(Operation operation, DType common) {
  static const bool found = has_avx2() && library<float>().is_complete && library<double>().is_complete;
  if (!found) return nullptr;
  const bool single = common == DType::f32;
  if (operation == Operation::pow)  // in f64 it takes longer than the C library's powf
    return single ? nullptr : row<Operation::pow, float>;
  if (operation == Operation::gelu)  // bf16 is as small as f32, whose tail is subnormal too soon
    return common == DType::f16 ? row<Operation::gelu, float> : row<Operation::gelu, double>;
  if (const ElementwiseRow near = Near::row_in<float>(operation)) return near;
  return single ? Exact::row_in<double>(operation) : Exact::row_in<float>(operation);
}

}  // namespace relayout::native

#else

namespace relayout::native {

ElementwiseRow vector_function_row(Operation, DType) { return nullptr; }

}  // namespace relayout::native
#endif
