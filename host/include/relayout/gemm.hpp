// The GEMM behind the convolution: y = a * bt^T + bias, fp32 accumulation, one rounding.
#pragma once

#include <cstddef>

#include <relayout/stream.hpp>
#include <relayout/tensor_view.hpp>

namespace relayout {

/// y[g][m, n] = bias[g * n_extent + n] + sum over k of a[g][m, k] * bt[g][n, k].
/// a [m, k] or [groups, m, k]; bt [n, k] or [groups, n, k]; y [m, n] or [groups, m, n], all with unit stride
/// along the last axis and any pitch >= row; y's groups may lie side by side in one row, and the rows of a
/// may overlap (any pitch >= 0). a and bt f16 or bf16; y of their type or f32. bias: none (a default
/// TensorView) or f32: groups * n elements, contiguous, or [groups, n] with unit stride along the rows;
/// groups that share it, or bt, have stride 0. k = 0: y = bias. Sums are kept in fp32, the bias is added in
/// fp32, and the result is rounded once. Uses the vendor's library (cuBLAS, hipBLAS, OpenBLAS) where one was
/// built in and `workspace` has at least gemm_workspace_bytes(); otherwise relayout's own kernel. The first
/// gemm on a stream makes the library's handle, which allocates; later ones allocate nothing.
void gemm(const Stream& stream, const TensorView& a, const TensorView& bt, const TensorView& bias,
          const TensorView& y, const TensorView& workspace = TensorView());

/// Makes what gemm's library keeps for a stream, so that no gemm on it allocates.
void prepare_gemm(const Stream& stream);

/// Whether gemm's library reads an `a` whose rows overlap; where it does not, relayout's own kernel does.
bool gemm_library_takes_overlapping_rows(const Device& device) noexcept;

/// Device memory that gemm needs to run with the vendor's library: 0, or room for y in f32 where the library
/// cannot add an fp32 bias before the rounding.
std::size_t gemm_workspace_bytes(const Device& device, const TensorView& y, bool with_bias);

/// The library that gemm uses on this device: "cuBLAS", "hipBLAS", "OpenBLAS" or "relayout".
const char* gemm_library(const Device& device) noexcept;

}  // namespace relayout
