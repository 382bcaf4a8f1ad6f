#include "host/plan/copy/sectors.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "core/integer_math.hpp"

namespace relayout::plan {
namespace {

/// Elements in a row along the axes of the smallest strides.
std::int64_t run_of(const Dims& extents, const Dims& strides) {
  std::vector<std::size_t> order(extents.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return std::abs(strides[a]) < std::abs(strides[b]); });
  std::int64_t run = 1;
  for (const std::size_t axis : order) {
    if (extents[axis] == 1 || strides[axis] == 0) continue;
    if (std::abs(strides[axis]) != run) break;
    run *= extents[axis];
  }
  return run;
}

std::int64_t sector_at(std::int64_t byte) {
  return (byte >= 0 ? byte : byte - kSectorBytes + 1) / kSectorBytes;
}

}  // namespace

BoxTraffic traffic_of(const Dims& extents, const Dims& strides, std::int64_t element_bytes,
                      std::uintptr_t address) {
  BoxTraffic traffic;
  traffic.run_elements = run_of(extents, strides);
  std::vector<std::int64_t> offsets{static_cast<std::int64_t>(address % kSectorBytes)};
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    if (strides[axis] == 0) continue;
    traffic.elements *= extents[axis];
    const std::size_t before = offsets.size();
    for (std::int64_t i = 1; i < extents[axis]; ++i) {
      for (std::size_t k = 0; k < before; ++k)
        offsets.push_back(offsets[k] + i * strides[axis] * element_bytes);
    }
  }
  traffic.needed = divide_up(traffic.elements * element_bytes, kSectorBytes);
  // An element lies within one sector unless its address is no multiple of its size.
  const std::int64_t parts = address % static_cast<std::uintptr_t>(element_bytes) == 0 ? 1 : 2;
  std::vector<std::int64_t> sectors;
  sectors.reserve(offsets.size() * static_cast<std::size_t>(parts));
  for (const std::int64_t offset : offsets) {
    for (std::int64_t part = 0; part < parts; ++part)
      sectors.push_back(sector_at(offset + part * (element_bytes - 1)));
  }
  std::sort(sectors.begin(), sectors.end());
  traffic.touched = std::unique(sectors.begin(), sectors.end()) - sectors.begin();
  return traffic;
}

}  // namespace relayout::plan
