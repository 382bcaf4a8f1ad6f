// What relayout/jax.py says of a call, as one attribute of text: an operation and words
// NAME=VALUE[,VALUE...], as in "pad left=2 right=1 mode=2 value=0x0p+0". Text, since it is what every version
// of jax hands over unchanged.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace relayout::jax {

class Specification {
 public:
  explicit Specification(const std::string& text) {
    std::istringstream words(text);
    words >> operation;
    for (std::string word; words >> word;) {
      const std::size_t equals = word.find('=');
      std::istringstream values(equals == std::string::npos ? "" : word.substr(equals + 1));
      std::vector<std::string>& list = values_[word.substr(0, equals)];
      for (std::string value; std::getline(values, value, ',');) list.push_back(value);
    }
  }

  std::string operation;

  bool has(const std::string& name) const { return values_.count(name) != 0; }
  /// Nothing where the name is missing.
  const std::vector<std::string>& list(const std::string& name) const {
    static const std::vector<std::string> none;
    const auto found = values_.find(name);
    return found == values_.end() ? none : found->second;
  }
  std::int64_t integer(const std::string& name, std::int64_t otherwise) const {
    return list(name).empty() ? otherwise : to_integer(list(name)[0]);
  }
  double real(const std::string& name, double otherwise) const {
    return list(name).empty() ? otherwise : std::strtod(list(name)[0].c_str(), nullptr);
  }
  template <class Integer>
  std::vector<Integer> integers(const std::string& name) const {
    std::vector<Integer> result;
    for (const std::string& value : list(name)) result.push_back(static_cast<Integer>(to_integer(value)));
    return result;
  }

  static std::int64_t to_integer(const std::string& text) { return std::strtoll(text.c_str(), nullptr, 10); }

 private:
  std::map<std::string, std::vector<std::string>> values_;
};

}  // namespace relayout::jax
