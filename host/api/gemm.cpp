#include "relayout/gemm.hpp"

#include <algorithm>
#include <string>

#include "core/kernel_table.hpp"
#include "host/api/checks.hpp"
#include "host/plan/loop_nest.hpp"
#include "platform/backend.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

struct Matrix {
  std::int64_t groups, rows, columns;
  std::int64_t group_stride, pitch;
};

/// Of an operand that is only read they may: a window over a signal is such a matrix.
enum class Rows { distinct, may_overlap };

Matrix matrix_of(const char* name, const TensorView& view, Rows rows = Rows::distinct) {
  if (view.rank() != 2 && view.rank() != 3) {
    throw Error(ErrorCode::rank, std::string("gemm: ") + name + " " + view.to_string() +
                                     " must be [rows, columns] or [groups, rows, columns]");
  }
  const int row = view.rank() - 2;
  Matrix matrix{row == 1 ? view.extent(0) : 1, view.extent(row), view.extent(row + 1),
                row == 1 ? view.stride(0) : 0, view.stride(row)};
  // The pitch of a single row is never used: any legal value will do.
  if (matrix.rows <= 1) matrix.pitch = std::max<std::int64_t>(matrix.columns, 1);
  if (matrix.columns > 1 && view.stride(row + 1) != 1) {
    throw Error(ErrorCode::invalid_argument, std::string("gemm: ") + name + " " + view.to_string() +
                                                 " must have unit stride along its last axis");
  }
  const bool forward = matrix.pitch >= 0;
  if (matrix.pitch < matrix.columns && !(rows == Rows::may_overlap && forward)) {
    throw Error(ErrorCode::invalid_argument, std::string("gemm: the row pitch of ") + name + " " +
                                                 view.to_string() + " is shorter than its row");
  }
  return matrix;
}

void check_types(const TensorView& a, const TensorView& bt, const TensorView& y) {
  const bool inputs = a.dtype() == bt.dtype() && (a.dtype() == DType::f16 || a.dtype() == DType::bf16);
  if (inputs && (y.dtype() == a.dtype() || y.dtype() == DType::f32)) return;
  throw Error(ErrorCode::dtype, std::string("gemm: a is ") + name_of(a.dtype()) + ", bt " +
                                    name_of(bt.dtype()) + ", y " + name_of(y.dtype()) +
                                    "; a and bt are both f16 or both bf16, y of their type or f32");
}

/// A default TensorView stands for "none".
bool is_given(const TensorView& view) { return view.data() != nullptr; }

/// The stride between the groups' biases.
std::int64_t check_bias(const TensorView& bias, const TensorView& y, std::int64_t groups,
                        std::int64_t columns) {
  if (!is_given(bias)) return 0;
  if (bias.dtype() == DType::f32) {
    if (bias.shape() == Dims{groups * columns} && bias.is_contiguous()) return columns;
    const bool row_each = y.rank() == 3 && bias.shape() == Dims{groups, columns};
    if (row_each && (columns == 1 || bias.stride(1) == 1) && bias.stride(0) >= 0) return bias.stride(0);
  }
  throw Error(ErrorCode::shape, "gemm: the bias is " + bias.to_string() + " and must be contiguous f32[" +
                                    std::to_string(groups * columns) + "] or f32[" + std::to_string(groups) +
                                    ", " + std::to_string(columns) + "] with unit stride along its rows");
}

}  // namespace

const char* gemm_library(const Device& device) noexcept {
  const char* name = device.backend().blas_name();
  return name == nullptr ? "relayout" : name;
}

std::size_t gemm_workspace_bytes(const Device& device, const TensorView& y, bool with_bias) {
  if (!device.backend().blas_needs_workspace(with_bias, y.dtype())) return 0;
  return static_cast<std::size_t>(y.elements()) * sizeof(float);
}

bool gemm_library_takes_overlapping_rows(const Device& device) noexcept {
  const Backend& backend = device.backend();
  return backend.blas_name() == nullptr || backend.blas_takes_overlapping_rows();
}

void prepare_gemm(const Stream& stream) { stream.device().backend().prepare_blas(context_of(stream)); }

void gemm(const Stream& stream, const TensorView& a, const TensorView& bt, const TensorView& bias,
          const TensorView& y, const TensorView& workspace) {
  check_types(a, bt, y);
  const Matrix left = matrix_of("a", a, Rows::may_overlap), right = matrix_of("bt", bt),
               result = matrix_of("y", y);
  if (left.groups != right.groups || left.groups != result.groups || left.rows != result.rows ||
      right.rows != result.columns || left.columns != right.columns) {
    throw Error(ErrorCode::shape, "gemm: a " + to_string(a.shape()) + " times bt " + to_string(bt.shape()) +
                                      " transposed does not give y " + to_string(y.shape()));
  }
  const std::int64_t bias_group = check_bias(bias, y, result.groups, result.columns);
  for (const TensorView* input : {&a, &bt}) check_memory("gemm", *input, y);
  if (is_given(bias)) check_memory("gemm", bias, y);
  if (y.elements() == 0) return;

  GemmParams params;
  params.a = a.data();
  params.bt = bt.data();
  params.bias = is_given(bias) ? static_cast<const float*>(bias.data()) : nullptr;
  params.y = y.data();
  params.in_type = a.dtype();
  params.out_type = y.dtype();
  params.groups = result.groups;
  params.m = result.rows;
  params.n = result.columns;
  params.k = left.columns;
  params.lda = left.pitch;
  params.ldb = right.pitch;
  params.ldc = result.pitch;
  params.a_group = left.group_stride;
  params.b_group = right.group_stride;
  params.y_group = result.group_stride;
  params.bias_group = bias_group;

  const Device& device = stream.device();
  const std::size_t wanted = gemm_workspace_bytes(device, y, params.bias != nullptr);
  const std::size_t given = is_given(workspace) && workspace.is_contiguous()
                                ? static_cast<std::size_t>(workspace.elements()) * size_of(workspace.dtype())
                                : 0;
  if (wanted > 0 && given >= wanted) {
    for (const TensorView* view : {&a, &bt, &bias, &y}) {
      if (is_given(*view) && !plan::ranges_disjoint(workspace, *view)) {
        throw Error(ErrorCode::partial_overlap, "gemm: the workspace overlaps " + view->to_string());
      }
    }
    check_address("gemm", "the workspace", TensorView(workspace.data(), DType::f32, {1}));
    params.workspace = static_cast<float*>(workspace.data());
  }
  const bool use_library = device.backend().blas_name() != nullptr && params.k > 0 && given >= wanted;
  if (use_library && device.backend().blas_gemm(context_of(stream), params)) return;
  kernels_of(stream).gemm(context_of(stream), params);
}

}  // namespace relayout
