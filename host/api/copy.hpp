// The one way of every copy: views -> check -> plan (host/plan/copy/copy_plan.hpp) -> launch. permute, copy
// and cast launch at once; a CopyPlan keeps the plan.
#pragma once

#include "host/api/planned_for.hpp"
#include "host/plan/copy/copy_plan.hpp"
#include "relayout/copy_plan.hpp"

namespace relayout {

/// What a CopyPlan keeps.
struct CopyPlan::State {
  plan::PlannedCopy copy;
  TensorView in, out;
  PlannedFor target;
  CopyMeasurement measurement;
};

/// Checks and plans out = in by flat C index. Null pointers count as aligned; they are an error of
/// launch_copy.
plan::PlannedCopy plan_copy_of(const char* operation, const PlanTarget& target, const TensorView& in,
                               const TensorView& out, const CopyPlanOptions& options = {});

/// The same, kept as a CopyPlan.
CopyPlan keep_plan(const char* operation, const PlanTarget& target, const TensorView& in,
                   const TensorView& out, const CopyPlanOptions& options);

/// The addresses that a run uses instead of the planned views' data(): the pointers, or where there is a
/// slot, the address that it holds when the copy starts. Slots take a plan with `indirect`.
struct CopyMemory {
  const void* in = nullptr;
  void* out = nullptr;
  const void* const* in_slot = nullptr;
  void* const* out_slot = nullptr;
};

/// Error{null_pointer} for a side that has elements and neither a pointer nor a slot.
void check_given(const plan::PlannedCopy& planned, const CopyMemory& memory);

/// The errors of CopyPlan::run on this memory.
void check_run(const CopyPlan::State& state, const Stream& stream, const void* in, void* out);

/// Queues the copy. Only null pointers are checked.
void launch_copy(const Stream& stream, const plan::PlannedCopy& planned, const CopyMemory& memory);

}  // namespace relayout
