#include "tests/support/compare.hpp"

#include <cmath>
#include <sstream>

namespace relayout::test {

bool same_element(std::uint64_t expected, std::uint64_t actual, DType type, NanRule rule) {
  if (expected == actual) return true;
  return rule == NanRule::any && is_floating(type) && std::isnan(value_of(expected, type)) &&
         std::isnan(value_of(actual, type));
}

std::string describe(std::uint64_t bits, DType type) {
  std::ostringstream out;
  out << "0x" << std::hex << bits << std::dec << " (" << value_of(bits, type) << ")";
  return out.str();
}

::testing::AssertionResult same_elements(const TensorView& expected, const TensorView& actual, NanRule rule) {
  if (expected.dtype() != actual.dtype() || expected.shape() != actual.shape())
    return ::testing::AssertionFailure()
           << "expected a " << expected.to_string() << ", got a " << actual.to_string();
  std::int64_t wrong = 0;
  std::ostringstream first;
  const bool alike = expected.strides() == actual.strides();
  for_each_element(actual, [&](const Dims& index, std::int64_t offset) {
    const DType type = actual.dtype();
    const std::uint64_t want =
        load_bits(element_at(expected, alike ? offset : offset_of(expected, index)), type);
    const std::uint64_t got = load_bits(element_at(actual, offset), type);
    if (same_element(want, got, type, rule)) return;
    if (wrong++ == 0)
      first << "first at " << relayout::to_string(index) << ": expected " << describe(want, type) << ", got "
            << describe(got, type);
  });
  if (wrong == 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << wrong << " of " << actual.elements() << " elements differ in "
                                       << actual.to_string() << "; " << first.str();
}

}  // namespace relayout::test
