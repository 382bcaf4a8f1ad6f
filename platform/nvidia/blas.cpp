// cuBLAS. Row-major y = a * bt^T is column-major y^T = bt * a^T: the operands change places, bt transposed.
#include "blas.hpp"

#include "check.hpp"

#ifdef RELAYOUT_HAVE_CUBLAS
#include <cublas_v2.h>

#include <map>
#include <mutex>
#include <utility>
#endif

namespace relayout::RELAYOUT_BACKEND {

#ifdef RELAYOUT_HAVE_CUBLAS
namespace {

void check_blas(cublasStatus_t status, const char* operation) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(ErrorCode::vendor,
              std::string(operation) + " failed in cuBLAS: " + cublasGetStatusString(status));
}

/// One handle a stream: a handle's workspace must not serve two streams at a time.
class Handles {
 public:
  std::mutex& mutex() { return mutex_; }

  /// With mutex() held.
  cublasHandle_t of(const LaunchContext& context) {
    cublasHandle_t& handle = handles_[{context.device, context.stream}];
    if (handle == nullptr) {
      check_blas(cublasCreate(&handle), "creating a handle");
      check_blas(cublasSetStream(handle, static_cast<cudaStream_t>(context.stream)), "choosing a stream");
      // Split sums stay in fp32, as the error bound of gemm assumes.
      const auto mode =
          static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
      check_blas(cublasSetMathMode(handle, mode), "choosing the precision");
    }
    return handle;
  }

  void release(int device, void* stream) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = handles_.find({device, stream});
    if (found == handles_.end()) return;
    cublasDestroy(found->second);
    handles_.erase(found);
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<int, void*>, cublasHandle_t> handles_;
};

/// Never destroyed: when the program ends, the driver may be gone before static objects are.
Handles& handles() {
  static Handles& instance = *new Handles;
  return instance;
}

cudaDataType_t data_type(DType type) {
  if (type == DType::f16) return CUDA_R_16F;
  return type == DType::bf16 ? CUDA_R_16BF : CUDA_R_32F;
}

}  // namespace

const char* library_name() noexcept { return "cuBLAS"; }

bool library_gemm(const LaunchContext& context, const GemmParams& p) {
  const DeviceGuard guard(context.device);
  const std::lock_guard<std::mutex> lock(handles().mutex());
  const cublasHandle_t handle = handles().of(context);
  const bool to_workspace = p.bias != nullptr;
  void* y = to_workspace ? p.workspace : p.y;
  const cudaDataType_t in = data_type(p.in_type), out = to_workspace ? CUDA_R_32F : data_type(p.out_type);
  const std::int64_t ldc = to_workspace ? p.n : p.ldc, y_group = to_workspace ? p.m * p.n : p.y_group;
  const float one = 1.0f, zero = 0.0f;
  check_blas(cublasGemmStridedBatchedEx_64(handle, CUBLAS_OP_T, CUBLAS_OP_N, p.n, p.m, p.k, &one, p.bt, in,
                                           p.ldb, p.b_group, p.a, in, p.lda, p.a_group, &zero, y, out, ldc,
                                           y_group, p.groups, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
             "gemm");
  return true;
}

void release_blas(int device, void* stream) noexcept {
  try {
    handles().release(device, stream);
  } catch (...) {  // a mutex that cannot be locked: the handle stays, nothing else is lost
  }
}
#else
const char* library_name() noexcept { return nullptr; }
bool library_gemm(const LaunchContext&, const GemmParams&) { return false; }
void release_blas(int, void*) noexcept {}
#endif

}  // namespace relayout::RELAYOUT_BACKEND
