// What this build needs of the machine, as words and as a check. Not for kernels: RELAYOUT_ARCHITECTURES is
// the back end's.
#pragma once

#include "platform/gpu/architectures.hpp"
#include "runtime.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// NVIDIA's drivers run programs of their own major version of CUDA, and of older ones.
inline std::string requirements() {
  constexpr int major = CUDART_VERSION / 1000;
  return "a driver for CUDA " + std::to_string(major) + " (release " + (major >= 13 ? "580" : "525") +
         ") or newer and a GPU that runs code for " RELAYOUT_ARCHITECTURES;
}
/// What is there of it, by the driver's version.
inline std::string finding(int driver) {
  return driver == 0 ? "there is no driver" : "the driver is for CUDA " + runtime::version_text(driver);
}
inline bool has_code_for(const runtime::Properties& gpu) {
  return runs_on(RELAYOUT_ARCHITECTURES, gpu.major * 10 + gpu.minor);
}

}  // namespace relayout::RELAYOUT_BACKEND
