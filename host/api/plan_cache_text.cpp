#include "host/api/plan_cache_text.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "host/api/replace_file.hpp"
#include "host/plan/copy/cast_rule.hpp"
#include "host/plan/plan_words.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

using Entry = PlanCache::Entry;

constexpr const char* kTitle = "relayout plans 1";
/// device, multiprocessors, elements, extents, output strides, input strides, addresses.
constexpr std::size_t kCopyFields = 7;
/// kernel, tile, threads, nanoseconds, candidates.
constexpr std::size_t kPlanFields = 5;
constexpr const char* kNone = "-";
/// What addresses are counted modulo.
constexpr std::int64_t kInputBytes = 16, kOutputBytes = 32;
/// What a plan that was timed may run.
constexpr CopyKernel kKernels[] = {CopyKernel::stream, CopyKernel::window, CopyKernel::tile, CopyKernel::rows,
                                   CopyKernel::gather};

std::string joined(const Dims& numbers) {
  std::string text;
  for (const std::int64_t number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text.empty() ? kNone : text;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

constexpr const char *kByFormat = " by format", *kScaled = " scaled", *kIndirect = " indirect";

/// Elements that move as bytes are told by their size alone. Plans with a beta are never in a file.
std::string elements_text(const plan::PlannedCopy& copy) {
  const bool scaled = is_scaled(copy.options.scale);
  const std::string types = scaled || copy.in_type != copy.out_type
                                ? std::string(name_of(copy.in_type)) + ">" + name_of(copy.out_type)
                                : std::to_string(size_of(copy.in_type)) + " bytes";
  const bool generic_cast = needs_generic_cast(copy.in_type, copy.out_type, copy.options.cast);
  return types + (generic_cast ? kByFormat : "") + (scaled ? kScaled : "") +
         (copy.options.scale.beta != 0 ? " added" : "") + (copy.options.indirect ? kIndirect : "");
}

std::optional<DType> castable_type(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(DType::b128); ++i) {
    const auto type = static_cast<DType>(i);
    if (is_castable(type) && name == name_of(type)) return type;
  }
  return std::nullopt;
}

/// Whether elements_text() gives this for a copy without a beta.
bool is_elements_text(std::string text) {
  const auto take_end = [&text](const std::string& end) {
    if (text.size() < end.size() || text.compare(text.size() - end.size(), end.size(), end) != 0)
      return false;
    text.resize(text.size() - end.size());
    return true;
  };
  take_end(kIndirect);
  const bool scaled = take_end(kScaled), by_format = take_end(kByFormat);
  const std::size_t arrow = text.find('>');
  if (arrow == std::string::npos) {
    const auto is_size = [&](const char* size) { return text == std::string(size) + " bytes"; };
    return !scaled && !by_format && (is_size("1") || is_size("2") || is_size("4") || is_size("8"));
  }
  const std::optional<DType> in = castable_type(text.substr(0, arrow)),
                             out = castable_type(text.substr(arrow + 1));
  // Elements of one type need no format, and are named by their type only where they are scaled.
  return in && out && (*in != *out || (scaled && !by_format));
}

class Line {
 public:
  Line(const std::string& path, int number, const std::string& text)
      : path_(path), number_(number), fields_(split(text, '\t')) {
    if (fields_.size() != kCopyFields + kPlanFields) {
      fail("has " + std::to_string(fields_.size()) + " fields between tabs, not " +
           std::to_string(kCopyFields + kPlanFields));
    }
  }

  /// The first fields, each of which must be as copy_text() writes it: else no copy would ever be found here.
  std::string copy() const {
    number(fields_[1], 1);
    if (!is_elements_text(fields_[2]))
      fail("has '" + fields_[2] + "' in the place of elements, such as '4 bytes' or 'f32>f16'");
    const std::size_t axes = numbers(fields_[3], 1).size();
    for (const std::size_t field : {4, 5}) {
      const std::size_t strides = numbers(fields_[field], std::numeric_limits<std::int64_t>::min()).size();
      if (strides == axes) continue;
      fail("has " + plan::plural(static_cast<std::int64_t>(axes), "extent") + ", and " +
           plan::plural(static_cast<std::int64_t>(strides), "stride") + " of the " +
           (field == 4 ? "output" : "input"));
    }
    const std::vector<std::string> addresses = split(fields_[6], ',');
    if (addresses.size() != 2) fail("has '" + fields_[6] + "' in the place of two addresses");
    number(addresses[0], 0, kInputBytes - 1);
    number(addresses[1], 0, kOutputBytes - 1);
    std::string text = fields_[0];
    for (std::size_t i = 1; i < kCopyFields; ++i) text += '\t' + fields_[i];
    return text;
  }

  Entry entry() const {
    Entry entry;
    const std::string &kernel = fields_[kCopyFields], &tile = fields_[kCopyFields + 1];
    const auto* const known = std::find_if(std::begin(kKernels), std::end(kKernels),
                                           [&](CopyKernel each) { return kernel == name_of(each); });
    if (known == std::end(kKernels))
      fail("names the kernel '" + kernel + "', not stream, window, tile, rows or gather");
    entry.kernel = *known;
    entry.tile = numbers(tile, 1, kMaxInt);
    entry.threads = static_cast<int>(number(fields_[kCopyFields + 2], 0));
    entry.nanoseconds = number(fields_[kCopyFields + 3], 1, kMaxNumber);
    entry.candidates = static_cast<int>(number(fields_[kCopyFields + 4], 1));
    return entry;
  }

 private:
  static constexpr std::int64_t kMaxInt = std::numeric_limits<std::int32_t>::max(),
                                kMaxNumber = std::numeric_limits<std::int64_t>::max();

  /// A number as save() writes it: with zeros in front of it, a line would stand for a copy that nobody asks
  /// for.
  std::int64_t number(const std::string& text, std::int64_t least, std::int64_t most = kMaxInt) const {
    std::int64_t value = 0;
    const std::from_chars_result result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc() || text != std::to_string(value) || value < least || value > most)
      fail("has '" + text + "' in the place of a number from " + std::to_string(least) + " to " +
           std::to_string(most));
    return value;
  }

  /// What joined() wrote.
  Dims numbers(const std::string& text, std::int64_t least, std::int64_t most = kMaxNumber) const {
    Dims values;
    if (text == kNone) return values;
    for (const std::string& each : split(text, ',')) values.push_back(number(each, least, most));
    return values;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::invalid_argument, path_ + ": line " + std::to_string(number_) + " " + what);
  }

  const std::string& path_;
  int number_;
  std::vector<std::string> fields_;
};

}  // namespace

std::string copy_text(const DeviceProperties& device, const plan::PlannedCopy& copy) {
  std::string name = device.name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '\t' || c == '\n'; }, ' ');
  const std::vector<std::string> fields{std::to_string(device.multiprocessors),
                                        elements_text(copy),
                                        joined(copy.nest.extents),
                                        copy.nest.operands() > 0 ? joined(copy.nest.strides[0]) : kNone,
                                        copy.nest.operands() > 1 ? joined(copy.nest.strides[1]) : kNone,
                                        std::to_string(copy.in.start(copy.in.data) % kInputBytes) + "," +
                                            std::to_string(copy.out.start(copy.out.data) % kOutputBytes)};
  for (const std::string& field : fields) name += '\t' + field;
  return name;
}

namespace {

/// A line without its end, which is CR LF where the file came by way of a program that writes such ends.
bool read_line(std::istream& file, std::string& text) {
  if (!std::getline(file, text)) return false;
  if (!text.empty() && text.back() == '\r') text.pop_back();
  return true;
}

std::map<std::string, Entry> read_plans(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(ErrorCode::invalid_argument, path + ": the file of plans cannot be read");
  file.exceptions(std::ios::badbit);  // so that std::bad_alloc is none of the file's faults
  std::string text;
  if (!read_line(file, text) || text != kTitle) {
    throw Error(ErrorCode::invalid_argument,
                path + ": line 1 is '" + text.substr(0, 40) + "', not '" + kTitle + "'");
  }
  std::map<std::string, Entry> read;
  for (int number = 2; read_line(file, text); ++number) {
    const Line line(path, number, text);
    read[line.copy()] = line.entry();
  }
  return read;
}

}  // namespace

void PlanCache::load(const std::string& path) {
  std::map<std::string, Entry> read;
  try {
    read = read_plans(path);
  } catch (const std::ios_base::failure&) {
    throw Error(ErrorCode::invalid_argument, path + ": the file of plans cannot be read");
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto& [copy, entry] : read) entries_[copy] = std::move(entry);
}

void PlanCache::save(const std::string& path) const {
  plan::SentenceStream text;
  text << kTitle << '\n';
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [copy, entry] : entries_) {
      text << copy << '\t' << name_of(entry.kernel) << '\t' << joined(entry.tile) << '\t'
           << std::to_string(entry.threads) << '\t' << std::to_string(entry.nanoseconds) << '\t'
           << std::to_string(entry.candidates) << '\n';
    }
  }
  replace_file(path, text.str());
}

}  // namespace relayout
