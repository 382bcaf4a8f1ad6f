// The oracle of the depthwise backward pass: the formulas as they stand, in fp64, with a bound of the error
// that fp32 sums may have.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "host/reference/depthwise.hpp"

namespace relayout::reference {

/// What the backward pass reads.
struct DepthwiseBackwardOperands {
  DepthwiseOperands forward;
  TensorView d_out, d_final;  // d_final: a default view for none
};

/// A sum, and by how much an fp32 sum of the same terms in any order may be off before it is rounded.
struct BoundedSum {
  double sum = 0.0, magnitude = 0.0, of_terms = 0.0;
  std::int64_t terms = 0;

  /// A term that may itself be off by `error`.
  void add(double term, double error) {
    sum += term;
    magnitude += std::fabs(term);
    of_terms += error;
    ++terms;
  }
  /// n additions and n products, each with a relative error of 2^-24, and second-order terms.
  double error() const {
    return of_terms + static_cast<double>(terms + 2) * std::ldexp(magnitude + of_terms, -23);
  }
};

/// |y - r| of a result of `type`: the sum's error, and half an ulp for the store (or half a subnormal).
inline double error_bound(const BoundedSum& sum, DType type) {
  const double r = std::fabs(sum.sum) + sum.error();
  if (type == DType::f16) return sum.error() + std::ldexp(r, -11) + std::ldexp(1.0, -25);
  if (type == DType::bf16) return sum.error() + std::ldexp(r, -8) + std::ldexp(1.0, -134);
  return sum.error() + std::ldexp(r, -24) + std::ldexp(1.0, -149);
}

/// Whether a tap of the output of time t on the sample of time s counts: within one sequence, which padding
/// is not.
inline bool counts(const DepthwiseOperands& o, std::int64_t b, std::int64_t t, std::int64_t s) {
  if (o.sequence_ids.data() == nullptr) return true;
  return s >= 0 && sequence_id(o, b, t) >= 0 && sequence_id(o, b, s) == sequence_id(o, b, t);
}

inline double sample_of(const DepthwiseOperands& o, std::int64_t b, std::int64_t c, std::int64_t t,
                        std::int64_t s) {
  return counts(o, b, t, s) ? decode(o.in.dtype(), depthwise_sample(o, b, c, s)) : 0.0;
}

/// The gradient of the sum that the activation was given at time t, and its error: that of the sum times the
/// second derivative, which is at most 1/2, and 2^-20 for the exponential.
struct GradientOfSum {
  double value = 0.0, error = 0.0;
};

inline GradientOfSum gradient_of_sum(const DepthwiseBackwardOperands& operands, std::int64_t b,
                                     std::int64_t c, std::int64_t t) {
  const DepthwiseOperands& o = operands.forward;
  if (o.sequence_ids.data() != nullptr && sequence_id(o, b, t) < 0) return {};
  const double gradient = load(operands.d_out, {b, c, t});
  if (!o.silu) return {gradient, 0.0};
  const std::int64_t taps = o.weights.extent(1);
  BoundedSum sum;
  for (std::int64_t k = 0; k < taps; ++k)
    sum.add(load(o.weights, {c, k}) * sample_of(o, b, c, t, t - (taps - 1 - k)), 0.0);
  if (o.bias.data() != nullptr) sum.add(load(o.bias, {c}), 0.0);
  const double sigmoid = 1.0 / (1.0 + std::exp(-sum.sum));
  const double slope = sigmoid * (1.0 + sum.sum * (1.0 - sigmoid));
  return {gradient * slope, std::fabs(gradient) * (0.5 * sum.error() + std::ldexp(1.0, -20))};
}

/// The gradients of all operands. Those of the sums, which all others are made of, are computed once.
class DepthwiseBackwardOracle {
 public:
  explicit DepthwiseBackwardOracle(const DepthwiseBackwardOperands& operands) : operands_(operands) {
    const Dims shape = forward().in.shape();
    channels_ = shape[1], length_ = shape[2];
    for_each_index(shape,
                   [&](const Dims& i) { of_sums_.push_back(gradient_of_sum(operands_, i[0], i[1], i[2])); });
  }

  /// The gradient of the sample of time t > -taps, which is the signal's or the state's before it.
  BoundedSum sample(std::int64_t b, std::int64_t c, std::int64_t t) const {
    const std::int64_t taps = forward().weights.extent(1);
    BoundedSum sum;
    for (std::int64_t k = 0; k < taps; ++k) {
      const std::int64_t out = t + (taps - 1 - k);
      if (out < 0 || out >= length_ || !counts(forward(), b, out, t)) continue;
      const double weight = load(forward().weights, {c, k});
      sum.add(weight * of_sum(b, c, out).value, std::fabs(weight) * of_sum(b, c, out).error);
    }
    const std::int64_t column = t - (length_ - (taps - 1));
    if (operands_.d_final.data() != nullptr && column >= 0)
      sum.add(load(operands_.d_final, {b, c, column}), 0.0);
    return sum;
  }
  BoundedSum weight(std::int64_t c, std::int64_t k) const {
    const std::int64_t distance = forward().weights.extent(1) - 1 - k;
    BoundedSum sum;
    each_sum(c, [&](const GradientOfSum& g, std::int64_t b, std::int64_t t) {
      const double sample = sample_of(forward(), b, c, t, t - distance);
      sum.add(g.value * sample, g.error * std::fabs(sample));
    });
    return sum;
  }
  BoundedSum bias(std::int64_t c) const {
    BoundedSum sum;
    each_sum(c, [&](const GradientOfSum& g, std::int64_t, std::int64_t) { sum.add(g.value, g.error); });
    return sum;
  }

 private:
  const DepthwiseOperands& forward() const { return operands_.forward; }
  const GradientOfSum& of_sum(std::int64_t b, std::int64_t c, std::int64_t t) const {
    return of_sums_[static_cast<std::size_t>((b * channels_ + c) * length_ + t)];
  }
  /// visit(gradient, b, t) for every output of the channel.
  template <class Visit>
  void each_sum(std::int64_t c, const Visit& visit) const {
    for (std::int64_t b = 0; b < forward().in.extent(0); ++b)
      for (std::int64_t t = 0; t < length_; ++t) visit(of_sum(b, c, t), b, t);
  }

  DepthwiseBackwardOperands operands_;
  std::int64_t channels_ = 0, length_ = 0;
  std::vector<GradientOfSum> of_sums_;
};

}  // namespace relayout::reference
