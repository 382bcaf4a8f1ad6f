#include "host/plan/copy/tile_tuning.hpp"

#include <algorithm>

#include "core/tile_layout.hpp"

namespace relayout::plan {
namespace {

/// Fitted to the times of 1630 plans for the benchmark's permutations on an H200; what unaligned rows and
/// tables of places leave, to 727 plans for random permutations (docs/permute.md), the tables raised since
/// their set-up became shorter (docs/notes/permute.md).
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
  tuning.unaligned = 0.83;
  tuning.unaligned_words = 0.93;
  tuning.scattered[0] = 0.72;
  tuning.scattered[1] = 0.88;
  tuning.scattered[2] = 0.93;
  tuning.scattered[3] = 0.96;
  tuning.scattered_casts = 0.92;
  tuning.lost_per_place = 2;
  tuning.byte_groups = 0.8;
  // The best copy of 524 KB takes 1.7 us (docs/permute.md).
  tuning.launch_microseconds = 1.6;
  // Medians of random copies of less than 1 MB on an H100 (docs/notes/permute.md).
  tuning.gather_start = 0.15;
  tuning.rows_start = 0.7;
  tuning.tile_start = 2;
  tuning.window_start = 1;
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

double busy_share(const TileTuning& tuning, double blocks, std::int64_t multiprocessors) {
  const double busy = std::min(1.0, blocks / static_cast<double>(tuning.busy_tiles * multiprocessors));
  return tuning.idle + (1 - tuning.idle) * busy;
}

}  // namespace relayout::plan
