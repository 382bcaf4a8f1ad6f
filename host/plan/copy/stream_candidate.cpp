// The stream kernel's part in a copy: both sides in one piece of memory.
#include <algorithm>

#include "core/integer_math.hpp"
#include "host/plan/copy/cast_rule.hpp"
#include "host/plan/copy/copy_plan.hpp"

namespace relayout::plan {
namespace {

constexpr CopyKernel kKernel = CopyKernel::stream;

}  // namespace

CopyCandidate stream_candidate(const CopyProblem& problem, const DeviceProperties& device) {
  const LoopNest& nest = problem.nest;
  if (!problem.common() || nest.rank() != 1 || nest.strides[0][0] != 1 || nest.strides[1][0] != 1)
    return refused(kKernel, "one side or both are not one piece of memory in the other's order");
  if (std::min(problem.in.alignment, problem.out.alignment) < 16)
    return refused(kKernel, "one side or both do not start on a 16-byte boundary");
  if (is_scaled(problem.options.scale)) return refused(kKernel, "it has no alpha and beta");

  StreamParams params;
  set_operation(problem, params);
  params.elements = nest.elements();
  params.streaming = is_streaming(problem, device);

  CopyCandidate candidate;
  candidate.kernel = kKernel;
  candidate.possible = true;
  candidate.reason = "both sides are one piece of memory, from a 16-byte boundary on";
  const auto larger =
      static_cast<std::int64_t>(std::max(size_of(problem.in_type), size_of(problem.out_type)));
  const std::int64_t blocks =
      divide_up(params.elements * larger, std::int64_t{kStreamThreads} * kStreamBytesPerThread);
  candidate.microseconds = microseconds_at(
      problem, device, busy_share(tile_tuning(device), static_cast<double>(blocks), device.multiprocessors));
  candidate.params = params;
  return candidate;
}

}  // namespace relayout::plan
