// redistribute with one process for each rank, by the functions of NCCL. Here the ranks are threads that
// share nothing but a library in its place (tests/nccl), so everything but the vendor's own code runs.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "host/redistribute/run_watch.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/nccl_ranks.hpp"
#include "tests/support/random_distribution.hpp"

namespace relayout::test {
namespace {

class RedistributeNcclTest : public NcclTest {};
INSTANTIATE_TEST_SUITE_P(Devices, RedistributeNcclTest, ::testing::ValuesIn(host_memory_devices()),
                         device_test_name);

TEST_P(RedistributeNcclTest, TransposesOverOneToEightRanks) {
  for (int ranks = 1; ranks <= 8; ++ranks)
    for (const auto& [in, out] : {std::pair{DType::f32, DType::f32}, std::pair{DType::bf16, DType::f32}}) {
      const Exchanged exchanged(transposition(in, out, 29, 41, ranks));
      on_ranks(ranks, [&](const Group& group, void*) { exchanged.run(group); });
      exchanged.expect();
    }
}

TEST_P(RedistributeNcclTest, SeveralChunks) {
  const Exchanged exchanged(transposition(DType::f32, DType::f32, 330, 410, 2));
  on_ranks(2, [&](const Group& group, void*) {
    if (GetParam().kind() == DeviceKind::cpu) {
      EXPECT_GT(exchanged.plan(group).details().chunks, 1);
    }
    exchanged.run(group);
  });
  exchanged.expect();
}

/// Also where a rank can send or receive without a workspace and its peer cannot.
TEST_P(RedistributeNcclTest, RandomDistributions) {
  check_random_exchanges(random_staged_route,
                         [](const Exchanged& exchanged, const Group& group) { exchanged.run(group); });
}

TEST_P(RedistributeNcclTest, DirectOverOneToEightRanks) {
  for (int ranks = 1; ranks <= 8; ++ranks)
    for (const auto& [in, out] : {std::pair{DType::f32, DType::f32}, std::pair{DType::bf16, DType::f32}}) {
      const Exchanged exchanged(transposition(in, out, 29, 41, ranks).by(RedistributeRoute::direct));
      on_ranks(
          ranks,
          [&](const Group& group, void*) {
            exchanged.share(group);
            exchanged.run(group);
          },
          ranks % 2 == 0);
      exchanged.expect();
    }
}

TEST_P(RedistributeNcclTest, RandomDistributionsDirect) {
  check_random_exchanges([](Random&, const RedistributeCase&) { return RedistributeRoute::direct; },
                         [](const Exchanged& exchanged, const Group& group) {
                           exchanged.share(group);
                           exchanged.run(group);
                         });
}

/// One rank's output is not registered, so none takes the direct route, and all say why.
TEST_P(RedistributeNcclTest, OutputsThatAreNotShared) {
  const Exchanged exchanged(transposition(DType::f32, DType::f32, 29, 41, 3));
  on_ranks(3, [&](const Group& group, void*) {
    if (group.local_ranks().front() == 1) {
      group.register_output(nullptr, 0);
    } else {
      exchanged.share(group);
    }
    const RedistributePlan plan = exchanged.plan(group);
    EXPECT_NE(plan.details().route, RedistributeRoute::direct);
    EXPECT_NE(plan.explain().find("Not direct: the output of rank 1 is planned without memory, or in memory "
                                  "that is not registered"),
              std::string::npos)
        << plan.explain();
    exchanged.run(group);
  });
  exchanged.expect();
}

/// A route that one rank cannot go is none for the others.
TEST_P(RedistributeNcclTest, LimitsOfOneRank) {
  const RedistributeCase c = transposition(DType::f32, DType::f32, 29, 41, 3);
  for (const bool shares : {false, true}) {
    const Exchanged exchanged(c);
    on_ranks(3, [&](const Group& group, void*) {
      const int rank = group.local_ranks().front();
      RedistributeOptions options;
      if (rank == 1) options.workspace_limit = 0;
      if (shares) exchanged.share(group);
      const auto planned = [&] {
        return plan_redistribute(group, c.in.distribution, {exchanged.in.of(rank).device()}, c.axes,
                                 c.out.distribution, {exchanged.out.of(rank).device()}, options);
      };
      if (!shares) {
        expect_error(ErrorCode::unsupported, {rank == 1 ? "staged: it needs" : "staged: rank 1 cannot"},
                     planned);
        return;
      }
      const RedistributePlan plan = planned();
      EXPECT_EQ(plan.details().route, RedistributeRoute::direct);
      plan.run();
      group.synchronize();
    });
    if (shares) exchanged.expect();
  }
}

TEST_P(RedistributeNcclTest, DirectPlansKeepTheirOutput) {
  const Exchanged exchanged(transposition(DType::f32, DType::f32, 29, 41, 2).by(RedistributeRoute::direct));
  on_ranks(2, [&](const Group& group, void*) {
    exchanged.share(group);
    const RedistributePlan plan = exchanged.plan(group);
    EXPECT_EQ(plan.workspace_bytes(group.local_ranks().front()), 0u);
    const int rank = group.local_ranks().front();
    const void* const in = exchanged.in.of(rank).device().data();
    void* const out = exchanged.out.of(rank).device().data();
    // An output that no other memory shares bytes with, as far behind a multiple of 256 as the planned one.
    const Buffer spare(group.stream(rank).device(), exchanged.out.of(rank).device().byte_range().end + 256);
    const std::size_t offset = reinterpret_cast<std::uintptr_t>(out) % 256;
    expect_error(ErrorCode::invalid_argument, {"outputs that were planned"},
                 [&] { plan.run({in}, {static_cast<char*>(spare.data()) + offset}); });
    plan.run({in}, {out});
    group.synchronize();
  });
  exchanged.expect();
}

TEST_P(RedistributeNcclTest, NullPointersAreNoOutputs) {
  on_ranks(3, [&](const Group& group, void*) {
    expect_error(ErrorCode::null_pointer, {"rank 1 registers a null pointer"},
                 [&] { group.register_output(nullptr, group.local_ranks().front() == 1 ? 8 : 0); });
  });
}

TEST_P(RedistributeNcclTest, GroupsKnowTheirRank) {
  on_ranks(3, [](const Group& group, void*) {
    EXPECT_EQ(group.ranks(), 3);
    ASSERT_EQ(group.local_ranks().size(), 1u);
    const int rank = group.local_ranks().front(), other = (rank + 1) % 3;
    EXPECT_TRUE(group.reaches(rank, rank));
    EXPECT_FALSE(group.reaches(rank, other));
    expect_error(ErrorCode::invalid_argument, {}, [&] { (void)group.stream(other); });
    const Distribution rows = Distribution::split({6, 6}, 0, 3);
    const RedistributePlan plan = plan_redistribute(group, rows, {1, 0}, rows, DType::f32, DType::f32);
    EXPECT_NE(plan.details().route, RedistributeRoute::direct);
    EXPECT_NE(plan.explain().find("Not direct: the output of rank 0 is planned without memory"),
              std::string::npos)
        << plan.explain();
  });
}

/// Every rank gets an error that names a rank and the difference; none waits for ever.
TEST_P(RedistributeNcclTest, PlansThatDiffer) {
  const Distribution rows = Distribution::split({6, 6}, 0, 3), columns = Distribution::split({6, 6}, 1, 3);
  struct Plan {
    Distribution in, out;
    std::vector<int> axes;
    DType type;
    RedistributeOptions options;
  };
  RedistributeOptions staged;
  staged.route = RedistributeRoute::staged;
  const Plan same{rows, rows, {1, 0}, DType::f32, {}};
  Plan in = same, out = same, axes = same, type = same, options = same;
  in.in = columns;
  out.out = columns;
  axes.axes = {0, 1};
  type.type = DType::f16;
  options.options = staged;
  for (const auto& [plan, words] : {std::pair{in, "input distribution"},
                                    std::pair{out, "output distribution"}, std::pair{axes, "order of axes"},
                                    std::pair{type, "element types"}, std::pair{options, "cast or route"}})
    on_ranks(3, [&, &other = plan, word = std::string(words)](const Group& group, void*) {
      const bool is_other = group.local_ranks().front() == 1;
      const Plan& own = is_other ? other : same;
      expect_error(ErrorCode::invalid_argument, {word, is_other ? "rank 0 plans" : "rank 1 plans"}, [&] {
        plan_redistribute(group, own.in, own.axes, own.out, own.type, DType::f32, own.options);
      });
    });
}

TEST_P(RedistributeNcclTest, ARankThatCannotPlan) {
  const Distribution rows = Distribution::split({6, 6}, 0, 3);
  on_ranks(3, [&](const Group& group, void*) {
    if (group.local_ranks().front() == 2) {
      expect_error(ErrorCode::invalid_argument, {"0 views of the input"}, [&] {
        plan_redistribute(group, rows, {}, {1, 0}, rows, {});
      });
      return;
    }
    expect_error(ErrorCode::invalid_argument, {"rank 2 could not plan"}, [&] {
      plan_redistribute(group, rows, {1, 0}, rows, DType::f32, DType::f32);
    });
  });
}

TEST_P(RedistributeNcclTest, ARankThatIsGone) {
  const Exchanged exchanged(transposition(DType::f32, DType::f32, 29, 41, 3));
  on_ranks(3, [&](const Group& group, void* communicator) {
    const RedistributePlan plan = exchanged.plan(group);
    const int rank = group.local_ranks().front();
    if (rank == 1) return in_memory_leave(communicator);
    const Buffer workspace(GetParam(), plan.workspace_bytes(rank));
    expect_error(ErrorCode::vendor, {"a rank is gone"}, [&] { plan.run({workspace.data()}); });
    expect_error(ErrorCode::vendor, {"communicator", "a rank is gone"},
                 [&] { plan.run({workspace.data()}); });
  });
}

/// The other rank's messages of that run would be taken for those of the next one.
TEST_P(RedistributeNcclTest, ARunThatFailedHalfWay) {
  const Exchanged exchanged(transposition(DType::f32, DType::f32, 29, 41, 2));
  on_ranks(2, [&](const Group& group, void* communicator) {
    const RedistributePlan plan = exchanged.plan(group);
    const int rank = group.local_ranks().front();
    if (rank == 0) return;
    const Buffer workspace(GetParam(), plan.workspace_bytes(rank));
    in_memory_fail_once(communicator);
    expect_error(ErrorCode::vendor, {"invalid usage"}, [&] { plan.run({workspace.data()}); });
    for (int i = 0; i < 2; ++i)
      expect_error(ErrorCode::vendor, {"half way"}, [&] { plan.run({workspace.data()}); });
  });
}

TEST_P(RedistributeNcclTest, CommunicatorsThatDoNotBlock) {
  for (const int ranks : {1, 2, 5}) {
    const Exchanged exchanged(transposition(DType::f32, DType::bf16, 29, 41, ranks));
    on_ranks(
        ranks, [&](const Group& group, void*) { exchanged.run(group); }, false);
    exchanged.expect();
  }
}

/// The limit is over at once, and the rank comes never: no clock makes a difference.
TEST_P(RedistributeNcclTest, ARankThatNeverPlans) {
  const Distribution rows = Distribution::split({6, 6}, 0, 3);
  on_ranks(
      3,
      [&](const Group& group, void*) {
        const int rank = group.local_ranks().front();
        if (rank == 1) return;
        group.set_time_limit(0.001);
        const auto plan = [&] { plan_redistribute(group, rows, {1, 0}, rows, DType::f32, DType::f32); };
        expect_error(ErrorCode::timeout,
                     {"rank " + std::to_string(rank) + " waited", "limit of 0.001 s", "ncclCommAbort"}, plan);
        expect_error(ErrorCode::timeout, {"an earlier call", "in vain"}, plan);
        expect_error(ErrorCode::timeout, {"an earlier call"}, [&] { group.synchronize(); });
      },
      false);
}

TEST_P(RedistributeNcclTest, ARankThatNeverRuns) {
  const Exchanged exchanged(transposition(DType::f32, DType::f32, 29, 41, 3));
  on_ranks(
      3,
      [&](const Group& group, void*) {
        const RedistributePlan plan = exchanged.plan(group);
        const int rank = group.local_ranks().front();
        if (rank == 1) return;
        group.set_time_limit(0.001);
        const Buffer workspace(GetParam(), plan.workspace_bytes(rank));
        const auto run = [&] { plan.run({workspace.data()}); };
        expect_error(ErrorCode::timeout, {"waited for other ranks in vain", "0.001 s"}, run);
        expect_error(ErrorCode::timeout, {"an earlier call"}, run);
      },
      false);
}

/// Streams wait on the device here, until the limit is over, and the next call says so.
TEST_P(RedistributeNcclTest, ARankThatNeverWritesDirectly) {
  const Exchanged exchanged(transposition(DType::f32, DType::f32, 29, 41, 3).by(RedistributeRoute::direct));
  on_ranks(3, [&](const Group& group, void*) {
    exchanged.share(group);
    const RedistributePlan plan = exchanged.plan(group);
    const int rank = group.local_ranks().front();
    if (rank == 1) return;
    group.set_time_limit(0.001);
    plan.run();
    expect_error(ErrorCode::timeout,
                 {"rank " + std::to_string(rank) + " waited", "0.001 s", "their part of an earlier run"},
                 [&] { group.synchronize(); });
    expect_error(ErrorCode::timeout, {"an earlier call"}, [&] { plan.run(); });
  });
}

/// An error of the communicator ends a wait without a limit.
TEST_P(RedistributeNcclTest, ARankThatGoesWhileOthersWait) {
  const Exchanged exchanged(transposition(DType::f32, DType::f32, 29, 41, 3));
  std::atomic<int> planned{0};
  on_ranks(
      3,
      [&](const Group& group, void* communicator) {
        const RedistributePlan plan = exchanged.plan(group);
        const int rank = group.local_ranks().front();
        ++planned;
        if (rank == 1) {
          while (planned < 3) std::this_thread::yield();
          return in_memory_leave(communicator);
        }
        const Buffer workspace(GetParam(), plan.workspace_bytes(rank));
        expect_error(ErrorCode::vendor, {"a rank is gone"}, [&] { plan.run({workspace.data()}); });
      },
      false);
}

TEST_P(RedistributeNcclTest, TimeLimits) {
  on_ranks(1, [](const Group& group, void*) {
    for (const double wrong : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()})
      expect_error(ErrorCode::invalid_argument, {"more than 0 s"}, [&] { group.set_time_limit(wrong); });
    group.set_time_limit(std::numeric_limits<double>::infinity());
    group.synchronize();
  });
}

/// Streams of processors end each run, so a run that does not end is told of here.
TEST(RunWatchTest, RunsThatDoNotEnd) {
  RunWatch watch;
  bool has_ended = false;
  const auto is_late = [&](double now) { return watch.is_late(now, 5, [&] { return has_ended; }); };
  EXPECT_FALSE(is_late(1000));  // nothing is followed
  watch.follow(10);
  EXPECT_TRUE(watch.is_following());
  EXPECT_FALSE(is_late(15));
  EXPECT_TRUE(is_late(15.5));
  has_ended = true;  // late, and yet it came
  EXPECT_FALSE(is_late(16));
  EXPECT_FALSE(watch.is_following());
  has_ended = false;
  watch.follow(100);  // the next one has a limit of its own
  EXPECT_FALSE(is_late(104));
  EXPECT_TRUE(is_late(106));
}

TEST_P(RedistributeNcclTest, LibrariesThatAreMissing) {
  const Stream stream(GetParam());
  int communicator = 0;
  expect_error(ErrorCode::null_pointer, {"null"}, [&] { (void)Group::from_nccl(nullptr, stream); });
  setenv("RELAYOUT_NCCL_LIBRARY", "/nowhere/libnccl.so.2", 1);
  expect_error(ErrorCode::unsupported, {"/nowhere/libnccl.so.2", "RELAYOUT_NCCL_LIBRARY"},
               [&] { (void)Group::from_nccl(&communicator, stream); });
  setenv("RELAYOUT_NCCL_LIBRARY", "libc.so.6", 1);
  expect_error(ErrorCode::unsupported, {"libc.so.6", "ncclGetErrorString"},
               [&] { (void)Group::from_nccl(&communicator, stream); });
  unsetenv("RELAYOUT_NCCL_LIBRARY");
  expect_error(ErrorCode::unsupported, {"for GPUs", GetParam().to_string()},
               [&] { (void)Group::from_nccl(&communicator, stream); });
}

}  // namespace
}  // namespace relayout::test
