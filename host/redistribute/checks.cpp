#include "host/redistribute/checks.hpp"

#include <algorithm>
#include <utility>

#include "host/api/checks.hpp"
#include "host/api/copy.hpp"
#include "host/api/plan_checks.hpp"
#include "host/plan/sharing.hpp"

namespace relayout {
namespace {

/// "the input of rank 3"
std::string name_of_view(const char* role, int rank) {
  return std::string("the ") + role + " of rank " + std::to_string(rank);
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
  fail_redistribute(
      ErrorCode::partial_overlap,
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
    if (!is_in && place.memory != Place::Memory::output) return;
    const void* pointer = is_in ? memory.in[i] : memory.out[i];
    const std::string role =
        (is_in ? "input of rank " : "output of rank ") + std::to_string(group.local_ranks()[i]);
    check_plan_alignment(kRedistribute, role.c_str(), alignment,
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
    check_all(chunk.within);
    check_all(chunk.unpacks);
  }
}

/// Other processes know an output's address from its plan.
bool writes_as_planned(const RedistributeProblem& problem, const Route& route,
                       const RedistributeMemory& memory) {
  if (problem.group.state().communicator == nullptr || route.route != RedistributeRoute::direct) return true;
  return problem.out.front().elements() == 0 || memory.out.front() == problem.out.front().data();
}

/// What the route takes of what this process's rank has registered.
TensorView own_shared_workspace(const RedistributeProblem& problem, const Route& route) {
  const auto rank = static_cast<std::size_t>(problem.group.local_ranks().front());
  return {shared_workspace_of(problem).parts[rank].memory,
          DType::u8,
          {static_cast<std::int64_t>(route.shared_workspace_bytes[rank])}};
}

template <class Pointer>
void check_count(const char* what, const std::vector<Pointer>& given, const Group& group) {
  if (given.size() == group.local_ranks().size()) return;
  fail_redistribute(ErrorCode::invalid_argument,
                    std::to_string(given.size()) + " " + what + " were given for " +
                        std::to_string(group.local_ranks().size()) + " local ranks");
}

}  // namespace

void fail_redistribute(ErrorCode code, const std::string& sentence) { fail(kRedistribute, code, sentence); }

void check_distributions(const Group& group, const Distribution& in, const std::vector<int>& axes,
                         const Distribution& out) {
  for (const auto& [name, distribution] : {std::pair{"input", &in}, std::pair{"output", &out}})
    if (distribution->ranks() != group.ranks())
      fail_redistribute(ErrorCode::invalid_argument, std::string("the ") + name + " is distributed over " +
                                                         std::to_string(distribution->ranks()) +
                                                         " ranks, and the group has " +
                                                         std::to_string(group.ranks()));
  const Dims wanted = TensorView(nullptr, DType::u8, in.shape()).permuted(axes).shape();
  if (out.shape() == wanted) return;
  fail_redistribute(ErrorCode::shape, "the input's global shape " + to_string(in.shape()) + " by the axes " +
                                          to_string(Dims(axes.begin(), axes.end())) + " gives " +
                                          to_string(wanted) + ", and the output's is " +
                                          to_string(out.shape()));
}

DType check_views(const Group& group, const char* role, const Distribution& distribution,
                  const std::vector<TensorView>& views) {
  const std::vector<int>& ranks = group.local_ranks();
  if (views.size() != ranks.size())
    fail_redistribute(ErrorCode::invalid_argument, std::to_string(views.size()) + " views of the " + role +
                                                       " were given for " + std::to_string(ranks.size()) +
                                                       " local ranks");
  for (std::size_t i = 0; i < views.size(); ++i) {
    const std::string name = name_of_view(role, ranks[i]);
    const Box& box = distribution.box(ranks[i]);
    if (views[i].shape() != box.shape())
      fail_redistribute(ErrorCode::shape, name + " is " + views[i].to_string() + ", and its box " +
                                              box.to_string() + " has the shape " + to_string(box.shape()));
    if (views[i].dtype() != views[0].dtype())
      fail_redistribute(ErrorCode::dtype, name + " is " + views[i].to_string() + ", and that of rank " +
                                              std::to_string(ranks[0]) + " has the type " +
                                              name_of(views[0].dtype()));
    check_address(kRedistribute, name.c_str(), views[i]);
  }
  return views[0].dtype();
}

void check_memory(const RedistributeProblem& problem, const Route& route, const RedistributeMemory& memory,
                  bool given) {
  const Group& group = problem.group;
  check_count("inputs", memory.in, group);
  check_count("outputs", memory.out, group);
  const bool works = *std::max_element(route.workspace_bytes.begin(), route.workspace_bytes.end()) > 0;
  if (given && works && memory.workspace.empty())
    fail_redistribute(ErrorCode::null_pointer,
                      "the route " + std::string(name_of(route.route)) +
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
      fail_redistribute(ErrorCode::invalid_argument,
                        used.back().name + " must begin on a multiple of 64 bytes");
  }
  if (!route.shared_workspace_bytes.empty())
    used.push_back({"the registered workspace", own_shared_workspace(problem, route), true});
  for (const Used& one : used) {
    if (given) check_pointer(kRedistribute, one.name.c_str(), one.view);
    for (const Used* other = used.data(); other != &one; ++other) check_shared(*other, one);
  }
  if (given && !writes_as_planned(problem, route, memory))
    fail_redistribute(
        ErrorCode::invalid_argument,
        "the direct route between processes writes to the outputs that were planned, and another "
        "one was given");
  if (given) check_alignment(route, group, memory);
}

bool is_plainly_right(const RedistributeProblem& problem, const Route& route,
                      const RedistributeMemory& memory) {
  struct Range {
    std::uintptr_t begin, end;
    bool written;
  };
  const std::size_t ranks = problem.in.size();
  if (memory.in.size() != ranks || memory.out.size() != ranks) return false;
  if (!memory.workspace.empty() && memory.workspace.size() != ranks) return false;
  if (!writes_as_planned(problem, route, memory)) return false;
  std::vector<Range> ranges;
  ranges.reserve(3 * ranks);
  const auto add = [&](const void* pointer, TensorView::ByteRange bytes, bool written) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    ranges.push_back({address + static_cast<std::uintptr_t>(bytes.begin),
                      address + static_cast<std::uintptr_t>(bytes.end), written});
  };
  // No plan counts on more than 16 bytes.
  const auto lies_as_planned = [](const void* pointer, const TensorView& planned) {
    if (planned.elements() == 0) return true;
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    return pointer != nullptr && (address - reinterpret_cast<std::uintptr_t>(planned.data())) % 16 == 0;
  };
  for (std::size_t i = 0; i < ranks; ++i) {
    if (!lies_as_planned(memory.in[i], problem.in[i]) || !lies_as_planned(memory.out[i], problem.out[i]))
      return false;
    add(memory.in[i], problem.in[i].byte_range(), false);
    add(memory.out[i], problem.out[i].byte_range(), true);
    const std::size_t bytes = route.workspace_bytes[i];
    if (bytes == 0) continue;
    if (memory.workspace.empty() || memory.workspace[i] == nullptr ||
        reinterpret_cast<std::uintptr_t>(memory.workspace[i]) % 64 != 0)
      return false;
    add(memory.workspace[i], {0, static_cast<std::int64_t>(bytes)}, true);
  }
  if (!route.shared_workspace_bytes.empty()) {
    const TensorView shared = own_shared_workspace(problem, route);
    add(shared.data(), shared.byte_range(), true);
  }
  for (std::size_t i = 0; i < ranges.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const Range &a = ranges[i], &b = ranges[j];
      if ((a.written || b.written) && a.begin < b.end && b.begin < a.end) return false;
    }
  return true;
}

}  // namespace relayout
