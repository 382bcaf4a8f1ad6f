// support_table() in words.
#pragma once

#include <ostream>

namespace relayout::bench {

/// An operation a line, an element type a column; in each cell the result's type. Kinds of devices that
/// support the same share a table.
void print_support(std::ostream& out);

}  // namespace relayout::bench
