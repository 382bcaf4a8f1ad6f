#include "relayout/permute.hpp"

#include <numeric>

#include "host/api/checks.hpp"
#include "host/api/copy.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

void run_now(const char* operation, const Stream& stream, const TensorView& in, const TensorView& out,
             const CopyScale& scale, const CastOptions& cast) {
  launch_copy(stream, plan_copy_of(operation, stream.device(), in, out, {scale, false, cast}),
              {in.data(), out.data()});
}

/// The permuted view, for an output of its shape.
TensorView permuted_for(const char* operation, const TensorView& in, const std::vector<int>& axes,
                        const TensorView& out) {
  TensorView view = in.permuted(axes);
  check_shape(operation, out, view.shape());
  return view;
}

std::vector<int> last_two_exchanged(const TensorView& in) {
  if (in.rank() < 2) {
    throw Error(ErrorCode::rank, "transpose: the input " + in.to_string() + " needs two axes or more");
  }
  std::vector<int> axes(static_cast<std::size_t>(in.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return axes;
}

}  // namespace

void permute(const Stream& stream, const TensorView& in, const std::vector<int>& axes, const TensorView& out,
             const CopyScale& scale, const CastOptions& options) {
  run_now("permute", stream, permuted_for("permute", in, axes, out), out, scale, options);
}

CopyPlan plan_permute(const PlanTarget& target, const TensorView& in, const std::vector<int>& axes,
                      const TensorView& out, const CopyPlanOptions& options) {
  return keep_plan("permute", target, permuted_for("permute", in, axes, out), out, options);
}

void transpose(const Stream& stream, const TensorView& in, const TensorView& out, const CopyScale& scale,
               const CastOptions& options) {
  run_now("transpose", stream, permuted_for("transpose", in, last_two_exchanged(in), out), out, scale,
          options);
}

CopyPlan plan_transpose(const PlanTarget& target, const TensorView& in, const TensorView& out,
                        const CopyPlanOptions& options) {
  return keep_plan("transpose", target, permuted_for("transpose", in, last_two_exchanged(in), out), out,
                   options);
}

void copy(const Stream& stream, const TensorView& in, const TensorView& out, const CopyScale& scale,
          const CastOptions& options) {
  run_now("copy", stream, in, out, scale, options);
}

CopyPlan plan_copy(const PlanTarget& target, const TensorView& in, const TensorView& out,
                   const CopyPlanOptions& options) {
  return keep_plan("copy", target, in, out, options);
}

TensorView contiguous(const Stream& stream, const TensorView& in, void* memory) {
  TensorView out(memory, in.dtype(), in.shape());
  run_now("contiguous", stream, in, out, {}, {});
  return out;
}

CopyPlan plan_contiguous(const PlanTarget& target, const TensorView& in, void* memory,
                         const CopyPlanOptions& options) {
  return keep_plan("contiguous", target, in, TensorView(memory, in.dtype(), in.shape()), options);
}

void cast(const Stream& stream, const TensorView& in, const TensorView& out, const CopyScale& scale,
          const CastOptions& options) {
  check_shape("cast", out, in.shape());
  run_now("cast", stream, in, out, scale, options);
}

CopyPlan plan_cast(const PlanTarget& target, const TensorView& in, const TensorView& out,
                   const CopyPlanOptions& options) {
  check_shape("cast", out, in.shape());
  return keep_plan("cast", target, in, out, options);
}

}  // namespace relayout
