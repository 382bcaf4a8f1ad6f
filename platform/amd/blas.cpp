// hipBLAS. Row-major y = a * bt^T is column-major y^T = bt * a^T: the operands change places, bt transposed.
#include "blas.hpp"

#include "check.hpp"

#ifdef RELAYOUT_HAVE_HIPBLAS
#include <hipblas/hipblas.h>

#include <limits>

#include "platform/blas_handles.hpp"
#endif

namespace relayout::RELAYOUT_BACKEND {

#ifdef RELAYOUT_HAVE_HIPBLAS
namespace {

void check_blas(hipblasStatus_t status, const char* operation) {
  if (status == HIPBLAS_STATUS_SUCCESS) return;
  throw Error(ErrorCode::vendor,
              std::string(operation) + " failed in hipBLAS: " + hipblasStatusToString(status));
}

/// rocBLAS allocates its workspace with the handle.
class Handle {
 public:
  explicit Handle(const LaunchContext& context) {
    check_blas(hipblasCreate(&handle_), "creating a handle");
    const hipblasStatus_t status = hipblasSetStream(handle_, static_cast<hipStream_t>(context.stream));
    if (status != HIPBLAS_STATUS_SUCCESS) (void)hipblasDestroy(handle_);
    check_blas(status, "choosing a stream");
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { (void)hipblasDestroy(handle_); }

  hipblasHandle_t get() const { return handle_; }

 private:
  hipblasHandle_t handle_ = nullptr;
};

BlasHandles<Handle>& handles() { return BlasHandles<Handle>::instance(); }

// hipBLAS 3 (ROCm 7) takes HIP's own data types, older ones their own.
#if hipblasVersionMajor >= 3
using BlasType = hipDataType;
constexpr BlasType kHalf = HIP_R_16F, kBfloat = HIP_R_16BF, kFloat = HIP_R_32F;
constexpr hipblasComputeType_t kCompute = HIPBLAS_COMPUTE_32F;
#else
using BlasType = hipblasDatatype_t;
constexpr BlasType kHalf = HIPBLAS_R_16F, kBfloat = HIPBLAS_R_16B, kFloat = HIPBLAS_R_32F;
constexpr BlasType kCompute = HIPBLAS_R_32F;
#endif

BlasType data_type(DType type) {
  if (type == DType::f16) return kHalf;
  return type == DType::bf16 ? kBfloat : kFloat;
}

}  // namespace

const char* library_name() noexcept { return "hipBLAS"; }

bool library_gemm(const LaunchContext& context, const GemmParams& p) {
  const bool to_workspace = p.bias != nullptr;
  const std::int64_t ldc = to_workspace ? p.n : p.ldc, y_group = to_workspace ? p.m * p.n : p.y_group;
  if (p.lda < p.k) return false;
  for (const std::int64_t size : {p.m, p.n, p.k, p.lda, p.ldb, ldc, p.groups}) {
    if (size > std::numeric_limits<int>::max()) return false;
  }
  const DeviceGuard guard(context.device);
  void* y = to_workspace ? p.workspace : p.y;
  const BlasType in = data_type(p.in_type), out = to_workspace ? kFloat : data_type(p.out_type);
  const float one = 1.0f, zero = 0.0f;
  const auto integer = [](std::int64_t value) { return static_cast<int>(value); };
  handles().with(context, [&](const Handle& handle) {
    check_blas(hipblasGemmStridedBatchedEx(
                   handle.get(), HIPBLAS_OP_T, HIPBLAS_OP_N, integer(p.n), integer(p.m), integer(p.k), &one,
                   p.bt, in, integer(p.ldb), p.b_group, p.a, in, integer(p.lda), p.a_group, &zero, y, out,
                   integer(ldc), y_group, integer(p.groups), kCompute, HIPBLAS_GEMM_DEFAULT),
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
