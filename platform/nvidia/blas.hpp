// GEMM by the vendor's library.
#pragma once

#include "core/gemm_params.hpp"
#include "core/launch_context.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// "cuBLAS", or nullptr when it was not built in.
const char* library_name() noexcept;

/// Queues y = a * bt^T, in fp32 sums rounded once to y; with a bias the unrounded sums go to
/// params.workspace, packed [groups, m, n]. False for a problem that the library does not take.
bool library_gemm(const LaunchContext& context, const GemmParams& params);

/// Makes the stream's handle and its workspace, so that no later library_gemm on it allocates.
void prepare_library(const LaunchContext& context);

/// Forgets what is kept for a stream that is about to end.
void release_blas(int device, void* stream) noexcept;

}  // namespace relayout::RELAYOUT_BACKEND
