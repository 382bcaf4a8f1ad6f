#include "host/redistribute/route_builder.hpp"

#include <algorithm>
#include <utility>

#include "core/bytes.hpp"
#include "core/integer_math.hpp"
#include "host/api/checks.hpp"
#include "host/api/copy.hpp"
#include "host/api/plan_checks.hpp"

namespace relayout {
namespace {

/// Workspaces, and messages in them, begin on a line of every cache.
constexpr std::int64_t kWorkspaceAlignment = 256;

TensorView with_address(const TensorView& view, Place::Memory memory) {
  if (view.data() != nullptr) return view;
  const std::uintptr_t far = std::uintptr_t{1} << (60 + static_cast<int>(memory));
  return at_address(view, reinterpret_cast<const void*>(far));  // NOLINT(performance-no-int-to-ptr)
}

/// The box within the view of what a rank holds, both in the view's axes.
Part part_of(const TensorView& planned, const Box& held, const Box& box, const Place& whole) {
  const TensorView base = with_address(planned, whole.memory);
  Part part{base, whole};
  for (int axis = 0; axis < base.rank(); ++axis) {
    const auto k = static_cast<std::size_t>(axis);
    part.view = part.view.slice(axis, box.begin[k] - held.begin[k], box.end[k] - held.begin[k]);
  }
  part.place.offset = static_cast<const char*>(part.view.data()) - static_cast<const char*>(base.data());
  return part;
}

/// Where the view lies in a workspace of which so many bytes are used.
std::int64_t taken(std::size_t& used, const TensorView& view) {
  const auto offset = static_cast<std::int64_t>(used);
  used += static_cast<std::size_t>(round_up(view.byte_range().end, kWorkspaceAlignment));
  return offset;
}

/// Kernels or transfers in the order in which ranks queue them: first what goes to the next rank after the
/// one that sends, so that no rank gets from several at a time while another one gets nothing.
template <class Items>
void put_in_turns(Items& items, int ranks) {
  const auto turn = [&](const auto& item) { return (item.to - item.from + ranks) % ranks; };
  std::stable_sort(items.begin(), items.end(),
                   [&](const auto& a, const auto& b) { return turn(a) < turn(b); });
}

}  // namespace

RouteBuilder::RouteBuilder(const RedistributeProblem& problem, RedistributeRoute route, bool by_messages)
    : p_(problem),
      state_(problem.group.state()),
      model_(
          plan::link_model(state_.streams.front().device().properties(), by_messages && !is_one_process())),
      time_(model_) {
  result_.route = route;
  result_.workspace_bytes.assign(state_.local_ranks.size(), 0);
}

const SharedMemory& shared_workspace_of(const RedistributeProblem& problem) {
  return problem.group.state().shared_workspaces[static_cast<std::size_t>(problem.shared_workspace)];
}

int RouteBuilder::device_of(int rank) const {
  if (local(rank) < 0) return rank;
  const Device& device = state_.streams[static_cast<std::size_t>(local(rank))].device();
  if (device.kind() == DeviceKind::emulated) return rank;
  const auto first = std::find_if(state_.streams.begin(), state_.streams.end(),
                                  [&](const Stream& stream) { return same_device(stream.device(), device); });
  return state_.local_ranks[static_cast<std::size_t>(first - state_.streams.begin())];
}

Part RouteBuilder::input(const plan::BoxMove& move) const {
  const int from = local(move.from);
  return part_of(p_.in[static_cast<std::size_t>(from)], p_.in_distribution.box(move.from), move.box,
                 {Place::Memory::input, from, 0});
}

Part RouteBuilder::output(const plan::BoxMove& move) const {
  const int to = local(move.to);
  if (to < 0)
    return part_of(p_.all_outputs[static_cast<std::size_t>(move.to)], p_.out_distribution.box(move.to),
                   plan::permuted(move.box, p_.axes), {Place::Memory::shared_output, move.to, 0});
  return part_of(p_.out[static_cast<std::size_t>(to)], p_.out_distribution.box(move.to),
                 plan::permuted(move.box, p_.axes), {Place::Memory::output, to, 0});
}

Part RouteBuilder::workspace(int local, const TensorView& layout) {
  const std::int64_t offset = taken(result_.workspace_bytes[static_cast<std::size_t>(local)], layout);
  return {with_address(layout, Place::Memory::workspace), {Place::Memory::workspace, local, offset}};
}

Part RouteBuilder::shared_workspace(int rank, const TensorView& layout) {
  const auto i = static_cast<std::size_t>(rank);
  const std::int64_t offset = taken(result_.shared_workspace_bytes[i], layout);
  return {at_address(layout, shared_workspace_of(p_).parts[i].memory + offset),
          {Place::Memory::shared_workspace, rank, offset}};
}

RouteKernel RouteBuilder::kernel(int local, const plan::BoxMove& move, const Part& in, const Part& out) {
  const Device& device = state_.streams[static_cast<std::size_t>(local)].device();
  const bool casts = in.view.dtype() != out.view.dtype();
  RouteKernel kernel{
      local,
      move.from,
      move.to,
      keep_plan("redistribute", device, in.view, out.view, {{}, false, casts ? p_.cast : CastOptions{}}),
      in.place,
      out.place};
  add_time(time_, kernel);
  return kernel;
}

RouteKernel RouteBuilder::whole(int rank, const plan::BoxMove& move) {
  Part in = input(move);
  in.view = in.view.permuted(p_.axes);
  return kernel(local(rank), move, in, output(move));
}

void RouteBuilder::within(const plan::BoxMove& move, std::vector<RouteKernel>& kernels) {
  if (local(move.from) >= 0) kernels.push_back(whole(move.from, move));
}

void RouteBuilder::transfer(RouteChunk& chunk, const RouteTransfer& transfer) {
  time_.add_copy(device_of(transfer.from), device_of(transfer.to), static_cast<double>(transfer.bytes()),
                 static_cast<double>(transfer.width));
  chunk.transfers.push_back(transfer);
}

void RouteBuilder::add_time(plan::RouteTime& time, const RouteKernel& kernel) const {
  const CopyPlan::State& state = kernel.plan.state();
  const int rank = state_.local_ranks[static_cast<std::size_t>(kernel.local)];
  time.add_kernel(device_of(rank), state.copy.microseconds,
                  static_cast<double>(bytes_of(state.in) + bytes_of(state.out)));
}

void RouteBuilder::tell(RankSignals& signals, int from, int to) const {
  if (local(from) >= 0) signals.tell |= std::uint64_t{1} << to;
  if (local(to) >= 0) signals.await |= std::uint64_t{1} << from;
}

Route RouteBuilder::finish(double more_microseconds) {
  put_in_turns(result_.across, p_.group.ranks());
  for (RouteChunk& chunk : result_.chunks) put_in_turns(chunk.transfers, p_.group.ranks());
  result_.possible = true;
  result_.microseconds = time_.microseconds() + more_microseconds;
  return std::move(result_);
}

Route RouteBuilder::refuse(const std::string& reason) const {
  Route refused;
  refused.route = result_.route;
  refused.reason = reason;
  return refused;
}

}  // namespace relayout
