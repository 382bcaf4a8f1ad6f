// The runtime's errors as relayout::Error, and the current device. Here and beside it `runtime` is the
// vendor's (platform/nvidia/runtime.hpp, platform/amd/runtime.hpp).
#pragma once

#include <string>

#include "relayout/error.hpp"
#include "runtime.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Throws Error{code} naming the operation; the sticky error is cleared, so that the next call starts clean.
inline void check(runtime::Status status, const char* operation, ErrorCode code = ErrorCode::vendor) {
  if (status == runtime::kSuccess) return;
  (void)runtime::take_last_error();
  throw Error(code, std::string(operation) + " failed on the GPU: " + runtime::error_name(status) + ", " +
                        runtime::error_text(status));
}

/// Makes a device current for one scope; the caller's device comes back after it.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device) {
    check(runtime::current_device(&previous_), "asking for the current device");
    if (device != previous_) check(runtime::set_device(device), "choosing the device", ErrorCode::no_device);
    changed_ = device != previous_;
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  ~DeviceGuard() {
    if (changed_) (void)runtime::set_device(previous_);
  }

 private:
  int previous_ = 0;
  bool changed_ = false;
};

}  // namespace relayout::RELAYOUT_BACKEND
