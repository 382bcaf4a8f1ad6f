// A run: the schedule's steps, one after the other, on the given memory. Streams of processors finish each
// call, in the order in which they are queued here, which is one that the events allow.
#include <cstddef>
#include <vector>

#include "host/api/copy.hpp"
#include "host/redistribute/plan_state.hpp"
#include "platform/backend.hpp"

#include <relayout/error.hpp>

namespace relayout {
namespace {

void* address_of(const RedistributeProblem& problem, const Place& place, const RedistributeMemory& memory) {
  const auto i = static_cast<std::size_t>(place.local);
  const void* base = nullptr;
  switch (place.memory) {
    case Place::Memory::input:
      base = memory.in[i];
      break;
    case Place::Memory::output:
      base = memory.out[i];
      break;
    case Place::Memory::workspace:
      base = memory.workspace[i];
      break;
    case Place::Memory::shared_output:
      base = problem.all_outputs[i].data();
      break;
    case Place::Memory::shared_workspace:
      base = shared_workspace_of(problem).parts[i].memory;
      break;
  }
  // Inputs are only read.
  return const_cast<char*>(static_cast<const char*>(base)) + place.offset;  // NOLINT
}

/// Makes the device of what is queued next current, and in the end the caller's: steps in a row on one device
/// change it once.
class CurrentDevice {
 public:
  CurrentDevice() = default;
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  ~CurrentDevice() {
    try {
      if (backend_ != nullptr) backend_->make_current(callers_);
    } catch (const Error&) {  // the runtime says so to the caller's next call, too
    }
  }
  void enter(const Device& device) {
    const int was = device.backend().make_current(device.index());
    if (backend_ != nullptr) return;
    backend_ = &device.backend();
    callers_ = was;
  }

 private:
  Backend* backend_ = nullptr;
  int callers_ = 0;
};

}  // namespace

const Stream& stream_of(const RedistributePlan::State& plan, std::size_t stream) {
  const Group::State& group = plan.problem.group.state();
  const std::size_t ranks = group.streams.size();
  const std::size_t rank = stream % ranks;
  switch (stream / ranks) {
    case 0:
      return group.streams[rank];
    case 1:
      return group.sides[rank];
    case 2:
      return group.halves().links[rank];
    default:
      return group.halves().inners[rank];
  }
}

void queue_step(const RedistributePlan::State& plan, const ScheduleStep& step,
                const RedistributeMemory& memory) {
  const Stream& stream = stream_of(plan, step.stream);
  switch (step.kind) {
    case ScheduleStep::Kind::record: {
      Event event = plan.events[step.event];
      return event.record(stream);
    }
    case ScheduleStep::Kind::wait:
      return stream.wait(plan.events[step.event]);
    case ScheduleStep::Kind::launch:
      return launch_copy(stream, step.kernel->plan.state().copy,
                         {address_of(plan.problem, step.kernel->in, memory),
                          address_of(plan.problem, step.kernel->out, memory)});
    case ScheduleStep::Kind::exchange: {
      const Group::State& group = plan.problem.group.state();
      std::vector<Communicator::Message> messages;
      for (const RouteTransfer& t : step.chunk->transfers) {
        if (group.local(t.from) >= 0) {
          messages.push_back({t.to, address_of(plan.problem, t.source, memory), nullptr, t.width});
        } else {
          messages.push_back({t.from, nullptr, address_of(plan.problem, t.destination, memory), t.width});
        }
      }
      return group.communicator->exchange(messages, stream.native());
    }
    case ScheduleStep::Kind::signal: {
      const Group::State& group = plan.problem.group.state();
      return group.signals->exchange(stream, step.signals, group.communicator->time_limit());
    }
    case ScheduleStep::Kind::send: {
      const RouteTransfer& t = *step.transfer;
      return stream.copy_rows(address_of(plan.problem, t.destination, memory), t.destination_pitch,
                              address_of(plan.problem, t.source, memory), t.source_pitch, t.width, t.rows);
    }
  }
}

void queue_steps(const RedistributePlan::State& plan, const RedistributeMemory& memory) {
  CurrentDevice current;
  for (const ScheduleStep& step : plan.schedule.steps) {
    // Events need no current device.
    if (step.kind != ScheduleStep::Kind::record && step.kind != ScheduleStep::Kind::wait)
      current.enter(stream_of(plan, step.stream).device());
    queue_step(plan, step, memory);
  }
}

}  // namespace relayout
