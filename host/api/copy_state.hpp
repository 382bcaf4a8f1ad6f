// What a CopyPlan keeps.
#pragma once

#include <memory>
#include <optional>

#include "host/api/planned_copy.hpp"

namespace relayout {

struct CopyPlan::State {
  PlannedCopy copy;
  TensorView in, out;
  std::optional<Device> device;  // none: planned from properties alone
  DeviceProperties properties;
  CopyMeasurement measurement;
};

CopyPlan keep_plan(const char* operation, const PlanTarget& target, const TensorView& in,
                   const TensorView& out, const CopyPlanOptions& options);

/// The errors of CopyPlan::run on this memory.
void check_run(const CopyPlan::State& state, const Stream& stream, const void* in, void* out);

/// What CopyPlan::details() says.
CopyDetails details_of(const CopyPlan::State& state);

}  // namespace relayout
