// The comparison as a table for a terminal.
#pragma once

#include <ostream>

#include "bench/compare/comparison.hpp"

namespace relayout::bench {

/// `worst_count`: how many of the worst cases of each column are listed.
void write_text(std::ostream& out, const Comparison& comparison, std::size_t worst_count);

}  // namespace relayout::bench
