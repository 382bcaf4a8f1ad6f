// GEMM by the vendor's library: what the back end asks for, and what the vendor's blas.cpp answers.
#pragma once

#include <memory>

#include "core/gemm_params.hpp"
#include "core/launch_context.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Queues y = a * bt^T, in fp32 sums rounded once to y; with a bias the unrounded sums go to
/// params.workspace, packed [groups, m, n]. False for a problem that the library does not take.
bool library_gemm(const LaunchContext& context, const GemmParams& params);

/// Makes the stream's handle and its workspace, so that no later library_gemm on it allocates.
void prepare_library(const LaunchContext& context);

/// Forgets what is kept for a stream that is about to end.
void release_blas(int device, void* stream) noexcept;

/// The library's handle of one stream, and the workspace of its GEMMs.
class LibraryHandle {
 public:
  LibraryHandle() = default;
  LibraryHandle(const LibraryHandle&) = delete;
  LibraryHandle& operator=(const LibraryHandle&) = delete;
  virtual ~LibraryHandle() = default;

  /// Queues y = a * bt^T without a bias. Row-major, that is y^T = bt * a^T of the libraries' column-major:
  /// the operands change places, bt transposed.
  virtual void gemm(const GemmParams& params) = 0;
};

// The vendor's:

/// "cuBLAS" or "hipBLAS", or nullptr when it was not built in or cannot be opened; then neither of the next
/// two is called.
const char* library_name() noexcept;
/// Whether the library's integers hold the problem's sizes.
bool library_takes(const GemmParams& params) noexcept;
/// The handle of the context's stream, whose device is current.
std::unique_ptr<LibraryHandle> make_library_handle(const LaunchContext& context);

}  // namespace relayout::RELAYOUT_BACKEND
