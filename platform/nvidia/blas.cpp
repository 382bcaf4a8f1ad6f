// cuBLAS behind platform/gpu/blas.hpp.
#include "blas.hpp"

#include "check.hpp"

#ifdef RELAYOUT_HAVE_CUBLAS
#include <cublas_v2.h>

#include "blas_library.hpp"
#endif

namespace relayout::RELAYOUT_BACKEND {

#ifdef RELAYOUT_HAVE_CUBLAS
namespace {

#define RELAYOUT_CUBLAS_OF(major) "libcublas.so." #major
#define RELAYOUT_CUBLAS_NAME(major) RELAYOUT_CUBLAS_OF(major)

struct Cublas {
  BlasLibrary library{RELAYOUT_CUBLAS_NAME(CUBLAS_VER_MAJOR)};
  decltype(&cublasCreate) create = RELAYOUT_BLAS_FUNCTION(library, cublasCreate);
  decltype(&cublasDestroy) destroy = RELAYOUT_BLAS_FUNCTION(library, cublasDestroy);
  decltype(&cublasSetStream) set_stream = RELAYOUT_BLAS_FUNCTION(library, cublasSetStream);
  decltype(&cublasSetWorkspace) set_workspace = RELAYOUT_BLAS_FUNCTION(library, cublasSetWorkspace);
  decltype(&cublasSetMathMode) set_math_mode = RELAYOUT_BLAS_FUNCTION(library, cublasSetMathMode);
  decltype(&cublasGetStatusString) status_text = RELAYOUT_BLAS_FUNCTION(library, cublasGetStatusString);
  decltype(&cublasGemmStridedBatchedEx_64) gemm =
      RELAYOUT_BLAS_FUNCTION(library, cublasGemmStridedBatchedEx_64);

  /// Opened at the first call.
  static const Cublas& get() noexcept {
    static const Cublas functions;
    return functions;
  }
};

void check_blas(cublasStatus_t status, const char* operation) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(ErrorCode::vendor,
              std::string(operation) + " failed in cuBLAS: " + Cublas::get().status_text(status));
}

cudaDataType_t data_type(DType type) {
  if (type == DType::f16) return CUDA_R_16F;
  return type == DType::bf16 ? CUDA_R_16BF : CUDA_R_32F;
}

/// With a workspace of its own: left to itself cuBLAS would allocate while work is recorded into a graph,
/// which is an error or makes the graph allocate at every launch.
class Handle final : public LibraryHandle {
 public:
  explicit Handle(const LaunchContext& context) {
    check_blas(Cublas::get().create(&handle_), "creating a handle");
    try {
      set_up(context);
    } catch (...) {
      release();
      throw;
    }
  }
  ~Handle() override { release(); }

  void gemm(const GemmParams& p) override {
    const cudaDataType_t in = data_type(p.in_type), out = data_type(p.out_type);
    const float one = 1.0f, zero = 0.0f;
    check_blas(Cublas::get().gemm(handle_, CUBLAS_OP_T, CUBLAS_OP_N, p.n, p.m, p.k, &one, p.bt, in, p.ldb,
                                  p.b_group, p.a, in, p.lda, p.a_group, &zero, p.y, out, p.ldc, p.y_group,
                                  p.groups, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
               "gemm");
  }

 private:
  void set_up(const LaunchContext& context) {
    int major = 0;
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, context.device),
          "asking for the compute capability");
    // NVIDIA's recommendation.
    const std::size_t bytes = (major >= 9 ? std::size_t{32} : std::size_t{4}) << 20;
    check(cudaMalloc(&workspace_, bytes), "allocating cuBLAS's workspace", ErrorCode::out_of_memory);
    check_blas(Cublas::get().set_stream(handle_, static_cast<cudaStream_t>(context.stream)),
               "choosing a stream");
    check_blas(Cublas::get().set_workspace(handle_, workspace_, bytes),
               "setting the workspace");  // after the stream
    // Split sums stay in fp32, as the error bound of gemm assumes.
    const auto mode =
        static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
    check_blas(Cublas::get().set_math_mode(handle_, mode), "choosing the precision");
  }
  void release() noexcept {
    Cublas::get().destroy(handle_);
    cudaFree(workspace_);
  }

  cublasHandle_t handle_ = nullptr;
  void* workspace_ = nullptr;
};

}  // namespace

const char* library_name() noexcept { return Cublas::get().library.is_complete() ? "cuBLAS" : nullptr; }
bool library_takes(const GemmParams&) noexcept { return true; }
std::unique_ptr<LibraryHandle> make_library_handle(const LaunchContext& context) {
  return std::make_unique<Handle>(context);
}
#else
const char* library_name() noexcept { return nullptr; }
bool library_takes(const GemmParams&) noexcept { return false; }
std::unique_ptr<LibraryHandle> make_library_handle(const LaunchContext&) { return nullptr; }
#endif

}  // namespace relayout::RELAYOUT_BACKEND
