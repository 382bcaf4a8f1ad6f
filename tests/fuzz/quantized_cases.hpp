#pragma once

#include "tests/fuzz/trial.hpp"

namespace relayout::fuzz {

Trial decode_quantized(Draw& draw);

}  // namespace relayout::fuzz
