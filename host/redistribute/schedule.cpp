#include "host/redistribute/schedule.hpp"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "host/api/checks.hpp"
#include "host/api/copy.hpp"

namespace relayout {
namespace {

class Builder {
 public:
  Builder(const RedistributeProblem& problem, const Route& route, const WorthStreams& worth)
      : group_(problem.group.state()), route_(route), ranks_(group_.streams.size()) {
    for (std::size_t rank = 0; rank < ranks_; ++rank) ready_.push_back(record(rank));
    std::vector<double> across(ranks_), within(ranks_);
    for (const RouteKernel& kernel : route_.across)
      if (crosses_a_link(kernel)) across[local(kernel)] += microseconds(kernel);
    for (const RouteKernel& kernel : route_.within) within[local(kernel)] += microseconds(kernel);
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      divided_.push_back(across[rank] >= worth.divided && within[rank] >= worth.divided);
      beside_.push_back(divided_[rank] || within[rank] >= worth.beside);
    }
  }

  Schedule build() {
    if (group_.communicator != nullptr && route_.chunks.empty()) {
      add_writes();
    } else if (!route_.shared_workspace_bytes.empty()) {
      add_copies();
    } else if (group_.communicator != nullptr) {
      add_exchanges();
    } else if (route_.chunks.empty()) {
      add_kernels();
    } else {
      add_chunks();
    }
    return std::move(schedule_);
  }

 private:
  /// Direct. What stays within a rank runs beside what crosses the link, or, where it is short, on the same
  /// stream before that waits for the other ranks.
  void add_kernels() {
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      if (!beside_[rank]) add_within(rank);
      for (const RouteKernel& kernel : route_.across) {
        if (local(kernel) != rank) continue;
        wait(link(rank), ready_[rank]);
        wait(link(rank), ready_[other(kernel)]);
        launch(kernel, link(rank));
      }
      if (beside_[rank]) add_within(rank);
    }
    std::map<std::size_t, std::size_t> done;
    for (const RouteKernel& kernel : route_.across) {
      if (done.find(local(kernel)) == done.end()) done[local(kernel)] = record(link(local(kernel)));
      wait(local(kernel), done[local(kernel)]);
      wait(other(kernel), done[local(kernel)]);
    }
  }

  void add_within(std::size_t rank) {
    for (const RouteKernel& kernel : route_.within) {
      if (local(kernel) != rank) continue;
      if (beside_[rank]) wait(inner(rank), ready_[rank]);
      launch(kernel, beside_[rank] ? inner(rank) : rank);
      if (beside_[rank]) wait(rank, record(inner(rank)));
    }
  }

  /// The other routes: all packs on the ranks' streams; copies on the side streams, each chunk when it is
  /// packed; unpacks, each chunk when it has come, while the next one crosses.
  void add_chunks() {
    std::vector<std::map<std::size_t, std::size_t>> sent;  // of each chunk, by sender
    for (const RouteChunk& chunk : route_.chunks) {
      for (const RouteKernel& kernel : chunk.packs) launch(kernel, local(kernel));
      sent.emplace_back();
      for (const RouteTransfer& transfer : chunk.transfers)
        if (sent.back().emplace(sender(transfer), 0).second)
          wait(side(sender(transfer)), record(sender(transfer)));
      for (const RouteTransfer& transfer : chunk.transfers) {
        wait(side(sender(transfer)), ready_[receiver(transfer)]);
        send(transfer);
      }
      for (auto& [rank, event] : sent.back()) event = record(side(rank));
    }
    for (const RouteKernel& kernel : route_.within) launch(kernel, local(kernel));
    for (std::size_t c = 0; c < route_.chunks.size(); ++c) {
      for (const RouteKernel& kernel : route_.chunks[c].within) launch(kernel, local(kernel));
      for (const RouteTransfer& transfer : route_.chunks[c].transfers)
        wait(receiver(transfer), sent[c].at(sender(transfer)));
      for (const RouteKernel& kernel : route_.chunks[c].unpacks) launch(kernel, local(kernel));
    }
    // What was sent may be overwritten.
    for (const auto& senders : sent)
      for (const auto& [rank, event] : senders) wait(rank, event);
  }

  /// The same of one process for each rank, whose communicator knows when the other ranks are ready.
  void add_exchanges() {
    constexpr std::size_t kOwn = 0, kSide = 1;
    std::vector<std::size_t> exchanged;
    for (const RouteChunk& chunk : route_.chunks) {
      add_all(chunk.packs, kOwn);
      wait(kSide, record(kOwn));
      push(ScheduleStep::Kind::exchange, kSide).chunk = &chunk;
      exchanged.push_back(record(kSide));
    }
    for (std::size_t c = 0; c < route_.chunks.size(); ++c) {
      add_all(route_.chunks[c].within, kOwn);
      wait(kOwn, exchanged[c]);
      add_all(route_.chunks[c].unpacks, kOwn);
    }
  }

  /// Direct, of one process for each rank. Signals order the streams: what a rank's stream does before its
  /// signal is done when the receiver's stream has it.
  void add_writes() {
    constexpr std::size_t kOwn = 0;
    if (beside_[kOwn]) {
      wait(inner(kOwn), ready_[kOwn]);
      add_all(route_.within, inner(kOwn));
    }
    signal(kOwn, route_.ready);
    if (!beside_[kOwn]) add_all(route_.within, kOwn);
    add_all(route_.across, kOwn);
    signal(kOwn, route_.done);
    if (beside_[kOwn] && !route_.within.empty()) wait(kOwn, record(inner(kOwn)));
  }

  /// Staged, of one process for each rank, by copies into the workspaces that other ranks have registered: as
  /// add_chunks(), where signals take the place of other ranks' events. All that a rank tells another one is
  /// told by one stream after the other, and so is what it waits for.
  void add_copies() {
    constexpr std::size_t kOwn = 0, kSide = 1, kTelling = 2;
    signal(kOwn, {route_.ready.tell, 0});
    wait(kSide, record(kOwn));
    signal(kSide, {0, route_.ready.await});
    const std::size_t others_are_ready = record(kSide);
    for (const RouteChunk& chunk : route_.chunks) {
      add_all(chunk.packs, kOwn);
      wait(kSide, record(kOwn));
      for (const RouteTransfer& transfer : chunk.transfers)
        if (group_.local(transfer.from) >= 0) send(transfer);
      wait(kTelling, record(kSide));
      signal(kTelling, {chunk.sent.tell, 0});
    }
    wait(kOwn, others_are_ready);
    for (const RouteChunk& chunk : route_.chunks) {
      add_all(chunk.within, kOwn);
      signal(kOwn, {0, chunk.sent.await});
      add_all(chunk.unpacks, kOwn);
    }
    wait(kOwn, record(kTelling));
  }
  void add_all(const std::vector<RouteKernel>& kernels, std::size_t stream) {
    for (const RouteKernel& kernel : kernels) launch(kernel, stream);
  }

  void signal(std::size_t stream, const RankSignals& signals) {
    if (signals.tell == 0 && signals.await == 0) return;
    push(ScheduleStep::Kind::signal, stream).signals = signals;
  }

  ScheduleStep& push(ScheduleStep::Kind kind, std::size_t stream) {
    ScheduleStep& step = schedule_.steps.emplace_back();
    step.kind = kind;
    step.stream = stream;
    return step;
  }
  std::size_t record(std::size_t stream) {
    push(ScheduleStep::Kind::record, stream).event = schedule_.events.size();
    schedule_.events.push_back(stream);
    return schedule_.events.size() - 1;
  }
  void wait(std::size_t stream, std::size_t event) {
    if (schedule_.events[event] == stream || !waited_.emplace(stream, event).second) return;
    push(ScheduleStep::Kind::wait, stream).event = event;
  }
  void launch(const RouteKernel& kernel, std::size_t stream) {
    push(ScheduleStep::Kind::launch, stream).kernel = &kernel;
  }
  void send(const RouteTransfer& transfer) {
    push(ScheduleStep::Kind::send, side(sender(transfer))).transfer = &transfer;
  }

  static std::size_t local(const RouteKernel& kernel) { return static_cast<std::size_t>(kernel.local); }
  std::size_t local(int rank) const { return static_cast<std::size_t>(group_.local(rank)); }
  std::size_t side(std::size_t stream) const { return ranks_ + stream; }
  /// For what a rank writes over links and for what stays.
  std::size_t link(std::size_t rank) const { return divided_[rank] ? 2 * ranks_ + rank : rank; }
  std::size_t inner(std::size_t rank) const { return divided_[rank] ? 3 * ranks_ + rank : side(rank); }
  /// The predicted time of a kernel, without what a link takes.
  static double microseconds(const RouteKernel& kernel) { return kernel.plan.state().copy.microseconds; }
  /// Ranks of one process may share a device. Those of other processes are taken to have others.
  bool crosses_a_link(const RouteKernel& kernel) const {
    return group_.communicator != nullptr || !same_device(group_.streams[local(kernel.from)].device(),
                                                          group_.streams[local(kernel.to)].device());
  }
  std::size_t sender(const RouteTransfer& transfer) const { return local(transfer.from); }
  std::size_t receiver(const RouteTransfer& transfer) const { return local(transfer.to); }
  std::size_t other(const RouteKernel& kernel) const {
    return local(kernel.from) == local(kernel) ? local(kernel.to) : local(kernel.from);
  }

  const Group::State& group_;
  const Route& route_;
  std::size_t ranks_;
  std::vector<std::size_t> ready_;  // recorded where the rank's stream reaches the run
  std::vector<bool> divided_;       // which ranks use the two halves of their devices
  std::vector<bool> beside_;        // and which run what stays on a stream of its own
  Schedule schedule_;
  std::set<std::pair<std::size_t, std::size_t>> waited_;
};

}  // namespace

Schedule schedule_of(const RedistributeProblem& problem, const Route& route, const WorthStreams& worth) {
  return Builder(problem, route, worth).build();
}

}  // namespace relayout
