#include "host/plan/conv/conv_tile.hpp"

#include <algorithm>

namespace relayout::plan {
namespace {

/// Several blocks a multiprocessor fit even where it has 64 KiB (CDNA's LDS).
constexpr std::int64_t kMaxSharedBytes = 24 * 1024;

}  // namespace

ConvTile choose_conv_tile(const ConvShape& s, const DeviceProperties& device) {
  ConvTile tile;
  // Many positions share the weights that a block reads, few keep every multiprocessor busy.
  const std::int64_t many = (s.positions + kManyPositions - 1) / kManyPositions;
  const std::int64_t wanted = 2 * static_cast<std::int64_t>(device.multiprocessors);
  const bool enough = s.sequences * s.column_tiles * many >= wanted;
  tile.positions = enough ? kManyPositions : kFewPositions;

  const std::int64_t most_rows = std::min(kMaxSharedBytes, device.shared_memory_per_block) / s.row_bytes;
  const std::int64_t halo = (s.taps - 1) * s.dilation;
  tile.all_taps =
      s.stride <= most_rows && halo < most_rows && (tile.positions - 1) * s.stride + halo + 1 <= most_rows;
  tile.rows = tile.all_taps ? static_cast<int>((tile.positions - 1) * s.stride + halo + 1) : tile.positions;
  const std::int64_t others = (conv_parts(tile.positions) - 1) * s.sums_bytes;
  tile.shared_bytes = std::max(tile.rows * s.row_bytes, tile.positions * (s.row_bytes + others));
  return tile;
}

}  // namespace relayout::plan
