// Lines of tables, as permutations and random problems are listed in.
#pragma once

#include <string>
#include <vector>

namespace relayout::bench {

/// The parts between separators. There is one part at least, which may be empty.
inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find(separator, begin)) != std::string::npos; begin = end + 1)
    parts.push_back(text.substr(begin, end - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

}  // namespace relayout::bench
