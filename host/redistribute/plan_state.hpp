// What a RedistributePlan keeps, and how it is run.
#pragma once

#include <vector>

#include "host/redistribute/schedule.hpp"

namespace relayout {

/// The pointers of the local ranks.
struct RedistributeMemory {
  std::vector<const void*> in;
  std::vector<void*> out, workspace;
};

struct RedistributePlan::State {
  RedistributeProblem problem;
  Route route;
  std::vector<RedistributeAlternative> others;
  Schedule schedule;
  std::vector<Event> events;  // of the schedule

  State(RedistributeProblem problem_, Route route_, std::vector<RedistributeAlternative> others_);
};

/// The stream of a step; the step on checked memory; all steps of the schedule.
const Stream& stream_of(const RedistributePlan::State& plan, std::size_t stream);
void queue_step(const RedistributePlan::State& plan, const ScheduleStep& step,
                const RedistributeMemory& memory);
void queue_steps(const RedistributePlan::State& plan, const RedistributeMemory& memory);

/// The plan in plain words.
RedistributeDetails details_of(const RedistributePlan::State& state);
std::string explain_of(const RedistributePlan::State& state);

}  // namespace relayout
