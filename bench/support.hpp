// support_table() in words.
#pragma once

#include <ostream>

namespace relayout::bench {

/// A line for each operation and a column for each element type; each cell has the result's type. Kinds of
/// devices that support the same share a table.
void print_support(std::ostream& out);

}  // namespace relayout::bench
