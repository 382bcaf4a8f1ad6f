// The back ends of this program. Each registers itself before main(), so that host code names none of them.
#include <algorithm>
#include <cstring>
#include <vector>

#include "platform/backend.hpp"

namespace relayout {
namespace {

std::vector<Backend*>& registered() {
  static std::vector<Backend*> backends;
  return backends;
}

}  // namespace

void register_backend(Backend& backend) { registered().push_back(&backend); }

Backend* find_backend(const char* name) noexcept {
  const auto& all = registered();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](Backend* backend) { return std::strcmp(backend->name(), name) == 0; });
  return found == all.end() ? nullptr : *found;
}

Backend* gpu_backend() noexcept {
  for (const char* name : {"cuda", "hip"}) {
    if (Backend* backend = find_backend(name)) return backend;
  }
  return nullptr;
}

std::vector<std::string> Device::built_with() {
  std::vector<std::string> names;
  for (Backend* backend : registered()) names.emplace_back(backend->name());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace relayout
