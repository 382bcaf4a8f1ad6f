// Which of many candidates are timed beside each other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace relayout::plan {

/// Up to `most` of the indices below `count`: the first half of them from the beginning, the others evenly
/// from the rest.
inline std::vector<std::size_t> spread(std::size_t count, std::size_t most) {
  most = std::min(count, most);
  const std::size_t first = (most + 1) / 2, others = most - first;
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < first; ++i) indices.push_back(i);
  for (std::size_t i = 1; i <= others; ++i) indices.push_back(first + i * (count - first) / others - 1);
  return indices;
}

}  // namespace relayout::plan
