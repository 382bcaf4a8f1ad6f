#include "bench/compare/figures.hpp"

#include <iomanip>
#include <sstream>

namespace relayout::bench {

std::string fixed(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

std::string fixed(const std::optional<double>& value, int digits) {
  return value ? fixed(*value, digits) : "-";
}

}  // namespace relayout::bench
