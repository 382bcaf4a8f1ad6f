#include "bank_picture.hpp"

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <sstream>

namespace example {
namespace {

using relayout::plan::BankCount;
using relayout::plan::SharedAccess;

std::string passes(const BankCount& count) {
  return std::to_string(count.passes) + " (" + std::to_string(count.least) + ")";
}

std::string headline(const BankCase& one) {
  std::ostringstream text;
  text << one.name << ": worst access " << (one.worst.access == SharedAccess::write ? "fills" : "drains")
       << " " << one.worst.bytes << (one.worst.bytes == 1 ? " byte" : " bytes") << " a lane in "
       << one.worst.passes << (one.worst.passes == 1 ? " pass" : " passes");
  return text.str();
}

/// Blue where a bank delivers one word, towards red the more there are.
std::string colour(std::size_t words) {
  const double heat = std::min(1.0, static_cast<double>(words - 1) / 7);
  std::ostringstream text;
  text << "rgb(" << static_cast<int>(90 + 140 * heat) << "," << static_cast<int>(150 - 90 * heat) << ","
       << static_cast<int>(210 - 140 * heat) << ")";
  return text.str();
}

constexpr int kColumn = 22, kRow = 14, kMargin = 16, kMaxRows = 32;

int panel_height(const BankCase& one) { return 2 * kRow + kRow * std::min(one.worst.passes, kMaxRows) + 40; }

void print_panel(std::ostream& out, const BankCase& one, int top) {
  const int rows = std::min(one.worst.passes, kMaxRows), base = top + 2 * kRow + rows * kRow;
  out << "<g class=\"layout\">\n<text x=\"" << kMargin << "\" y=\"" << top + kRow << "\" font-size=\"13\">"
      << headline(one) << "; passes: fill " << passes(one.report.fill) << ", drain "
      << passes(one.report.drain) << "; " << one.bytes << " bytes, " << one.remark << "</text>\n";
  for (std::size_t bank = 0; bank < one.worst.lanes.size(); ++bank) {
    const int x = kMargin + static_cast<int>(bank) * kColumn;
    const auto& words = one.worst.lanes[bank];
    for (std::size_t word = 0; word < words.size() && word < kMaxRows; ++word) {
      const int y = base - static_cast<int>(word + 1) * kRow;
      out << "<rect x=\"" << x << "\" y=\"" << y << "\" width=\"" << kColumn - 2 << "\" height=\"" << kRow - 2
          << "\" fill=\"" << colour(words.size()) << "\"><title>bank " << bank << ": lanes";
      for (const int lane : words[word]) out << " " << lane;
      out << "</title></rect>\n<text x=\"" << x + kColumn / 2 - 1 << "\" y=\"" << y + kRow - 4
          << "\" font-size=\"8\" text-anchor=\"middle\" fill=\"white\">" << words[word].front()
          << "</text>\n";
    }
    out << "<text x=\"" << x + kColumn / 2 - 1 << "\" y=\"" << base + 10
        << "\" font-size=\"8\" text-anchor=\"middle\">" << bank << "</text>\n";
  }
  out << "</g>\n";
}

}  // namespace

void print_text(std::ostream& out, const BankCases& cases) {
  out << cases.device.name << ", " << cases.device.warp_size << " lanes, " << cases.device.shared_memory_banks
      << " banks\n"
      << cases.tile << "\n\n"
      << std::left << std::setw(14) << "layout" << std::right << std::setw(8) << "bytes" << std::setw(18)
      << "fill (least)" << std::setw(18) << "drain (least)" << std::setw(8) << "worst"
      << "  remedy\n";
  for (const BankCase& one : cases.cases) {
    out << std::left << std::setw(14) << one.name << std::right << std::setw(8) << one.bytes << std::setw(18)
        << passes(one.report.fill) << std::setw(18) << passes(one.report.drain) << std::setw(8)
        << one.report.worst() << "  " << one.remark << "\n";
  }
  for (const BankCase& one : cases.cases) {
    out << "\n" << headline(one) << "\n  bank   ";
    for (std::size_t bank = 0; bank < one.worst.lanes.size(); ++bank) out << std::setw(3) << bank;
    out << "\n  words  ";
    for (const auto& words : one.worst.lanes)
      out << std::setw(3) << (words.empty() ? "." : std::to_string(words.size()));
    out << "\n";
  }
}

void print_svg(std::ostream& out, const BankCases& cases) {
  int height = 3 * kMargin;
  std::size_t banks = 0;
  for (const BankCase& one : cases.cases) {
    height += panel_height(one);
    banks = std::max(banks, one.worst.lanes.size());
  }
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" font-family=\"sans-serif\" width=\""
      << 2 * kMargin + static_cast<int>(std::max<std::size_t>(banks, 36)) * kColumn << "\" height=\""
      << height << "\">\n<text x=\"" << kMargin << "\" y=\"20\" font-size=\"13\">" << cases.device.name
      << ": " << cases.tile << "</text>\n";
  int top = 2 * kMargin;
  for (const BankCase& one : cases.cases) {
    print_panel(out, one, top);
    top += panel_height(one);
  }
  out << "</svg>\n";
}

}  // namespace example
