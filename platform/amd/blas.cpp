// hipBLAS behind platform/gpu/blas.hpp.
#include "blas.hpp"

#include "check.hpp"

#ifdef RELAYOUT_HAVE_HIPBLAS
#include <hipblas/hipblas.h>

#include <limits>

#include "blas_library.hpp"
#endif

namespace relayout::RELAYOUT_BACKEND {

#ifdef RELAYOUT_HAVE_HIPBLAS
namespace {

struct Hipblas {
  BlasLibrary library{RELAYOUT_HIPBLAS};
  decltype(&hipblasCreate) create = RELAYOUT_BLAS_FUNCTION(library, hipblasCreate);
  decltype(&hipblasDestroy) destroy = RELAYOUT_BLAS_FUNCTION(library, hipblasDestroy);
  decltype(&hipblasSetStream) set_stream = RELAYOUT_BLAS_FUNCTION(library, hipblasSetStream);
  decltype(&hipblasStatusToString) status_text = RELAYOUT_BLAS_FUNCTION(library, hipblasStatusToString);
  decltype(&hipblasGemmStridedBatchedEx) gemm = RELAYOUT_BLAS_FUNCTION(library, hipblasGemmStridedBatchedEx);

  /// Opened at the first call.
  static const Hipblas& get() noexcept {
    static const Hipblas functions;
    return functions;
  }
};

void check_blas(hipblasStatus_t status, const char* operation) {
  if (status == HIPBLAS_STATUS_SUCCESS) return;
  throw Error(ErrorCode::vendor,
              std::string(operation) + " failed in hipBLAS: " + Hipblas::get().status_text(status));
}

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

/// rocBLAS allocates its workspace with the handle.
class Handle final : public LibraryHandle {
 public:
  explicit Handle(const LaunchContext& context) {
    check_blas(Hipblas::get().create(&handle_), "creating a handle");
    const hipblasStatus_t status =
        Hipblas::get().set_stream(handle_, static_cast<hipStream_t>(context.stream));
    if (status != HIPBLAS_STATUS_SUCCESS) (void)Hipblas::get().destroy(handle_);
    check_blas(status, "choosing a stream");
  }
  ~Handle() override { (void)Hipblas::get().destroy(handle_); }

  void gemm(const GemmParams& p) override {
    const BlasType in = data_type(p.in_type), out = data_type(p.out_type);
    const float one = 1.0f, zero = 0.0f;
    const auto integer = [](std::int64_t value) { return static_cast<int>(value); };
    check_blas(Hipblas::get().gemm(handle_, HIPBLAS_OP_T, HIPBLAS_OP_N, integer(p.n), integer(p.m),
                                   integer(p.k), &one, p.bt, in, integer(p.ldb), p.b_group, p.a, in,
                                   integer(p.lda), p.a_group, &zero, p.y, out, integer(p.ldc), p.y_group,
                                   integer(p.groups), kCompute, HIPBLAS_GEMM_DEFAULT),
               "gemm");
  }

 private:
  hipblasHandle_t handle_ = nullptr;
};

}  // namespace

const char* library_name() noexcept { return Hipblas::get().library.is_complete() ? "hipBLAS" : nullptr; }
bool library_takes(const GemmParams& p) noexcept {
  for (const std::int64_t size : {p.m, p.n, p.k, p.lda, p.ldb, p.ldc, p.groups}) {
    if (size > std::numeric_limits<int>::max()) return false;
  }
  return true;
}
std::unique_ptr<LibraryHandle> make_library_handle(const LaunchContext& context) {
  return std::make_unique<Handle>(context);
}
#else
const char* library_name() noexcept { return nullptr; }
bool library_takes(const GemmParams&) noexcept { return false; }
std::unique_ptr<LibraryHandle> make_library_handle(const LaunchContext&) { return nullptr; }
#endif

}  // namespace relayout::RELAYOUT_BACKEND
