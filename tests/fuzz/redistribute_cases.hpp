#pragma once

#include "tests/fuzz/trial.hpp"

namespace relayout::fuzz {

Trial decode_redistribute(Draw& draw);

}  // namespace relayout::fuzz
