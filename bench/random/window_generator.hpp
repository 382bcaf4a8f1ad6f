// The families of signals [batch, channels, length]: their part of the generator.
#pragma once

#include "bench/random/draw.hpp"
#include "bench/random/problem.hpp"

namespace relayout::bench::random {

void draw_depthwise(Draw& draw, std::int64_t bytes, Problem& problem);
void draw_img2col(Draw& draw, std::int64_t bytes, Problem& problem);
void draw_pad(Draw& draw, std::int64_t bytes, Problem& problem);

}  // namespace relayout::bench::random
