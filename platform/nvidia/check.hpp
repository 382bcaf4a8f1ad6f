// Vendor errors as relayout::Error.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "relayout/error.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Throws Error{code} naming the operation; the sticky error is cleared, so that the next call starts clean.
inline void check(cudaError_t status, const char* operation, ErrorCode code = ErrorCode::vendor) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  throw Error(code, std::string(operation) + " failed on the GPU: " + cudaGetErrorName(status) + ", " +
                        cudaGetErrorString(status));
}

/// Makes a device current for one scope; the caller's device comes back after it.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device) {
    check(cudaGetDevice(&previous_), "asking for the current device");
    if (device != previous_) check(cudaSetDevice(device), "choosing the device", ErrorCode::no_device);
    changed_ = device != previous_;
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  ~DeviceGuard() {
    if (changed_) cudaSetDevice(previous_);
  }

 private:
  int previous_ = 0;
  bool changed_ = false;
};

}  // namespace relayout::RELAYOUT_BACKEND
