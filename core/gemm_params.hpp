// What the GEMM is told. Plain data: the planner fills it, the kernels and
// the native code read it. Strides count elements of the operand's own type; all sizes are 64-bit.
#pragma once

#include <cstdint>

#include <relayout/dtype.hpp>

namespace relayout {

/// Outputs of a block of relayout's own GEMM, along both sides, and the depth that it takes at a time.
constexpr int kGemmTile = 64, kGemmDepth = 16, kGemmThreads = 256;

/// What runs a GEMM.
enum class GemmKernel : std::int32_t {
  nothing,   // no outputs
  library,   // the vendor's
  own,       // relayout's own kernel, or its native code
  epilogue,  // y = round(workspace + bias): the second half of a library's GEMM that wrote f32 sums to the
             // workspace, packed [groups, m, n]
};

/// y[g, m, n] = round(bias[g, n] + sum_k a[g, m, k] * bt[g, n, k]); a, bt of in_type (f16, bf16), fp32 sums.
struct GemmParams {
  const void* a = nullptr;
  const void* bt = nullptr;
  const float* bias = nullptr;  // null: none
  void* y = nullptr;
  float* workspace = nullptr;  // null, or room for y in f32
  GemmKernel kernel = GemmKernel::own;
  DType in_type = DType::f16, out_type = DType::f16;
  std::int64_t groups = 1, m = 0, n = 0, k = 0;
  std::int64_t lda = 0, ldb = 0, ldc = 0;                              // row pitches
  std::int64_t a_group = 0, b_group = 0, y_group = 0, bias_group = 0;  // strides between groups
};

}  // namespace relayout
