// What a RedistributePlan keeps, and how it is run.
#pragma once

#include <vector>

#include "host/redistribute/routes.hpp"

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
  /// Of the local ranks: the rank's run has begun, its kernels have ended. Then of each chunk: its messages
  /// are packed, and have been sent.
  std::vector<Event> ready, done;
  std::vector<std::vector<Event>> packed, sent;

  State(RedistributeProblem problem_, Route route_, std::vector<RedistributeAlternative> others_);
};

/// Error{invalid_argument}, {null_pointer}, {partial_overlap}: what is wrong with the views at these pointers
/// and with the workspace. Where `given` is false, null pointers and want of a workspace pass.
void check_redistribute_memory(const RedistributeProblem& problem, const Route& route,
                               const RedistributeMemory& memory, bool given);

/// Queues the route on checked memory.
void queue_route(const RedistributePlan::State& state, const RedistributeMemory& memory);

/// The plan in plain words.
RedistributeDetails details_of(const RedistributePlan::State& state);
std::string explain_of(const RedistributePlan::State& state);

}  // namespace relayout
