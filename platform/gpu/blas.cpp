// What both vendors' libraries need around their GEMM: a handle for each stream, and the problem without its
// bias.
#include "blas.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "check.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

/// One handle a stream: a handle's workspace must not serve two streams at a time.
class Handles {
 public:
  /// Never destroyed: when the program ends, the driver may be gone before static objects are.
  static Handles& instance() {
    static Handles& handles = *new Handles;
    return handles;
  }

  /// use(handle) of the context's stream, made if there is none yet; one thread at a time.
  template <class Use>
  void with(const LaunchContext& context, const Use& use) {
    const DeviceGuard guard(context.device);
    const std::lock_guard<std::mutex> lock(mutex_);
    std::unique_ptr<LibraryHandle>& handle = handles_[{context.device, context.stream}];
    if (handle == nullptr) handle = make_library_handle(context);
    use(*handle);
  }

  void release(int device, void* stream) noexcept {
    try {
      const DeviceGuard guard(device);
      const std::lock_guard<std::mutex> lock(mutex_);
      handles_.erase({device, stream});
    } catch (...) {  // a mutex that cannot be locked: the handle stays, nothing else is lost
    }
  }

 private:
  Handles() = default;

  std::mutex mutex_;
  std::map<std::pair<int, void*>, std::unique_ptr<LibraryHandle>> handles_;
};

/// The GEMM that comes before a bias is added: its sums go to the workspace.
GemmParams without_bias(GemmParams params) {
  if (params.bias == nullptr) return params;
  params.bias = nullptr;
  params.y = params.workspace;
  params.out_type = DType::f32;
  params.ldc = params.n;
  params.y_group = params.m * params.n;
  return params;
}

}  // namespace

bool library_gemm(const LaunchContext& context, const GemmParams& params) {
  const GemmParams product = without_bias(params);
  // Libraries refuse rows that overlap.
  if (library_name() == nullptr || params.lda < params.k || !library_takes(product)) return false;
  Handles::instance().with(context, [&](LibraryHandle& handle) { handle.gemm(product); });
  return true;
}

void prepare_library(const LaunchContext& context) {
  if (library_name() != nullptr) Handles::instance().with(context, [](LibraryHandle&) {});
}

void release_blas(int device, void* stream) noexcept {
  if (library_name() != nullptr) Handles::instance().release(device, stream);
}

}  // namespace relayout::RELAYOUT_BACKEND
