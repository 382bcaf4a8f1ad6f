#include "bench/compare/page.hpp"

#include "bench/compare/bars.hpp"
#include "bench/compare/figures.hpp"
#include "bench/compare/markup.hpp"

namespace relayout::bench {
namespace {

// The bars' colours differ in lightness as well as in hue, and stand out from the page in both schemes.
constexpr const char* kStyle = R"css(
:root { color-scheme: cheap dark; --page: #ffffff; --text: #1b1b1b; --quiet: #5a5a5a; --rule: #d0d0d0;
  --c1: #0060a8; --c2: #c24a00; --c3: #00805a; --c4: #a8458a; --c5: #806000; --c6: #565656; }
@media (prefers-color-scheme: dark) {
  :root { --page: #151515; --text: #ececec; --quiet: #ababab; --rule: #444444;
    --c1: #62b6f0; --c2: #f0945a; --c3: #3ec99b; --c4: #e39ac8; --c5: #e3cf4a; --c6: #bdbdbd; }
}
body { background: var(--page); color: var(--text); font: 15px/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 1200px;
  padding: 1.5rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
p { max-width: 75ch; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.87rem; }
th, td { border-bottom: 1px solid var(--rule); padding: 0.2rem 0.6rem; text-align: right; }
th:first-child, td:first-child, .words th, .words td { text-align: left; }
thead th { color: var(--quiet); font-weight: 600; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--text); font: 10px ui-monospace, monospace; }
svg .case { text-anchor: end; } svg .axis { text-anchor: middle; fill: var(--quiet); }
.grid { stroke: var(--rule); } .one { stroke: var(--quiet); stroke-dasharray: 4 3; }
.key { display: inline-block; width: 0.85em; height: 0.85em; margin-right: 0.4em; }
.c1 { fill: var(--c1); background: var(--c1); } .c2 { fill: var(--c2); background: var(--c2); }
.c3 { fill: var(--c3); background: var(--c3); } .c4 { fill: var(--c4); background: var(--c4); }
.c5 { fill: var(--c5); background: var(--c5); } .c6 { fill: var(--c6); background: var(--c6); }
)css";

class PageWriter {
 public:
  PageWriter(std::ostream& out, const Comparison& comparison) : out_(out), comparison_(comparison) {}

  void files() {
    text_element(out_, "h2", {}, "What is compared");
    const Element wide(out_, "div", {{"class", "wide"}});
    const Element table(out_, "table", {{"class", "words"}});
    {
      const Element head(out_, "thead");
      const Element row(out_, "tr");
      text_element(out_, "th", {{"scope", "col"}}, "column");
      for (const auto& fact : comparison_.columns.front().facts)
        text_element(out_, "th", {{"scope", "col"}}, fact.first);
    }
    const Element body(out_, "tbody");
    for (std::size_t column = 0; column < columns(); ++column) {
      const Element row(out_, "tr");
      {
        const Element cell(out_, "th", {{"scope", "row"}});
        text_element(out_, "span", {{"class", "key " + colour_class(column)}}, "");
        out_ << escaped(std::to_string(column + 1) + ": " + comparison_.columns[column].label);
      }
      for (const auto& fact : comparison_.columns[column].facts) number(fact.second);
    }
  }

  void means() {
    text_element(out_, "h2", {}, "Geometric means");
    text_element(
        out_, "p", {},
        "Over the cases that were timed in every column which has any of them, so that all columns are "
        "averaged over the same cases.");
    const Element wide(out_, "div", {{"class", "wide"}});
    const Element table(out_, "table");
    head("suite", {"cases"}, {"share"});
    const Element body(out_, "tbody");
    for (const Section& section : comparison_.sections) {
      const Element row(out_, "tr");
      text_element(out_, "th", {{"scope", "row"}}, section.title);
      number(std::to_string(section.averaged));
      for (std::size_t column = 0; column < columns(); ++column) {
        number(fixed(section.share[column], 3));
        if (column > 0) number(fixed(section.speed[column], 2));
      }
    }
  }

  void worst(std::size_t count) {
    text_element(out_, "h2", {}, "Worst cases");
    for (const Extremes& ends : worst_cases(comparison_, count)) {
      text_element(out_, "p", {}, ends.title + " (" + comparison_.columns[ends.column].label + "):");
      const Element items(out_, "ol");
      for (const Line* line : ends.lines)
        text_element(out_, "li", {}, line->name + ": " + fixed(line->cells[ends.column].*ends.figure, 3));
    }
  }

  void section(const Section& section) {
    text_element(out_, "h2", {}, section.title);
    write_bars(out_, comparison_, section);
    const Element wide(out_, "div", {{"class", "wide"}});
    const Element table(out_, "table");
    head("case", {"MB"}, {"us", "GB/s", "copy", "share"});
    const Element body(out_, "tbody");
    for (const std::size_t line : section.lines) figures_of(comparison_.lines[line]);
  }

  void missing() {
    const std::vector<std::string> texts = gaps(comparison_);
    if (texts.empty()) return;
    text_element(out_, "h2", {}, "Not in every column");
    const Element list(out_, "ul");
    for (const std::string& text : texts) text_element(out_, "li", {}, text);
  }

 private:
  std::size_t columns() const { return comparison_.columns.size(); }
  void number(const std::string& text) { text_element(out_, "td", {}, text); }

  /// `each`: what every column has; all but the first also have a speed.
  void head(const char* first, const std::vector<std::string>& before, const std::vector<std::string>& each) {
    const Element head(out_, "thead");
    const Element row(out_, "tr");
    text_element(out_, "th", {{"scope", "col"}}, first);
    for (const std::string& word : before) text_element(out_, "th", {{"scope", "col"}}, word);
    for (std::size_t column = 0; column < columns(); ++column) {
      const std::string mark = std::to_string(column + 1) + ": ";
      for (const std::string& word : each) text_element(out_, "th", {{"scope", "col"}}, mark + word);
      if (column > 0) text_element(out_, "th", {{"scope", "col"}}, mark + "speed");
    }
  }

  void figures_of(const Line& line) {
    const Element row(out_, "tr");
    text_element(out_, "th", {{"scope", "row"}}, line.name);
    number(megabytes(line.bytes));
    for (std::size_t column = 0; column < columns(); ++column) {
      const Cell& cell = line.cells[column];
      number(cell.timed() ? microseconds(cell.seconds) : cell.present ? "failed" : "-");
      number(cell.timed() ? gigabytes_per_second(line.rate(column)) : "-");
      number(cell.share ? gigabytes_per_second(line.copy_rate(column)) : "-");
      number(fixed(cell.share, 3));
      if (column > 0) number(fixed(cell.speed, 2));
    }
  }

  std::ostream& out_;
  const Comparison& comparison_;
};

}  // namespace

void write_page(std::ostream& out, const Comparison& comparison, std::size_t worst_count) {
  out << "<!DOCTYPE html>\n";
  const Element html(out, "html", {{"xmlns", "http://www.w3.org/1999/xhtml"}, {"lang", "en"}});
  {
    const Element head(out, "head");
    empty_element(out, "meta", {{"charset", "utf-8"}});
    empty_element(out, "meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
    text_element(out, "title", {}, "relayout: benchmarks side by side");
    const Element style(out, "style");
    out << kStyle;
  }
  const Element body(out, "body");
  text_element(out, "h1", {}, "relayout: benchmarks side by side");
  text_element(
      out, "p", {},
      "Bytes are every input element once and every output element once. A share is that of the best copy of "
      "as many bytes, measured beside the case on the same device (in the suite overlap: of its slowest "
      "part); "
      "1 is the speed of the memory. A speed is the time in column 1 divided by the time here: above 1 is "
      "faster than column 1.");
  PageWriter page(out, comparison);
  page.files();
  page.means();
  page.worst(worst_count);
  for (const Section& section : comparison.sections) {
    if (!section.has_groups) page.section(section);
  }
  page.missing();
}

}  // namespace relayout::bench
