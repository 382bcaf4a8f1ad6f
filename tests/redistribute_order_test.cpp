// The order of a redistribution on streams that run at the same time. The streams of this machine's processor
// do not, so the schedule's steps are run here in every kind of order that streams and events allow: a wait
// that is missing gives a wrong result in one of them, whatever the hardware.
#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "host/redistribute/plan_state.hpp"
#include "tests/support/random_distribution.hpp"
#include "tests/support/redistribute_check.hpp"

namespace relayout::test {
namespace {

/// Streams that take turns: at any time one of those that need not wait for an event runs its next step.
class Streams {
 public:
  Streams(std::size_t streams, std::size_t events) : queues_(streams), recorded_(events, false) {}

  void queue(std::size_t stream, std::function<void()> step) {
    queues_[stream].push_back({std::move(step), recorded_.size()});
  }
  void record(std::size_t stream, std::size_t event) {
    queue(stream, [this, event] { recorded_[event] = true; });
  }
  void wait(std::size_t stream, std::size_t event) {
    queues_[stream].push_back({[] {}, event});
  }

  /// The first stream of an order that can go on goes on; the order changes now and then, so that a stream
  /// gets far before the others, or falls far behind. False where all wait.
  bool run(Random& random) {
    std::vector<std::size_t> order;
    for (std::size_t stream = 0; stream < queues_.size(); ++stream) order.push_back(stream);
    random.shuffle(order);
    while (true) {
      if (random.chance(0.1)) random.shuffle(order);
      bool is_done = true, went_on = false;
      for (const std::size_t stream : order) {
        if (queues_[stream].empty()) continue;
        is_done = false;
        const Step step = queues_[stream].front();
        if (step.event < recorded_.size() && !recorded_[step.event]) continue;
        queues_[stream].pop_front();
        step.call();
        went_on = true;
        break;
      }
      if (is_done || !went_on) return is_done;
    }
  }

 private:
  struct Step {
    std::function<void()> call;
    std::size_t event;  // that it waits for; none: the number of events
  };
  std::vector<std::deque<Step>> queues_;
  std::vector<bool> recorded_;
};

/// Memory in which nobody may rely on anything.
void spoil(const Stream& stream, const TensorView& view) {
  stream.fill(view.data(), 0xFF, static_cast<std::size_t>(view.byte_range().end));
}

/// Two runs of the case, contiguous, on streams whose other work fills a rank's input just before its part of
/// the run, and just after it takes the output and spoils all of the rank's memory.
/// worth: what has streams of its own, however little it is.
void check_orders(const Group& group, const RedistributeCase& c, int orders, const WorthStreams& worth = {}) {
  SCOPED_TRACE(::testing::PrintToString(c));
  RankBuffers in(group, Role::input, c.in), out(group, Role::output, c.out);
  in.fill(c.out.type, 5);
  compute_expected(c, in, out);
  const RedistributePlan plan = plan_of(group, c, in, out);
  const Workspaces workspaces(group, plan);
  RedistributeMemory memory;
  for (const TensorView& view : in.device()) memory.in.push_back(view.data());
  for (const TensorView& view : out.device()) memory.out.push_back(view.data());
  memory.workspace = workspaces.pointers();

  constexpr std::size_t kRuns = 2;
  const Schedule schedule = schedule_of(plan.state().problem, plan.state().route, worth);
  const std::size_t events = schedule.events.size();
  const auto begin = [&](int rank) {
    in.of(rank).upload();
    spoil(group.stream(rank), out.of(rank).device());
  };
  const auto end = [&](int rank) {
    EXPECT_TRUE(out.of(rank).check(nan_rule(c.in.type, c.out.type))) << "rank " << rank;
    spoil(group.stream(rank), in.of(rank).device());
    spoil(group.stream(rank), out.of(rank).device());
    group.stream(rank).fill(memory.workspace[static_cast<std::size_t>(rank)], 0xFF,
                            plan.workspace_bytes(rank));
  };
  for (int order = 1; order <= orders; ++order) {
    SCOPED_TRACE("order " + std::to_string(order));
    Streams streams(4 * static_cast<std::size_t>(group.ranks()), kRuns * events);
    for (std::size_t run = 0; run < kRuns; ++run) {
      for (int rank = 0; rank < group.ranks(); ++rank)
        streams.queue(static_cast<std::size_t>(rank), [&begin, rank] { begin(rank); });
      for (const ScheduleStep& step : schedule.steps) {
        const std::size_t event = run * events + step.event;
        if (step.kind == ScheduleStep::Kind::record) {
          streams.record(step.stream, event);
        } else if (step.kind == ScheduleStep::Kind::wait) {
          streams.wait(step.stream, event);
        } else {
          streams.queue(step.stream, [&plan, &step, &memory] { queue_step(plan.state(), step, memory); });
        }
      }
      for (int rank = 0; rank < group.ranks(); ++rank)
        streams.queue(static_cast<std::size_t>(rank), [&end, rank] { end(rank); });
    }
    Random random(static_cast<std::uint64_t>(order));
    EXPECT_TRUE(streams.run(random)) << "the streams wait for each other for ever";
    if (::testing::Test::HasFailure()) return;
  }
}

constexpr RedistributeRoute kDirect = RedistributeRoute::direct, kStaged = RedistributeRoute::staged,
                            kJoined = RedistributeRoute::joined;

TEST(RedistributeOrderTest, Transposes) {
  for (const int ranks : {1, 2, 3, 5})
    for (const RedistributeRoute route : {kDirect, kStaged, kJoined}) {
      if (route == kJoined && ranks == 1) continue;
      const Group group = Group::emulated(ranks, Device::cpu());
      check_orders(group, transposition(DType::f32, DType::f32, 17, 23, ranks).by(route), 40);
      // Receivers read.
      check_orders(group, transposition(DType::f16, DType::f32, 17, 23, ranks).by(route), 40);
    }
}

TEST(RedistributeOrderTest, StreamsBesideAndHalvesOfTheDevices) {
  WorthStreams beside, halves;
  beside.beside = halves.divided = 0;
  beside.divided = 1e9;
  for (const int ranks : {2, 3}) {
    const Group group = Group::emulated(ranks, Device::cpu());
    for (const WorthStreams& worth : {beside, halves})
      for (const DType type : {DType::f32, DType::f16})
        check_orders(group, transposition(type, DType::f32, 17, 23, ranks).by(kDirect), 60, worth);
  }
}

/// Each rank begins with the rank after it, so that no two send to the same one first.
TEST(RedistributeOrderTest, RanksSendInTurns) {
  const Group group = Group::emulated(4, Device::cpu());
  for (const RedistributeRoute route : {kDirect, kStaged, kJoined}) {
    const RedistributePlan plan = plan_of(group, transposition(DType::f32, DType::f32, 16, 20, 4).by(route));
    std::vector<std::vector<int>> receivers(4);
    for (const ScheduleStep& step : plan.state().schedule.steps) {
      if (step.kind == ScheduleStep::Kind::launch && step.kernel->from != step.kernel->to && route == kDirect)
        receivers[static_cast<std::size_t>(step.kernel->from)].push_back(step.kernel->to);
      if (step.kind == ScheduleStep::Kind::send)
        receivers[static_cast<std::size_t>(step.transfer->from)].push_back(step.transfer->to);
    }
    for (int rank = 0; rank < 4; ++rank)
      EXPECT_EQ(receivers[static_cast<std::size_t>(rank)],
                (std::vector<int>{(rank + 1) % 4, (rank + 2) % 4, (rank + 3) % 4}))
          << name_of(route);
  }
}

TEST(RedistributeOrderTest, ChunksThatOverlap) {
  const Group group = Group::emulated(2, Device::cpu());
  for (const RedistributeRoute route : {kStaged, kJoined}) {
    const RedistributeCase c = transposition(DType::f32, DType::f32, 330, 410, 2).by(route);
    ASSERT_GT(plan_of(group, c).details().chunks, 2);
    check_orders(group, c, 20);
  }
}

/// Messages that are sent from the input, received in the output, or both.
TEST(RedistributeOrderTest, CopiesWithoutAWorkspace) {
  const Distribution rows = Distribution::split({12, 8}, 0, 3), columns = Distribution::split({12, 8}, 1, 3),
                     other({12, 8}, {{{8, 0}, {12, 8}}, {{0, 0}, {1, 8}}, {{1, 0}, {8, 8}}});
  const Group group = Group::emulated(3, Device::cpu());
  for (const auto& [in, out] : {std::pair{rows, columns}, std::pair{columns, rows}, std::pair{rows, other}})
    for (const RedistributeRoute route : {RedistributeRoute::copy_engine, kStaged})
      check_orders(group, RedistributeCase{{DType::f32, in}, {0, 1}, {DType::f32, out}}.by(route), 60);
}

TEST(RedistributeOrderTest, RanksThatOnlySendOrOnlyReceive) {
  const Distribution all({6, 5}, {{{0, 0}, {6, 5}}, {{0, 0}, {0, 5}}, {{0, 0}, {0, 5}}}),
      rows = Distribution::split({5, 6}, 0, 3);
  const Group group = Group::emulated(3, Device::cpu());
  for (const RedistributeRoute route : {kDirect, kStaged}) {
    check_orders(group, RedistributeCase{{DType::f32, all}, {1, 0}, {DType::f32, rows}}.by(route), 60);
    check_orders(group, RedistributeCase{{DType::f32, rows}, {1, 0}, {DType::f16, all}}.by(route), 60);
    check_orders(
        group,
        RedistributeCase{{DType::f32, rows}, {0, 1}, {DType::f32, Distribution::replicated({5, 6}, 3)}}.by(
            route),
        60);
  }
}

TEST(RedistributeOrderTest, RandomDistributions) {
  for (const std::uint64_t seed : random_seeds(80)) {
    SCOPED_TRACE(reproduce(seed));
    Random random(seed);
    const int ranks = static_cast<int>(random.integer(2, 6));
    RedistributeCase c = random_redistribution(random, ranks, 4);
    c.in.strides = c.out.strides = {};
    c.in.misaligned = c.out.misaligned = {};
    c.options.route = random.chance(0.4) ? kDirect : random_staged_route(random, c);
    check_orders(Group::emulated(ranks, Device::cpu()), c, 8);
  }
}

}  // namespace
}  // namespace relayout::test
