// Ranks that are threads which share nothing but a library in the place of NCCL (tests/nccl), and a
// redistribution among them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "tests/nccl/in_memory_nccl.hpp"
#include "tests/support/random_distribution.hpp"
#include "tests/support/redistribute_check.hpp"

namespace relayout::test {

class NcclTest : public ::testing::TestWithParam<Device> {
 public:
  /// Calls work(group, communicator) for each rank, on a thread of its own, and says how many windows were
  /// not given back.
  static int on_ranks(int ranks, const std::function<void(const Group&, void*)>& work, bool blocks = true,
                      InMemoryWindows windows = in_memory_windows_work) {
    void* const world = in_memory_world(ranks);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank)
      threads.emplace_back([&work, world, rank, blocks, windows] {
        void* const communicator = in_memory_communicator(world, rank, blocks ? 1 : 0);
        in_memory_set_windows(communicator, windows);
        try {
          work(Group::from_nccl(communicator, Stream(GetParam())), communicator);
        } catch (const std::exception& error) {
          ADD_FAILURE() << "rank " << rank << ": " << error.what();
          in_memory_leave(communicator);
        }
      });
    for (std::thread& thread : threads) thread.join();
    const int open_windows = in_memory_open_windows(world);
    in_memory_end(world);
    return open_windows;
  }

 protected:
  void SetUp() override { setenv("RELAYOUT_NCCL_LIBRARY", RELAYOUT_IN_MEMORY_NCCL, 1); }
  void TearDown() override { unsetenv("RELAYOUT_NCCL_LIBRARY"); }
};

/// A case whose inputs and results all threads may look at; memory is each rank's own.
struct Exchanged {
  RedistributeCase c;
  Group whole;
  RankBuffers in, out;

  explicit Exchanged(const RedistributeCase& drawn, std::uint64_t seed = 0)
      : c(drawn),
        whole(Group::emulated(drawn.in.distribution.ranks(), Device::cpu())),
        in(whole, Role::input, drawn.in),
        out(whole, Role::output, drawn.out) {
    in.fill(c.out.type, seed);
    compute_expected(c, in, out);
  }
  /// Lets the other ranks write this rank's output.
  void share(const Group& group) const {
    const TensorView view = out.of(group.local_ranks().front()).device();
    const TensorView::ByteRange range = view.byte_range();
    if (view.elements() == 0) return group.register_output(nullptr, 0);
    group.register_output(static_cast<char*>(view.data()) + range.begin,
                          static_cast<std::size_t>(range.end - range.begin));
  }
  /// Lets the other ranks copy into the workspace, which must be as large as explain() says.
  static Buffer share_workspace(const Group& group, std::size_t bytes = std::size_t{1} << 16) {
    Buffer workspace(group.stream(group.local_ranks().front()).device(), bytes);
    group.register_workspace(workspace.data(), bytes);
    return workspace;
  }
  RedistributePlan plan(const Group& group) const {
    const int rank = group.local_ranks().front();
    return plan_redistribute(group, c.in.distribution, {in.of(rank).device()}, c.axes, c.out.distribution,
                             {out.of(rank).device()}, c.options);
  }
  void run(const Group& group) const {
    const RedistributePlan planned = plan(group);
    const Buffer workspace(group.stream(group.local_ranks().front()).device(),
                           planned.workspace_bytes(group.local_ranks().front()));
    for (int turn = 0; turn < 2; ++turn) planned.run({workspace.data()});
    group.synchronize();
  }
  void expect() const {
    out.expect(nan_rule(c.in.type, c.out.type));
    in.expect(NanRule::exact);
  }
};

/// Random redistributions over 1 to 6 ranks, by the route that choose(random, case) gives. on_rank(exchanged,
/// group) is what a rank does.
template <class Choose, class OnRank>
void check_random_exchanges(const Choose& choose, const OnRank& on_rank) {
  for (const std::uint64_t seed : random_seeds(40)) {
    SCOPED_TRACE(reproduce(seed));
    Random random(seed);
    const int ranks = static_cast<int>(random.integer(1, 6));
    RedistributeCase c = random_redistribution(random, ranks, 5);
    c.options.route = choose(random, c);
    const Exchanged exchanged(c, seed);
    SCOPED_TRACE(::testing::PrintToString(exchanged.c));
    NcclTest::on_ranks(ranks, [&](const Group& group, void*) { on_rank(exchanged, group); });
    exchanged.expect();
  }
}

}  // namespace relayout::test
