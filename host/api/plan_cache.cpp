#include "relayout/plan_cache.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "host/api/checks.hpp"
#include "host/api/copy.hpp"
#include "host/api/copy_timer.hpp"
#include "host/api/plan_cache_text.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

using Entry = PlanCache::Entry;
using plan::PlannedCopy;

constexpr std::size_t kMaxTimed = 16;

Entry entry_of(const PlannedCopy& copy) {
  Entry entry;
  entry.kernel = copy.kernel;
  if (copy.kernel != CopyKernel::tile) return entry;
  entry.tile.assign(copy.tile.extent.begin(), copy.tile.extent.begin() + copy.nest.rank());
  entry.threads = copy.tile.threads;
  return entry;
}

bool same_plan(const Entry& a, const Entry& b) {
  return a.kernel == b.kernel && a.tile == b.tile && a.threads == b.threads;
}

/// The same copy by another plan.
CopyPlan with(const CopyPlan& plan, const PlannedCopy& copy, const CopyMeasurement& measurement) {
  auto state = std::make_shared<CopyPlan::State>(plan.state());
  state->copy = copy;
  state->measurement = measurement;
  return CopyPlan(std::move(state));
}

CopyMeasurement measurement_of(const Entry& entry) {
  return {static_cast<double>(entry.nanoseconds) * 1e-3, entry.candidates};
}

std::vector<PlannedCopy> plans_to_time(const CopyPlan& plan) {
  return plan::plans_to_time(plan.state().target.properties(), plan.state().copy);
}

}  // namespace

/// Only plans that the planner would offer are taken from a file, so that no line of it can do harm.
CopyPlan PlanCache::find(const CopyPlan& plan) const {
  Entry entry;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = entries_.find(copy_text(plan.state().target.properties(), plan.state().copy));
    if (found == entries_.end()) return plan;
    entry = found->second;
  }
  for (const PlannedCopy& candidate : plans_to_time(plan)) {
    if (same_plan(entry_of(candidate), entry)) return with(plan, candidate, measurement_of(entry));
  }
  return plan;
}

CopyPlan PlanCache::measure(const Stream& stream, const CopyPlan& plan, const void* in, void* out) {
  const CopyPlan::State& state = plan.state();
  check_run(state, stream, in, out);
  if (state.copy.options.scale.beta != 0) {
    fail(state.copy.operation, ErrorCode::invalid_argument,
         "a plan with a beta cannot be measured, since each run would add to the output; "
         "measure without it");
  }
  const CopyPlan known =
      find(with(plan, state.copy, {}));  // what another cache has measured is not kept here
  if (known.state().measurement.candidates > 0) return known;

  std::vector<PlannedCopy> candidates = plans_to_time(plan);
  if (candidates.size() < 2) return plan;
  candidates.resize(std::min(candidates.size(), kMaxTimed));
  std::vector<CopyPlan> plans;
  for (const PlannedCopy& candidate : candidates) plans.push_back(with(plan, candidate, {}));
  const std::vector<double> seconds = seconds_of(stream, plans, in, out);
  const auto fastest = std::min_element(seconds.begin(), seconds.end());
  const PlannedCopy& winner = candidates[static_cast<std::size_t>(fastest - seconds.begin())];

  Entry entry = entry_of(winner);
  entry.nanoseconds = std::max<std::int64_t>(1, std::llround(*fastest * 1e9));
  entry.candidates = static_cast<int>(candidates.size());
  const std::lock_guard<std::mutex> lock(mutex_);
  entries_[copy_text(state.target.properties(), state.copy)] = entry;
  return with(plan, winner, measurement_of(entry));
}

std::size_t PlanCache::size() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return entries_.size();
}

}  // namespace relayout
