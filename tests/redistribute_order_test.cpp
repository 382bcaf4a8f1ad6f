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

using cases::RedistributeCase;

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
  reference::redistribute(c.in.distribution, in.host(), c.axes, c.out.distribution, out.host(),
                          c.options.cast);
  const RedistributePlan plan = plan_redistribute(group, c.in.distribution, in.device(), c.axes,
                                                  c.out.distribution, out.device(), c.options);
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

RedistributeCase by(RedistributeRoute route, DType in_type, const Distribution& in, std::vector<int> axes,
                    DType out_type, const Distribution& out) {
  RedistributeCase c{{in_type, in}, std::move(axes), {out_type, out}};
  c.options.route = route;
  return c;
}

constexpr RedistributeRoute kDirect = RedistributeRoute::direct, kStaged = RedistributeRoute::staged,
                            kJoined = RedistributeRoute::joined;

TEST(RedistributeOrderTest, Transposes) {
  for (const int ranks : {1, 2, 3, 5}) {
    const Distribution in = Distribution::split({17, 23}, 0, ranks),
                       out = Distribution::split({23, 17}, 0, ranks);
    for (const RedistributeRoute route : {kDirect, kStaged, kJoined}) {
      if (route == kJoined && ranks == 1) continue;
      const Group group = Group::emulated(ranks, Device::cpu());
      check_orders(group, by(route, DType::f32, in, {1, 0}, DType::f32, out), 40);
      check_orders(group, by(route, DType::f16, in, {1, 0}, DType::f32, out), 40);  // receivers read
    }
  }
}

TEST(RedistributeOrderTest, StreamsBesideAndHalvesOfTheDevices) {
  WorthStreams beside, halves;
  beside.beside = halves.divided = 0;
  beside.divided = 1e9;
  for (const int ranks : {2, 3}) {
    const Distribution in = Distribution::split({17, 23}, 0, ranks),
                       out = Distribution::split({23, 17}, 0, ranks);
    const Group group = Group::emulated(ranks, Device::cpu());
    for (const WorthStreams& worth : {beside, halves}) {
      check_orders(group, by(kDirect, DType::f32, in, {1, 0}, DType::f32, out), 60, worth);
      check_orders(group, by(kDirect, DType::f16, in, {1, 0}, DType::f32, out), 60, worth);
    }
  }
}

/// Each rank begins with the rank after it, so that no two send to the same one first.
TEST(RedistributeOrderTest, RanksSendInTurns) {
  const Distribution in = Distribution::split({16, 20}, 0, 4), out = Distribution::split({20, 16}, 0, 4);
  const Group group = Group::emulated(4, Device::cpu());
  for (const RedistributeRoute route : {kDirect, kStaged, kJoined}) {
    const RedistributeCase c = by(route, DType::f32, in, {1, 0}, DType::f32, out);
    const RedistributePlan plan =
        plan_redistribute(group, in, {1, 0}, out, DType::f32, DType::f32, c.options);
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
  const Distribution in = Distribution::split({330, 410}, 0, 2), out = Distribution::split({410, 330}, 0, 2);
  const Group group = Group::emulated(2, Device::cpu());
  for (const RedistributeRoute route : {kStaged, kJoined}) {
    const RedistributeCase c = by(route, DType::f32, in, {1, 0}, DType::f32, out);
    ASSERT_GT(plan_redistribute(group, in, {1, 0}, out, DType::f32, DType::f32, c.options).details().chunks,
              2);
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
      check_orders(group, by(route, DType::f32, in, {0, 1}, DType::f32, out), 60);
}

TEST(RedistributeOrderTest, RanksThatOnlySendOrOnlyReceive) {
  const Distribution all({6, 5}, {{{0, 0}, {6, 5}}, {{0, 0}, {0, 5}}, {{0, 0}, {0, 5}}}),
      rows = Distribution::split({5, 6}, 0, 3);
  const Group group = Group::emulated(3, Device::cpu());
  for (const RedistributeRoute route : {kDirect, kStaged}) {
    check_orders(group, by(route, DType::f32, all, {1, 0}, DType::f32, rows), 60);
    check_orders(group, by(route, DType::f32, rows, {1, 0}, DType::f16, all), 60);
    check_orders(group, by(route, DType::f32, rows, {0, 1}, DType::f32, Distribution::replicated({5, 6}, 3)),
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
