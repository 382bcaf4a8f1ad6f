// How lanes may share a nest in strips, before a kernel's parameters say so.
#pragma once

#include <array>
#include <cstdint>

#include "core/elementwise_params.hpp"

namespace relayout::plan {

/// An axis of the nest, with the strides of the output and of all tensors.
struct StripNestAxis {
  std::int64_t scale = 0, chunk = 0;  // what an index adds for Strips
  bool has_strips = false, may_have_strips = true;
  std::int64_t extent = 1, out = 0, tensors[kMaxTensors] = {};

  StripNestAxis stretched(std::int64_t factor) const {
    StripNestAxis axis = *this;
    axis.out *= factor;
    for (std::int64_t& stride : axis.tensors) stride *= factor;
    return axis;
  }
};

struct StripLayout {
  /// The axes that count lanes, the slowest first; then that of a strip, once there are strips.
  std::array<StripNestAxis, kMaxRank> axes;
  int rank = 0;
  Strips strips;
  /// Strips along two axes have `joined` as strip_axes[0]. `jump` has the jumps of the output and of all
  /// tensors.
  StripAxis joined = {};
  StripNestAxis jump;

  StripNestAxis& at(int i) { return axes[static_cast<std::size_t>(i)]; }
  const StripNestAxis& at(int i) const { return axes[static_cast<std::size_t>(i)]; }
};

}  // namespace relayout::plan
