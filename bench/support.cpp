#include "bench/support.hpp"

#include <iomanip>
#include <map>
#include <sstream>
#include <string>

#include <relayout/support.hpp>

namespace relayout::bench {
namespace {

constexpr int kNameWidth = 15, kCellWidth = 7;

const char* word_for(DeviceKind kind) {
  return kind == DeviceKind::cpu ? "cpu" : kind == DeviceKind::emulated ? "emulated" : "gpu";
}

std::string cell(const SupportRow& row) {
  if (!row.supported) return "-";
  return row.gives ? name_of(*row.gives) : "any";
}

}  // namespace

void print_support(std::ostream& out) {
  std::map<DeviceKind, std::ostringstream> lines;
  std::string operation;
  for (const SupportRow& row : support_table()) {
    std::ostringstream& text = lines[row.device];
    if (row.operation != operation) text << '\n' << std::left << std::setw(kNameWidth) << row.operation;
    operation = row.operation;
    text << std::setw(kCellWidth) << cell(row);
  }
  std::map<std::string, std::string> devices;  // of each text
  for (const auto& [kind, text] : lines) {
    std::string& names = devices[text.str()];
    names += (names.empty() ? "" : ", ") + std::string(word_for(kind));
  }
  for (const auto& [text, names] : devices) {
    out << names << ": the result's type for operands of one type\n" << std::setw(kNameWidth) << "";
    for (int type = 0; type <= static_cast<int>(DType::b128); ++type)
      out << std::left << std::setw(kCellWidth) << name_of(static_cast<DType>(type));
    out << text << "\n\n";
  }
}

}  // namespace relayout::bench
