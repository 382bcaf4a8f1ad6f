// Files that tests read.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

namespace relayout::test {

inline std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace relayout::test
