// Oracle of permute, transpose, copy and cast.
#pragma once

#include <vector>

#include "host/reference/scalar.hpp"

namespace relayout::reference {

/// out[index] = in[index], converted; equal shapes.
inline void cast(const TensorView& in, const TensorView& out) {
  for_each_index(out.shape(), [&](const Dims& index) {
    store_bits(out, index, convert_bits(load_bits(in, index), in.dtype(), out.dtype()));
  });
}

/// out has in's axes in the order `axes`: out[i_axes[0], i_axes[1], ...] = in[i_0, i_1, ...].
inline void permute(const TensorView& in, const std::vector<int>& axes, const TensorView& out) {
  Dims to(axes.size());
  for_each_index(in.shape(), [&](const Dims& from) {
    for (std::size_t j = 0; j < axes.size(); ++j) to[j] = from[static_cast<std::size_t>(axes[j])];
    store_bits(out, to, convert_bits(load_bits(in, from), in.dtype(), out.dtype()));
  });
}

/// Element number i of out = element number i of in, in C order; equal numbers of elements.
inline void copy(const TensorView& in, const TensorView& out) {
  Dims from(in.shape().size(), 0);
  for_each_index(out.shape(), [&](const Dims& to) {
    store_bits(out, to, convert_bits(load_bits(in, from), in.dtype(), out.dtype()));
    next_index(in.shape(), from);
  });
}

}  // namespace relayout::reference
