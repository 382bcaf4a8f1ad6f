#include "bench/compare/command.hpp"

#include <iostream>
#include <sstream>

#include "bench/compare/comparison.hpp"
#include "bench/compare/page.hpp"
#include "bench/compare/text.hpp"
#include "host/api/replace_file.hpp"

namespace relayout::bench {

void run_compare(const CompareOptions& options) {
  std::vector<Column> columns;
  check_files({options.html}, options.files);
  for (const std::string& file : options.files) {
    for (Column& column : read_columns(file)) columns.push_back(std::move(column));
  }
  const Comparison comparison = compare(std::move(columns), options.filter);
  write_text(std::cout, comparison, options.worst);
  if (options.html.empty()) return;
  std::ostringstream page;
  write_page(page, comparison, options.worst);
  replace_file(options.html, page.str());
}

}  // namespace relayout::bench
