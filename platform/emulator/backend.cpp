// The back end behind Device::emulated(): the GPU kernels themselves, run on fibers.
#include "core/kernel_table.hpp"
#include "platform/processor_backend.hpp"
#include "worker_pool.hpp"

namespace relayout::emulator {
namespace {

class EmulatorBackend final : public ProcessorBackend {
 public:
  /// ThreadSanitizer watches this file, but not the pool's. It sees here that the pool was made before any
  /// thread launches.
  EmulatorBackend() { WorkerPool::instance(); }
  const char* name() const noexcept override { return "emulator"; }
  const KernelTable& kernels() override { return kernel_table(); }
};

}  // namespace
}  // namespace relayout::emulator

/// The function that platform/registry.cpp calls.
extern "C" __attribute__((visibility("default"))) relayout::Backend* relayout_backend_emulator() {
  static auto& backend = *new relayout::emulator::EmulatorBackend;
  return &backend;
}
