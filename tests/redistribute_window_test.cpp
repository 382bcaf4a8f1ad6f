// Outputs in memory without a name for other processes, which a window of NCCL shares. The windows are those
// of a library in its place (tests/nccl), and the memory is the processor's, which says that it has no name.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "platform/unnamed_memory.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/nccl_ranks.hpp"

namespace relayout::test {
namespace {

class RedistributeWindowTest : public NcclTest {};
INSTANTIATE_TEST_SUITE_P(Devices, RedistributeWindowTest, ::testing::ValuesIn(host_memory_devices()),
                         device_test_name);

/// A case with its outputs in allocations of their own, at another offset on each rank.
class Windowed {
 public:
  static constexpr std::size_t kBytes = std::size_t{1} << 15;

  explicit Windowed(const RedistributeCase& c) : Windowed(c, std::vector<std::size_t>(ranks_of(c), kBytes)) {}
  /// bytes: of the ranks' allocations; a rank with 0 has one that has a name.
  Windowed(const RedistributeCase& c, const std::vector<std::size_t>& bytes) : exchanged_(c) {
    for (std::size_t rank = 0; rank < bytes.size(); ++rank) {
      memory_.emplace_back(Device::cpu(), 2 * kBytes);
      if (bytes[rank] > 0) unnamed_.emplace_back(memory_.back().data(), bytes[rank]);
      out_.emplace_back(static_cast<char*>(memory_.back().data()) + 256 * (rank + 1), c.out.type,
                        c.out.distribution.box(static_cast<int>(rank)).shape());
    }
  }

  void share(const Group& group) const {
    const TensorView& out = out_[rank_of(group)];
    group.register_output(out.data(), static_cast<std::size_t>(out.byte_range().end));
  }
  void share_nothing(const Group& group) const { group.register_output(nullptr, 0); }
  RedistributePlan plan(const Group& group) const {
    const RedistributeCase& c = exchanged_.c;
    return plan_redistribute(group, c.in.distribution,
                             {exchanged_.in.of(group.local_ranks().front()).device()}, c.axes,
                             c.out.distribution, {out_[rank_of(group)]}, c.options);
  }
  /// Runs the plan, and takes the result to where it is compared.
  void run(const Group& group, const RedistributePlan& planned) const {
    const int rank = group.local_ranks().front();
    const Buffer workspace(group.stream(rank).device(), planned.workspace_bytes(rank));
    for (int turn = 0; turn < 2; ++turn) planned.run({workspace.data()});
    group.synchronize();
    copy(group.stream(rank), out_[rank_of(group)], exchanged_.out.of(rank).device());
  }
  /// why_not_direct: empty where the direct route is to be taken.
  void run(const Group& group, const std::string& why_not_direct = {}) const {
    const RedistributePlan planned = plan(group);
    EXPECT_EQ(planned.details().route == RedistributeRoute::direct, why_not_direct.empty())
        << planned.explain();
    if (!why_not_direct.empty()) {
      EXPECT_NE(planned.explain().find("Not direct: " + why_not_direct), std::string::npos)
          << planned.explain();
    }
    run(group, planned);
  }
  void expect() const { exchanged_.expect(); }

 private:
  static std::size_t ranks_of(const RedistributeCase& c) {
    return static_cast<std::size_t>(c.out.distribution.ranks());
  }
  static std::size_t rank_of(const Group& group) {
    return static_cast<std::size_t>(group.local_ranks().front());
  }

  Exchanged exchanged_;
  std::deque<Buffer> memory_;
  std::deque<UnnamedMemory> unnamed_;
  std::vector<TensorView> out_;
};

/// What every rank says where it cannot go the direct route.
std::string unnamed(int rank, const std::string& and_why) {
  return "the output that rank " + std::to_string(rank) +
         " registered cannot be shared with other processes by its name, and " + and_why;
}

RedistributeCase small_case() { return transposition(DType::f32, DType::f32, 29, 41, 3); }

TEST_P(RedistributeWindowTest, DirectOverOneToEightRanks) {
  for (int ranks = 1; ranks <= 8; ++ranks)
    for (const auto& [in, out] : {std::pair{DType::f32, DType::f32}, std::pair{DType::bf16, DType::f32}}) {
      const Windowed windowed(transposition(in, out, 29, 41, ranks).by(RedistributeRoute::direct));
      const int left = on_ranks(
          ranks,
          [&](const Group& group, void*) {
            windowed.share(group);
            windowed.run(group);
          },
          ranks % 2 == 0);
      EXPECT_EQ(left, 0);
      windowed.expect();
    }
}

/// A rank without output names a place in an allocation.
TEST_P(RedistributeWindowTest, RanksWithoutOutput) {
  const Box nothing{{0, 0}, {0, 41}};
  const Distribution gathered({29, 41}, {Box{{0, 0}, {29, 41}}, nothing, nothing});
  const RedistributeCase c{{DType::f32, Distribution::split({29, 41}, 1, 3)}, {0, 1}, {DType::f32, gathered}};
  for (const bool all_share : {true, false}) {
    const Windowed windowed(all_share ? c.by(RedistributeRoute::direct) : c);
    on_ranks(3, [&](const Group& group, void*) {
      if (all_share || group.local_ranks().front() != 2) {
        windowed.share(group);
      } else {
        windowed.share_nothing(group);
      }
      if (all_share) return windowed.run(group);
      const RedistributePlan planned = windowed.plan(group);
      EXPECT_NE(planned.explain().find(unnamed(0, "rank 2 names nothing that a window can hold")),
                std::string::npos)
          << planned.explain();
      windowed.run(group, planned);
    });
    windowed.expect();
  }
}

/// Ranks that would not all come to the same call, or with the same sizes, do not begin it.
TEST_P(RedistributeWindowTest, AllocationsThatNoWindowHolds) {
  const std::size_t bytes = Windowed::kBytes;
  for (const auto& [sizes, why] :
       {std::pair{std::vector<std::size_t>{bytes, 0, bytes},
                  unnamed(0, "rank 1 names nothing that a window can hold")},
        std::pair{std::vector<std::size_t>{0, bytes, bytes},
                  unnamed(1, "rank 0 names nothing that a window can hold")},
        std::pair{std::vector<std::size_t>{bytes, bytes, 1024},  // the output begins in it, and does not end
                  unnamed(0, "rank 2 names nothing that a window can hold")},
        std::pair{std::vector<std::size_t>{bytes, bytes + 256, bytes},
                  unnamed(0, "the allocations of rank 0 and rank 1 have different sizes")}}) {
    const Windowed windowed(small_case(), sizes);
    const int left = on_ranks(3, [&, &why = why](const Group& group, void*) {
      windowed.share(group);
      windowed.run(group, why);
    });
    EXPECT_EQ(left, 0);
    windowed.expect();
  }
}

/// Some ranks would find their allocation in a window, and others make one.
TEST_P(RedistributeWindowTest, AllocationsThatAWindowHoldsAlready) {
  const Windowed windowed(small_case());
  on_ranks(3, [&](const Group& group, void*) {
    windowed.share(group);
    windowed.share(group);
    windowed.run(group, unnamed(0, "a window holds the allocation of rank 0 already"));
  });
  windowed.expect();
}

/// NCCL before 2.29, and RCCL.
TEST_P(RedistributeWindowTest, LibrariesWithoutWindows) {
  setenv("RELAYOUT_NCCL_LIBRARY", RELAYOUT_OLDER_IN_MEMORY_NCCL, 1);
  const Windowed windowed(small_case()), named(small_case().by(RedistributeRoute::direct), {0, 0, 0});
  on_ranks(3, [&](const Group& group, void*) {
    windowed.share(group);
    windowed.run(group, unnamed(0, "the library of rank 0 has no windows"));
    named.share(group);
    named.run(group);
  });
  windowed.expect();
  named.expect();
}

TEST_P(RedistributeWindowTest, CommunicatorsWithoutWindows) {
  for (const auto& [windows, why] :
       {std::pair{in_memory_windows_none, "the communicator has no windows"},
        std::pair{in_memory_windows_fail, "has no window: ncclCommWindowRegister failed: invalid usage"},
        std::pair{in_memory_windows_far, "registered is not reached"}}) {
    const Windowed windowed(small_case());
    const int left = on_ranks(
        3,
        [&, word = std::string(why)](const Group& group, void*) {
          windowed.share(group);
          const RedistributePlan planned = windowed.plan(group);
          EXPECT_NE(planned.details().route, RedistributeRoute::direct);
          EXPECT_NE(planned.explain().find(word), std::string::npos) << planned.explain();
          windowed.run(group, planned);
        },
        true, windows);
    EXPECT_EQ(left, 0);
    windowed.expect();
  }
}

/// Windows go with close(), whatever copies and plans there are, and nothing is asked of the communicator
/// then.
TEST_P(RedistributeWindowTest, GroupsThatAreClosed) {
  const Windowed windowed(small_case().by(RedistributeRoute::direct));
  std::vector<Group> groups(3, Group::emulated(1, Device::cpu()));
  std::deque<RedistributePlan> plans;
  std::mutex mutex;
  const int left = on_ranks(3, [&](const Group& group, void*) {
    windowed.share(group);
    const RedistributePlan planned = windowed.plan(group);
    windowed.run(group, planned);
    group.close();
    for (const auto& late :
         std::vector<std::function<void()>>{[&] { planned.run(); }, [&] { group.synchronize(); },
                                            [&] { windowed.plan(group); }, [&] { windowed.share(group); }})
      expect_error(ErrorCode::invalid_argument, {"the group was closed"}, late);
    group.close();
    const std::lock_guard<std::mutex> lock(mutex);
    groups[static_cast<std::size_t>(group.local_ranks().front())] = group;
    plans.push_back(planned);
  });
  EXPECT_EQ(left, 0);
  windowed.expect();
  Group::emulated(1, Device::cpu()).close();
}

/// After it the communicator may be in any state, so that its windows are left to its end.
TEST_P(RedistributeWindowTest, ACallThatFailed) {
  const Windowed first(small_case().by(RedistributeRoute::direct)), second(small_case());
  const int left = on_ranks(3, [&](const Group& group, void* communicator) {
    first.share(group);
    in_memory_set_windows(communicator, in_memory_windows_fail);
    second.share(group);
    first.run(group);
    second.run(group, "what was registered has no window");
  });
  EXPECT_EQ(left, 3);
  first.expect();
  second.expect();
}

/// The communicator was perhaps aborted after its error, so its windows are not given back.
TEST_P(RedistributeWindowTest, ARankThatIsGone) {
  const Windowed windowed(small_case().by(RedistributeRoute::direct));
  std::atomic<bool> is_gone{false};
  const int left = on_ranks(3, [&](const Group& group, void* communicator) {
    windowed.share(group);
    const RedistributePlan planned = windowed.plan(group);
    if (group.local_ranks().front() == 1) {
      in_memory_leave(communicator);
      is_gone = true;
      return group.close();
    }
    while (!is_gone) std::this_thread::yield();
    expect_error(ErrorCode::vendor, {"a rank is gone"}, [&] { planned.run(); });
  });
  EXPECT_EQ(left, 2);
}

}  // namespace
}  // namespace relayout::test
