// The back end behind Device::cpu(): native code.
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

}  // namespace
}  // namespace relayout

/// The function that platform/registry.cpp calls.
extern "C" relayout::Backend* relayout_backend_cpu() {
  static auto& backend = *new relayout::CpuBackend;
  return &backend;
}
