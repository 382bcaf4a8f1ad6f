// Compares result files: rows of the same name side by side, averages, the worst cases.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/compare/column.hpp"

namespace relayout::bench {

/// A column's figures in one row.
struct Cell {
  bool present = false;         // whether the file has the row at all
  std::string error;            // why it was not timed
  double seconds = 0;           // 0: not timed
  std::optional<double> share;  // of the copy of as many bytes in the same file
  std::optional<double> speed;  // the first column's seconds / this one's: above 1 is faster than the first

  bool timed() const { return seconds > 0; }
};

struct Line {
  std::string name, suite, group;
  std::int64_t bytes = 0;
  std::vector<Cell> cells;  // one for each column

  double rate(std::size_t column) const { return static_cast<double>(bytes) / cells[column].seconds; }
  double copy_rate(std::size_t column) const { return rate(column) / *cells[column].share; }
};

/// A suite, or a group of a suite that has several.
struct Section {
  std::string title;
  bool has_groups = false;         // its groups follow as sections of their own
  std::vector<std::size_t> lines;  // of Comparison::lines
  /// Geometric means over the lines that were timed in every column that has any line of the section. So all
  /// columns are averaged over the same cases. Columns that have no line get no value.
  std::size_t averaged = 0;
  std::vector<std::optional<double>> share, speed;
};

struct Comparison {
  std::vector<Column> columns;
  std::vector<Line> lines;  // by suites; within them in the order of the files
  std::vector<Section> sections;
};

/// Error{invalid_argument} when rows of the same name are different cases: it names the row, the field and
/// both values. Only rows whose name matches `filter`, a regular expression, take part; it is an error when
/// none does.
Comparison compare(std::vector<Column> columns, const std::string& filter);

/// Lines at one end of a column's figures, the extreme one first.
struct Extremes {
  std::size_t column;
  std::optional<double> Cell::*figure;
  std::string title;  // "Lowest shares in 1"
  std::vector<const Line*> lines;
};

/// For each column the lowest shares. For each column except the first also the lowest speeds, where it does
/// worst against the first, and the highest, where the first does worst against it. At most `count` lines
/// each.
std::vector<Extremes> worst_cases(const Comparison& comparison, std::size_t count);

/// The lines that some column has no time for, in words, with columns counted from 1: "permute/x: only in 1",
/// "permute/x: not in 2, 3; not timed in 4: why".
std::vector<std::string> gaps(const Comparison& comparison);

/// exp of the mean of the logarithms; nothing for an empty list.
std::optional<double> geometric_mean(const std::vector<double>& values);

}  // namespace relayout::bench
