#include "bench/compare/text.hpp"

#include <algorithm>
#include <iomanip>

#include "bench/compare/figures.hpp"

namespace relayout::bench {
namespace {

struct TextWriter {
  std::ostream& out;
  const Comparison& comparison;
  std::size_t name_width = 0;

  static constexpr int kTime = 11, kRate = 9, kShare = 7, kSpeed = 8;

  std::size_t columns() const { return comparison.columns.size(); }
  int width_of(std::size_t column) const { return 2 + kTime + kRate + kShare + (column > 0 ? kSpeed : 0); }

  void right(int width, const std::string& text) { out << std::right << std::setw(width) << text; }
  void name(const std::string& text) { out << std::left << std::setw(static_cast<int>(name_width)) << text; }

  void legend() {
    for (std::size_t column = 0; column < columns(); ++column) {
      out << column + 1 << "  " << comparison.columns[column].label << '\n';
      for (const auto& [fact, text] : comparison.columns[column].facts)
        out << "     " << std::left << std::setw(20) << fact << text << '\n';
    }
    out << "\nshare: of the best copy of as many bytes in the same file.";
    if (columns() > 1) out << " speed: the time in 1 / the time here.";
    out << "\n\n";
  }

  void header() {
    name("");
    right(11, "");
    for (std::size_t column = 0; column < columns(); ++column)
      right(width_of(column), "-- " + std::to_string(column + 1) + " --");
    out << '\n';
    name("case");
    right(11, "MB");
    for (std::size_t column = 0; column < columns(); ++column) {
      out << "  ";
      right(kTime, "us");
      right(kRate, "GB/s");
      right(kShare, "share");
      if (column > 0) right(kSpeed, "speed");
    }
    out << '\n';
  }

  void line(const Line& line) {
    name(line.name);
    right(11, megabytes(line.bytes));
    for (std::size_t column = 0; column < columns(); ++column) {
      const Cell& cell = line.cells[column];
      out << "  ";
      right(kTime, cell.timed() ? microseconds(cell.seconds) : cell.present ? "failed" : "-");
      right(kRate, cell.timed() ? gigabytes_per_second(line.rate(column)) : "-");
      right(kShare, fixed(cell.share, 3));
      if (column > 0) right(kSpeed, fixed(cell.speed, 2));
    }
    out << '\n';
  }

  void means() {
    out << "\nGeometric means over the cases that all of these columns have\n";
    for (const Section& section : comparison.sections) {
      name(section.title);
      right(11, std::to_string(section.averaged) + (section.averaged == 1 ? " case" : " cases"));
      for (std::size_t column = 0; column < columns(); ++column) {
        out << "  ";
        right(kTime + kRate + kShare, fixed(section.share[column], 3));
        if (column > 0) right(kSpeed, fixed(section.speed[column], 2));
      }
      out << '\n';
    }
  }

  void extremes(const Extremes& ends) {
    out << '\n' << ends.title << " (" << comparison.columns[ends.column].label << ")\n";
    for (const Line* line : ends.lines) {
      out << "  ";
      name(line->name);
      right(kSpeed + 2, fixed(line->cells[ends.column].*ends.figure, 3));
      out << '\n';
    }
  }

  void missing() {
    const std::vector<std::string> texts = gaps(comparison);
    if (texts.empty()) return;
    out << "\nNot in every column\n";
    for (const std::string& text : texts) out << "  " << text << '\n';
  }
};

}  // namespace

void write_text(std::ostream& out, const Comparison& comparison, std::size_t worst_count) {
  TextWriter writer{out, comparison};
  for (const Line& line : comparison.lines) writer.name_width = std::max(writer.name_width, line.name.size());
  for (const Section& section : comparison.sections)
    writer.name_width = std::max(writer.name_width, section.title.size());
  writer.legend();
  writer.header();
  for (const Line& line : comparison.lines) writer.line(line);
  writer.means();
  for (const Extremes& ends : worst_cases(comparison, worst_count)) writer.extremes(ends);
  writer.missing();
}

}  // namespace relayout::bench
