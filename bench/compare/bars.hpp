// Shares of the copy rate as horizontal bars, one group of bars for each case: an SVG drawing inside the
// page.
#pragma once

#include <ostream>

#include "bench/compare/comparison.hpp"

namespace relayout::bench {

/// How many colours the page has; further columns use them again from the first.
constexpr std::size_t kColours = 6;
/// The style class that carries a column's colour.
std::string colour_class(std::size_t column);

/// The bars of one section. Every bar shows its figures when pointed at, and carries its column's number and
/// share as text, so columns are not told apart by colour alone.
void write_bars(std::ostream& out, const Comparison& comparison, const Section& section);

}  // namespace relayout::bench
