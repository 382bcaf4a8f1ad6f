// Which sectors of memory a tile meets: what the memory moves, against what the tile needs.
#pragma once

#include <cstdint>

#include "core/sector.hpp"
#include "relayout/tensor_view.hpp"

namespace relayout::plan {

/// How a box of a loop nest lies in one operand's memory.
struct BoxTraffic {
  std::int64_t run_elements = 1;  // that follow each other, counted from the box's first element
  std::int64_t elements = 1;      // different ones
  std::int64_t needed = 0;        // sectors that so many bytes fill
  std::int64_t touched = 0;       // sectors that they lie in
};

/// The traffic of the box [0, extents) whose first element has this address. Visits every element of the box.
BoxTraffic traffic_of(const Dims& extents, const Dims& strides, std::int64_t element_bytes,
                      std::uintptr_t address);

}  // namespace relayout::plan
