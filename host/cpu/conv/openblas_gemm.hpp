// GEMM by OpenBLAS.
#pragma once

#include "core/gemm_params.hpp"
#include "core/launch_context.hpp"

namespace relayout::native {

/// "OpenBLAS", or nullptr when it was not built in.
const char* library_name() noexcept;

/// y = a * bt^T + bias in fp32, rounded once. False when OpenBLAS was not built in, or cannot be
/// called: where there is no memory for its buffers, in the child of a fork(), and
/// once the program exits.
bool library_gemm(const LaunchContext& context, const GemmParams& params);

}  // namespace relayout::native
