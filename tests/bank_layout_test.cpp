// Layouts of tiles in shared memory: no two elements in one place, within the bytes that they state, and
// every access costs what they claim.
#include "host/plan/copy/bank_layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "tests/support/expect_error.hpp"
#include "tests/support/random.hpp"

namespace relayout::plan {
namespace {

using test::Random;

std::vector<DeviceProperties> devices() {
  DeviceProperties mi355x = DeviceProperties::mi300x(), wide;
  mi355x.architecture = "gfx950";
  wide.architecture = "32 lanes, 64 banks";
  wide.shared_memory_banks = 64;
  return {DeviceProperties::h200(), DeviceProperties::mi300x(), mi355x, wide};
}
BankModel h200() { return bank_model(DeviceProperties::h200()); }

/// Axes in the order of the fill; the drain's order; both move `bytes` a lane and access.
BankTile tile_of(const std::vector<std::int64_t>& extents, const std::vector<int>& drain, int element_bytes,
                 int fill_bytes, int drain_bytes) {
  BankTile tile;
  tile.extents = extents;
  tile.element_bytes = element_bytes;
  tile.fill.order.resize(extents.size());
  std::iota(tile.fill.order.begin(), tile.fill.order.end(), 0);
  tile.drain.order = drain;
  tile.fill.access_bytes = fill_bytes;
  tile.drain.access_bytes = drain_bytes;
  return tile;
}

/// Counts in another way: lane by lane and phase by phase, without runs and strips.
class Oracle {
 public:
  Oracle(const BankTile& tile, const BankLayout& layout, const BankModel& model)
      : tile_(tile), layout_(layout), model_(model) {}

  BankReport report() const {
    return {walk(tile_.fill, SharedAccess::write), walk(tile_.drain, SharedAccess::read)};
  }

 private:
  std::int64_t place(const BankWalk& walk, std::int64_t element) const {
    std::vector<std::int64_t> index(tile_.extents.size());
    for (const int axis : walk.order) {
      const auto k = static_cast<std::size_t>(axis);
      index[k] = element % tile_.extents[k];
      element /= tile_.extents[k];
    }
    return layout_.offset(index);
  }

  void serve(SharedAccess access, const std::map<int, std::int64_t>& lanes, int bytes,
             BankCount& count) const {
    std::map<int, std::map<std::int64_t, std::set<std::int64_t>>> banks;
    for (const auto& [lane, address] : lanes)
      for (std::int64_t byte = address; byte < address + bytes; ++byte)
        banks[model_.phase_of(access, bytes, lane)][byte / 4 % model_.banks(access)].insert(byte / 4);
    count.accesses += lanes.empty() ? 0 : 1;
    for (const auto& phase : banks) {
      std::size_t most = 0;
      for (const auto& bank : phase.second) most = std::max(most, bank.second.size());
      count.passes += static_cast<std::int64_t>(most);
      count.least += 1;
      count.worst = std::max(count.worst, static_cast<int>(most));
    }
  }

  BankCount walk(const BankWalk& walk, SharedAccess access) const {
    const std::int64_t all = tile_.elements(), piece = std::max(1, walk.access_bytes / tile_.element_bytes),
                       vector = std::max<std::int64_t>(walk.vector, piece);
    const int single = std::min(walk.access_bytes, tile_.element_bytes);
    BankCount count;
    for (std::int64_t warp = 0; warp * vector < all; warp += model_.lanes) {
      for (std::int64_t step = 0; step < vector; step += piece) {
        std::map<int, std::int64_t> whole;
        std::map<std::int64_t, std::map<int, std::int64_t>> singles;
        for (int lane = 0; lane < model_.lanes; ++lane) {
          const std::int64_t first = (warp + lane) * vector + step, end = std::min(all, first + piece);
          if (first >= all) continue;
          bool together = piece > 1 && end - first == piece && place(walk, first) % walk.access_bytes == 0;
          for (std::int64_t i = first; i < end; ++i)
            together = together && place(walk, i) == place(walk, first) + (i - first) * tile_.element_bytes;
          if (together) whole[lane] = place(walk, first);
          for (std::int64_t i = first; i < end && !together; ++i)
            for (int part = 0; part < tile_.element_bytes; part += single)
              singles[(i - first) * tile_.element_bytes + part][lane] = place(walk, i) + part;
        }
        serve(access, whole, walk.access_bytes, count);
        for (const auto& one : singles) serve(access, one.second, single, count);
      }
    }
    return count;
  }

  const BankTile& tile_;
  const BankLayout& layout_;
  const BankModel& model_;
};

void expect_holds(const BankSolution& solution, const BankModel& model, std::int64_t shared_bytes) {
  const std::vector<std::int64_t> offsets =
      offsets_in_order(solution.tile, solution.layout, solution.tile.fill.order);
  ASSERT_EQ(static_cast<std::int64_t>(offsets.size()), solution.tile.elements());
  std::vector<std::int64_t> sorted = offsets;
  std::sort(sorted.begin(), sorted.end());
  ASSERT_GE(sorted.front(), 0);
  ASSERT_LE(sorted.back() + solution.tile.element_bytes, solution.layout.bytes);
  for (std::size_t i = 1; i < sorted.size(); ++i)
    ASSERT_GE(sorted[i] - sorted[i - 1], solution.tile.element_bytes) << "two elements in one place";
  ASSERT_LE(solution.layout.bytes, shared_bytes);
  ASSERT_EQ(Oracle(solution.tile, solution.layout, model).report(), solution.claim);
  const BankReport dense = count_tile(solution.tile, dense_layout(solution.tile), model);
  ASSERT_LE(solution.claim.passes(), dense.passes()) << "worse than doing nothing";
}

std::vector<int> random_order(Random& random, std::size_t rank) {
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  random.shuffle(order);
  return order;
}

TEST(BankLayout, DenseSquareIsThirtyTwoWay) {
  const BankTile tile = tile_of({32, 32}, {1, 0}, 4, 4, 4);
  const BankReport dense = count_tile(tile, dense_layout(tile), h200());
  EXPECT_EQ(dense.fill.passes, 32);
  EXPECT_EQ(dense.drain.passes, 32 * 32);
  EXPECT_EQ(dense.drain.worst, 32);
  EXPECT_EQ(dense, Oracle(tile, dense_layout(tile), h200()).report());
}

TEST(BankLayout, TheRulePadsARowOf32By1) {
  const BankTile tile = tile_of({32, 32}, {1, 0}, 4, 4, 4);
  const BankLayout rule = padded_by_rule(tile, h200());
  ASSERT_EQ(rule.digits.size(), 2u);
  EXPECT_EQ(rule.digits[1].stride, 33 * 4);
  EXPECT_EQ(rule.bytes, (31 * 33 + 32) * 4);
  const BankSolution solution = solve_banks(tile, h200());
  EXPECT_EQ(solution.remedy, BankRemedy::padding);
  EXPECT_TRUE(solution.claim.fill.conflict_free() && solution.claim.drain.conflict_free());
  EXPECT_EQ(solution.layout.bytes, rule.bytes);
  expect_holds(solution, h200(), 48 * 1024);
}

/// Rows that fill the banks, with other axes of any extents in front of them in the drain: the rule alone is
/// enough.
TEST(BankLayout, TheRuleNeedsNoExtentsThatDivide) {
  for (const std::uint64_t seed : test::random_seeds(40)) {
    SCOPED_TRACE(test::reproduce(seed));
    Random random(seed);
    const DeviceProperties device = random.pick(devices());
    const BankModel model = bank_model(device);
    const int bytes = random.pick<int>({4, 8, 16});
    std::vector<std::int64_t> extents{model.period() / bytes * random.integer(1, 2)};
    for (std::int64_t others = 1; others * bytes < model.period(); others *= extents.back())
      extents.push_back(random.integer(2, 11));
    std::vector<int> drain = random_order(random, extents.size());
    drain.erase(std::find(drain.begin(), drain.end(), 0));
    drain.push_back(0);
    const BankTile tile = tile_of(extents, drain, bytes, bytes, bytes);
    const BankReport report = count_tile(tile, padded_by_rule(tile, model), model);
    EXPECT_TRUE(report.fill.conflict_free());
    // Phases that reach into the next column of the rows meet there.
    const bool scattered = model.scattered_quads && bytes == 16;
    EXPECT_LE(report.drain.worst, scattered ? 4 : 2);
    if (tile.elements() / extents[0] * bytes % model.period() == 0) {
      EXPECT_TRUE(report.drain.conflict_free());
    }
  }
}

/// (A:2, B:16, C:2) -> (C, A, B), C fastest before, B after. By the rule B would shift by one bank, as C
/// already does. Instead B moves by the extent of C, and A by one bank, for one word of padding.
TEST(BankLayout, SkinnyAxes) {
  const BankTile tile = tile_of({2, 16, 2}, {1, 2, 0}, 4, 4, 4);
  EXPECT_EQ(count_tile(tile, dense_layout(tile), h200()).drain.worst, 2);
  const BankSolution solution = solve_banks(tile, h200());
  EXPECT_EQ(solution.claim.passes(), 4);
  EXPECT_EQ(solution.claim.worst(), 1);
  EXPECT_EQ(solution.layout.bytes, (64 + 1) * 4);
  expect_holds(solution, h200(), 48 * 1024);
}

TEST(BankLayout, AnAxisOutermostInTheFill) {
  const BankTile tile = tile_of({8, 4, 32}, {2, 0, 1}, 4, 4, 4);
  const BankSolution solution = solve_banks(tile, h200());
  EXPECT_EQ(solution.claim.passes(), solution.claim.least());
  EXPECT_EQ(solution.layout.bytes, (31 * 33 + 32) * 4);
  expect_holds(solution, h200(), 48 * 1024);
}

TEST(BankLayout, NoRoomForPadding) {
  const BankTile tile = tile_of({32, 32}, {1, 0}, 4, 4, 4);
  const BankSolution swizzled = solve_banks(tile, h200(), {4096, {}});
  EXPECT_EQ(swizzled.remedy, BankRemedy::swizzle);
  EXPECT_EQ(swizzled.layout.bytes, 4096);
  EXPECT_EQ(swizzled.claim.passes(), 64);
  expect_holds(swizzled, h200(), 4096);
  test::expect_error(ErrorCode::invalid_argument, {"4096 bytes", "4095"}, [&] {
    solve_banks(tile, h200(), {4095, {}});
  });
}

TEST(BankLayout, ExtentsThatDoNotDivideAreBounded) {
  const BankTile tile = tile_of({15, 7, 5, 3}, {3, 2, 1, 0}, 4, 4, 4);
  const BankSolution solution = solve_banks(tile, h200());
  EXPECT_EQ(count_tile(tile, dense_layout(tile), h200()).passes(), 149);
  EXPECT_LE(solution.claim.passes(), 128);
  EXPECT_LE(solution.claim.worst(), 2);
  expect_holds(solution, h200(), 48 * 1024);
}

/// A tile of 15 elements uses half a warp; 60 use two.
TEST(BankLayout, AShortTileIsMerged) {
  const BankTile tile = tile_of({3, 5}, {1, 0}, 4, 4, 4);
  const BankSolution solution = solve_banks(tile, h200(), {48 * 1024, {3, 1000}});
  EXPECT_TRUE(solution.merged);
  EXPECT_EQ(solution.tile.extents[0], 3);
  EXPECT_GE(solution.tile.extents[1], 10);
  EXPECT_LT(static_cast<double>(solution.claim.passes()) / static_cast<double>(solution.tile.elements()),
            2.0 / 15);
  expect_holds(solution, h200(), 48 * 1024);
  EXPECT_FALSE(solve_banks(tile, h200()).merged);
}

/// The tile kernel's aligned transpose: 16 bytes in, four elements of four rows out, eight vectors of a run
/// and then the next run.
TEST(BankLayout, VectorsOnBothSides) {
  for (const int bytes : {1, 2, 4, 8}) {
    const int vector = 16 / bytes;
    BankTile tile = tile_of({8 * vector, 8 * vector}, {1, 0}, bytes, 16, bytes);
    tile.drain.vector = vector;
    tile.drain.run = 1;
    tile.drain.strip = 8;
    for (const DeviceProperties& device : {DeviceProperties::h200(), DeviceProperties::mi300x()}) {
      const BankSolution solution = solve_banks(tile, bank_model(device));
      EXPECT_EQ(solution.claim.passes(), solution.claim.least()) << bytes << " bytes, " << device.name;
      EXPECT_EQ(solution.claim.fill.accesses * bank_model(device).lanes * 16, tile.elements() * bytes);
    }
  }
}

/// A reversal of three axes: neighbouring lanes that take the runs along the middle axis stay in every fourth
/// bank; along the input's fastest axis they do not.
TEST(BankLayout, RunsBesideEachOtherAlongTheFillsAxis) {
  BankTile tile = tile_of({48, 10, 16}, {2, 1, 0}, 4, 16, 4);
  tile.drain.vector = 4;
  tile.drain.run = 1;
  tile.drain.strip = 8;
  EXPECT_GE(count_tile(tile, padded_by_rule(tile, h200()), h200()).drain.worst, 4);
  const BankSolution solution = solve_banks(tile, h200());
  EXPECT_TRUE(solution.reordered);
  EXPECT_EQ(solution.tile.drain.order, (std::vector<int>{2, 0, 1}));
  EXPECT_EQ(solution.claim.passes(), 480);
  EXPECT_EQ(solution.claim.worst(), 1);
}

TEST(BankLayout, OneAxisFastestOnBothSidesMovesVectors) {
  for (const DeviceProperties& device : devices()) {
    const BankTile tile = tile_of({16, 8, 16}, {0, 2, 1}, 4, 16, 16);
    const BankSolution solution = solve_banks(tile, bank_model(device));
    EXPECT_EQ(solution.claim.passes(), solution.claim.least()) << device.architecture;
    EXPECT_EQ(solution.claim.drain.accesses * bank_model(device).lanes * 16, tile.elements() * 4);
  }
}

/// With powers of two there is always a layout without conflicts.
TEST(BankLayout, PowersOfTwoHaveNoConflicts) {
  for (const std::uint64_t seed : test::random_seeds(40)) {
    SCOPED_TRACE(test::reproduce(seed));
    Random random(seed);
    const BankModel model = bank_model(random.pick(devices()));
    const int bytes = random.pick<int>({4, 8, 16});
    std::vector<std::int64_t> extents;
    for (std::int64_t rank = random.integer(1, 6), all = 1; rank-- > 0 && all * bytes <= 4096;
         all *= extents.back())
      extents.push_back(std::int64_t{1} << random.integer(0, 5));
    const BankTile tile = tile_of(extents, random_order(random, extents.size()), bytes, bytes, bytes);
    const BankSolution solution = solve_banks(tile, model, {1 << 20, {}});
    EXPECT_EQ(solution.claim.passes(), solution.claim.least());
  }
}

TEST(BankLayout, RandomTilesKeepTheirClaims) {
  int better = 0;
  for (const std::uint64_t seed : test::random_seeds(100)) {
    SCOPED_TRACE(test::reproduce(seed));
    Random random(seed);
    const BankModel model = bank_model(random.pick(devices()));
    const int bytes = 1 << random.integer(0, 4);
    std::vector<std::int64_t> extents;
    for (std::int64_t rank = random.integer(1, 6), all = 1; rank-- > 0; all *= extents.back())
      extents.push_back(random.integer(1, std::min<std::int64_t>(random.chance(0.3) ? 70 : 12, 3000 / all)));
    BankTile tile = tile_of(extents, random_order(random, extents.size()), bytes,
                            std::max(bytes, 4 << random.integer(0, 2)),
                            random.chance(0.5) ? bytes : std::max(bytes, 4 << random.integer(0, 2)));
    if (bytes > 4 && random.chance(0.3)) tile.drain.access_bytes = 4;  // an element in parts
    if (random.chance(0.5)) tile.drain.vector = static_cast<int>(random.integer(1, 4));
    const std::int64_t dense = tile.elements() * bytes, limit = random.chance(0.3) ? dense : 2 * dense + 1024;
    const BankSolution solution = solve_banks(tile, model, {limit, {}});
    ASSERT_NO_FATAL_FAILURE(expect_holds(solution, model, limit));
    better += solution.remedy != BankRemedy::none ? 1 : 0;
  }
  EXPECT_GE(better, 20);
}

}  // namespace
}  // namespace relayout::plan
