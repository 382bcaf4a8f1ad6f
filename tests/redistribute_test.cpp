// redistribute between any distributions, by every route, bit for bit against plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/random_distribution.hpp"
#include "tests/support/redistribute_check.hpp"

namespace relayout::test {
namespace {

using cases::DistributedTensor;

constexpr RedistributeRoute kRoutes[] = {RedistributeRoute::direct, RedistributeRoute::staged,
                                         RedistributeRoute::copy_engine, RedistributeRoute::joined};
/// Those that every redistribution can go, and those that transposes can.
constexpr RedistributeRoute kAlways[] = {RedistributeRoute::direct, RedistributeRoute::staged};
constexpr RedistributeRoute kTransposing[] = {RedistributeRoute::direct, RedistributeRoute::staged,
                                              RedistributeRoute::joined};

class RedistributeTest : public ::testing::TestWithParam<Device> {
 protected:
  static Group group(int ranks) { return Group::emulated(ranks, GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Devices, RedistributeTest, ::testing::ValuesIn(test_devices()), device_test_name);

/// Contiguous views.
RedistributeCase case_of(DType in, const Distribution& from, std::vector<int> axes, DType out,
                         const Distribution& to) {
  return {{in, from}, std::move(axes), {out, to}};
}

/// By each route that can do it; all can but the copy engine.
void check_routes(const Group& group, const RedistributeCase& c, std::uint64_t seed = 0) {
  EXPECT_EQ(plan_of(group, c).details().others.size(), 3u);
  for (const RedistributeRoute route : kRoutes) {
    const bool always = std::find(std::begin(kAlways), std::end(kAlways), route) != std::end(kAlways);
    try {
      check(group, c.by(route), seed);
    } catch (const Error& error) {
      const char* reason =
          route == RedistributeRoute::joined ? "does not continue" : "more than rows of bytes";
      EXPECT_FALSE(always) << error.what();
      EXPECT_STREQ(name_of(error.code()), "invalid_argument") << error.what();
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    }
  }
}

TEST_P(RedistributeTest, TransposesOverOneToEightRanks) {
  for (int ranks = 1; ranks <= 8; ++ranks) {
    check_routes(group(ranks), transposition(DType::f32, DType::f32, 37, 53, ranks));
    check_routes(group(ranks), transposition(DType::f16, DType::f16, 64, 48, ranks));
  }
}

TEST_P(RedistributeTest, CastsCrossInTheNarrowerType) {
  const Group two = group(2);
  check_routes(two, transposition(DType::f32, DType::bf16, 34, 18, 2));
  check_routes(two, transposition(DType::bf16, DType::f32, 34, 18, 2));
  check_routes(two, transposition(DType::i32, DType::f32, 34, 18, 2));
  for (const auto& [in, out] : {std::pair{DType::f64, DType::f16}, std::pair{DType::f16, DType::f64}})
    for (const RedistributeRoute route : kAlways) {
      const RedistributeDetails details = plan_of(two, transposition(in, out, 32, 16, 2).by(route)).details();
      ASSERT_EQ(details.links.size(), 2u);
      for (const RedistributeLink& link : details.links) EXPECT_EQ(link.bytes, 16 * 8 * 2) << name_of(route);
    }
}

/// Heads of attention: [batch, sequence / P, heads, channels] <-> [batch, sequence, heads / P, channels].
TEST_P(RedistributeTest, HeadsForSequences) {
  const Dims shape{2, 12, 8, 5};
  for (const int ranks : {2, 3, 4}) {
    check_routes(group(ranks), case_of(DType::bf16, Distribution::split(shape, 1, ranks), {0, 1, 2, 3},
                                       DType::bf16, Distribution::split(shape, 2, ranks)));
    check_routes(group(ranks), case_of(DType::bf16, Distribution::split(shape, 1, ranks), {0, 2, 1, 3},
                                       DType::bf16, Distribution::split({2, 8, 12, 5}, 1, ranks)));
  }
}

TEST_P(RedistributeTest, OtherBlocksOfTheSameTensor) {
  const Dims shape{30, 7};
  const Distribution rows = Distribution::split(shape, 0, 3), columns = Distribution::split(shape, 1, 3);
  const Distribution uneven(shape, {{{0, 0}, {1, 7}}, {{1, 0}, {1, 7}}, {{1, 0}, {30, 7}}});
  for (const Distribution& from : {rows, columns, uneven})
    for (const Distribution& to : {rows, columns, uneven})
      check_routes(group(3), case_of(DType::f32, from, {0, 1}, DType::f32, to));
}

/// Three ranks' columns of each row of the output, of which a rank packs its own, too: one kernel unpacks.
TEST_P(RedistributeTest, PartsThatAreJoined) {
  const Distribution from = Distribution::split({14, 9, 6}, 1, 3), to = Distribution::split({6, 14, 9}, 0, 3),
                     uneven({14, 9, 6},
                            {{{0, 0, 0}, {14, 2, 6}}, {{0, 6, 0}, {14, 9, 6}}, {{0, 2, 0}, {14, 6, 6}}});
  const Group three = group(3);
  for (const Distribution& in : {from, uneven})
    for (const auto& [type, result] : {std::pair{DType::i16, DType::i16}, std::pair{DType::bf16, DType::f32},
                                       std::pair{DType::f32, DType::bf16}}) {
      const RedistributeCase c = case_of(type, in, {2, 0, 1}, result, to).by(RedistributeRoute::joined);
      check(three, c, 3);
      const RedistributePlan plan = plan_of(three, c);
      EXPECT_EQ(plan.details().kernels, 3 * (2 + 1 + 1) * plan.details().chunks);
      EXPECT_NE(plan.explain().find("unpacked together with what stays on a rank"), std::string::npos)
          << plan.explain();
    }
}

/// Rows of 33 f32 begin on lines in the workspace, but single elements do not.
TEST_P(RedistributeTest, JoinedRowsBeginOnLines) {
  RedistributeCase rows = transposition(DType::f32, DType::f32, 8, 66, 2).by(RedistributeRoute::joined);
  rows.options.workspace_limit = std::size_t{1} << 20;
  for (const RedistributeLink& link : plan_of(group(2), rows).details().links)
    EXPECT_EQ(link.bytes, 3 * 256 + 33 * 4);
  const RedistributeCase elements = case_of(DType::u8, Distribution::split({1000}, 0, 4), {0}, DType::u8,
                                            Distribution::replicated({1000}, 4))
                                        .by(RedistributeRoute::joined);
  const Group four = group(4);
  check(four, elements, 5);
  EXPECT_LE(plan_of(four, elements).workspace_bytes(0), 2048u);
}

/// What a rank gets in parts that do not continue each other is staged; where that is so for all, nothing is
/// joined.
TEST_P(RedistributeTest, PartsThatAreNotJoined) {
  const Distribution quarters({8, 6},
                              {{{0, 0}, {4, 3}}, {{0, 3}, {4, 6}}, {{4, 0}, {8, 3}}, {{4, 3}, {8, 6}}}),
      all({8, 6}, {{{0, 0}, {8, 6}}, {{0, 0}, {0, 6}}, {{0, 0}, {0, 6}}, {{0, 0}, {0, 6}}}),
      halves({8, 6}, {{{0, 0}, {8, 6}}, {{0, 0}, {8, 3}}, {{0, 0}, {0, 6}}, {{0, 0}, {0, 6}}});
  const Group four = group(4);
  const auto to = [&](const Distribution& out) {
    return case_of(DType::u16, quarters, {0, 1}, DType::u16, out).by(RedistributeRoute::joined);
  };
  check(four, to(halves), 4);
  expect_error(ErrorCode::invalid_argument, {"joined", "does not continue along one axis"},
               [&] { (void)plan_of(four, to(all)); });
}

TEST_P(RedistributeTest, ReplicasAreGatheredAndDropped) {
  const Dims shape{10, 6};
  const Distribution all = Distribution::replicated(shape, 4), rows = Distribution::split(shape, 0, 4);
  check_routes(group(4), case_of(DType::f32, rows, {0, 1}, DType::f32, all));
  check_routes(group(4), case_of(DType::f32, all, {0, 1}, DType::f32, rows));
  check_routes(group(4), case_of(DType::f32, rows, {1, 0}, DType::f16, Distribution::replicated({6, 10}, 4)));
  // Nothing crosses where each rank has what it needs.
  const RedistributeCase drop = case_of(DType::f32, all, {0, 1}, DType::f32, rows);
  EXPECT_TRUE(plan_of(group(4), drop).details().links.empty());
}

TEST_P(RedistributeTest, TypesThatOnlyMove) {
  for (const DType type : {DType::bool_, DType::e4m3fn, DType::i16})
    check_routes(group(3), transposition(type, type, 19, 14, 3));
}

/// The oracle has them as pairs of 8 bytes.
TEST_P(RedistributeTest, ElementsOf16Bytes) {
  const Group three = group(3);
  const auto pairs = [](std::int64_t rows, std::int64_t columns) {
    return DistributedTensor{DType::u64, Distribution::split({rows, columns, 2}, 0, 3)};
  };
  const DistributedTensor from = pairs(19, 14), to = pairs(14, 19);
  const auto elements = [](const std::vector<TensorView>& views) {
    std::vector<TensorView> result;
    for (const TensorView& view : views)
      result.emplace_back(view.data(), DType::b128, Dims{view.extent(0), view.extent(1)});
    return result;
  };
  for (const RedistributeRoute route : kTransposing) {
    RankBuffers in(three, Role::input, from), out(three, Role::output, to);
    in.fill(DType::u64, 2);
    reference::redistribute(from.distribution, in.host(), {1, 0, 2}, to.distribution, out.host());
    RedistributeOptions options;
    options.route = route;
    const RedistributePlan plan =
        plan_redistribute(three, Distribution::split({19, 14}, 0, 3), elements(in.device()), {1, 0},
                          Distribution::split({14, 19}, 0, 3), elements(out.device()), options);
    plan.run(Workspaces(three, plan).pointers());
    three.synchronize();
    out.expect(NanRule::exact);
  }
}

TEST_P(RedistributeTest, ScalarsAndTensorsWithoutElements) {
  for (const int ranks : {1, 3}) {
    check_routes(group(ranks), case_of(DType::f32, Distribution::replicated({}, ranks), {}, DType::f16,
                                       Distribution::replicated({}, ranks)));
    check_routes(group(ranks), transposition(DType::f32, DType::f32, 0, 5, ranks));
  }
  const Distribution first({3}, {{{0}, {3}}, {{3}, {3}}}), last({3}, {{{0}, {0}}, {{0}, {3}}});
  check_routes(group(2), case_of(DType::u8, first, {0}, DType::u8, last));
}

/// Rows of bytes, of any pitch on both sides, and single columns.
TEST_P(RedistributeTest, TheCopyEngineTakesRows) {
  const Distribution top({9, 5}, {{{0, 0}, {9, 5}}, {{0, 0}, {0, 5}}}),
      columns({9, 5}, {{{0, 0}, {9, 1}}, {{0, 1}, {9, 5}}});
  RedistributeCase c =
      case_of(DType::f32, top, {0, 1}, DType::f32, columns).by(RedistributeRoute::copy_engine);
  check(group(2), c);
  c.in.strides = {{7, 1}, {1, 1}};
  c.out.strides = {{3, 1}, {6, 1}};
  c.in.misaligned = {1, 0};
  c.out.misaligned = {0, 3};
  check(group(2), c);
  std::swap(c.in.distribution, c.out.distribution);
  c.in.strides = {{3, 2}, {-6, 1}};
  c.out.strides = {{-7, 1}, {1, 1}};
  check(group(2), c);
}

TEST_P(RedistributeTest, LargeMessagesCrossInChunks) {
  const RedistributeCase c = transposition(DType::f32, DType::f32, 330, 410, 2);
  const RedistributeDetails details = plan_of(group(2), c.by(RedistributeRoute::staged)).details();
  // Between ranks on a processor, little data pays for several chunks.
  if (GetParam().kind() == DeviceKind::cpu) {
    EXPECT_GT(details.chunks, 1);
  }
  for (const RedistributeLink& link : details.links) EXPECT_EQ(link.messages, details.chunks);
  check_routes(group(2), c);
}

TEST_P(RedistributeTest, RandomDistributions) {
  for (const std::uint64_t seed : random_seeds(60)) {
    SCOPED_TRACE(reproduce(seed));
    Random random(seed);
    const int ranks = static_cast<int>(random.integer(1, 8));
    RedistributeCase c = random_redistribution(random, ranks, 8);
    c.options.route = random.chance(0.4) ? RedistributeRoute::direct : random_staged_route(random, c);
    check(group(ranks), c, seed);
  }
}

TEST_P(RedistributeTest, OtherMemoryOnlyWhenRun) {
  const Group three = group(3);
  const RedistributeCase c = transposition(DType::f16, DType::f32, 21, 17, 3);
  for (const RedistributeRoute route : kTransposing) {
    const RedistributePlan plan = plan_of(three, c.by(route));
    RankBuffers in(three, Role::input, c.in), out(three, Role::output, c.out);
    in.fill(c.out.type, 7);
    compute_expected(c, in, out);
    std::vector<const void*> from;
    std::vector<void*> to;
    for (const TensorView& view : in.device()) from.push_back(view.data());
    for (const TensorView& view : out.device()) to.push_back(view.data());
    const Workspaces workspaces(three, plan);
    plan.run(from, to, workspaces.pointers());
    three.synchronize();
    out.expect(NanRule::any);
    workspaces.expect();
  }
}

TEST_P(RedistributeTest, OneCallNeedsNoWorkspace) {
  const Group two = group(2);
  const RedistributeCase c = transposition(DType::f32, DType::f32, 14, 22, 2);
  RankBuffers in(two, Role::input, c.in), out(two, Role::output, c.out);
  in.fill(DType::f32, 3);
  compute_expected(c, in, out);
  redistribute(two, c.in.distribution, in.device(), c.axes, c.out.distribution, out.device());
  two.synchronize();
  out.expect(NanRule::exact);
}

/// A run sees what was queued before it on every rank's stream, and is seen by what is queued after it.
TEST_P(RedistributeTest, RunsFollowEachOther) {
  const Group four = group(4);
  for (const RedistributeRoute route : kTransposing) {
    const RedistributeCase there = transposition(DType::f32, DType::f32, 40, 24, 4),
                           back = transposition(DType::f32, DType::f32, 24, 40, 4);
    RankBuffers in(four, Role::input, there.in), once(four, Role::output, there.out),
        out(four, Role::output, back.out);
    const RedistributePlan first = plan_of(four, there.by(route), in, once),
                           second = plan_of(four, back.by(route), once, out);
    const Workspaces workspaces(four, first), more(four, second);
    in.fill(DType::f32, 11);
    for (int turn = 0; turn < 3; ++turn) {
      first.run(workspaces.pointers());
      second.run(more.pointers());
    }
    four.synchronize();
    compute_expected(there, in, once);
    compute_expected(back, once, out);
    once.expect(NanRule::exact);
    out.expect(NanRule::exact);
  }
}

/// On one stream's graph, which the other streams join and leave.
TEST_P(RedistributeTest, RecordedInAGraph) {
  const Group two = group(2);
  const Stream &first = two.stream(0), &second = two.stream(1);
  const RedistributeCase c = transposition(DType::f32, DType::f32, 66, 34, 2);
  for (const RedistributeRoute route : kTransposing) {
    RankBuffers in(two, Role::input, c.in), out(two, Role::output, c.out);
    const RedistributePlan plan = plan_of(two, c.by(route), in, out);
    const Workspaces workspaces(two, plan);
    Event join(first.device()), leave(second.device());
    const Graph graph(first, [&] {
      join.record(first);
      second.wait(join);
      plan.run(workspaces.pointers());
      leave.record(second);
      first.wait(leave);
    });
    for (std::uint64_t turn = 0; turn < 2; ++turn) {
      in.fill(DType::f32, turn);
      compute_expected(c, in, out);
      graph.launch(first);
      first.synchronize();
      out.expect(NanRule::exact);
    }
  }
}

TEST_P(RedistributeTest, ExplainNamesTheRouteAndTheLinks) {
  const Group two = group(2);
  const RedistributeCase c = transposition(DType::f32, DType::f32, 64, 32, 2);
  for (const RedistributeRoute route : kAlways) {
    const RedistributePlan plan = plan_of(two, c.by(route));
    const std::string text = plan.explain();
    for (const std::string& word :
         {std::string("redistribute: f32[64, 32] by [1, 0] -> f32[32, 64], over 2 ranks, on ") +
              GetParam().to_string() + " (2 ranks)",
          std::string("Route: ") + name_of(route) + ", predicted ",
          std::string("Link 0 -> 1: 2048 bytes in "), std::string("Link 1 -> 0: 2048 bytes in "),
          std::string("Not copy_engine: "), std::string(" bytes of workspace")})
      EXPECT_NE(text.find(word), std::string::npos) << word << " is not in:\n" << text;
    const RedistributeDetails details = plan.details();
    EXPECT_GT(details.microseconds, 0);
    const bool is_direct = route == RedistributeRoute::direct;  // else two messages are packed and unpacked
    EXPECT_EQ(details.kernels, is_direct ? 4 : 2 + 4 * details.chunks);
    EXPECT_EQ(details.copies, is_direct ? 0 : 2 * details.chunks);
    for (const std::string& queued : {"Queued: " + std::to_string(details.kernels) + " kernels, ",
                                      std::string(" bytes in ") + std::to_string(details.links[0].messages)})
      EXPECT_NE(text.find(queued), std::string::npos) << queued << " is not in:\n" << text;
    EXPECT_EQ(plan.workspace_bytes(0) > 0, route == RedistributeRoute::staged);
  }
}

/// Rows that two ranks write in part are written in chunks that stay in the cache; whole sectors are not.
TEST(RedistributeChunksTest, RowsThatRanksShare) {
  if (!has_emulated_devices()) GTEST_SKIP() << "this build has no emulated devices";
  const Group group = Group::emulated(2);
  const auto chunks = [&](std::int64_t rows, std::int64_t row) {
    const RedistributeCase c = case_of(DType::f32, Distribution::split({rows, row}, 1, 2), {0, 1}, DType::f32,
                                       Distribution::split({rows, row}, 0, 2));
    return plan_of(group, c.by(RedistributeRoute::staged)).details().chunks;
  };
  const std::int64_t rows = 1 << 23;
  EXPECT_GE(chunks(rows, 31), 2 * chunks(rows, 32));
  EXPECT_EQ(chunks(rows / 8, 248), chunks(rows / 8, 256));  // longer runs
}

}  // namespace
}  // namespace relayout::test
