// The comparison as one HTML page in one file, without network and scripts.
#pragma once

#include <ostream>

#include "bench/compare/comparison.hpp"

namespace relayout::bench {

/// `worst_count`: how many of the worst cases of each column are listed.
void write_page(std::ostream& out, const Comparison& comparison, std::size_t worst_count);

}  // namespace relayout::bench
