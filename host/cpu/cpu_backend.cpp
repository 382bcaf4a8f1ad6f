// The back end behind Device::cpu(): native code, registered with the platform under the name "cpu".
#include "host/cpu/conv/openblas_gemm.hpp"
#include "host/cpu/native_table.hpp"
#include "platform/processor_backend.hpp"

namespace relayout {
namespace {

class CpuBackend final : public ProcessorBackend {
 public:
  const char* name() const noexcept override { return "cpu"; }
  const KernelTable& kernels() override { return native::kernel_table(); }
  const char* blas_name() const noexcept override { return native::library_name(); }
  // OpenBLAS takes an `a` with overlapping rows, because blocks of rows are copied before they are
  // multiplied.
  bool blas_gemm(const LaunchContext& context, const GemmParams& params) override {
    return native::library_gemm(context, params);
  }
};

CpuBackend backend;

}  // namespace
}  // namespace relayout

/// The linker is told to look for this symbol, which brings the back end into the program.
extern "C" __attribute__((visibility("default"))) int relayout_backend_cpu;
int relayout_backend_cpu = [] {
  relayout::register_backend(relayout::backend);
  return 1;
}();
