// The tile kernel's accesses to shared memory, counted over the addresses that its parameters give.
#include "host/plan/copy/tile_banks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "host/plan/copy/tile_builder.hpp"
#include "tests/support/random.hpp"

namespace relayout::test {
namespace {

using plan::BankReport;
using plan::SharedAccess;

alignas(32) char memory[64];  // only addresses are computed

struct Tile {
  bool valid = false;
  TileParams params;
  plan::TilePasses estimate;  // of the plan
};

/// The tile kernel's parameters for a contiguous [shape], permuted by `axes`; offsets in bytes from 32.
Tile tile_of(const DeviceProperties& device, DType in_type, DType out_type, const Dims& shape,
             const std::vector<int>& axes, int in_offset = 0, int out_offset = 0) {
  Tile tile;
  tile.params.in = memory + in_offset;
  tile.params.out = memory + out_offset;
  tile.params.in_type = in_type;
  tile.params.out_type = out_type;
  const TensorView in = TensorView(memory + in_offset, in_type, shape).permuted(axes);
  const plan::LoopNest nest =
      plan::normalise(plan::make_nest(TensorView(memory + out_offset, out_type, in.shape()), {in}));
  plan::TileTarget target =
      plan::tile_target(device, static_cast<int>(size_of(in_type)), static_cast<int>(size_of(out_type)));
  target.in_offset = in_offset % 16;
  target.out_offset = out_offset;
  const plan::TilePlan plan = plan::choose_tile(nest, target);
  tile.valid = plan.valid;
  if (!plan.valid) return tile;
  plan::fill_tile_params(nest, plan, tile.params);
  tile.estimate = plan::tile_passes(nest, target, plan);
  return tile;
}

const std::vector<DeviceProperties>& devices() {
  static const std::vector<DeviceProperties> both{DeviceProperties::h200(), DeviceProperties::mi300x()};
  return both;
}

/// Eight vectors of a run and four of its neighbours cover all banks; with shorter runs lanes meet in pairs.
TEST(TileBanks, AlignedTransposesHaveNoConflictsInRunsOf128Bytes) {
  int without = 0;
  for (const DeviceProperties& device : devices())
    for (const DType type : {DType::u8, DType::f16, DType::f32, DType::f64})
      for (const Dims& shape : {Dims{8192, 8192}, Dims{1216, 43408}, Dims{3136, 256}, Dims{7264, 7264}}) {
        SCOPED_TRACE(device.name + " " + std::string(name_of(type)) + " " + to_string(shape));
        const Tile tile = tile_of(device, type, type, shape, {1, 0});
        ASSERT_TRUE(tile.valid);
        ASSERT_TRUE(tile.params.assembly == Assembly::elements || tile.params.assembly == Assembly::words);
        const BankReport report = count_conflicts(tile.params, device);
        const bool long_runs = tile.params.write_vectors >= 8;
        EXPECT_LE(report.drain.worst, long_runs ? 1 : 2);
        EXPECT_LE(report.fill.worst, 2 * report.fill.least / report.fill.accesses);
        without += long_runs && report.fill.conflict_free() ? 1 : 0;
      }
  EXPECT_GE(without, 24);
}

/// A lane's 16 bytes become 4 or 8 pieces of shared memory; the lanes of a pass store different ones.
TEST(TileBanks, CastsFromShortElementsTo8BytesFillAllBanks) {
  for (const DeviceProperties& device : devices())
    for (const auto& [from, to] : {std::pair(DType::u8, DType::u64), std::pair(DType::i8, DType::f64),
                                   std::pair(DType::i16, DType::i64), std::pair(DType::bf16, DType::f64)})
      for (const Dims& shape : {Dims{8192, 8192}, Dims{1216, 43408}, Dims{3136, 256}}) {
        SCOPED_TRACE(device.name + " " + std::string(name_of(from)) + " " + std::string(name_of(to)) + " " +
                     to_string(shape));
        const Tile tile = tile_of(device, from, to, shape, {1, 0});
        ASSERT_TRUE(tile.valid);
        EXPECT_LE(count_conflicts(tile.params, device).fill.worst, 2);
      }
}

/// Short axes whose runs merge: conflicts that the documents call bounded.
TEST(TileBanks, MergedAxesHaveBoundedConflicts) {
  for (const Dims& shape : {Dims{48, 28, 28, 28, 48}, Dims{32, 16, 16, 16, 16, 32}, Dims{96, 76, 76, 96}}) {
    std::vector<int> reversed;
    for (int axis = static_cast<int>(shape.size()); axis-- > 0;) reversed.push_back(axis);
    SCOPED_TRACE(to_string(shape));
    for (const DeviceProperties& device : devices()) {
      const Tile tile = tile_of(device, DType::f32, DType::f32, shape, reversed);
      ASSERT_TRUE(tile.valid);
      ASSERT_EQ(tile.params.assembly, Assembly::elements);
      EXPECT_LE(count_conflicts(tile.params, device).drain.worst, 4);
    }
  }
}

/// Everything that is read from shared memory was written there, and all of it lies within the bytes of the
/// block, so the counted addresses are those of a kernel that works. Returns the bytes that are read.
std::int64_t expect_read_what_is_written(const TileParams& params, int warp) {
  std::vector<bool> written(params.shared_bytes), read(params.shared_bytes);
  std::int64_t missing = 0, outside = 0;
  visit_shared_accesses(
      params, warp, [&](SharedAccess access, const std::vector<std::int64_t>& addresses, int bytes) {
        for (const std::int64_t address : addresses) {
          for (std::int64_t byte = address; address != plan::kNoAddress && byte < address + bytes; ++byte) {
            if (byte >= params.shared_bytes) {
              ++outside;
              continue;
            }
            const auto place = static_cast<std::size_t>(byte);
            if (access == SharedAccess::write) {
              written[place] = true;
            } else {
              read[place] = true;
              missing += written[place] ? 0 : 1;
            }
          }
        }
      });
  EXPECT_EQ(outside, 0);
  EXPECT_EQ(missing, 0);
  return std::count(read.begin(), read.end(), true);
}

/// The planner's estimate is right about what it looks at, the first access of the first warp. The ends of
/// runs that start anywhere come before it, so these are compared as a whole.
void expect_estimated(const Tile& tile, const DeviceProperties& device, const BankReport& counted) {
  if (is_unaligned(tile.params.assembly)) return;
  const plan::BankModel model = plan::bank_model(device);
  plan::BankCount first;
  visit_shared_accesses(tile.params, device.warp_size,
                        [&](SharedAccess access, const std::vector<std::int64_t>& addresses, int bytes) {
                          if (access == SharedAccess::read && first.accesses == 0)
                            add_access(model, access, addresses, bytes, first);
                        });
  EXPECT_EQ(tile.estimate.passes, first.passes);
  // Lanes without an item may leave whole warps without an access.
  EXPECT_GE(tile.estimate.accesses, counted.drain.accesses);
  EXPECT_LE(tile.estimate.accesses, counted.drain.accesses * 5 / 4);
}

/// Random nests: docs/permute.md, "Banks", says which conflicts there are.
TEST(TileBanks, RandomPlansKeepTheirBounds) {
  int planned = 0;
  double passes[7] = {}, least[7] = {}, estimated = 0;
  for (const std::uint64_t seed : random_seeds(150)) {
    SCOPED_TRACE(reproduce(seed));
    Random random(seed);
    Dims shape;
    for (std::int64_t rank = random.integer(1, 6); rank-- > 0;)
      shape.push_back(random.chance(0.2)   ? random.integer(1, 3000)
                      : random.chance(0.5) ? 8 * random.integer(1, 8)
                                           : random.integer(1, 60));
    if (shape.size() > 5) std::fill(shape.begin(), shape.begin() + 2, random.integer(1, 9));
    std::vector<int> axes(shape.size());
    std::iota(axes.begin(), axes.end(), 0);
    for (std::size_t i = axes.size(); i > 1; --i)
      std::swap(axes[i - 1],
                axes[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(i) - 1))]);
    const DType type = random.pick<DType>({DType::u8, DType::f16, DType::f32, DType::f64});
    const DType in_type = type != DType::u8 && random.chance(0.2) ? DType::f32 : type;
    const int in_offset = random.chance(0.2) ? static_cast<int>(size_of(in_type)) : 0;
    const int out_offset = random.chance(0.2) ? static_cast<int>(size_of(type)) : 0;
    for (const DeviceProperties& device : devices()) {
      const Tile tile = tile_of(device, in_type, type, shape, axes, in_offset, out_offset);
      if (!tile.valid) continue;
      ++planned;
      EXPECT_GT(expect_read_what_is_written(tile.params, device.warp_size), 0);
      const BankReport report = count_conflicts(tile.params, device);
      EXPECT_LE(report.fill.worst, 8);
      expect_estimated(tile, device, report);
      estimated += tile.estimate.passes * static_cast<double>(tile.estimate.accesses) /
                   static_cast<double>(report.drain.passes);
      switch (tile.params.assembly) {
        case Assembly::vectors:
          EXPECT_LE(report.drain.worst, 4);
          break;
        case Assembly::words:
          EXPECT_LE(report.drain.worst, 8);
          break;
        case Assembly::elements:
        case Assembly::unaligned_rows:
        case Assembly::unaligned_groups:
        case Assembly::unaligned_columns:
          EXPECT_LE(report.drain.worst, 16);
          break;
        case Assembly::scattered:
          EXPECT_LE(report.drain.worst, 32);  // all lanes of a phase: no bound
      }
      const auto kind = static_cast<std::size_t>(tile.params.assembly);
      passes[kind] += static_cast<double>(report.passes());
      least[kind] += static_cast<double>(report.least());
    }
  }
  EXPECT_GT(planned, 200);
  if (planned < 200) return;  // one seed alone
  const auto mean = [&](Assembly kind) {
    return passes[static_cast<std::size_t>(kind)] / least[static_cast<std::size_t>(kind)];
  };
  EXPECT_NEAR(estimated / planned, 1, 0.15);
  // As docs/permute.md says.
  EXPECT_LE(mean(Assembly::elements), 1.4);
  EXPECT_LE(mean(Assembly::words), 1.7);
  EXPECT_LE(mean(Assembly::vectors), 1.2);
  EXPECT_LE(mean(Assembly::scattered), 3.6);
  EXPECT_LE(mean(Assembly::unaligned_rows), 1.5);
  EXPECT_LE(mean(Assembly::unaligned_groups), 2.4);
  EXPECT_LE(mean(Assembly::unaligned_columns), 2.3);
}

}  // namespace
}  // namespace relayout::test
