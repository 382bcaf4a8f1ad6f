// The oracle of the GEMM, and the three gates that a result has to pass.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "host/reference/scalar.hpp"

namespace relayout::reference {

/// One element of a * bt^T + bias, in fp64 from the operands as rounded.
struct GemmElement {
  double sum = 0.0;        // r: the sum with the bias
  double magnitude = 0.0;  // S = sum |a * b|
  double squares = 0.0;    // Q = sum (a * b)^2
};

/// The largest |y - r| that a right result with fp32 sums over `depth` products can have:
///   f16   2^-11 |r| + 2^-25   + K 2^-26 S + 2^-21 sqrt(K Q)
///   bf16  2^-8  |r| + 2^-134  + ...          (half an ulp; half the unit of the subnormals)
///   f32   2^-23 |r|           + ...
/// 2^-11 |r| is the one rounding at the store; K 2^-26 S covers matrix units that truncate the sums of small
/// groups, 2^-21 sqrt(K Q) eight sigma of the random walk of a sequential sum. A bias adds the rounding of
/// one fp32 addition.
inline double error_bound(const GemmElement& element, std::int64_t depth, DType type, bool with_bias) {
  const double r = std::fabs(element.sum), k = static_cast<double>(depth);
  double bound = k * std::ldexp(element.magnitude, -26) + std::ldexp(std::sqrt(k * element.squares), -21);
  if (type == DType::f16) bound += std::ldexp(r, -11) + std::ldexp(1.0, -25);
  if (type == DType::bf16) bound += std::ldexp(r, -8) + std::ldexp(1.0, -134);
  if (type == DType::f32) bound += std::ldexp(r, -23);
  if (with_bias) bound += std::ldexp(r, -24);
  return bound;
}

/// Gate 2, RMS(y - r) / RMS(r): at most 2.8e-4, for bf16 2.3e-3. For data whose exact results round badly
/// (say, all close to a tie above a power of two), even perfectly rounded results may come close to it.
inline double rms_limit(DType type, double rms_of_rounding) {
  return std::max(type == DType::bf16 ? 2.3e-3 : 2.8e-4, 1.05 * rms_of_rounding);
}

/// Gate 3, the share of results equal to round(r): 0.85, less 3.5 sigma of the share among so few elements.
/// fp32 results have no such gate: their last bit depends on the order of the sum.
inline double share_limit(DType type, std::int64_t elements) {
  if (type == DType::f32) return 0.0;
  if (elements >= 1000) return 0.85;
  return 0.85 - 3.5 * std::sqrt(0.13 * 0.87 / static_cast<double>(std::max<std::int64_t>(1, elements)));
}

struct GemmCheck {
  std::int64_t elements = 0;
  double worst = 0.0;        // gate 1: the largest |y - r| / bound, at most 1
  double worst_error = 0.0;  // |y - r| and the bound there
  double worst_bound = 0.0;
  double rms = 0.0, rms_limit = 0.0;      // gate 2
  double share = 1.0, share_limit = 0.0;  // gate 3

  bool bound_ok() const { return worst <= 1.0; }
  bool rms_ok() const { return rms <= rms_limit; }
  bool share_ok() const { return share >= share_limit; }
  bool ok() const { return bound_ok() && rms_ok() && share_ok(); }
};

/// Feeds the three gates element by element.
class GemmGates {
 public:
  GemmGates(DType type, std::int64_t depth, bool with_bias)
      : type_(type), format_(format_of(type)), depth_(depth), with_bias_(with_bias) {}

  void add(double y, const GemmElement& element) {
    const double r = element.sum, rounded = round_to_format(r, format_);
    ++check_.elements;
    if (y == rounded || (std::isnan(y) && std::isnan(r))) ++equal_;
    if (std::isnan(r) || std::isinf(r)) {
      if (!(y == r) && !(std::isnan(y) && std::isnan(r))) reject();
      return;
    }
    const double bound = error_bound(element, depth_, type_, with_bias_);
    if (std::isnan(y)) return reject();
    if (std::isinf(y) || std::isinf(rounded)) return add_overflow(y, r, rounded, bound);
    const double error = std::fabs(y - r);
    const double ratio = error == 0.0 ? 0.0 : error / bound;
    if (ratio >= check_.worst) {
      check_.worst = ratio;
      check_.worst_error = error;
      check_.worst_bound = bound;
    }
    // Subnormal results rightly have a larger relative error; the bound covers them.
    if (std::fabs(r) < std::ldexp(1.0, 1 - format_.max_exponent)) return;
    errors_ += error * error;
    roundings_ += (rounded - r) * (rounded - r);
    results_ += r * r;
  }

  GemmCheck check() const {
    GemmCheck result = check_;
    const double elements = static_cast<double>(check_.elements);
    result.rms = results_ > 0.0 ? std::sqrt(errors_ / results_) : 0.0;
    result.rms_limit = reference::rms_limit(type_, results_ > 0.0 ? std::sqrt(roundings_ / results_) : 0.0);
    result.share = check_.elements > 0 ? static_cast<double>(equal_) / elements : 1.0;
    result.share_limit = reference::share_limit(type_, check_.elements);
    return result;
  }

 private:
  void reject() { check_.worst = check_.worst_error = std::numeric_limits<double>::infinity(); }

  /// Where one or both are infinite: right when y has r's sign, and r lies at the overflow threshold, within
  /// the bound, or beyond.
  void add_overflow(double y, double r, double rounded, double bound) {
    if (y == rounded) return;
    const double largest =
        (2.0 - std::ldexp(1.0, 1 - format_.digits)) * std::ldexp(1.0, format_.max_exponent);
    const double threshold = largest + std::ldexp(1.0, format_.max_exponent - format_.digits);
    const bool near = std::fabs(std::fabs(r) - threshold) <= bound && std::fabs(y) >= largest;
    if (!near || std::signbit(y) != std::signbit(r)) reject();
  }

  DType type_;
  FloatFormat format_;
  std::int64_t depth_;
  bool with_bias_;
  GemmCheck check_;
  std::int64_t equal_ = 0;
  double errors_ = 0.0, roundings_ = 0.0, results_ = 0.0;
};

/// The view as rank 3, with one group when it has rank 2.
inline TensorView with_group_axis(const TensorView& view) {
  if (view.rank() == 3) return view;
  return TensorView(view.data(), view.dtype(), {1, view.extent(0), view.extent(1)},
                    {0, view.stride(0), view.stride(1)});
}

/// A matrix group's elements as doubles, row by row.
inline std::vector<double> load_matrix(const TensorView& view, std::int64_t group) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(view.extent(1) * view.extent(2)));
  for (std::int64_t row = 0; row < view.extent(1); ++row) {
    for (std::int64_t col = 0; col < view.extent(2); ++col) values.push_back(load(view, {group, row, col}));
  }
  return values;
}

/// visit(index {group, m, n}, GemmElement) for every element of a * bt^T + bias; views as relayout::gemm
/// takes them.
template <class Visit>
void for_each_gemm_element(const TensorView& a, const TensorView& bt, const TensorView& bias,
                           const Visit& visit) {
  const TensorView left = with_group_axis(a), right = with_group_axis(bt);
  const std::int64_t m = left.extent(1), n = right.extent(1), depth = left.extent(2);
  for (std::int64_t g = 0; g < left.extent(0); ++g) {
    const std::vector<double> as = load_matrix(left, g), bs = load_matrix(right, g);
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        GemmElement element;
        for (std::int64_t k = 0; k < depth; ++k) {
          const double product =
              as[static_cast<std::size_t>(i * depth + k)] * bs[static_cast<std::size_t>(j * depth + k)];
          element.sum += product;
          element.magnitude += std::fabs(product);
          element.squares += product * product;
        }
        if (bias.data() != nullptr) element.sum += load(bias, {g * n + j});
        visit(Dims{g, i, j}, element);
      }
    }
  }
}

/// y = round(a * bt^T + bias), the fp64 sum rounded once.
inline void gemm(const TensorView& a, const TensorView& bt, const TensorView& bias, const TensorView& y) {
  const TensorView out = with_group_axis(y);
  for_each_gemm_element(a, bt, bias, [&](const Dims& index, const GemmElement& element) {
    store_bits(out, index, encode(out.dtype(), element.sum));
  });
}

/// All three gates over a whole result.
inline GemmCheck check_gemm(const TensorView& a, const TensorView& bt, const TensorView& bias,
                            const TensorView& y) {
  const TensorView out = with_group_axis(y);
  GemmGates gates(y.dtype(), a.extent(a.rank() - 1), bias.data() != nullptr);
  for_each_gemm_element(a, bt, bias, [&](const Dims& index, const GemmElement& element) {
    gates.add(load(out, index), element);
  });
  return gates.check();
}

}  // namespace relayout::reference
