// gemm: y = round(bias + a * bt^T) with fp32 sums, for back ends and problems without a vendor's library. A
// plain shared-memory tiling: a block computes kTile x kTile outputs, each thread 4 x 4 of them.
#include <algorithm>
#include <cmath>

#include "core/integer_math.hpp"
#include "kernels/backend_kernels.hpp"
#include "kernels/block_index.hpp"
#include "kernels/element_ops.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kTile = kGemmTile, kDepth = kGemmDepth, kThreads = kGemmThreads, kPerThread = 4;
constexpr int kSide = kTile / kPerThread;
static_assert(kThreads == kSide * kSide);
/// The most blocks of the epilogue's grid, since HIP counts a grid's threads in 32 bits. Where there are more
/// elements than threads, each thread takes several.
constexpr std::int64_t kMaxEpilogueBlocks = std::int64_t{1} << 23;
constexpr int kPitch = kTile + 1;  // odd: the transposing stores of load_slice hit different banks

/// slice[k][row] = operand[first_row + row, first_k + k] as fp32; rows and columns outside are 0, never read.
template <class T>
__device__ __forceinline__ void load_slice(float (*slice)[kPitch], const T* operand, std::int64_t pitch,
                                           std::int64_t first_row, std::int64_t rows, std::int64_t first_k,
                                           std::int64_t depth) {
  for (int element = static_cast<int>(threadIdx.x); element < kTile * kDepth; element += kThreads) {
    const int k = element % kDepth, row = element / kDepth;
    const bool inside = first_row + row < rows && first_k + k < depth;
    slice[k][row] = inside ? convert<float>(operand[(first_row + row) * pitch + first_k + k]) : 0.0f;
  }
}

template <class T, class Out>
__global__ __launch_bounds__(kThreads) void gemm_kernel(GemmParams p, std::int64_t tiles_m,
                                                        std::int64_t tiles_n) {
  __shared__ float slice_a[kDepth][kPitch];
  __shared__ float slice_b[kDepth][kPitch];
  std::int64_t rest = block_index();
  const std::int64_t first_n = rest % tiles_n * kTile;
  rest /= tiles_n;
  const std::int64_t first_m = rest % tiles_m * kTile, group = rest / tiles_m;
  if (is_spare(group, p.groups)) return;
  const T* a = static_cast<const T*>(p.a) + group * p.a_group;
  const T* bt = static_cast<const T*>(p.bt) + group * p.b_group;
  Out* y = static_cast<Out*>(p.y) + group * p.y_group;
  const int column = static_cast<int>(threadIdx.x) % kSide, row = static_cast<int>(threadIdx.x) / kSide;

  float sums[kPerThread][kPerThread] = {};
  for (std::int64_t first_k = 0; first_k < p.k; first_k += kDepth) {
    load_slice(slice_a, a, p.lda, first_m, p.m, first_k, p.k);
    load_slice(slice_b, bt, p.ldb, first_n, p.n, first_k, p.k);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
#pragma unroll
      for (int i = 0; i < kPerThread; ++i) {
#pragma unroll
        for (int j = 0; j < kPerThread; ++j) {
          sums[i][j] = fmaf(slice_a[k][row + i * kSide], slice_b[k][column + j * kSide], sums[i][j]);
        }
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
#pragma unroll
    for (int j = 0; j < kPerThread; ++j) {
      const std::int64_t m = first_m + row + i * kSide, n = first_n + column + j * kSide;
      if (m >= p.m || n >= p.n) continue;
      const float bias = p.bias == nullptr ? 0.0f : p.bias[group * p.bias_group + n];
      y[m * p.ldc + n] = convert<Out>(sums[i][j] + bias);
    }
  }
}

template <class Out>
__global__ __launch_bounds__(kThreads) void gemm_epilogue_kernel(GemmParams p, std::int64_t elements) {
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t element = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
       element < elements; element += threads) {
    const std::int64_t row = element / p.n, n = element - row * p.n;
    const std::int64_t group = row / p.m, m = row - group * p.m;
    const float bias = p.bias == nullptr ? 0.0f : p.bias[group * p.bias_group + n];
    static_cast<Out*>(p.y)[group * p.y_group + m * p.ldc + n] = convert<Out>(p.workspace[element] + bias);
  }
}

void launch_own(const LaunchContext& context, const GemmParams& p) {
  const std::int64_t tiles_m = divide_up(p.m, kTile), tiles_n = divide_up(p.n, kTile);
  const NumberedBlocks shape = numbered_blocks(p.groups * tiles_m * tiles_n, kThreads);
  visit_floats_up_to_f32(p.out_type, [&](auto out) {
    using Out = typename decltype(out)::type;
    if (p.in_type == DType::f16) {
      launch("gemm", context, shape, gemm_kernel<f16, Out>, p, tiles_m, tiles_n);
    } else {
      launch("gemm", context, shape, gemm_kernel<bf16, Out>, p, tiles_m, tiles_n);
    }
  });
}

void launch_epilogue(const LaunchContext& context, const GemmParams& p) {
  const std::int64_t elements = p.groups * p.m * p.n;
  const LaunchShape shape =
      launch_shape(std::min(divide_up(elements, std::int64_t{kThreads}), kMaxEpilogueBlocks), kThreads);
  visit_floats_up_to_f32(p.out_type, [&](auto out) {
    using Out = typename decltype(out)::type;
    launch("gemm epilogue", context, shape, gemm_epilogue_kernel<Out>, p, elements);
  });
}

}  // namespace

void launch_gemm(const LaunchContext& context, const GemmParams& p) {
  if (p.kernel == GemmKernel::own) return launch_own(context, p);
  if (p.kernel == GemmKernel::epilogue) return launch_epilogue(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
