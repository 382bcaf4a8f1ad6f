// The results of one program on one device, from a result file: a column of a comparison.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace relayout::bench {

/// One row of a result file.
struct Timed {
  std::string name, suite, group;
  std::int64_t bytes = 0;
  nlohmann::ordered_json parameters;
  double seconds = 0;  // 0: it was not timed
  double reference_seconds =
      0;              // of the best copy of as many bytes in the same run (overlap: of its slowest part)
  std::string error;  // why it was not timed, where the file says so
};

struct Column {
  std::string label;  // the file as it was named; a peer's with the peer's name
  std::vector<std::pair<std::string, std::string>> facts;  // device, driver, compiler, commit ...
  std::vector<Timed> rows;
};

/// Reads one column from a file of `relayout_bench --json`, and one for each peer from a file of `peers.py
/// --json`. Error{invalid_argument} names the file and, where there is one, the row.
std::vector<Column> read_columns(const std::string& file);

}  // namespace relayout::bench
