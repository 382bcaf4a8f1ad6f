// What this build needs of the machine, as words and as a check. Not for kernels: RELAYOUT_ARCHITECTURES is
// the back end's.
#pragma once

#include "platform/gpu/architectures.hpp"
#include "runtime.hpp"

namespace relayout::RELAYOUT_BACKEND {

inline std::string requirements() {
  return "the driver amdgpu, leave to write to /dev/kfd, and a GPU that runs code "
         "for " RELAYOUT_ARCHITECTURES;
}
/// HIP's driver has the runtime's version, with or without a GPU.
inline std::string finding(int) { return "HIP finds no GPU"; }
inline bool has_code_for(const runtime::Properties& gpu) {
  return runs_on(RELAYOUT_ARCHITECTURES, std::string(gpu.gcnArchName));
}

}  // namespace relayout::RELAYOUT_BACKEND
