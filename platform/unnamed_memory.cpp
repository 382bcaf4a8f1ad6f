#include "platform/unnamed_memory.hpp"

#include <map>
#include <mutex>

namespace relayout {
namespace {

struct All {
  std::mutex mutex;
  std::map<const char*, Allocation> by_begin;
};
All& all() {
  static All all;
  return all;
}

}  // namespace

UnnamedMemory::UnnamedMemory(void* memory, std::size_t bytes) : begin_(static_cast<char*>(memory)) {
  const std::lock_guard<std::mutex> lock(all().mutex);
  all().by_begin[begin_] = {begin_, bytes};
}

UnnamedMemory::~UnnamedMemory() {
  const std::lock_guard<std::mutex> lock(all().mutex);
  all().by_begin.erase(begin_);
}

Allocation UnnamedMemory::around(const void* memory) {
  const auto* const byte = static_cast<const char*>(memory);
  const std::lock_guard<std::mutex> lock(all().mutex);
  const auto after = all().by_begin.upper_bound(byte);
  if (after == all().by_begin.begin()) return {};
  const Allocation found = std::prev(after)->second;
  return byte < found.begin + found.bytes ? found : Allocation{};
}

}  // namespace relayout
