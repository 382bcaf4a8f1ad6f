// The back end behind Device::emulated(): the GPU kernels themselves, run on fibers.
#include "core/kernel_table.hpp"
#include "platform/processor_backend.hpp"

namespace relayout::emulator {
namespace {

class EmulatorBackend final : public ProcessorBackend {
 public:
  const char* name() const noexcept override { return "emulator"; }
  const KernelTable& kernels() override { return kernel_table(); }
};

EmulatorBackend backend;

}  // namespace
}  // namespace relayout::emulator

/// The linker is told to look for this symbol, which brings the back end into the program.
extern "C" __attribute__((visibility("default"))) int relayout_backend_emulator;
int relayout_backend_emulator = [] {
  relayout::register_backend(relayout::emulator::backend);
  return 1;
}();
