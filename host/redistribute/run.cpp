// How a route is queued: kernels and copies on the ranks' streams, and the events that order them.
//
// A rank's memory may be used by others once its stream has reached the run: `ready`. Its stream goes on when
// all have ended that read or write its memory. Streams of processors finish each call, in the order in which
// they are queued here, which is therefore one that the events allow.
#include <cstddef>

#include "host/api/copy.hpp"
#include "host/redistribute/plan_state.hpp"

namespace relayout {
namespace {

class Run {
 public:
  Run(const RedistributePlan::State& plan, const RedistributeMemory& memory)
      : plan_(plan), memory_(memory), group_(plan.problem.group.state()) {}

  void queue() {
    for (std::size_t i = 0; i < group_.streams.size(); ++i) record(plan_.ready[i], group_.streams[i]);
    if (plan_.route.chunks.empty()) {
      queue_kernels();
    } else {
      queue_chunks();
    }
  }

 private:
  /// Direct. What stays within a rank runs beside what crosses the link.
  void queue_kernels() {
    for (const RouteKernel& kernel : plan_.route.across) {
      const Stream& stream = group_.streams[index(kernel.local)];
      stream.wait(plan_.ready[index(other(kernel))]);
      launch(kernel, stream);
    }
    for (const RouteKernel& kernel : plan_.route.within) launch_beside(kernel);
    for (std::size_t i = 0; i < group_.streams.size(); ++i) record(plan_.done[i], group_.streams[i]);
    for (const RouteKernel& kernel : plan_.route.across)
      group_.streams[index(other(kernel))].wait(plan_.done[index(kernel.local)]);
  }

  /// The other routes: all packs on the ranks' streams; copies on the side streams, each chunk when it is
  /// packed; unpacks, each chunk when it has come, while the next one crosses.
  void queue_chunks() {
    const std::vector<RouteChunk>& chunks = plan_.route.chunks;
    for (const RouteTransfer& transfer : chunks.front().transfers)
      side(transfer.from).wait(plan_.ready[index(local(transfer.to))]);
    for (std::size_t c = 0; c < chunks.size(); ++c) {
      for (const RouteKernel& kernel : chunks[c].packs) launch(kernel, group_.streams[index(kernel.local)]);
      for (std::size_t i = 0; i < group_.streams.size(); ++i) {
        record(plan_.packed[c][i], group_.streams[i]);
        group_.sides[i].wait(plan_.packed[c][i]);
      }
      for (const RouteTransfer& transfer : chunks[c].transfers) send(transfer);
      for (std::size_t i = 0; i < group_.streams.size(); ++i) record(plan_.sent[c][i], group_.sides[i]);
    }
    for (const RouteKernel& kernel : plan_.route.within) launch(kernel, group_.streams[index(kernel.local)]);
    for (std::size_t c = 0; c < chunks.size(); ++c) {
      for (const RouteTransfer& transfer : chunks[c].transfers)
        group_.streams[index(local(transfer.to))].wait(plan_.sent[c][index(local(transfer.from))]);
      for (const RouteKernel& kernel : chunks[c].unpacks) launch(kernel, group_.streams[index(kernel.local)]);
    }
    // What was sent may be overwritten.
    for (std::size_t i = 0; i < group_.streams.size(); ++i) group_.streams[i].wait(plan_.sent.back()[i]);
  }

  void launch_beside(const RouteKernel& kernel) {
    const Stream &stream = group_.streams[index(kernel.local)], &beside = group_.sides[index(kernel.local)];
    beside.wait(plan_.ready[index(kernel.local)]);
    launch(kernel, beside);
    record(plan_.done[index(kernel.local)], beside);
    stream.wait(plan_.done[index(kernel.local)]);
  }

  void launch(const RouteKernel& kernel, const Stream& stream) {
    launch_copy(stream, kernel.plan.state().copy, {address(kernel.in), address(kernel.out)});
  }
  void send(const RouteTransfer& transfer) {
    side(transfer.from)
        .copy_rows(address(transfer.destination), transfer.destination_pitch, address(transfer.source),
                   transfer.source_pitch, transfer.width, transfer.rows);
  }

  char* address(const Place& place) const {
    const auto i = index(place.local);
    const void* base = place.memory == Place::Memory::input    ? memory_.in[i]
                       : place.memory == Place::Memory::output ? memory_.out[i]
                                                               : memory_.workspace[i];
    return static_cast<char*>(const_cast<void*>(base)) + place.offset;  // NOLINT: TensorView does so, too
  }
  static void record(Event event, const Stream& stream) { event.record(stream); }
  static std::size_t index(int local) { return static_cast<std::size_t>(local); }
  int local(int rank) const { return group_.local(rank); }
  int other(const RouteKernel& kernel) const {
    return local(kernel.from) == kernel.local ? local(kernel.to) : local(kernel.from);
  }
  const Stream& side(int rank) const { return group_.sides[index(local(rank))]; }

  const RedistributePlan::State& plan_;
  const RedistributeMemory& memory_;
  const Group::State& group_;
};

}  // namespace

void queue_route(const RedistributePlan::State& state, const RedistributeMemory& memory) {
  Run(state, memory).queue();
}

}  // namespace relayout
