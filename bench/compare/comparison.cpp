#include "bench/compare/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <regex>
#include <set>

#include <relayout/error.hpp>

namespace relayout::bench {
namespace {

/// The end of a sentence with the first field in which two rows differ as cases; empty for the same case.
std::string difference(const Timed& a, const std::string& file_a, const Timed& b, const std::string& file_b) {
  const auto differs = [&](const std::string& field, const std::string& in_a, const std::string& in_b) {
    return field + " is " + in_a + " in " + file_a + " and " + in_b + " in " + file_b;
  };
  if (a.suite != b.suite) return differs("suite", a.suite, b.suite);
  std::set<std::string> fields;
  for (const auto& [field, value] : a.parameters.items()) fields.insert(field);
  for (const auto& [field, value] : b.parameters.items()) fields.insert(field);
  const auto value_of = [](const Timed& row, const std::string& field) {
    return row.parameters.contains(field) ? row.parameters.at(field).dump() : "not stated";
  };
  for (const std::string& field : fields) {
    // Compares texts: 1 and 1.0 would be equal as numbers, but no program here writes one for the other.
    const std::string in_a = value_of(a, field), in_b = value_of(b, field);
    if (in_a != in_b) return differs(field, in_a, in_b);
  }
  if (a.bytes != b.bytes) return differs("bytes", std::to_string(a.bytes), std::to_string(b.bytes));
  return "";
}

struct Aligner {
  const std::vector<Column>& columns;
  std::vector<Line> lines;
  struct Known {
    std::size_t line;
    const Timed* row;
    const std::string* label;
  };
  std::map<std::string, Known> known;

  void add(std::size_t column, const Timed& row) {
    const std::string& label = columns[column].label;
    const auto [entry, is_new] = known.try_emplace(row.name, Known{lines.size(), &row, &label});
    if (is_new) {
      lines.push_back({row.name, row.suite, row.group, row.bytes, std::vector<Cell>(columns.size())});
    } else {
      const std::string why = difference(*entry->second.row, *entry->second.label, row, label);
      if (!why.empty())
        throw Error(ErrorCode::invalid_argument, "rows named " + row.name + " are different cases: " + why);
    }
    Cell& cell = lines[entry->second.line].cells[column];
    cell.present = true;
    cell.error = row.error;
    cell.seconds = row.seconds;
    if (cell.timed() && row.reference_seconds > 0) cell.share = row.reference_seconds / row.seconds;
  }
};

void order_by_suites(std::vector<Line>& lines) {
  std::map<std::string, std::size_t> rank;
  for (const Line& line : lines) rank.try_emplace(line.suite, rank.size());
  std::stable_sort(lines.begin(), lines.end(),
                   [&](const Line& a, const Line& b) { return rank[a.suite] < rank[b.suite]; });
}

/// Which lines are timed in every column that times any of them.
std::vector<std::size_t> common(const std::vector<Line>& lines, const std::vector<std::size_t>& of,
                                std::vector<bool>& takes_part) {
  for (std::size_t column = 0; column < takes_part.size(); ++column)
    takes_part[column] = std::any_of(of.begin(), of.end(),
                                     [&](std::size_t line) { return lines[line].cells[column].timed(); });
  std::vector<std::size_t> found;
  for (const std::size_t line : of) {
    bool in_all = true;
    for (std::size_t column = 0; column < takes_part.size(); ++column)
      in_all = in_all && (!takes_part[column] || lines[line].cells[column].timed());
    if (in_all) found.push_back(line);
  }
  return found;
}

void average(Section& section, const std::vector<Line>& lines, std::size_t columns) {
  std::vector<bool> takes_part(columns);
  const std::vector<std::size_t> averaged = common(lines, section.lines, takes_part);
  section.averaged = averaged.size();
  const auto mean_of = [&](std::size_t column, std::optional<double> Cell::*figure) {
    std::vector<double> values;
    for (const std::size_t line : averaged) {
      const std::optional<double>& value = lines[line].cells[column].*figure;
      if (value) values.push_back(*value);
    }
    // A mean over fewer cases than the others' would not be comparable.
    return values.size() == averaged.size() ? geometric_mean(values) : std::nullopt;
  };
  for (std::size_t column = 0; column < columns; ++column) {
    section.share.push_back(mean_of(column, &Cell::share));
    section.speed.push_back(mean_of(column, &Cell::speed));
  }
}

std::vector<Section> sections_of(const std::vector<Line>& lines, std::size_t columns) {
  std::vector<Section> sections;
  for (std::size_t begin = 0, end; begin < lines.size(); begin = end) {
    for (end = begin; end < lines.size() && lines[end].suite == lines[begin].suite;) ++end;
    Section suite{lines[begin].suite, false, std::vector<std::size_t>(end - begin), 0, {}, {}};
    std::iota(suite.lines.begin(), suite.lines.end(), begin);
    std::vector<Section> groups;
    for (const std::size_t line : suite.lines) {
      const std::string title = suite.title + ": " + lines[line].group;
      auto found = std::find_if(groups.begin(), groups.end(),
                                [&](const Section& group) { return group.title == title; });
      if (found == groups.end()) found = groups.insert(groups.end(), Section{title, false, {}, 0, {}, {}});
      found->lines.push_back(line);
    }
    suite.has_groups = groups.size() > 1;
    sections.push_back(std::move(suite));
    if (sections.back().has_groups) sections.insert(sections.end(), groups.begin(), groups.end());
  }
  for (Section& section : sections) average(section, lines, columns);
  return sections;
}

}  // namespace

std::optional<double> geometric_mean(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

Comparison compare(std::vector<Column> columns, const std::string& filter) {
  const std::regex wanted(filter);
  Comparison result;
  Aligner aligner{columns, {}, {}};
  for (std::size_t column = 0; column < columns.size(); ++column) {
    for (const Timed& row : columns[column].rows) {
      if (std::regex_search(row.name, wanted)) aligner.add(column, row);
    }
  }
  result.lines = std::move(aligner.lines);
  if (result.lines.empty())
    throw Error(ErrorCode::invalid_argument, "no row of these files matches '" + filter + "'");
  for (Line& line : result.lines) {
    const Cell& first = line.cells.front();
    for (Cell& cell : line.cells) {
      if (first.timed() && cell.timed()) cell.speed = first.seconds / cell.seconds;
    }
  }
  order_by_suites(result.lines);
  result.sections = sections_of(result.lines, columns.size());
  result.columns = std::move(columns);
  return result;
}

std::vector<Extremes> worst_cases(const Comparison& comparison, std::size_t count) {
  std::vector<Extremes> found;
  const auto add = [&](const char* words, std::size_t column, std::optional<double> Cell::*figure,
                       bool lowest) {
    Extremes ends{column, figure, words + std::to_string(column + 1), {}};
    for (const Line& line : comparison.lines) {
      if (line.cells[column].*figure) ends.lines.push_back(&line);
    }
    std::stable_sort(ends.lines.begin(), ends.lines.end(), [&](const Line* a, const Line* b) {
      const double of_a = *(a->cells[column].*figure), of_b = *(b->cells[column].*figure);
      return lowest ? of_a < of_b : of_a > of_b;
    });
    ends.lines.resize(std::min(ends.lines.size(), count));
    if (!ends.lines.empty()) found.push_back(std::move(ends));
  };
  for (std::size_t column = 0; column < comparison.columns.size(); ++column) {
    add("Lowest shares in ", column, &Cell::share, true);
    if (column == 0) continue;
    add("Lowest speeds in ", column, &Cell::speed, true);
    add("Highest speeds in ", column, &Cell::speed, false);
  }
  return found;
}

std::vector<std::string> gaps(const Comparison& comparison) {
  std::vector<std::string> texts;
  const auto append = [](std::string& list, const std::string& word) {
    list += (list.empty() ? "" : ", ") + word;
  };
  for (const Line& line : comparison.lines) {
    std::string with, without, failed;
    for (std::size_t column = 0; column < line.cells.size(); ++column) {
      const Cell& cell = line.cells[column];
      const std::string number = std::to_string(column + 1);
      append(cell.present ? with : without, number);
      if (cell.present && !cell.timed())
        failed += "; not timed in " + number + (cell.error.empty() ? "" : ": " + cell.error);
    }
    const bool alone = with.find(',') == std::string::npos;
    const std::string text = (without.empty() ? ""
                              : alone         ? "; only in " + with
                                              : "; not in " + without) +
                             failed;
    if (!text.empty()) texts.push_back(line.name + ": " + text.substr(2));
  }
  return texts;
}

}  // namespace relayout::bench
