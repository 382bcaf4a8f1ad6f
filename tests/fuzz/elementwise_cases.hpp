#pragma once

#include "tests/fuzz/trial.hpp"

namespace relayout::fuzz {

Trial decode_elementwise(Draw& draw);
Trial decode_chain(Draw& draw);

}  // namespace relayout::fuzz
