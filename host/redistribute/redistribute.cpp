#include "relayout/redistribute.hpp"

#include <algorithm>
#include <utility>

#include "host/api/cast_rule.hpp"
#include "host/api/checks.hpp"
#include "host/api/copy.hpp"
#include "host/api/plan_checks.hpp"
#include "host/plan/sharing.hpp"
#include "host/redistribute/agreement.hpp"
#include "host/redistribute/plan_state.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

constexpr const char* kName = "redistribute";

[[noreturn]] void fail(ErrorCode code, const std::string& sentence) {
  throw Error(code, std::string(kName) + ": " + sentence);
}

/// "the input of rank 3"
std::string name_of_view(const char* role, int rank) {
  return std::string("the ") + role + " of rank " + std::to_string(rank);
}

void check_distributions(const Group& group, const Distribution& in, const std::vector<int>& axes,
                         const Distribution& out) {
  for (const auto& [name, distribution] : {std::pair{"input", &in}, std::pair{"output", &out}})
    if (distribution->ranks() != group.ranks())
      fail(ErrorCode::invalid_argument, std::string("the ") + name + " is distributed over " +
                                            std::to_string(distribution->ranks()) +
                                            " ranks, and the group has " + std::to_string(group.ranks()));
  const Dims wanted = TensorView(nullptr, DType::u8, in.shape()).permuted(axes).shape();
  if (out.shape() == wanted) return;
  fail(ErrorCode::shape, "the input's global shape " + to_string(in.shape()) + " by the axes " +
                             to_string(Dims(axes.begin(), axes.end())) + " gives " + to_string(wanted) +
                             ", and the output's is " + to_string(out.shape()));
}

/// One view for each local rank, of the shape of its box and of one type, which is returned.
DType check_views(const Group& group, const char* role, const Distribution& distribution,
                  const std::vector<TensorView>& views) {
  const std::vector<int>& ranks = group.local_ranks();
  if (views.size() != ranks.size())
    fail(ErrorCode::invalid_argument, std::to_string(views.size()) + " views of the " + role +
                                          " were given for " + std::to_string(ranks.size()) + " local ranks");
  for (std::size_t i = 0; i < views.size(); ++i) {
    const std::string name = name_of_view(role, ranks[i]);
    const Box& box = distribution.box(ranks[i]);
    if (views[i].shape() != box.shape())
      fail(ErrorCode::shape, name + " is " + views[i].to_string() + ", and its box " + box.to_string() +
                                 " has the shape " + to_string(box.shape()));
    if (views[i].dtype() != views[0].dtype())
      fail(ErrorCode::dtype, name + " is " + views[i].to_string() + ", and that of rank " +
                                 std::to_string(ranks[0]) + " has the type " + name_of(views[0].dtype()));
    check_address(kName, name.c_str(), views[i]);
  }
  return views[0].dtype();
}

/// A piece of memory that a run uses.
struct Used {
  std::string name;
  TensorView view;
  bool written = false;
};

void check_shared(const Used& a, const Used& b) {
  if (a.view.data() == nullptr || b.view.data() == nullptr || (!a.written && !b.written)) return;
  const plan::Sharing sharing = plan::sharing_of(a.view, b.view);
  if (sharing == plan::Sharing::none) return;
  fail(ErrorCode::partial_overlap,
       a.name + " and " + b.name +
           (sharing == plan::Sharing::some
                ? " share bytes"
                : " lie in overlapping ranges of memory, and whether they share bytes could not be told in "
                  "bounded time"));
}

void check_alignment(const Route& route, const Group& group, const RedistributeMemory& memory) {
  const auto check = [&](const Place& place, std::int64_t alignment, std::int64_t more) {
    const auto i = static_cast<std::size_t>(place.local);
    const bool is_in = place.memory == Place::Memory::input;
    if (place.memory == Place::Memory::workspace) return;
    const void* pointer = is_in ? memory.in[i] : memory.out[i];
    const std::string role =
        (is_in ? "input of rank " : "output of rank ") + std::to_string(group.local_ranks()[i]);
    check_plan_alignment(kName, role.c_str(), alignment,
                         static_cast<const char*>(pointer) + place.offset + more);
  };
  const auto check_all = [&](const std::vector<RouteKernel>& kernels) {
    for (const RouteKernel& kernel : kernels) {
      const plan::PlannedCopy& copy = kernel.plan.state().copy;
      check(kernel.in, copy.in.alignment, copy.in.offset);
      check(kernel.out, copy.out.alignment, copy.out.offset);
    }
  };
  check_all(route.within);
  check_all(route.across);
  for (const RouteChunk& chunk : route.chunks) {
    check_all(chunk.packs);
    check_all(chunk.unpacks);
  }
}

template <class Pointer>
void check_count(const char* what, const std::vector<Pointer>& given, const Group& group) {
  if (given.size() == group.local_ranks().size()) return;
  fail(ErrorCode::invalid_argument, std::to_string(given.size()) + " " + what + " were given for " +
                                        std::to_string(group.local_ranks().size()) + " local ranks");
}

std::vector<TensorView> empty_views(const Group& group, const Distribution& distribution, DType type) {
  std::vector<TensorView> views;
  for (const int rank : group.local_ranks())
    views.emplace_back(nullptr, type, distribution.box(rank).shape());
  return views;
}

RedistributeMemory planned_memory(const RedistributeProblem& problem, const std::vector<void*>& workspace) {
  RedistributeMemory memory;
  for (const TensorView& view : problem.in) memory.in.push_back(view.data());
  for (const TensorView& view : problem.out) memory.out.push_back(view.data());
  memory.workspace = workspace;
  return memory;
}

std::string too_much_workspace(const Route& route, const RedistributeOptions& options) {
  const std::size_t most = *std::max_element(route.workspace_bytes.begin(), route.workspace_bytes.end());
  if (most <= options.workspace_limit) return "";
  return "it needs " + std::to_string(most) + " bytes of workspace on a rank, and the limit is " +
         std::to_string(options.workspace_limit);
}

/// The route of least predicted time, or the one that is asked for, and what the others would be.
Route choose_route(const RedistributeProblem& problem, const RedistributeOptions& options,
                   std::vector<RedistributeAlternative>& others) {
  std::vector<Route> routes;
  routes.push_back(direct_route(problem));
  routes.push_back(staged_route(problem));
  routes.push_back(copy_engine_route(problem));
  Route* best = nullptr;
  std::string reasons;
  for (Route& route : routes) {
    if (route.possible) route.reason = too_much_workspace(route, options);
    route.possible = route.possible && route.reason.empty();
    const bool wanted = !options.route || *options.route == route.route;
    if (wanted && route.possible && (best == nullptr || route.microseconds < best->microseconds))
      best = &route;
    if (wanted && !route.possible)
      reasons += std::string(reasons.empty() ? "" : "; ") + name_of(route.route) + ": " + route.reason;
  }
  if (best == nullptr)
    fail(options.route ? ErrorCode::invalid_argument : ErrorCode::unsupported,
         "no route can be taken; " + reasons);
  for (const Route& route : routes)
    if (&route != best) others.push_back({route.route, route.possible, route.reason, route.microseconds});
  return std::move(*best);
}

/// Error{invalid_argument}, {null_pointer}, {partial_overlap}: what is wrong with the views at these pointers
/// and with the workspace. Where `given` is false, null pointers and want of a workspace pass.
void check_memory_of(const RedistributeProblem& problem, const Route& route, const RedistributeMemory& memory,
                     bool given) {
  const Group& group = problem.group;
  check_count("inputs", memory.in, group);
  check_count("outputs", memory.out, group);
  const bool works = *std::max_element(route.workspace_bytes.begin(), route.workspace_bytes.end()) > 0;
  if (given && works && memory.workspace.empty())
    fail(ErrorCode::null_pointer, "the route " + std::string(name_of(route.route)) +
                                      " needs a workspace; give workspace_bytes() of memory for each rank");
  if (!memory.workspace.empty()) check_count("workspaces", memory.workspace, group);

  std::vector<Used> used;
  for (std::size_t i = 0; i < problem.in.size(); ++i) {
    const int rank = group.local_ranks()[i];
    used.push_back({name_of_view("input", rank), at_address(problem.in[i], memory.in[i]), false});
    used.push_back({name_of_view("output", rank), at_address(problem.out[i], memory.out[i]), true});
    const auto bytes = static_cast<std::int64_t>(route.workspace_bytes[i]);
    if (!works || memory.workspace.empty()) continue;
    used.push_back(
        {name_of_view("workspace", rank), TensorView(memory.workspace[i], DType::u8, {bytes}), true});
    if (bytes > 0 && reinterpret_cast<std::uintptr_t>(memory.workspace[i]) % 64 != 0)
      fail(ErrorCode::invalid_argument, used.back().name + " must begin on a multiple of 64 bytes");
  }
  for (const Used& one : used) {
    if (given) check_pointer(kName, one.name.c_str(), one.view);
    for (const Used* other = used.data(); other != &one; ++other) check_shared(*other, one);
  }
  if (given) check_alignment(route, group, memory);
}

void check_and_queue(const RedistributePlan::State& plan, const RedistributeMemory& memory) {
  check_memory_of(plan.problem, plan.route, memory, true);
  const auto& communicator = plan.problem.group.state().communicator;
  if (communicator != nullptr) communicator->check();
  for (const ScheduleStep& step : plan.schedule.steps) queue_step(plan, step, memory);
}

RedistributePlan plan_of(const Group& group, const Distribution& in_distribution,
                         const std::vector<TensorView>& in, const std::vector<int>& axes,
                         const Distribution& out_distribution, const std::vector<TensorView>& out,
                         const RedistributeOptions& options) {
  check_distributions(group, in_distribution, axes, out_distribution);
  const DType in_type = check_views(group, "input", in_distribution, in),
              out_type = check_views(group, "output", out_distribution, out);
  RedistributeProblem problem{group,
                              in_distribution,
                              out_distribution,
                              axes,
                              in,
                              out,
                              in_type,
                              out_type,
                              options.cast,
                              plan::box_moves(in_distribution, axes, out_distribution)};
  check_cast_options(kName, in_type, out_type, {{}, false, options.cast});
  for (const TensorView& view : out) check_distinct(kName, view);
  Route none;
  none.workspace_bytes.assign(in.size(), 0);
  check_memory_of(problem, none, planned_memory(problem, {}), false);

  std::vector<RedistributeAlternative> others;
  Route route = choose_route(problem, options, others);
  return RedistributePlan(
      std::make_shared<RedistributePlan::State>(std::move(problem), std::move(route), std::move(others)));
}

/// The plan, and nothing before all ranks have theirs, or know that one has none.
template <class Plan>
RedistributePlan in_agreement(const Group& group, const PlanDigest& digest, const Plan& plan) {
  std::optional<RedistributePlan> planned;
  try {
    planned = plan();
  } catch (...) {
    agree(group, digest, false);
    throw;
  }
  agree(group, digest, true);
  return *planned;
}

}  // namespace

const char* name_of(RedistributeRoute route) noexcept {
  switch (route) {
    case RedistributeRoute::direct:
      return "direct";
    case RedistributeRoute::staged:
      return "staged";
    case RedistributeRoute::copy_engine:
      return "copy_engine";
  }
  return "?";
}

RedistributePlan::State::State(RedistributeProblem problem_, Route route_,
                               std::vector<RedistributeAlternative> others_)
    : problem(std::move(problem_)),
      route(std::move(route_)),
      others(std::move(others_)),
      schedule(schedule_of(problem, route)) {
  for (const std::size_t stream : schedule.events) events.emplace_back(stream_of(*this, stream).device());
}

void RedistributePlan::run(const std::vector<void*>& workspace) const {
  check_and_queue(*state_, planned_memory(state_->problem, workspace));
}

void RedistributePlan::run(const std::vector<const void*>& in, const std::vector<void*>& out,
                           const std::vector<void*>& workspace) const {
  check_and_queue(*state_, {in, out, workspace});
}

std::size_t RedistributePlan::workspace_bytes(int rank) const {
  const int local = state_->problem.group.state().local(rank);
  if (local < 0) fail(ErrorCode::invalid_argument, "rank " + std::to_string(rank) + " is no local rank");
  return state_->route.workspace_bytes[static_cast<std::size_t>(local)];
}

RedistributeDetails RedistributePlan::details() const { return details_of(*state_); }
std::string RedistributePlan::explain() const { return explain_of(*state_); }

RedistributePlan plan_redistribute(const Group& group, const Distribution& in_distribution,
                                   const std::vector<TensorView>& in, const std::vector<int>& axes,
                                   const Distribution& out_distribution, const std::vector<TensorView>& out,
                                   const RedistributeOptions& options) {
  const DType in_type = in.empty() ? DType::f32 : in.front().dtype(),
              out_type = out.empty() ? DType::f32 : out.front().dtype();
  return in_agreement(
      group, digest_of(in_distribution, axes, out_distribution, in_type, out_type, options),
      [&] { return plan_of(group, in_distribution, in, axes, out_distribution, out, options); });
}

RedistributePlan plan_redistribute(const Group& group, const Distribution& in_distribution,
                                   const std::vector<int>& axes, const Distribution& out_distribution,
                                   DType in_type, DType out_type, const RedistributeOptions& options) {
  return in_agreement(
      group, digest_of(in_distribution, axes, out_distribution, in_type, out_type, options), [&] {
        check_distributions(group, in_distribution, axes, out_distribution);
        return plan_of(group, in_distribution, empty_views(group, in_distribution, in_type), axes,
                       out_distribution, empty_views(group, out_distribution, out_type), options);
      });
}

void redistribute(const Group& group, const Distribution& in_distribution, const std::vector<TensorView>& in,
                  const std::vector<int>& axes, const Distribution& out_distribution,
                  const std::vector<TensorView>& out, const RedistributeOptions& options) {
  RedistributeOptions without_workspace = options;
  without_workspace.workspace_limit = 0;
  plan_redistribute(group, in_distribution, in, axes, out_distribution, out, without_workspace).run();
}

}  // namespace relayout
