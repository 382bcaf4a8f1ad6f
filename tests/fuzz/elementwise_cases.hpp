#pragma once

#include "tests/fuzz/trial.hpp"
#include "tests/support/elementwise_case.hpp"

namespace relayout::fuzz {

Trial decode_elementwise(Draw& draw);
Trial decode_chain(Draw& draw);

/// Gives shapes and layouts to the tensors of a case that is complete otherwise. They broadcast as its
/// options say, and are in place seldom. `tidy`: those that the fastest kernels take.
void draw_tensors(Draw& draw, test::ElementwiseCase& c, bool tidy);

}  // namespace relayout::fuzz
