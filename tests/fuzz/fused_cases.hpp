#pragma once

#include "tests/fuzz/trial.hpp"

namespace relayout::fuzz {

Trial decode_fused(Draw& draw);

}  // namespace relayout::fuzz
