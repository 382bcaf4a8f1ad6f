// cuBLAS. Row-major y = a * bt^T is column-major y^T = bt * a^T: the operands change places, bt transposed.
#include "blas.hpp"

#include "check.hpp"

#ifdef RELAYOUT_HAVE_CUBLAS
#include <cublas_v2.h>

#include "platform/blas_handles.hpp"
#endif

namespace relayout::RELAYOUT_BACKEND {

#ifdef RELAYOUT_HAVE_CUBLAS
namespace {

void check_blas(cublasStatus_t status, const char* operation) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(ErrorCode::vendor,
              std::string(operation) + " failed in cuBLAS: " + cublasGetStatusString(status));
}

/// A handle and the workspace of its GEMMs. Left to itself cuBLAS would allocate while work is recorded into
/// a graph, which is an error or makes the graph allocate at every launch.
class Handle {
 public:
  explicit Handle(const LaunchContext& context) {
    check_blas(cublasCreate(&handle_), "creating a handle");
    try {
      set_up(context);
    } catch (...) {
      release();
      throw;
    }
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { release(); }

  cublasHandle_t get() const { return handle_; }

 private:
  void set_up(const LaunchContext& context) {
    int major = 0;
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, context.device),
          "asking for the compute capability");
    // NVIDIA's recommendation.
    const std::size_t bytes = (major >= 9 ? std::size_t{32} : std::size_t{4}) << 20;
    check(cudaMalloc(&workspace_, bytes), "allocating cuBLAS's workspace", ErrorCode::out_of_memory);
    check_blas(cublasSetStream(handle_, static_cast<cudaStream_t>(context.stream)), "choosing a stream");
    check_blas(cublasSetWorkspace(handle_, workspace_, bytes), "setting the workspace");  // after the stream
    // Split sums stay in fp32, as the error bound of gemm assumes.
    const auto mode =
        static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
    check_blas(cublasSetMathMode(handle_, mode), "choosing the precision");
  }
  void release() noexcept {
    cublasDestroy(handle_);
    cudaFree(workspace_);
  }

  cublasHandle_t handle_ = nullptr;
  void* workspace_ = nullptr;
};

BlasHandles<Handle>& handles() { return BlasHandles<Handle>::instance(); }

cudaDataType_t data_type(DType type) {
  if (type == DType::f16) return CUDA_R_16F;
  return type == DType::bf16 ? CUDA_R_16BF : CUDA_R_32F;
}

}  // namespace

const char* library_name() noexcept { return "cuBLAS"; }

bool library_gemm(const LaunchContext& context, const GemmParams& p) {
  if (p.lda < p.k) return false;
  const DeviceGuard guard(context.device);
  const bool to_workspace = p.bias != nullptr;
  void* y = to_workspace ? p.workspace : p.y;
  const cudaDataType_t in = data_type(p.in_type), out = to_workspace ? CUDA_R_32F : data_type(p.out_type);
  const std::int64_t ldc = to_workspace ? p.n : p.ldc, y_group = to_workspace ? p.m * p.n : p.y_group;
  const float one = 1.0f, zero = 0.0f;
  handles().with(context, [&](const Handle& handle) {
    check_blas(
        cublasGemmStridedBatchedEx_64(handle.get(), CUBLAS_OP_T, CUBLAS_OP_N, p.n, p.m, p.k, &one, p.bt, in,
                                      p.ldb, p.b_group, p.a, in, p.lda, p.a_group, &zero, y, out, ldc,
                                      y_group, p.groups, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
        "gemm");
  });
  return true;
}

void prepare_library(const LaunchContext& context) {
  const DeviceGuard guard(context.device);
  handles().with(context, [](const Handle&) {});
}

void release_blas(int device, void* stream) noexcept { handles().release(device, stream); }
#else
const char* library_name() noexcept { return nullptr; }
bool library_gemm(const LaunchContext&, const GemmParams&) { return false; }
void prepare_library(const LaunchContext&) {}
void release_blas(int, void*) noexcept {}
#endif

}  // namespace relayout::RELAYOUT_BACKEND
