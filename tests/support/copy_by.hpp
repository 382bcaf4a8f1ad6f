// Copies by a kernel of the test's choice, whatever the planner prefers.
#pragma once

#include <gtest/gtest.h>

#include "host/api/copy.hpp"

namespace relayout::test {

/// Runs the kernel's candidate; native code on a device that has no other. The candidate is returned.
/// planned_for: a device like the stream's, for which the candidate is made; null: the stream's.
inline plan::CopyCandidate copy_by(const Stream& stream, CopyKernel kernel, const TensorView& in,
                                   const TensorView& out, const CopyPlanOptions& options,
                                   const DeviceProperties* planned_for = nullptr) {
  const Device& device = stream.device();
  plan::PlannedCopy planned = plan_copy_of("copy", device, in, out, options);
  if (device.kind() != DeviceKind::cpu) {
    bool found = false;
    const DeviceProperties properties = planned_for != nullptr ? *planned_for : device.properties();
    for (const plan::CopyCandidate& candidate : plan::copy_candidates(planned, properties)) {
      if (candidate.kernel != kernel) continue;
      EXPECT_TRUE(candidate.possible) << name_of(kernel) << ": " << candidate.reason;
      if (!candidate.possible) return candidate;
      static_cast<plan::CopyCandidate&>(planned) = candidate;
      found = true;
    }
    EXPECT_TRUE(found) << name_of(kernel);
  }
  launch_copy(stream, planned, {in.data(), out.data()});
  return planned;
}

}  // namespace relayout::test
