#pragma once

#include "tests/fuzz/trial.hpp"

namespace relayout::fuzz {

Trial decode_map(Draw& draw);

}  // namespace relayout::fuzz
