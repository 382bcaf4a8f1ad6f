#include "host/plan/copy/tile_tuning.hpp"

#include "core/tile_geometry.hpp"

namespace relayout::plan {
namespace {

/// Fitted to the times of 1630 plans for the benchmark's permutations on an H200 (docs/permute.md).
constexpr TileTuning tuned_on_h200() {
  TileTuning tuning{};
  tuning.shortest_run = 64;
  tuning.longest_run = 16384;
  tuning.fewest_threads = 64;
  tuning.usual_threads = 256;
  tuning.most_threads = kMaxTileThreads;
  tuning.many_tiles = 4;
  tuning.lost_per_read = 23;
  tuning.lost_per_write = 13;
  tuning.lost_per_cut_line = 14;
  tuning.line_bytes = 64;
  tuning.least_full = 0.825;
  tuning.idle = 0.2;
  tuning.busy_tiles = 2;
  tuning.large_blocks = 0.99;
  tuning.unaligned = 0.79;
  tuning.scattered = 0.93;
  tuning.scattered_by_element = 0.7;
  tuning.streaming_bytes = std::int64_t{16} << 20;
  return tuning;
}

/// NOT measured: the H200's numbers but for what the architecture says otherwise. The L2 of CDNA moves lines
/// of 128 bytes. Its 64 KiB of LDS a block are a property of the device.
constexpr TileTuning guessed_for_cdna() {
  TileTuning tuning = tuned_on_h200();
  tuning.line_bytes = 128;
  return tuning;
}

}  // namespace

const TileTuning kTuningOf32Lanes = tuned_on_h200();
const TileTuning kTuningOf64Lanes = guessed_for_cdna();

const TileTuning& tile_tuning(const DeviceProperties& device) {
  return device.warp_size == 64 ? kTuningOf64Lanes : kTuningOf32Lanes;
}

}  // namespace relayout::plan
