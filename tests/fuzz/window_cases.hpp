#pragma once

#include "tests/fuzz/trial.hpp"

namespace relayout::fuzz {

Trial decode_pad(Draw& draw);
Trial decode_img2col(Draw& draw);
Trial decode_depthwise(Draw& draw);
Trial decode_depthwise_backward(Draw& draw);
Trial decode_depthwise_sequences(Draw& draw);

}  // namespace relayout::fuzz
