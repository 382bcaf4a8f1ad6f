// What GPU back ends keep for the vendor's BLAS: a handle for each stream.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "core/launch_context.hpp"

namespace relayout {

/// One handle a stream: a handle's workspace must not serve two streams at a time. Handle is made from a
/// LaunchContext.
template <class Handle>
class BlasHandles {
 public:
  /// Never destroyed: when the program ends, the driver may be gone before static objects are.
  static BlasHandles& instance() {
    static BlasHandles& handles = *new BlasHandles;
    return handles;
  }

  /// use(handle) of the context's stream, made if there is none yet; one thread at a time.
  template <class Use>
  void with(const LaunchContext& context, const Use& use) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::unique_ptr<Handle>& handle = handles_[{context.device, context.stream}];
    if (handle == nullptr) handle = std::make_unique<Handle>(context);
    use(*handle);
  }

  void release(int device, void* stream) noexcept {
    try {
      const std::lock_guard<std::mutex> lock(mutex_);
      handles_.erase({device, stream});
    } catch (...) {  // a mutex that cannot be locked: the handle stays, nothing else is lost
    }
  }

 private:
  BlasHandles() = default;

  std::mutex mutex_;
  std::map<std::pair<int, void*>, std::unique_ptr<Handle>> handles_;
};

}  // namespace relayout
