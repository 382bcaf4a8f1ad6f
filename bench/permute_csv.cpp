#include "bench/permute_csv.hpp"

#include "bench/csv.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <system_error>

namespace relayout::bench {
namespace {

constexpr const char* kHeader = "name,source,rank,shape,perm,elem_bytes";

std::int64_t number(const std::string& text, const char* field) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range) refuse(std::string(field) + " '" + text + "' is too large");
  if (error != std::errc() || stop != end) refuse(std::string(field) + " '" + text + "' is no number");
  return value;
}

Dims numbers(const std::string& text, const char* field, std::size_t rank) {
  Dims values;
  for (const std::string& word : split(text, ' ')) {
    if (!word.empty()) values.push_back(number(word, field));
  }
  if (values.size() != rank)
    refuse(std::string(field) + " has " + std::to_string(values.size()) + " numbers, but rank is " +
           std::to_string(rank));
  return values;
}

/// A permutation moves bytes, so one type for each size is enough.
DType type_of_size(std::int64_t bytes) {
  switch (bytes) {
    case 1:
      return DType::u8;
    case 2:
      return DType::f16;
    case 4:
      return DType::f32;
    case 8:
      return DType::f64;
    default:
      refuse("elem_bytes is " + std::to_string(bytes) + ", but must be 1, 2, 4 or 8");
  }
}

/// Names become part of a row's name, which users give to --filter, and which other programs read.
void check_name(const std::string& name) {
  const auto allowed = [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '-' || c == '.';
  };
  if (name.empty() || !std::all_of(name.begin(), name.end(), allowed))
    refuse("name '" + name + "' must consist of letters, digits, '_', '-' and '.'");
}

ListedPermute parse(const std::string& line) {
  const std::vector<std::string> fields = fields_of(line, kHeader);
  ListedPermute listed{fields[0], fields[1], {}};
  check_name(listed.name);
  const std::int64_t rank = number(fields[2], "rank");
  if (rank < 1 || rank > kMaxRank)
    refuse("rank is " + std::to_string(rank) + ", but must be 1 to " + std::to_string(kMaxRank));
  cases::PermuteCase& c = listed.permute;
  c.in_type = c.out_type = type_of_size(number(fields[5], "elem_bytes"));
  c.shape = numbers(fields[3], "shape", static_cast<std::size_t>(rank));
  if (std::any_of(c.shape.begin(), c.shape.end(), [](std::int64_t extent) { return extent < 1; }))
    refuse("shape " + to_string(c.shape) + " has an extent below 1");
  for (const std::int64_t axis : numbers(fields[4], "perm", static_cast<std::size_t>(rank))) {
    const bool fits = axis >= 0 && axis < rank;
    if (!fits || std::count(c.axes.begin(), c.axes.end(), static_cast<int>(axis)) > 0)
      refuse("perm '" + fields[4] + "' is no permutation of 0.." + std::to_string(rank - 1));
    c.axes.push_back(static_cast<int>(axis));
  }
  static_cast<void>(TensorView(nullptr, c.in_type, c.shape));  // refuses a tensor that is too large
  return listed;
}

}  // namespace

std::vector<ListedPermute> read_permutes(std::istream& text, const std::string& file) {
  std::vector<ListedPermute> list;
  std::map<std::string, int> line_of_name;
  for_each_line(text, file, kHeader, "case", [&](const std::string& line, int number_of_line) {
    list.push_back(parse(line));
    const auto [entry, is_new] = line_of_name.try_emplace(list.back().name, number_of_line);
    if (!is_new) refuse("name '" + entry->first + "' is that of line " + std::to_string(entry->second));
  });
  return list;
}

}  // namespace relayout::bench
