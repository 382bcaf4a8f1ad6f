// GEMM by OpenBLAS.
#pragma once

#include "kernels/params.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// "OpenBLAS", or nullptr when it was not built in.
const char* library_name() noexcept;

/// y = a * bt^T + bias in fp32, rounded once. False when OpenBLAS was not built in.
bool library_gemm(const LaunchContext& context, const GemmParams& params);

}  // namespace relayout::RELAYOUT_BACKEND
