// The oracle of the depthwise causal conv1d, its states and its update: the formulas as they stand.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "host/reference/gemm.hpp"

namespace relayout::reference {

/// The operands of relayout::depthwise_conv1d; default views stand for "none".
struct DepthwiseOperands {
  TensorView in, weights, bias, initial_state, sequence_ids;
  bool silu = false;
};

/// The bits of the sample at time t > -taps of concat(initial state or zeros, in).
inline std::uint64_t depthwise_sample(const DepthwiseOperands& o, std::int64_t b, std::int64_t c,
                                      std::int64_t t) {
  if (t >= 0) return load_bits(o.in, {b, c, t});
  if (o.initial_state.data() == nullptr) return 0;
  return load_bits(o.initial_state, {b, c, o.weights.extent(1) - 1 + t});
}

inline std::int32_t sequence_id(const DepthwiseOperands& o, std::int64_t b, std::int64_t t) {
  return static_cast<std::int32_t>(load_bits(o.sequence_ids, {b, t}));
}

/// The exact output, with the quantities that bound the error of a right result. Products with samples that
/// do not count are products with 0.
inline GemmElement depthwise_element(const DepthwiseOperands& o, std::int64_t b, std::int64_t c,
                                     std::int64_t t) {
  GemmElement element;
  const bool ids = o.sequence_ids.data() != nullptr;
  if (ids && sequence_id(o, b, t) < 0) return element;
  const std::int64_t taps = o.weights.extent(1);
  for (std::int64_t k = 0; k < taps; ++k) {
    const std::int64_t source = t - (taps - 1 - k);
    const bool counts = !ids || (source >= 0 && sequence_id(o, b, source) == sequence_id(o, b, t));
    const double x = counts ? decode(o.in.dtype(), depthwise_sample(o, b, c, source)) : 0.0;
    const double product = load(o.weights, {c, k}) * x;
    element.sum += product;
    element.magnitude += std::fabs(product);
    element.squares += product * product;
  }
  if (o.bias.data() != nullptr) element.sum += load(o.bias, {c});
  if (!o.silu) return element;
  element.sum = element.sum / (1.0 + std::exp(-element.sum));
  // The exponential may add 2^-21 * (1 + |r|). S grows by what the gates turn into that: K * 2^-26 * S.
  element.magnitude += 32.0 * (1.0 + std::fabs(element.sum)) / static_cast<double>(taps);
  return element;
}

/// out = the exact values, rounded once.
inline void depthwise_conv1d(const DepthwiseOperands& o, const TensorView& out) {
  for_each_index(out.shape(), [&](const Dims& i) {
    store_bits(out, i, encode(out.dtype(), depthwise_element(o, i[0], i[1], i[2]).sum));
  });
}

/// Applies the three gates of the GEMM to a whole result: a depthwise convolution is a GEMM with K = taps.
inline GemmCheck check_depthwise(const DepthwiseOperands& o, const TensorView& out) {
  GemmGates gates(out.dtype(), o.weights.extent(1), o.bias.data() != nullptr);
  for_each_index(out.shape(),
                 [&](const Dims& i) { gates.add(load(out, i), depthwise_element(o, i[0], i[1], i[2])); });
  return gates.check();
}

/// The last taps-1 samples of concat(initial state or zeros, in).
inline void depthwise_final_state(const DepthwiseOperands& o, const TensorView& state) {
  const std::int64_t length = o.in.extent(2), columns = state.extent(2);
  for_each_index(state.shape(), [&](const Dims& i) {
    store_bits(state, i, depthwise_sample(o, i[0], i[1], length - columns + i[2]));
  });
}

/// The state after an update: the newest of its columns and the samples in a row, as many as it has columns.
inline void depthwise_updated_state(const TensorView& samples, const TensorView& state) {
  const std::int64_t columns = state.extent(2), count = samples.extent(2);
  for_each_index({state.extent(0), state.extent(1)}, [&](const Dims& row) {
    std::vector<std::uint64_t> all;
    for (std::int64_t s = 0; s < columns; ++s) all.push_back(load_bits(state, {row[0], row[1], s}));
    for (std::int64_t s = 0; s < count; ++s) all.push_back(load_bits(samples, {row[0], row[1], s}));
    for (std::int64_t s = 0; s < columns; ++s)
      store_bits(state, {row[0], row[1], s}, all[static_cast<std::size_t>(count + s)]);
  });
}

}  // namespace relayout::reference
