// What a run queues, in this order: kernels and copies on the ranks' streams, and the events that order them.
#pragma once

#include <cstddef>
#include <vector>

#include "host/redistribute/routes.hpp"

namespace relayout {

/// Streams are numbers: those of the local ranks, then as many of each kind that stands beside them in a
/// group: side streams, those of links and inner ones.
struct ScheduleStep {
  enum class Kind { record, wait, launch, send, exchange, signal };
  Kind kind = Kind::record;
  std::size_t stream = 0;
  std::size_t event = 0;                    // of record and wait
  const RouteKernel* kernel = nullptr;      // of launch, in the route
  const RouteTransfer* transfer = nullptr;  // of send, in the route
  const RouteChunk* chunk = nullptr;        // of exchange, in the route: its transfers, by the communicator
  RankSignals signals;                      // of signal
};

/// Every event is recorded once in a run, before anything waits for it.
struct Schedule {
  std::vector<ScheduleStep> steps;
  std::vector<std::size_t> events;  // the stream that records each
};

/// Microseconds from which on streams of their own pay for their events.
struct WorthStreams {
  double beside = 6;   // for what stays within a rank
  double divided = 5;  // for that and for what crosses a link, both: each on half of the rank's device
};

/// The schedule keeps pointers into the route. A rank's memory is used by others only between two points of
/// its own stream: where that reaches the run, and where it goes on.
Schedule schedule_of(const RedistributeProblem& problem, const Route& route, const WorthStreams& worth = {});

}  // namespace relayout
