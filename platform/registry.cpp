// The back ends of this program. Each back end's library has one function that makes the back end at the
// first call; nothing destroys it, so it serves before main() and after it, too. Native code is part of every
// program. The other functions are weak references here: null in a program without their libraries.
#include <cstring>

#include "platform/backend.hpp"

extern "C" {
relayout::Backend* relayout_backend_cpu();
__attribute__((weak)) relayout::Backend* relayout_backend_cuda();
__attribute__((weak)) relayout::Backend* relayout_backend_emulator();
__attribute__((weak)) relayout::Backend* relayout_backend_hip();
}

namespace relayout {
namespace {

struct Entry {
  const char* name;
  Backend* (*backend)();
};

/// All there are, in the order of their names.
constexpr Entry kEntries[] = {{"cpu", relayout_backend_cpu},
                              {"cuda", relayout_backend_cuda},
                              {"emulator", relayout_backend_emulator},
                              {"hip", relayout_backend_hip}};

}  // namespace

Backend* find_backend(const char* name) noexcept {
  for (const Entry& entry : kEntries) {
    if (entry.backend != nullptr && std::strcmp(entry.name, name) == 0) return entry.backend();
  }
  return nullptr;
}

Backend* gpu_backend() noexcept {
  Backend* const cuda = find_backend("cuda");
  return cuda != nullptr ? cuda : find_backend("hip");
}

std::vector<std::string> Device::built_with() {
  std::vector<std::string> names;
  for (const Entry& entry : kEntries) {
    if (entry.backend != nullptr) names.emplace_back(entry.name);
  }
  return names;
}

}  // namespace relayout
