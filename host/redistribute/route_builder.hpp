// What the routes have in common: parts of tensors with their places, kernels and transfers, and their times.
#pragma once

#include <string>

#include "host/redistribute/link_model.hpp"
#include "host/redistribute/routes.hpp"

namespace relayout {

/// Why a route that looks at all ranks' memory is refused.
constexpr const char* kOtherProcesses = "the ranks are processes of their own";

/// A part of a tensor and where run() finds it. A null pointer is planned as an aligned one, far from every
/// other: views reach over 2^57 bytes at most.
struct Part {
  TensorView view;
  Place place;
};

/// Makes the parts, kernels and transfers of a route.
class RouteBuilder {
 public:
  /// by_messages: of the communicator, where the ranks are processes; else kernels write over the links.
  RouteBuilder(const RedistributeProblem& problem, RedistributeRoute route, bool by_messages = false);

  const RedistributeProblem& problem() const noexcept { return p_; }
  const plan::LinkModel& model() const noexcept { return model_; }
  Route& result() noexcept { return result_; }
  plan::RouteTime& time() noexcept { return time_; }
  bool is_one_process() const noexcept { return state_.communicator == nullptr; }
  int local(int rank) const noexcept { return state_.local(rank); }
  /// A number for a rank's device. Ranks of other processes and emulated ones have devices of their own.
  int device_of(int rank) const;

  /// What is read, of local ranks, and what is written, of these and of ranks whose outputs are mapped; each
  /// with its own axes.
  Part input(const plan::BoxMove& move) const;
  Part output(const plan::BoxMove& move) const;
  /// Whether messages go by way of the workspaces that the ranks have registered.
  bool uses_registered() const noexcept { return !result_.shared_workspace_bytes.empty(); }
  /// Room for a message that lies like this in a local rank's workspace, and in that which a rank has
  /// registered.
  Part workspace(int local, const TensorView& layout);
  Part shared_workspace(int rank, const TensorView& layout);

  /// A copy from a part to a part by a local rank.
  RouteKernel kernel(int local, const plan::BoxMove& move, const Part& in, const Part& out);
  /// All of a move, by a local rank that reaches both sides.
  RouteKernel whole(int rank, const plan::BoxMove& move);
  /// Adds a move from a rank to itself, of a local one.
  void within(const plan::BoxMove& move, std::vector<RouteKernel>& kernels);
  void transfer(RouteChunk& chunk, const RouteTransfer& transfer);
  /// Adds to signals between processes that rank `from` tells rank `to` something.
  void tell(RankSignals& signals, int from, int to) const;

  /// Adds a kernel to the time of a route.
  void add_time(plan::RouteTime& time, const RouteKernel& kernel) const;

  Route finish(double more_microseconds = 0);
  Route refuse(const std::string& reason) const;

 private:
  const RedistributeProblem& p_;
  const Group::State& state_;
  const plan::LinkModel& model_;
  plan::RouteTime time_;
  Route result_;
};

}  // namespace relayout
