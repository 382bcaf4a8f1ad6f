// Short ways to write pads.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/cases/pad_case.hpp"

namespace relayout::cases {

inline const std::vector<PadMode> kModes{PadMode::constant, PadMode::replicate,
                                         PadMode::reflect,  PadMode::symmetric,
                                         PadMode::circular, PadMode::reflect_zero_extended};

inline PadSpec spec(PadMode mode, std::int64_t left, std::int64_t right,
                    PadPolicy policy = PadPolicy::strict) {
  PadSpec pad;
  pad.mode = mode;
  pad.left = left;
  pad.right = right;
  pad.policy = policy;
  return pad;
}

}  // namespace relayout::cases
