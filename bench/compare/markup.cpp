#include "bench/compare/markup.hpp"

namespace relayout::bench {
namespace {

void begin(std::ostream& out, const std::string& name, const Attributes& attributes) {
  out << '<' << name;
  for (const auto& [attribute, value] : attributes) out << ' ' << attribute << "=\"" << escaped(value) << '"';
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' ? '?' : c;
    }
  }
  return safe;
}

Element::Element(std::ostream& out, std::string name, const Attributes& attributes)
    : out_(out), name_(std::move(name)) {
  begin(out_, name_, attributes);
  out_ << ">";
}

Element::~Element() { out_ << "</" << name_ << ">\n"; }

void text_element(std::ostream& out, const std::string& name, const Attributes& attributes,
                  const std::string& text) {
  begin(out, name, attributes);
  out << '>' << escaped(text) << "</" << name << ">\n";
}

void empty_element(std::ostream& out, const std::string& name, const Attributes& attributes) {
  begin(out, name, attributes);
  out << "/>\n";
}

}  // namespace relayout::bench
