// Shared memory's bank conflicts of the tile kernel, counted over the addresses that its parameters give: the
// reads that put an output vector together, element by element (or word by word), one access of a warp each.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "host/api/tile_launch.hpp"

namespace relayout::test {
namespace {

constexpr std::uint32_t kBanks = 32, kWarp = 32;

/// Where element `index` of some axes of the tile lies: column and row.
void walk(const TileAxes& axes, std::uint32_t index, std::uint32_t& column, std::uint32_t& row) {
  for (int k = 0; k < axes.count; ++k) {
    const std::uint32_t extent = axes.axes[k].extent.value;
    const std::uint32_t i = k + 1 < axes.count ? index % extent : index;
    column += i * axes.axes[k].column;
    row += i * axes.axes[k].row;
    index /= extent;
  }
}

/// The most words that one bank has to deliver to a warp for one access, over all warps and elements of a
/// tile.
std::size_t worst_conflict(const TileParams& p) {
  const auto size = static_cast<std::uint32_t>(size_of(p.out_type));
  const std::uint32_t vector = 16 / size, width = p.write_width.value, rows = p.write_rows.value;
  const std::uint32_t strips = (p.write_vectors + width - 1) / width, items = strips * width * rows;
  std::size_t worst = 0;
  for (std::uint32_t warp = 0; warp < items; warp += kWarp) {
    for (std::uint32_t element = 0; element < vector; ++element) {
      std::map<std::uint32_t, std::set<std::uint32_t>> words;
      // Accesses of 8 bytes go by half warps.
      const std::uint32_t lanes = size == 8 ? kWarp / 2 : kWarp;
      for (std::uint32_t item = warp; item < std::min(items, warp + lanes); ++item) {
        const std::uint32_t run = item / width % rows,
                            first = (item / width / rows * width + item % width) * vector;
        if (first >= p.write_elements) continue;
        std::uint32_t column = 0, row = 0;
        walk(p.write_rest, run, column, row);
        walk(p.write_run, first, column, row);
        const std::uint32_t byte = (row % vector * p.rows_by_vector + row / vector) * p.pitch +
                                   column * size + element * p.element_step;
        for (std::uint32_t word = byte / 4; word <= (byte + size - 1) / 4; ++word)
          words[word % kBanks].insert(word);
      }
      for (const auto& bank : words) worst = std::max(worst, bank.second.size());
    }
  }
  return worst;
}

/// The tile kernel's parameters for a contiguous [shape], permuted by `axes`.
TileParams params_of(DType type, const Dims& shape, const std::vector<int>& axes) {
  static char memory;  // only addresses are computed
  const TensorView in = TensorView(&memory, type, shape).permuted(axes);
  const plan::LoopNest nest = plan::normalise(plan::make_nest(TensorView(&memory, type, in.shape()), {in}));
  plan::TileTarget target;
  target.in_bytes = target.out_bytes = static_cast<int>(size_of(type));
  target.multiprocessors = 132;
  const plan::TilePlan plan = plan::choose_tile(nest, target);
  EXPECT_TRUE(plan.valid);
  TileParams params;
  params.in_type = params.out_type = type;
  fill_tile_params(nest, plan, params);
  return params;
}

/// Eight vectors of a run and four of its neighbours cover all banks; with shorter runs lanes meet in pairs.
TEST(TileBanks, AlignedTransposesHaveNoConflictsInRunsOf128Bytes) {
  int without = 0;
  for (const DType type : {DType::u8, DType::f16, DType::f32, DType::f64})
    for (const Dims& shape : {Dims{8192, 8192}, Dims{1216, 43408}, Dims{3136, 256}, Dims{7264, 7264}}) {
      SCOPED_TRACE(std::string(name_of(type)) + " " + to_string(shape));
      const TileParams params = params_of(type, shape, {1, 0});
      ASSERT_TRUE(params.assembly == Assembly::elements || params.assembly == Assembly::words);
      const bool long_runs = params.write_vectors >= 8;
      EXPECT_LE(worst_conflict(params), long_runs ? 1u : 2u);
      without += long_runs ? 1 : 0;
    }
  EXPECT_GE(without, 12);
}

/// Short axes whose runs merge: what the docs call bounded.
TEST(TileBanks, MergedAxesHaveBoundedConflicts) {
  for (const Dims& shape : {Dims{48, 28, 28, 28, 48}, Dims{32, 16, 16, 16, 16, 32}, Dims{96, 76, 76, 96}}) {
    std::vector<int> reversed;
    for (int axis = static_cast<int>(shape.size()); axis-- > 0;) reversed.push_back(axis);
    const TileParams params = params_of(DType::f32, shape, reversed);
    SCOPED_TRACE(to_string(shape));
    ASSERT_EQ(params.assembly, Assembly::elements);
    EXPECT_LE(worst_conflict(params), 4u);
  }
}

}  // namespace
}  // namespace relayout::test
