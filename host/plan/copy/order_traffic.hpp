// What the memory and the second cache move for kernels that visit a nest's elements in their order.
#pragma once

#include <algorithm>
#include <cstdint>

#include "relayout/device.hpp"
#include "relayout/tensor_view.hpp"

namespace relayout::plan {

/// Bytes of the sectors of one operand: those that the memory moves, and those that warps ask the second
/// cache for.
struct OrderTraffic {
  double memory = 0, cache = 0;

  /// All as bytes of the memory: one that only the second cache delivers counts as `price_of_cache` of it.
  double bytes(double price_of_cache) const {
    return memory + price_of_cache * std::max(0.0, cache - memory);
  }
};

/// Axis rank-1 is visited fastest. Two elements of one sector take it once from the memory if the second
/// cache holds all that is visited between them, and once from the second cache if they are among
/// `neighbours` elements that follow each other in the order. `size` and `alignment`, of the first element,
/// are bytes; strides count elements.
OrderTraffic traffic_in_order(const DeviceProperties& device, const Dims& extents, const Dims& strides,
                              std::int64_t size, std::int64_t alignment, double neighbours);

/// Lines of the first cache that the lanes of a warp meet with an access, each `step` elements behind the
/// lane before it in the order, from the first element on. A multiprocessor looks up one line a clock.
int lines_of_access(const Dims& extents, const Dims& strides, std::int64_t size, int lanes, int step);

}  // namespace relayout::plan
