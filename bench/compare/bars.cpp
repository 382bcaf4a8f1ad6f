#include "bench/compare/bars.hpp"

#include <algorithm>
#include <cmath>

#include "bench/compare/figures.hpp"
#include "bench/compare/markup.hpp"

namespace relayout::bench {
namespace {

// In the drawing's own units; the page scales it to its width.
constexpr double kWidth = 1000, kBar = 9, kBetweenBars = 2, kBetweenCases = 7, kTop = 22, kBottom = 6;
constexpr double kLetter = 6.1, kMaxName = 420, kValue = 60;

std::string number(double value) { return fixed(value, 1); }

struct BarWriter {
  std::ostream& out;
  const Comparison& comparison;
  const Section& section;
  double left = 0;        // where the bars begin
  double greatest = 1.0;  // the share at the right end

  const Line& line_of(std::size_t line) const { return comparison.lines[line]; }
  double x_of(double share) const { return left + (kWidth - kValue - left) * share / greatest; }

  double case_height() const {
    return static_cast<double>(comparison.columns.size()) * (kBar + kBetweenBars) + kBetweenCases;
  }
  double height() const { return kTop + static_cast<double>(section.lines.size()) * case_height() + kBottom; }

  void grid() {
    const double step = greatest > 2 ? std::ceil(greatest / 5) : 0.25;
    for (double share = 0; share <= greatest + 1e-9; share += step) {
      const std::string x = number(x_of(share));
      empty_element(out, "line",
                    {{"class", share == 1 ? "grid one" : "grid"},
                     {"x1", x},
                     {"x2", x},
                     {"y1", number(kTop - 4)},
                     {"y2", number(height())}});
      text_element(out, "text", {{"class", "axis"}, {"x", x}, {"y", number(kTop - 8)}}, fixed(share, 2));
    }
  }

  void bar(const Line& line, std::size_t column, double y) {
    const Cell& cell = line.cells[column];
    const std::string mark = std::to_string(column + 1);
    const std::string baseline = number(y + kBar - 1);
    if (!cell.share) {
      text_element(out, "text", {{"class", "value"}, {"x", number(left + 3)}, {"y", baseline}},
                   mark + (cell.present && !cell.timed() ? ": failed" : ": none"));
      return;
    }
    const double end = x_of(*cell.share);
    {
      const Element rectangle(out, "rect",
                              {{"class", colour_class(column)},
                               {"x", number(left)},
                               {"y", number(y)},
                               {"width", number(end - left)},
                               {"height", number(kBar)}});
      text_element(out, "title", {},
                   line.name + ", " + comparison.columns[column].label + ": " + microseconds(cell.seconds) +
                       " us, " + gigabytes_per_second(line.rate(column)) + " GB/s, " + fixed(*cell.share, 3) +
                       " of the copy");
    }
    text_element(out, "text", {{"class", "value"}, {"x", number(end + 3)}, {"y", baseline}},
                 mark + ": " + fixed(*cell.share, 3));
  }

  void bars_of(const Line& line, double y) {
    const double middle = y + (case_height() - kBetweenCases) / 2 + 3;
    text_element(out, "text", {{"class", "case"}, {"x", number(left - 6)}, {"y", number(middle)}}, line.name);
    for (std::size_t column = 0; column < comparison.columns.size(); ++column)
      bar(line, column, y + static_cast<double>(column) * (kBar + kBetweenBars));
  }

  void measure() {
    std::size_t longest = 0;
    for (const std::size_t line : section.lines) {
      longest = std::max(longest, line_of(line).name.size());
      for (const Cell& cell : line_of(line).cells) greatest = std::max(greatest, cell.share.value_or(0));
    }
    left = std::min(kMaxName, 12 + kLetter * static_cast<double>(longest));
    greatest = std::ceil(greatest * 4 - 1e-9) / 4;
  }
};

}  // namespace

std::string colour_class(std::size_t column) { return "c" + std::to_string(column % kColours + 1); }

void write_bars(std::ostream& out, const Comparison& comparison, const Section& section) {
  BarWriter writer{out, comparison, section};
  writer.measure();
  const Element svg(
      out, "svg",
      {{"xmlns", "http://www.w3.org/2000/svg"},
       {"viewBox", "0 0 " + number(kWidth) + " " + number(writer.height())},
       {"role", "img"},
       {"aria-label", "Share of the copy rate in " + section.title +
                          ", one bar for each case and column; the table below has the figures"}});
  writer.grid();
  double y = kTop;
  for (const std::size_t line : section.lines) {
    writer.bars_of(comparison.lines[line], y);
    y += writer.case_height();
  }
}

}  // namespace relayout::bench
