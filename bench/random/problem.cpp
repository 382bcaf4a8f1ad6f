#include "bench/random/problem.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "bench/csv.hpp"
#include "bench/shape_text.hpp"
#include "core/bytes.hpp"

namespace relayout::bench::random {
namespace {

constexpr const char* kFamilyNames[] = {"permute",   "slice",   "cast", "binary",   "unary",
                                        "depthwise", "img2col", "pad",  "quantized"};
static_assert(sizeof kFamilyNames / sizeof kFamilyNames[0] == kFamilies, "a name for every family");

template <class Number>
Number number_in(const std::string& text) {
  Number value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) refuse("'" + text + "' is no number, or too large");
  return value;
}

Dims dims_in(const std::string& text) {
  Dims dims;
  for (const std::string& part : split(text, 'x')) {
    dims.push_back(number_in<std::int64_t>(part));
    if (dims.back() < 0) refuse("'" + text + "' has a number below 0");
  }
  return dims;
}

DType type_in(const std::string& text) {
  for (int type = 0; type <= static_cast<int>(DType::b128); ++type) {
    if (text == name_of(static_cast<DType>(type))) return static_cast<DType>(type);
  }
  refuse("there is no element type '" + text + "'");
}

std::string to_text(const Tensor& tensor) {
  return std::string(name_of(tensor.type)) + " " + joined(tensor.shape) + " @" +
         std::to_string(tensor.offset) + " " + joined(tensor.strides);
}

Tensor tensor_in(const std::string& text) {
  const std::vector<std::string> words = split(text, ' ');
  if (words.size() != 4 || words[2].size() < 2 || words[2][0] != '@')
    refuse("a tensor reads 'f32 4x1000 @3 1000x1', not '" + text + "'");
  Tensor tensor{type_in(words[0]), dims_in(words[1]), dims_in(words[3]),
                number_in<std::int64_t>(words[2].substr(1))};
  if (tensor.offset < 0) refuse("'" + text + "' begins in front of its memory");
  if (tensor.view(nullptr).elements() == 0) refuse("'" + text + "' has no elements");
  return tensor;
}

std::map<std::string, std::string> options_in(const std::string& text) {
  std::map<std::string, std::string> options;
  if (text.empty()) return options;
  for (const std::string& part : split(text, ' ')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) refuse("an option reads 'taps=4', not '" + part + "'");
    options[part.substr(0, equals)] = part.substr(equals + 1);
  }
  return options;
}

Problem problem_in(const std::string& line) {
  const std::vector<std::string> fields = fields_of(line, kCsvHeader);
  Problem problem;
  problem.generator = number_in<int>(fields[0]);
  problem.seed = number_in<std::uint64_t>(fields[1]);
  problem.index = number_in<std::int64_t>(fields[2]);
  problem.family = family_of(fields[3]);
  problem.function = fields[4];
  for (const std::string& part : split(fields[5], '|')) problem.inputs.push_back(tensor_in(part));
  problem.out = tensor_in(fields[6]);
  problem.options = options_in(fields[7]);
  return problem;
}

}  // namespace

const char* const kCsvHeader = "generator,seed,index,family,function,inputs,out,options";

const char* name_of(Family family) noexcept { return kFamilyNames[static_cast<int>(family)]; }

Family family_of(const std::string& name) {
  const auto* const found = std::find(std::begin(kFamilyNames), std::end(kFamilyNames), name);
  if (found == std::end(kFamilyNames)) refuse("there is no family '" + name + "'");
  return static_cast<Family>(found - std::begin(kFamilyNames));
}

TensorView Tensor::view(const void* base) const {
  const std::int64_t bytes = offset * bytes_of(type);
  const void* const data = base == nullptr ? nullptr : static_cast<const char*>(base) + bytes;
  return TensorView(data, type, shape, strides);
}

std::int64_t Tensor::unique_bytes() const {
  std::int64_t elements = 1;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) elements *= strides[axis] == 0 ? 1 : shape[axis];
  return elements * bytes_of(type);
}

std::int64_t Tensor::footprint() const { return offset * bytes_of(type) + view(nullptr).byte_range().end; }

const std::string& Problem::word(const std::string& option) const {
  const auto found = options.find(option);
  if (found == options.end()) refuse(name() + " has no option '" + option + "'");
  return found->second;
}

std::int64_t Problem::number(const std::string& option) const {
  return number_in<std::int64_t>(word(option));
}

std::int64_t Problem::bytes() const {
  std::int64_t bytes = out.unique_bytes();
  for (const Tensor& input : inputs) bytes += input.unique_bytes();
  return bytes;
}

std::string Problem::group() const {
  const DType type = inputs.front().type;
  const bool listed = type == DType::f16 || type == DType::bf16 || type == DType::f32;
  return family == Family::unary && !listed ? "unary of f64 and integers" : name_of(family);
}

std::string Problem::name() const {
  return std::string(name_of(family)) + "-" + std::to_string(seed) + "-" + std::to_string(index);
}

std::string to_csv(const Problem& problem) {
  std::string inputs, options;
  for (const Tensor& input : problem.inputs) inputs += (inputs.empty() ? "" : "|") + to_text(input);
  for (const auto& [name, value] : problem.options) {
    options += options.empty() ? "" : " ";
    options += name + "=";
    options += value;
  }
  std::ostringstream line;
  line << problem.generator << ',' << problem.seed << ',' << problem.index << ',' << name_of(problem.family)
       << ',' << problem.function << ',' << inputs << ',' << to_text(problem.out) << ',' << options;
  return line.str();
}

std::vector<Problem> read_csv(std::istream& text, const std::string& file) {
  std::vector<Problem> problems;
  for_each_line(text, file, kCsvHeader, "problem",
                [&](const std::string& line, int) { problems.push_back(problem_in(line)); });
  return problems;
}

}  // namespace relayout::bench::random
