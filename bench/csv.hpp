// Tables of cases as text, as permutations and random problems are listed in. What is wrong in one is
// Error{invalid_argument}.
#pragma once

#include <istream>
#include <string>
#include <vector>

#include <relayout/error.hpp>

namespace relayout::bench {

[[noreturn]] inline void refuse(const std::string& why) { throw Error(ErrorCode::invalid_argument, why); }

/// The parts between separators. There is one part at least, which may be empty.
inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find(separator, begin)) != std::string::npos; begin = end + 1)
    parts.push_back(text.substr(begin, end - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

/// The fields of a line, as many as the header names.
inline std::vector<std::string> fields_of(const std::string& line, const std::string& header) {
  std::vector<std::string> fields = split(line, ',');
  const std::size_t wanted = split(header, ',').size();
  if (fields.size() != wanted)
    refuse(std::to_string(fields.size()) + " fields where there must be " + std::to_string(wanted) + ": " +
           header);
  return fields;
}

/// Calls take(line, its number) for each line below the header. Lines that are empty or begin with # do not
/// count. An error begins with "FILE:LINE: "; it is one, too, if there is no line, which holds a `row`.
template <class Take>
void for_each_line(std::istream& text, const std::string& file, const std::string& header, const char* row,
                   const Take& take) {
  bool below_header = false, is_empty = true;
  int number = 0;
  const auto at_line = [&](const std::string& what) {
    return file + ":" + std::to_string(number) + ": " + what;
  };
  for (std::string line; std::getline(text, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() || line.front() == '#') continue;
    try {
      if (below_header) {
        take(line, number);
        is_empty = false;
      } else if (line != header) {
        refuse("the first line must be " + header);
      }
      below_header = true;
    } catch (const Error& error) {
      refuse(at_line(error.what()));
    }
  }
  if (is_empty) refuse(at_line(std::string("the file ends without a ") + row));
}

}  // namespace relayout::bench
