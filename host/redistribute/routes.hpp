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
  /// Of ranks that are processes: all outputs, where this one reaches them, or why it does not.
  std::vector<TensorView> all_outputs = {};
  std::string no_outputs = {};
};

/// An address that is known when the redistribution runs.
struct Place {
  /// shared: the output of a rank of another process, which is mapped here, and local its rank. tokens: the
  /// group's bytes (Group::State::tokens).
  enum class Memory { input, output, workspace, shared, tokens };
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
/// their rank have.
struct RouteChunk {
  std::vector<RouteKernel> packs;
  std::vector<RouteTransfer> transfers;
  std::vector<RouteKernel> unpacks;
};

/// What a route would queue.
struct Route {
  RedistributeRoute route = RedistributeRoute::direct;
  bool possible = false;
  std::string reason;               // why not
  double microseconds = 0;          // predicted
  std::vector<RouteKernel> within;  // from a rank to itself
  std::vector<RouteKernel> across;  // direct: into or out of another rank's memory
  std::vector<RouteChunk> chunks;   // of the other routes
  /// Direct, of ranks that are processes: bytes by which a rank tells those that write its output that its
  /// stream has come so far, and those whose outputs it has written that they are.
  RouteChunk ready, done;
  std::vector<std::size_t> workspace_bytes;  // of the local ranks
};

Route direct_route(const RedistributeProblem& problem);
Route staged_route(const RedistributeProblem& problem);
Route copy_engine_route(const RedistributeProblem& problem);

}  // namespace relayout
