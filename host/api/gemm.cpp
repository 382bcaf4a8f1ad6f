#include "relayout/gemm.hpp"

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

#include "core/bytes.hpp"
#include "core/kernel_table.hpp"
#include "host/api/checks.hpp"
#include "host/api/plan_checks.hpp"
#include "host/api/planned_for.hpp"
#include "host/plan/checked_math.hpp"
#include "host/plan/conv/gemm_plan.hpp"
#include "host/plan/plan_words.hpp"
#include "host/plan/sharing.hpp"
#include "platform/backend.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

struct Matrix {
  std::int64_t groups, rows, columns;
  std::int64_t group_stride, pitch;
};

/// Whether rows may overlap, as those of an operand that is only read may: a window over a signal is such a
/// matrix.
enum class Rows { distinct, may_overlap };

Matrix matrix_of(const char* name, const TensorView& view, Rows rows = Rows::distinct) {
  if (view.rank() != 2 && view.rank() != 3) {
    throw Error(ErrorCode::rank, std::string("gemm: ") + name + " " + view.to_string() +
                                     " must be [rows, columns] or [groups, rows, columns]");
  }
  check_reach("gemm", name, view);
  const int row = view.rank() - 2;
  Matrix matrix{row == 1 ? view.extent(0) : 1, view.extent(row), view.extent(row + 1),
                row == 1 ? used_stride(view, 0) : 0, view.stride(row)};
  // The pitch of a single row is never used: any legal value will do.
  if (matrix.rows <= 1 || view.elements() == 0) matrix.pitch = std::max<std::int64_t>(matrix.columns, 1);
  if (view.elements() > 0 && matrix.columns > 1 && view.stride(row + 1) != 1) {
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

/// The stride between the groups' biases.
std::int64_t check_bias(const TensorView& bias, const TensorView& y, std::int64_t groups,
                        std::int64_t columns) {
  if (!is_given(bias)) return 0;
  check_reach("gemm", "the bias", bias);
  const std::int64_t elements = plan::checked_product({groups, columns}, "gemm: the number of biases");
  if (bias.dtype() == DType::f32) {
    if (bias.shape() == Dims{elements} && bias.is_contiguous()) return columns;
    const bool row_each = y.rank() == 3 && bias.shape() == Dims{groups, columns};
    const std::int64_t step = row_each ? used_stride(bias, 0) : -1;
    if (step >= 0 && (columns <= 1 || bias.stride(1) == 1)) return step;
  }
  throw Error(ErrorCode::shape, "gemm: the bias is " + bias.to_string() + " and must be contiguous f32[" +
                                    std::to_string(elements) + "] or f32[" + std::to_string(groups) + ", " +
                                    std::to_string(columns) + "] with unit stride along its rows");
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

namespace {

/// Checks everything but memory.
GemmParams gemm_problem(const TensorView& a, const TensorView& bt, const TensorView& bias,
                        const TensorView& y) {
  check_types(a, bt, y);
  const Matrix left = matrix_of("a", a, Rows::may_overlap), right = matrix_of("bt", bt),
               result = matrix_of("y", y);
  if (left.groups != right.groups || left.groups != result.groups || left.rows != result.rows ||
      right.rows != result.columns || left.columns != right.columns) {
    throw Error(ErrorCode::shape, "gemm: a " + to_string(a.shape()) + " times bt " + to_string(bt.shape()) +
                                      " transposed does not give y " + to_string(y.shape()));
  }
  GemmParams params;
  params.bias_group = check_bias(bias, y, result.groups, result.columns);
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
  return params;
}

void check_operands(const TensorView& a, const TensorView& bt, const TensorView& bias, const TensorView& y,
                    Pointers pointers) {
  const auto counts = [pointers](const TensorView& view) {
    return pointers == Pointers::given || view.data() != nullptr;
  };
  if (!counts(y)) return check_distinct("gemm", y);
  const auto check_input = [&](const char* name, const TensorView& input) {
    if (!counts(input)) return;
    check_pointer("gemm", name, input);
    check_disjoint("gemm", input, y);
  };
  check_output("gemm", y);
  check_input("a", a);
  check_input("bt", bt);
  if (is_given(bias)) check_input("the bias", bias);
}

/// The bytes that a GEMM may use, 0 for a workspace with gaps.
std::int64_t usable_bytes(const TensorView& workspace) {
  if (!is_given(workspace) || !workspace.is_contiguous()) return 0;
  return bytes_of(workspace);
}

void check_workspace(const TensorView& workspace, std::initializer_list<const TensorView*> views) {
  if (workspace.data() == nullptr) return;
  for (const TensorView* view : views) {
    if (view->data() != nullptr && plan::sharing_of(workspace, *view) != plan::Sharing::none) {
      throw Error(ErrorCode::partial_overlap, "gemm: the workspace overlaps " + view->to_string());
    }
  }
  check_address("gemm", "the workspace", TensorView(workspace.data(), DType::f32, {1}));
}

plan::GemmLibrary library_of(const Device& device, const TensorView& y, bool with_bias) {
  plan::GemmLibrary library;
  library.name = device.backend().blas_name();
  library.workspace_bytes = static_cast<std::int64_t>(gemm_workspace_bytes(device, y, with_bias));
  library.takes_overlapping_rows = gemm_library_takes_overlapping_rows(device);
  return library;
}

/// The vendor's library may still refuse, for a limit that only its back end knows.
void launch_gemm(const Stream& stream, GemmParams params) {
  if (params.kernel == GemmKernel::nothing) return;
  if (params.kernel == GemmKernel::library) {
    if (stream.device().backend().blas_gemm(context_of(stream), params)) return;
    params.kernel = GemmKernel::own;
  }
  kernels_of(stream).gemm(context_of(stream), params);
}

}  // namespace

struct GemmPlan::State {
  GemmParams params;
  plan::GemmLibrary library;
  TensorView a, bt, bias, y, workspace;
  std::int64_t workspace_bytes = 0;
  PlannedFor target;

  bool uses_workspace() const { return params.kernel == GemmKernel::library && library.workspace_bytes > 0; }
};

void gemm(const Stream& stream, const TensorView& a, const TensorView& bt, const TensorView& bias,
          const TensorView& y, const TensorView& workspace) {
  GemmParams params = gemm_problem(a, bt, bias, y);
  check_operands(a, bt, bias, y, Pointers::given);
  const plan::GemmLibrary library = library_of(stream.device(), y, is_given(bias));
  plan::plan_gemm(library, usable_bytes(workspace), params);
  if (params.kernel == GemmKernel::library && library.workspace_bytes > 0) {
    check_pointer("gemm", "the workspace", workspace);
    check_workspace(workspace, {&a, &bt, &bias, &y});
    params.workspace = static_cast<float*>(workspace.data());
  }
  launch_gemm(stream, params);
}

GemmPlan plan_gemm(const PlanTarget& target, const TensorView& a, const TensorView& bt,
                   const TensorView& bias, const TensorView& y, const TensorView& workspace) {
  auto state = std::make_shared<GemmPlan::State>();
  GemmPlan::State& s = *state;
  s.params = gemm_problem(a, bt, bias, y);
  check_operands(a, bt, bias, y, Pointers::may_be_null);
  s.a = a;
  s.bt = bt;
  s.bias = bias;
  s.y = y;
  s.workspace = workspace;
  s.workspace_bytes = usable_bytes(workspace);
  s.target = PlannedFor(target);
  if (target.device() != nullptr) {
    s.library = library_of(*target.device(), y, is_given(bias));
  } else {
    s.library.missing = "the properties of a device do not tell its library";
  }
  plan::plan_gemm(s.library, s.workspace_bytes, s.params);
  if (s.uses_workspace()) {
    check_workspace(workspace, {&a, &bt, &bias, &y});
    s.params.workspace = static_cast<float*>(workspace.data());
  }
  return GemmPlan(std::move(state));
}

void GemmPlan::run(const Stream& stream) const { run(stream, state_->a.data(), state_->y.data()); }

void GemmPlan::run(const Stream& stream, const void* a, void* y) const {
  const State& s = *state_;
  s.target.check("gemm", stream);
  const TensorView left = at_address(s.a, a), result = at_address(s.y, y);
  check_operands(left, s.bt, s.bias, result, Pointers::given);
  if (s.uses_workspace()) {
    check_pointer("gemm", "the workspace", s.workspace);
    check_workspace(s.workspace, {&left, &result});
  }
  GemmParams params = s.params;
  params.a = a;
  params.y = y;
  launch_gemm(stream, params);
}

const char* GemmPlan::library() const noexcept {
  return state_->params.kernel == GemmKernel::library ? state_->library.name : "relayout";
}

std::string GemmPlan::explain() const {
  const State& s = *state_;
  return plan::heading("gemm", {&s.a, &s.bt}, s.y, s.target.name(), s.target.properties()) +
         plan::explain_gemm(s.library, s.workspace_bytes, s.target.is_native(), s.params);
}

}  // namespace relayout
