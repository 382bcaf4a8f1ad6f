// The oracle of permute, transpose, copy and cast, with alpha and beta.
#pragma once

#include <cmath>
#include <vector>

#include "host/reference/scalar.hpp"

#include <relayout/copy_options.hpp>

namespace relayout::reference {

/// alpha * value + beta * old in the arithmetic of Number, the sum with one rounding.
template <class Number>
double scaled(const CopyScale& scale, double value, double old) {
  const Number alpha = static_cast<Number>(scale.alpha), beta = static_cast<Number>(scale.beta);
  const Number product = alpha * static_cast<Number>(value);
  if (beta == 0) return product;
  return std::fma(beta, static_cast<Number>(old), product);
}

/// The new value of an output element that held `old`.
inline std::uint64_t moved_bits(std::uint64_t bits, DType from, std::uint64_t old, DType to,
                                const CopyScale& scale, const CastOptions& options) {
  if (scale.alpha == 1 && scale.beta == 0) return convert_bits(bits, from, to, options);
  const bool wide = from == DType::f64 || to == DType::f64;
  return encode(to, (wide ? scaled<double> : scaled<float>)(scale, decode(from, bits), decode(to, old)));
}

inline void move_element(const TensorView& in, const Dims& from, const TensorView& out, const Dims& to,
                         const CopyScale& scale, const CastOptions& options) {
  store_bits(out, to,
             moved_bits(load_bits(in, from), in.dtype(), load_bits(out, to), out.dtype(), scale, options));
}

/// out[index] = in[index], converted; equal shapes.
inline void cast(const TensorView& in, const TensorView& out, const CopyScale& scale = {},
                 const CastOptions& options = {}) {
  for_each_index(out.shape(),
                 [&](const Dims& index) { move_element(in, index, out, index, scale, options); });
}

/// out has in's axes in the order `axes`: out[i_axes[0], i_axes[1], ...] = in[i_0, i_1, ...].
inline void permute(const TensorView& in, const std::vector<int>& axes, const TensorView& out,
                    const CopyScale& scale = {}, const CastOptions& options = {}) {
  Dims to(axes.size());
  for_each_index(in.shape(), [&](const Dims& from) {
    for (std::size_t j = 0; j < axes.size(); ++j) to[j] = from[static_cast<std::size_t>(axes[j])];
    move_element(in, from, out, to, scale, options);
  });
}

/// Element number i of out = element number i of in, in C order; equal numbers of elements.
inline void copy(const TensorView& in, const TensorView& out, const CopyScale& scale = {},
                 const CastOptions& options = {}) {
  Dims from(in.shape().size(), 0);
  for_each_index(out.shape(), [&](const Dims& to) {
    move_element(in, from, out, to, scale, options);
    next_index(in.shape(), from);
  });
}

}  // namespace relayout::reference
