// Which GPUs a build runs on, by the list that CMake compiled it for: "sm_80 sm_90-real" for CUDA, "gfx90a
// gfx942" for HIP.
#pragma once

#include <sstream>
#include <string>

namespace relayout {

/// Whether an entry's code runs on compute capability `number`, 90 for 9.0: machine code on later minor
/// versions of its major one, and PTX, which the driver compiles, on all later ones. Entries with letters, as
/// sm_90a, are not judged.
inline bool entry_runs_on(const std::string& entry, int number) {
  const std::size_t begin = entry.find('_') + 1, end = entry.find_first_not_of("0123456789", begin);
  const std::string kind = end == std::string::npos ? "" : entry.substr(end);
  if (end == begin || (!kind.empty() && kind[0] != '-')) return true;
  const int built = std::stoi(entry.substr(begin, end - begin));
  return built <= number && (kind != "-real" || built / 10 == number / 10);
}

/// The same for AMD's names, which have features behind a colon. Generic ones are not judged.
inline bool entry_runs_on(const std::string& entry, const std::string& name) {
  return entry.find("generic") != std::string::npos ||
         entry.substr(0, entry.find(':')) == name.substr(0, name.find(':'));
}

template <class Gpu>
bool runs_on(const std::string& architectures, const Gpu& gpu) {
  std::istringstream entries(architectures);
  for (std::string entry; entries >> entry;) {
    if (entry_runs_on(entry, gpu)) return true;
  }
  return false;
}

}  // namespace relayout
