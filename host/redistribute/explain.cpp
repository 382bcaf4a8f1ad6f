// What a planned redistribution does, as numbers and in plain words.
#include <algorithm>
#include <map>
#include <utility>

#include "core/bytes.hpp"
#include "host/api/copy.hpp"
#include "host/plan/plan_words.hpp"
#include "host/redistribute/plan_state.hpp"

namespace relayout {
namespace {

/// The operand of a kernel that the link carries: what it writes, or reads, of another rank.
std::int64_t crossing_bytes(const RedistributeProblem& problem, const RouteKernel& kernel) {
  const CopyPlan::State& state = kernel.plan.state();
  const bool reads = problem.group.state().local(kernel.to) == kernel.local;
  const TensorView& view = reads ? state.in : state.out;
  return bytes_of(view);
}

/// The kernel that moves most, to be explained for all.
const RouteKernel* largest_kernel(const Route& route) {
  const RouteKernel* largest = nullptr;
  const auto look = [&](const std::vector<RouteKernel>& kernels) {
    for (const RouteKernel& kernel : kernels)
      if (largest == nullptr || kernel.plan.state().out.elements() > largest->plan.state().out.elements())
        largest = &kernel;
  };
  look(route.across);
  for (const RouteChunk& chunk : route.chunks) look(chunk.packs);
  for (const RouteChunk& chunk : route.chunks) look(chunk.unpacks);
  if (largest != nullptr) return largest;
  look(route.within);
  for (const RouteChunk& chunk : route.chunks) look(chunk.within);
  return largest;
}

const char* meaning(const Route& route) {
  const bool registered = !route.shared_workspace_bytes.empty();
  switch (route.route) {
    case RedistributeRoute::direct:
      return "kernels reach into the memory of the other rank, and write the final layout";
    case RedistributeRoute::staged:
      return registered
                 ? "messages are packed, copied into the workspace that the other rank has registered, "
                   "and unpacked, in chunks that overlap"
                 : "messages are packed, copied and unpacked, in chunks that overlap";
    case RedistributeRoute::joined:
      return registered
                 ? "messages are packed, copied into the workspace that the other rank has registered, "
                   "and unpacked together with what stays there, in chunks that overlap"
                 : "messages are packed, copied, and unpacked together with what stays on a rank, in "
                   "chunks that overlap";
    case RedistributeRoute::copy_engine:
      return "bytes and rows of bytes are copied as they lie";
  }
  return "";
}

/// "emulated(32) (4 ranks)", "gpu(0), gpu(1)"
std::string device_words(const Group::State& group) {
  std::vector<std::pair<std::string, int>> devices;
  for (const Stream& stream : group.streams) {
    const std::string name = stream.device().to_string();
    const auto place = std::find_if(devices.begin(), devices.end(),
                                    [&](const auto& device) { return device.first == name; });
    if (place == devices.end()) {
      devices.emplace_back(name, 1);
    } else {
      ++place->second;
    }
  }
  std::string text;
  for (const auto& [name, ranks] : devices)
    text += (text.empty() ? "" : ", ") + name + (ranks > 1 ? " (" + plan::plural(ranks, "rank") + ")" : "");
  return text;
}

}  // namespace

RedistributeDetails details_of(const RedistributePlan::State& state) {
  const Route& route = state.route;
  RedistributeDetails details;
  details.route = route.route;
  details.microseconds = route.microseconds;
  details.others = state.others;
  std::map<std::pair<int, int>, RedistributeLink> links;
  const auto add = [&](int from, int to, std::int64_t bytes) {
    RedistributeLink& link = links[{from, to}];
    link.from = from;
    link.to = to;
    link.bytes += bytes;
    ++link.messages;
  };
  for (const RouteKernel& kernel : route.across)
    add(kernel.from, kernel.to, crossing_bytes(state.problem, kernel));
  details.kernels = static_cast<std::int64_t>(route.within.size() + route.across.size());
  for (const std::size_t bytes : route.shared_workspace_bytes)
    details.group_workspace_bytes = std::max(details.group_workspace_bytes, bytes);
  for (const RouteChunk& chunk : route.chunks) {
    details.kernels +=
        static_cast<std::int64_t>(chunk.packs.size() + chunk.within.size() + chunk.unpacks.size());
    for (const RouteTransfer& transfer : chunk.transfers) {
      add(transfer.from, transfer.to, transfer.bytes());
      // With a registered workspace the sender copies, else each side has its part.
      const bool queues =
          route.shared_workspace_bytes.empty() || state.problem.group.state().local(transfer.from) >= 0;
      details.copies += queues ? 1 : 0;
    }
  }
  for (const auto& link : links) details.links.push_back(link.second);
  details.chunks = std::max(1, static_cast<int>(route.chunks.size()));
  for (const std::size_t bytes : route.workspace_bytes)
    details.workspace_bytes = std::max(details.workspace_bytes, bytes);
  return details;
}

std::string explain_of(const RedistributePlan::State& state) {
  const RedistributeProblem& p = state.problem;
  const RedistributeDetails d = details_of(state);
  plan::SentenceStream text;
  text << "redistribute: " << name_of(p.in_type) << to_string(p.in_distribution.shape()) << " by "
       << to_string(Dims(p.axes.begin(), p.axes.end())) << " -> " << name_of(p.out_type)
       << to_string(p.out_distribution.shape()) << ", over " << plan::plural(p.group.ranks(), "rank")
       << ", on " << device_words(p.group.state()) << ".\n";
  text << "Route: " << name_of(d.route) << ", predicted " << plan::time_words(d.microseconds) << ": "
       << meaning(state.route) << ".\n";
  for (const RedistributeAlternative& other : d.others)
    text << "Not " << name_of(other.route) << ": "
         << (other.possible ? "possible, predicted " + plan::time_words(other.microseconds) : other.reason)
         << ".\n";
  text << "Queued: " << plan::plural(d.kernels, "kernel") << ", "
       << (d.copies == 1 ? "1 copy" : std::to_string(d.copies) + " copies");
  if (d.route == RedistributeRoute::staged || d.route == RedistributeRoute::joined)
    text << ", in " << plan::plural(d.chunks, "chunk");
  text << "; at most " << plan::plural(static_cast<std::int64_t>(d.workspace_bytes), "byte")
       << " of workspace on a rank";
  if (d.group_workspace_bytes > 0)
    text << ", and " << plan::plural(static_cast<std::int64_t>(d.group_workspace_bytes), "byte")
         << " of what is registered";
  text << ".\n";
  if (!state.route.remark.empty())
    text << "The registered workspace is not used: " << state.route.remark << ".\n";
  for (const RedistributeLink& link : d.links)
    text << "Link " << link.from << " -> " << link.to << ": " << plan::plural(link.bytes, "byte") << " in "
         << plan::plural(link.messages, "message") << ".\n";
  if (const RouteKernel* largest = largest_kernel(state.route))
    text << "The largest kernel, for " << largest->from << " -> " << largest->to << ", is:\n"
         << largest->plan.explain();
  return text.str();
}

}  // namespace relayout
