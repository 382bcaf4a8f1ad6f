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

/// Makes a device current, and returns the one that was.
inline int make_current(int device) {
  int previous = device;
  check(runtime::current_device(&previous), "asking for the current device");
  if (device != previous) check(runtime::set_device(device), "choosing the device", ErrorCode::no_device);
  return previous;
}

/// Makes a device current for one scope; the caller's device comes back after it.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device) : device_(device), previous_(make_current(device)) {}
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  ~DeviceGuard() {
    if (device_ != previous_) (void)runtime::set_device(previous_);
  }

 private:
  int device_, previous_;
};

}  // namespace relayout::RELAYOUT_BACKEND
