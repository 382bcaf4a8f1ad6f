#include "relayout/redistribute.hpp"

#include <algorithm>
#include <utility>

#include "host/api/cast_rule.hpp"
#include "host/api/checks.hpp"
#include "host/redistribute/agreement.hpp"
#include "host/redistribute/checks.hpp"

namespace relayout {
namespace {

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

std::vector<Route> routes_of(const RedistributeProblem& problem, const RedistributeOptions& options) {
  std::vector<Route> routes;
  routes.push_back(direct_route(problem));
  routes.push_back(staged_route(problem));
  routes.push_back(copy_engine_route(problem));
  for (const bool as_input : {true, false}) routes.push_back(joined_route(problem, as_input));
  for (Route& route : routes) {
    if (route.possible) route.reason = too_much_workspace(route, options);
    route.possible = route.possible && route.reason.empty();
  }
  return routes;
}

/// The fastest way of each route, by predicted time.
std::vector<Route> fastest_of_each(std::vector<Route> ways) {
  std::vector<Route> routes;
  for (Route& way : ways) {
    const auto same = std::find_if(routes.begin(), routes.end(),
                                   [&](const Route& route) { return route.route == way.route; });
    if (same == routes.end()) {
      routes.push_back(std::move(way));
    } else if (way.possible && (!same->possible || way.microseconds < same->microseconds)) {
      *same = std::move(way);
    }
  }
  return routes;
}

/// The route of least predicted time, or the one that is asked for, and what the others would be.
Route choose_route(std::vector<Route> ways, const RedistributeOptions& options,
                   std::vector<RedistributeAlternative>& others) {
  std::vector<Route> routes = fastest_of_each(std::move(ways));
  Route* best = nullptr;
  std::string reasons;
  for (Route& route : routes) {
    const bool wanted = !options.route || *options.route == route.route;
    if (wanted && route.possible && (best == nullptr || route.microseconds < best->microseconds))
      best = &route;
    if (wanted && !route.possible)
      reasons += std::string(reasons.empty() ? "" : "; ") + name_of(route.route) + ": " + route.reason;
  }
  if (best == nullptr)
    fail_redistribute(options.route ? ErrorCode::invalid_argument : ErrorCode::unsupported,
                      "no route can be taken; " + reasons);
  for (const Route& route : routes)
    if (&route != best) others.push_back({route.route, route.possible, route.reason, route.microseconds});
  return std::move(*best);
}

void check_and_queue(const RedistributePlan::State& plan, const RedistributeMemory& memory) {
  const Group::State& group = plan.problem.group.state();
  group.check_earlier();
  if (!is_plainly_right(plan.problem, plan.route, memory))
    check_memory(plan.problem, plan.route, memory, true);
  group.or_fail([&] { queue_steps(plan, memory); });
  group.watch_run();
}

RedistributeProblem problem_of(const Group& group, const Distribution& in_distribution,
                               const std::vector<TensorView>& in, const std::vector<int>& axes,
                               const Distribution& out_distribution, const std::vector<TensorView>& out,
                               const RedistributeOptions& options) {
  check_distributions(group, in_distribution, axes, out_distribution);
  if (options.route) check_enumerator(kRedistribute, "the route", *options.route, RedistributeRoute::joined);
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
  const std::vector<SharedMemory>& workspaces = group.state().shared_workspaces;
  if (!workspaces.empty() && workspaces.back().reason.empty())
    problem.shared_workspace = static_cast<int>(workspaces.size()) - 1;
  check_cast_options(kRedistribute, in_type, out_type, {{}, false, options.cast});
  for (const TensorView& view : out) check_distinct(kRedistribute, view);
  Route none;
  none.workspace_bytes.assign(in.size(), 0);
  check_memory(problem, none, planned_memory(problem, {}), false);
  return problem;
}

/// What make() gives; where it throws, the other ranks are told by agree(group, .., null).
template <class Make, class Tell>
auto or_tell(const Make& make, const Tell& tell) {
  try {
    return make();
  } catch (...) {
    try {
      tell();
    } catch (const Error&) {  // why this rank cannot plan says more, and the next call finds the other one
    }
    throw;
  }
}

/// The plan, and nothing before all ranks have theirs, or know that one has none.
template <class Make>
RedistributePlan in_agreement(const Group& group, const PlanDigest& digest,
                              const RedistributeOptions& options, const Make& make_problem) {
  RedistributeProblem problem = or_tell(make_problem, [&] { agree(group, digest, nullptr); });
  agree(group, digest, &problem);
  std::vector<Route> routes =
      or_tell([&] { return routes_of(problem, options); }, [&] { agree(group, nullptr); });
  agree(group, &routes);
  std::vector<RedistributeAlternative> others;
  Route route = choose_route(std::move(routes), options, others);
  return RedistributePlan(
      std::make_shared<RedistributePlan::State>(std::move(problem), std::move(route), std::move(others)));
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
    case RedistributeRoute::joined:
      return "joined";
  }
  return "?";
}

RedistributePlan::State::State(RedistributeProblem problem_, Route route_,
                               std::vector<RedistributeAlternative> others_)
    : problem(std::move(problem_)),
      route(std::move(route_)),
      others(std::move(others_)),
      schedule(schedule_of(problem, route)) {
  for (const std::size_t stream : schedule.events)
    events.push_back(Event::untimed(stream_of(*this, stream).device()));
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
  if (local < 0)
    fail_redistribute(ErrorCode::invalid_argument, "rank " + std::to_string(rank) + " is no local rank");
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
      group, digest_of(group, in_distribution, axes, out_distribution, in_type, out_type, options), options,
      [&] { return problem_of(group, in_distribution, in, axes, out_distribution, out, options); });
}

RedistributePlan plan_redistribute(const Group& group, const Distribution& in_distribution,
                                   const std::vector<int>& axes, const Distribution& out_distribution,
                                   DType in_type, DType out_type, const RedistributeOptions& options) {
  return in_agreement(
      group, digest_of(group, in_distribution, axes, out_distribution, in_type, out_type, options), options,
      [&] {
        check_distributions(group, in_distribution, axes, out_distribution);
        return problem_of(group, in_distribution, empty_views(group, in_distribution, in_type), axes,
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
