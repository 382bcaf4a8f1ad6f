// relayout_bench compare FILE...: what the command does with its options.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace relayout::bench {

struct CompareOptions {
  std::vector<std::string> files;  // empty: no comparison was asked for
  std::string html;                // the page's file; empty: none
  std::string filter = ".";        // regular expression on row names
  std::size_t worst = 5;
};

/// Prints the table and writes the page.
void run_compare(const CompareOptions& options);

}  // namespace relayout::bench
