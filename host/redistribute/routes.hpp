// The routes of a redistribution: each states what it would queue and how long that takes, or why it cannot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "host/redistribute/box_moves.hpp"
#include "host/redistribute/group.hpp"
#include "relayout/copy_plan.hpp"
#include "relayout/redistribute.hpp"

namespace relayout {

/// A checked redistribution.
struct RedistributeProblem {
  Group group;
  Distribution in_distribution, out_distribution;
  std::vector<int> axes;
  /// The views of the local ranks, as planned. Null pointers stay null here; plans are made as if they were
  /// aligned.
  std::vector<TensorView> in, out;
  DType in_type = DType::f32, out_type = DType::f32;
  CastOptions cast;
  std::vector<plan::BoxMove> moves;  // of all ranks
  /// Where ranks are processes: all outputs, if this rank reaches them, or why it does not.
  std::vector<TensorView> all_outputs = {};
  std::string no_outputs = {};
  /// Which of the workspaces that the group's ranks have registered (Group::State::shared_workspaces); -1:
  /// none that all reach.
  int shared_workspace = -1;
};

/// An address that is known when the redistribution runs.
struct Place {
  /// shared_output: that of a rank of another process, which is mapped here; shared_workspace: a rank's part
  /// of what the group has registered; local is the rank for both.
  enum class Memory { input, output, workspace, shared_output, shared_workspace };
  Memory memory = Memory::input;
  int local = 0;            // whose, by its place among the local ranks
  std::int64_t offset = 0;  // bytes from there
};

/// A planned copy that a local rank's device runs.
struct RouteKernel {
  int local = 0;
  int from = 0, to = 0;  // ranks
  CopyPlan plan;
  Place in, out;
};

/// Bytes, or rows of them, from one rank to another. A side of another process has no place (local -1).
struct RouteTransfer {
  int from = 0, to = 0;
  Place source, destination;
  std::size_t width = 0, rows = 1, source_pitch = 0, destination_pitch = 0;  // bytes

  std::int64_t bytes() const noexcept { return static_cast<std::int64_t>(width * rows); }
};

/// A part of each message: its transfers begin when its packs have ended, its unpacks when all transfers to
/// their rank have. What stays on a rank is written just before a chunk is unpacked beside it.
struct RouteChunk {
  std::vector<RouteKernel> packs;
  std::vector<RouteTransfer> transfers;
  std::vector<RouteKernel> within;
  std::vector<RouteKernel> unpacks;
  /// Where processes have registered workspaces: a rank tells its receivers that its transfers have ended.
  RankSignals sent;
};

/// What a route would queue.
struct Route {
  RedistributeRoute route = RedistributeRoute::direct;
  bool possible = false;
  std::string reason;               // why not
  std::string remark;               // staged: why the registered workspace is not used
  double microseconds = 0;          // predicted
  std::vector<RouteKernel> within;  // direct, copy engine: from a rank to itself
  std::vector<RouteKernel> across;  // direct: into or out of another rank's memory
  std::vector<RouteChunk> chunks;   // of the other routes
  /// Between processes. ready: a rank's stream has come to the run, so others may write the rank's output or
  /// workspace. done, on the direct route: a rank has written all that it writes of another one's output.
  RankSignals ready, done;
  std::vector<std::size_t> workspace_bytes;  // of the local ranks
  /// What all ranks take of the group's registered workspace; empty: the route does without.
  std::vector<std::size_t> shared_workspace_bytes;
};

/// The workspace that the group's ranks have registered for the problem, which has one.
const SharedMemory& shared_workspace_of(const RedistributeProblem& problem);

/// How many ways of the routes below there are.
constexpr std::size_t kRouteWays = 5;

Route direct_route(const RedistributeProblem& problem);
/// By way of the registered workspaces where these are large enough.
Route staged_route(const RedistributeProblem& problem);
/// The same. as_input: what is joined has the axes' order of the input, else of the output.
Route joined_route(const RedistributeProblem& problem, bool as_input);
Route copy_engine_route(const RedistributeProblem& problem);

}  // namespace relayout
