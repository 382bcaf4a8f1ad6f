// Permutations from a table: the suite's own in bench/permute_cases.csv, a user's in a file of the same form.
#pragma once

#include <istream>
#include <string>
#include <vector>

#include "tests/cases/permute_case.hpp"

namespace relayout::bench {

struct ListedPermute {
  std::string name, source;
  cases::PermuteCase permute;

  /// The source up to a colon: the cases that are averaged together.
  std::string group() const { return source.substr(0, source.find(':')); }
};

/// Lines "name,source,rank,shape,perm,elem_bytes" below a line with these words; lines that are empty or
/// begin with # do not count. Error{invalid_argument} "FILE:LINE: what is wrong" for everything else.
std::vector<ListedPermute> read_permutes(std::istream& text, const std::string& file);

/// bench/permute_cases.csv as it was when this program was built.
std::vector<ListedPermute> builtin_permutes();

}  // namespace relayout::bench
