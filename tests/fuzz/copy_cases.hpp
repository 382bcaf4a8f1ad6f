#pragma once

#include "tests/fuzz/trial.hpp"

namespace relayout::fuzz {

/// Equal types of 1, 2, 4 or 8 bytes, or a conversion.
void draw_types(Draw& draw, DType& in, DType& out);

/// One of the options that a conversion between these types has.
CastOptions draw_cast_options(Draw& draw, DType in, DType out);

Trial decode_permute(Draw& draw);
Trial decode_transpose(Draw& draw);
Trial decode_cast(Draw& draw);

}  // namespace relayout::fuzz
