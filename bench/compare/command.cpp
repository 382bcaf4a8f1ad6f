#include "bench/compare/command.hpp"

#include <fstream>
#include <iostream>
#include <stdexcept>

#include "bench/compare/comparison.hpp"
#include "bench/compare/page.hpp"
#include "bench/compare/text.hpp"

namespace relayout::bench {

void run_compare(const CompareOptions& options) {
  std::vector<Column> columns;
  for (const std::string& file : options.files) {
    for (Column& column : read_columns(file)) columns.push_back(std::move(column));
  }
  const Comparison comparison = compare(std::move(columns), options.filter);
  write_text(std::cout, comparison, options.worst);
  if (options.html.empty()) return;
  std::ofstream page(options.html);
  write_page(page, comparison, options.worst);
  page.close();
  if (!page) throw std::runtime_error("could not write " + options.html);
}

}  // namespace relayout::bench
