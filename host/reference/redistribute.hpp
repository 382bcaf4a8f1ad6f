// The oracle of redistribute.
#pragma once

#include <cstddef>
#include <vector>

#include "host/reference/permute.hpp"

#include <relayout/distribution.hpp>

namespace relayout::reference {

/// Whether the box has the element with this index of the global tensor.
inline bool contains(const Box& box, const Dims& index) {
  for (std::size_t axis = 0; axis < index.size(); ++axis)
    if (index[axis] < box.begin[axis] || index[axis] >= box.end[axis]) return false;
  return true;
}

/// Every element of every output, from the first input that has it; in[r] and out[r] hold rank r's boxes.
inline void redistribute(const Distribution& in_distribution, const std::vector<TensorView>& in,
                         const std::vector<int>& axes, const Distribution& out_distribution,
                         const std::vector<TensorView>& out, const CastOptions& options = {}) {
  for (int to = 0; to < out_distribution.ranks(); ++to) {
    const TensorView& view = out[static_cast<std::size_t>(to)];
    for_each_index(view.shape(), [&](const Dims& index) {
      Dims global(index.size());  // of the input
      for (std::size_t j = 0; j < axes.size(); ++j)
        global[static_cast<std::size_t>(axes[j])] = out_distribution.box(to).begin[j] + index[j];
      int from = 0;
      while (!contains(in_distribution.box(from), global)) ++from;
      Dims local = global;
      for (std::size_t axis = 0; axis < local.size(); ++axis)
        local[axis] -= in_distribution.box(from).begin[axis];
      move_element(in[static_cast<std::size_t>(from)], local, view, index, {}, options);
    });
  }
}

}  // namespace relayout::reference
