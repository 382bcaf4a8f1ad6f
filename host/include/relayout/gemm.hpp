// The GEMM behind the convolution: y = a * bt^T + bias, fp32 accumulation, one rounding.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include <relayout/copy_plan.hpp>
#include <relayout/export.hpp>
#include <relayout/stream.hpp>
#include <relayout/tensor_view.hpp>

namespace relayout {

/// y[g][m, n] = bias[g * n_extent + n] + sum over k of a[g][m, k] * bt[g][n, k].
/// a [m, k] or [groups, m, k]; bt [n, k] or [groups, n, k]; y [m, n] or [groups, m, n], all with unit stride
/// along the last axis and any pitch >= row; y's groups may lie side by side in one row, and the rows of a
/// may overlap (any pitch >= 0). a and bt f16 or bf16; y of their type or f32. bias: none (a default
/// TensorView, with neither shape nor memory; a view that has a shape is given, and a null pointer is then an
/// error) or f32: groups * n elements, contiguous, or [groups, n] with unit stride along the rows;
/// groups that share it, or bt, have stride 0. k = 0: y = bias. Sums are kept in fp32, the bias is added in
/// fp32, and the result is rounded once. Uses the vendor's library (cuBLAS, hipBLAS, OpenBLAS) where one was
/// built in and `workspace` has at least gemm_workspace_bytes(); otherwise relayout's own kernel. The first
/// gemm on a GPU's stream makes the library's handle, which allocates device memory; later ones allocate
/// none. OpenBLAS maps a buffer of host memory for each of its threads and for each thread that calls it at
/// the same time. Where a limit on addresses (RLIMIT_AS) leaves less than 256 MiB for each, relayout's own
/// kernel does the work, which needs far less.
RELAYOUT_API void gemm(const Stream& stream, const TensorView& a, const TensorView& bt,
                       const TensorView& bias, const TensorView& y,
                       const TensorView& workspace = TensorView());

/// A GEMM that was checked and planned: immutable, cheap to copy, safe to use from several threads at once.
class RELAYOUT_API GemmPlan {
 public:
  struct State;  ///< the library's own
  /// For the library: users have the plan_* functions.
  explicit GemmPlan(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  /// A copy.
  GemmPlan(const GemmPlan&) = default;
  /// A copy.
  GemmPlan& operator=(const GemmPlan&) = default;

  /// Queues the GEMM between the planned views. The only device memory that it allocates is, once for a
  /// stream, what prepare_gemm makes. Errors: null_pointer for a view that was planned with a null pointer;
  /// invalid_argument for a stream of another device; unsupported for a plan from DeviceProperties.
  void run(const Stream& stream) const;
  /// The same on another a and y, with the planned views' strides. Further errors: invalid_argument for an
  /// address that is no multiple of the element size, partial_overlap.
  void run(const Stream& stream, const void* a, void* y) const;

  /// "cuBLAS", "hipBLAS", "OpenBLAS" or "relayout": what the plan uses.
  const char* library() const noexcept;
  /// The plan in plain words, several lines: the library or relayout's own kernel, and why.
  std::string explain() const;

 private:
  std::shared_ptr<const State> state_;
};

/// Checks and plans gemm() without running it. A view with a null pointer counts as given, except a default
/// TensorView; a null pointer is then an error of run(). A plan from DeviceProperties does not know the
/// library.
RELAYOUT_API GemmPlan plan_gemm(const PlanTarget& target, const TensorView& a, const TensorView& bt,
                                const TensorView& bias, const TensorView& y,
                                const TensorView& workspace = TensorView());

/// Makes what gemm's library keeps for a stream, so that no gemm on it allocates device memory.
RELAYOUT_API void prepare_gemm(const Stream& stream);

/// Whether gemm's library reads an `a` whose rows overlap; where it does not, relayout's own kernel does.
RELAYOUT_API bool gemm_library_takes_overlapping_rows(const Device& device) noexcept;

/// Device memory that gemm needs to run with the vendor's library: 0, or room for y in f32 where the library
/// cannot add an fp32 bias before the rounding.
RELAYOUT_API std::size_t gemm_workspace_bytes(const Device& device, const TensorView& y, bool with_bias);

/// The library that gemm uses on this device: "cuBLAS", "hipBLAS", "OpenBLAS" or "relayout".
RELAYOUT_API const char* gemm_library(const Device& device) noexcept;

}  // namespace relayout
