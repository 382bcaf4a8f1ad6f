#pragma once

#include "tests/fuzz/trial.hpp"
#include "tests/support/elementwise_case.hpp"

namespace relayout::fuzz {

Trial decode_elementwise(Draw& draw);
Trial decode_chain(Draw& draw);

/// Shapes and layouts for the tensors of a case that has all else, broadcast as its options say; seldom in
/// place. `tidy`: those that the fastest paths take.
void draw_tensors(Draw& draw, test::ElementwiseCase& c, bool tidy);

}  // namespace relayout::fuzz
