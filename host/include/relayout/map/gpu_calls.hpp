// What a user's own file checks before a launch, and its calls of a vendor's runtime.
#pragma once

#include <relayout/device.hpp>
#include <relayout/error.hpp>
#include <relayout/export.hpp>
#include <relayout/kernel/launch_shape.hpp>
#include <relayout/map/compiler.hpp>
#include <relayout/stream.hpp>

namespace relayout::detail {

/// Error{unsupported} where a kernel that was compiled for this back end (null: for the emulator) cannot run,
/// Error{launch} for a shape that the device does not take.
RELAYOUT_API void check_kernel_launch(const Device& device, const LaunchShape& shape,
                                      const char* compiled_for);

/// Throws what a GPU's runtime answered. name, text: of the vendor's error.
[[noreturn]] RELAYOUT_API void throw_gpu_error(const char* operation, ErrorCode code, const char* name,
                                               const char* text);

#if defined(RELAYOUT_GPU)
inline namespace RELAYOUT_COMPILED_BY {

inline void check_gpu(const char* operation, decltype(RELAYOUT_GPU(Success)) status, ErrorCode code) {
  if (status == RELAYOUT_GPU(Success)) return;
  (void)RELAYOUT_GPU(GetLastError)();  // the next call starts clean
  throw_gpu_error(operation, code, RELAYOUT_GPU(GetErrorName)(status), RELAYOUT_GPU(GetErrorString)(status));
}

/// Queues a kernel, whose arguments lie at these addresses. Its own status counts, not the last error, which
/// may be somebody else's.
inline void launch_kernel(const char* operation, const void* kernel, dim3 grid, dim3 block,
                          std::size_t shared_bytes, const Stream& stream, void** arguments) {
  check_gpu(operation,
            RELAYOUT_GPU(LaunchKernel)(kernel, grid, block, arguments, shared_bytes,
                                       static_cast<RELAYOUT_GPU(Stream_t)>(stream.native())),
            ErrorCode::launch);
}

/// Makes a GPU current for one scope; the caller's device is current again after it.
class CurrentGpu {
 public:
  explicit CurrentGpu(const char* operation, int device) {
    check_gpu(operation, RELAYOUT_GPU(GetDevice)(&previous_), ErrorCode::vendor);
    if (device == previous_) return;
    check_gpu(operation, RELAYOUT_GPU(SetDevice)(device), ErrorCode::no_device);
    changed_ = true;
  }
  CurrentGpu(const CurrentGpu&) = delete;
  CurrentGpu& operator=(const CurrentGpu&) = delete;
  ~CurrentGpu() {
    if (changed_) (void)RELAYOUT_GPU(SetDevice)(previous_);
  }

 private:
  int previous_ = 0;
  bool changed_ = false;
};

}  // namespace RELAYOUT_COMPILED_BY
#endif

}  // namespace relayout::detail
