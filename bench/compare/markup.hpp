// The small part of HTML and SVG that the comparison's page needs: elements that close, text that is escaped.
#pragma once

#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace relayout::bench {

/// Text in which no character is markup; control characters that XML forbids become '?'.
std::string escaped(const std::string& text);

using Attributes = std::vector<std::pair<std::string, std::string>>;

/// An element, written as it comes and closed at the end of its scope. The page is HTML and XML at once, so
/// any XML parser reads it.
class Element {
 public:
  Element(std::ostream& out, std::string name, const Attributes& attributes = {});
  ~Element();
  Element(const Element&) = delete;
  Element& operator=(const Element&) = delete;

 private:
  std::ostream& out_;
  std::string name_;
};

/// An element with nothing but text in it.
void text_element(std::ostream& out, const std::string& name, const Attributes& attributes,
                  const std::string& text);
/// An empty element.
void empty_element(std::ostream& out, const std::string& name, const Attributes& attributes);

}  // namespace relayout::bench
