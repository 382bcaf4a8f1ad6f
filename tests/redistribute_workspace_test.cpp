// redistribute with one process for each rank, staged in workspaces that the ranks have registered. The ranks
// are threads that share nothing but a library in the place of NCCL (tests/nccl).
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>

#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/nccl_ranks.hpp"
#include "tests/support/random_distribution.hpp"

namespace relayout::test {
namespace {

class RedistributeWorkspaceTest : public NcclTest {};
INSTANTIATE_TEST_SUITE_P(Devices, RedistributeWorkspaceTest, ::testing::ValuesIn(host_memory_devices()),
                         device_test_name);

TEST_P(RedistributeWorkspaceTest, OverOneToEightRanks) {
  for (int ranks = 1; ranks <= 8; ++ranks)
    for (const auto& [in, out, route] : {std::tuple{DType::f32, DType::f32, RedistributeRoute::staged},
                                         std::tuple{DType::bf16, DType::f32, RedistributeRoute::staged},
                                         std::tuple{DType::i16, DType::i16, RedistributeRoute::joined}}) {
      if (ranks == 1 && route == RedistributeRoute::joined) continue;
      const Exchanged exchanged(transposition(in, out, 29, 41, ranks).by(route));
      on_ranks(ranks, [&](const Group& group, void*) {
        const Buffer workspace = Exchanged::share_workspace(group, std::size_t{1} << 18);
        const RedistributePlan plan = exchanged.plan(group);
        EXPECT_EQ(plan.workspace_bytes(group.local_ranks().front()), 0u);
        if (ranks > 1) {
          EXPECT_GT(plan.details().group_workspace_bytes, 0u);
          EXPECT_NE(plan.explain().find("workspace that the other rank has registered"), std::string::npos)
              << plan.explain();
        }
        exchanged.run(group);
      });
      exchanged.expect();
    }
}

TEST_P(RedistributeWorkspaceTest, RandomDistributions) {
  check_random_exchanges(random_staged_route, [](const Exchanged& exchanged, const Group& group) {
    const Buffer workspace = Exchanged::share_workspace(group, std::size_t{1} << 20);
    EXPECT_EQ(exchanged.plan(group).explain().find("not used"), std::string::npos);
    exchanged.run(group);
  });
}

TEST_P(RedistributeWorkspaceTest, SeveralChunks) {
  for (const RedistributeRoute route : {RedistributeRoute::staged, RedistributeRoute::joined}) {
    const Exchanged exchanged(transposition(DType::f32, DType::f32, 330, 410, 2).by(route));
    on_ranks(2, [&](const Group& group, void*) {
      const Buffer workspace = Exchanged::share_workspace(group, std::size_t{1} << 21);
      if (GetParam().kind() == DeviceKind::cpu) {
        EXPECT_GT(exchanged.plan(group).details().chunks, 1);
      }
      exchanged.run(group);
    });
    exchanged.expect();
  }
}

/// One rank's workspace is too small, so all exchange messages, and say why.
TEST_P(RedistributeWorkspaceTest, TooSmall) {
  const Exchanged exchanged(transposition(DType::f32, DType::f32, 29, 41, 3).by(RedistributeRoute::staged));
  on_ranks(3, [&](const Group& group, void*) {
    const bool is_small = group.local_ranks().front() == 1;
    const Buffer workspace = Exchanged::share_workspace(group, is_small ? 256 : 1 << 16);
    const RedistributePlan plan = exchanged.plan(group);
    EXPECT_NE(plan.explain().find("The registered workspace is not used: it needs "), std::string::npos);
    EXPECT_NE(plan.explain().find("bytes on rank 1, and has 256"), std::string::npos) << plan.explain();
    EXPECT_EQ(plan.details().group_workspace_bytes, 0u);
    exchanged.run(group);
  });
  exchanged.expect();
}

TEST_P(RedistributeWorkspaceTest, Wrong) {
  const RedistributeCase c = transposition(DType::f32, DType::f32, 29, 41, 2).by(RedistributeRoute::staged);
  const Exchanged exchanged(c);
  on_ranks(2, [&](const Group& group, void*) {
    const int rank = group.local_ranks().front();
    const Buffer workspace(group.stream(rank).device(), 1 << 16);
    expect_error(ErrorCode::invalid_argument, {"rank 1 registers a workspace", "64 bytes"}, [&] {
      group.register_workspace(static_cast<char*>(workspace.data()) + (rank == 1 ? 8 : 0), 1024);
    });
    expect_error(ErrorCode::null_pointer, {"rank 0 registers a null pointer as its workspace"},
                 [&] { group.register_workspace(rank == 0 ? nullptr : workspace.data(), 1024); });
    group.register_workspace(workspace.data(), workspace.bytes());
    const auto plan_to = [&](const TensorView& out) {
      return plan_redistribute(group, c.in.distribution, {exchanged.in.of(rank).device()}, c.axes,
                               c.out.distribution, {out}, c.options);
    };
    const RedistributePlan plan = plan_to(exchanged.out.of(rank).device());
    // An output that lies in the workspace, in a run and in a plan.
    const auto out_offset = reinterpret_cast<std::uintptr_t>(exchanged.out.of(rank).device().data()) % 16;
    char* const inside = static_cast<char*>(workspace.data()) + out_offset;
    if (rank == 0) {
      expect_error(ErrorCode::partial_overlap, {"output of rank 0", "registered workspace"},
                   [&] { plan.run({exchanged.in.of(rank).device().data()}, {inside}); });
      expect_error(ErrorCode::partial_overlap, {"share bytes"},
                   [&] { plan_to(TensorView(inside, c.out.type, c.out.distribution.box(rank).shape())); });
    } else {
      expect_error(ErrorCode::invalid_argument, {"rank 0 could not plan"},
                   [&] { plan_to(exchanged.out.of(rank).device()); });
    }
  });
}

}  // namespace
}  // namespace relayout::test
