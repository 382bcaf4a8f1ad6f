// Plans that are kept, and how they run.
#pragma once

#include <memory>
#include <vector>

#include "bindings/python/src/call.hpp"

namespace relayout::python {

/// The device: a GPU's number, -1 for the processor. It is made once and stays. Guarded by Python's lock.
const relayout_device* device_number(int number);

/// A plan, and what is needed to run it on other tensors.
struct Prepared {
  std::unique_ptr<relayout_plan, void (*)(relayout_plan*)> plan{nullptr, relayout_plan_destroy};
  ResultSpec result;  ///< of the outputs that are made for it; not used where the call has one
};

/// Plans the call; without an output it makes one, which becomes the call's. made: what its output was made
/// by, where an earlier plan did so.
std::shared_ptr<const Prepared> prepare(Call& call, const ResultSpec& made = {});
/// Runs the plan of a call on these tensors, without Python's lock where that is worth it; gives its status.
relayout_status run(const Prepared& prepared, const Call& planned, const std::vector<const Tensor*>& inputs,
                    const Tensor& out, void* stream);

/// Runs the call by a plan of the last ones, or a new one; gives its output.
Ref run_call(Call& call);

/// Bytes of the workspace that a depthwise_conv1d_backward needs.
std::uint64_t workspace_bytes(const Call& call);

/// How often a plan was found, how often not, how many are kept.
struct CacheInfo {
  long long hits = 0, misses = 0, size = 0;
};
CacheInfo cache_info();
void clear_cache();

}  // namespace relayout::python
