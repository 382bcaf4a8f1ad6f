#include "bench/random/sectors.hpp"

#include <algorithm>
#include <utility>

#include "core/bytes.hpp"

namespace relayout::bench::random {
namespace {

/// Bytes apart, and how many.
using Axis = std::pair<std::int64_t, std::int64_t>;

/// Marks the sectors of a run of bytes, repeated along axes [first, ..).
void mark(std::vector<bool>& marked, const std::vector<Axis>& axes, std::size_t first, std::int64_t begin,
          std::int64_t run) {
  if (first == axes.size()) {
    const auto sector = marked.begin() + begin / kSectorBytes;
    std::fill(sector, marked.begin() + (begin + run - 1) / kSectorBytes + 1, true);
    return;
  }
  const auto [stride, extent] = axes[first];
  for (std::int64_t i = 0; i < extent; ++i) mark(marked, axes, first + 1, begin + i * stride, run);
}

}  // namespace

std::int64_t sector_bytes(const Tensor& tensor) {
  const std::int64_t size = bytes_of(tensor.type);
  std::vector<Axis> axes;
  for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) {
    if (tensor.shape[axis] > 1 && tensor.strides[axis] > 0)
      axes.emplace_back(tensor.strides[axis] * size, tensor.shape[axis]);
  }
  std::sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return a > b; });
  // Steps no longer than a sector miss none, and those no longer than the run leave no gap.
  std::int64_t run = size;
  for (; !axes.empty() && axes.back().first <= std::max(run, kSectorBytes); axes.pop_back())
    run += axes.back().first * (axes.back().second - 1);
  const std::int64_t begin = tensor.offset * size;
  std::vector<bool> marked(static_cast<std::size_t>((tensor.footprint() - 1) / kSectorBytes + 1));
  mark(marked, axes, 0, begin, run);
  return kSectorBytes * std::count(marked.begin(), marked.end(), true);
}

std::int64_t sector_bytes(const Problem& problem) {
  std::int64_t bytes = sector_bytes(problem.out);
  for (const Tensor& input : problem.inputs) bytes += sector_bytes(input);
  return bytes;
}

}  // namespace relayout::bench::random
