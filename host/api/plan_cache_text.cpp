#include "host/api/plan_cache_text.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
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

/// Elements that move as bytes are told by their size alone. Plans with a beta are never in a file.
std::string elements_text(const plan::PlannedCopy& copy) {
  const bool scaled = is_scaled(copy.options.scale);
  const std::string types = scaled || copy.in_type != copy.out_type
                                ? std::string(name_of(copy.in_type)) + ">" + name_of(copy.out_type)
                                : std::to_string(size_of(copy.in_type)) + " bytes";
  const bool generic_cast = needs_generic_cast(copy.in_type, copy.out_type, copy.options.cast);
  return types + (generic_cast ? " by format" : "") + (scaled ? " scaled" : "") +
         (copy.options.scale.beta != 0 ? " added" : "") + (copy.options.indirect ? " indirect" : "");
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

  std::string copy() const {
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
    if (tile != kNone) {
      for (const std::string& extent : split(tile, ',')) entry.tile.push_back(number(extent, 1));
    }
    entry.threads = static_cast<int>(number(fields_[kCopyFields + 2], 0));
    entry.nanoseconds = number(fields_[kCopyFields + 3], 1, std::numeric_limits<std::int64_t>::max());
    entry.candidates = static_cast<int>(number(fields_[kCopyFields + 4], 1));
    return entry;
  }

 private:
  std::int64_t number(const std::string& text, std::int64_t least, std::int64_t most = 2147483647) const {
    std::int64_t value = 0;
    const char *const begin = text.data(), *const end = begin + text.size();
    const std::from_chars_result result = std::from_chars(begin, end, value);
    if (result.ec != std::errc() || result.ptr != end || value < least || value > most)
      fail("has '" + text + "' in the place of a number from " + std::to_string(least) + " to " +
           std::to_string(most));
    return value;
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
                                        std::to_string(copy.in.start(copy.in.data) % 16) + "," +
                                            std::to_string(copy.out.start(copy.out.data) % 32)};
  for (const std::string& field : fields) name += '\t' + field;
  return name;
}

namespace {

std::map<std::string, Entry> read_plans(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(ErrorCode::invalid_argument, path + ": the file of plans cannot be read");
  file.exceptions(std::ios::badbit);  // so that std::bad_alloc is none of the file's faults
  std::string text;
  if (!std::getline(file, text) || text != kTitle) {
    throw Error(ErrorCode::invalid_argument,
                path + ": line 1 is '" + text.substr(0, 40) + "', not '" + kTitle + "'");
  }
  std::map<std::string, Entry> read;
  for (int number = 2; std::getline(file, text); ++number) {
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
