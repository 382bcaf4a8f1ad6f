// Result files: what is read can be compared with itself and printed.
#include <sstream>
#include <string>
#include <vector>

#include "bench/compare/column.hpp"
#include "bench/compare/comparison.hpp"
#include "bench/compare/text.hpp"
#include "tests/fuzz/inputs/input_file.hpp"

#include <relayout/error.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace relayout;
  try {
    const fuzz::InputFile input(data, size);
    std::vector<bench::Column> columns = bench::read_columns(input.path());
    const std::vector<bench::Column> again = columns;
    columns.insert(columns.end(), again.begin(), again.end());
    std::ostringstream text;
    bench::write_text(text, bench::compare(columns, ""), 3);
  } catch (const Error&) {
  }
  return 0;
}
