// What planners ask of the axes of a nest.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "core/elementwise_params.hpp"

namespace relayout::plan {

/// The tensor with most elements of those that are fastest across the output's rows; -1: there is none.
inline int tensor_across(const ElementwiseParams& p) {
  int across = -1;
  std::int64_t most = 0;
  for (int t = 0; t < p.tensors; ++t) {
    const std::int64_t step = std::abs(p.tensor[t].strides[p.rank - 1]);
    std::int64_t elements = 1, least = step;
    for (int axis = 0; axis < p.rank; ++axis) {
      const std::int64_t stride = std::abs(p.tensor[t].strides[axis]);
      if (stride == 0) continue;
      elements *= p.extents[axis];
      least = stride < least ? stride : least;
    }
    if (step == 0 || least == step || elements * p.tensor[t].bytes <= most) continue;
    most = elements * p.tensor[t].bytes;
    across = t;
  }
  return across;
}

}  // namespace relayout::plan
