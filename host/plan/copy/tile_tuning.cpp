#include "host/plan/copy/tile_tuning.hpp"

#include "core/tile_layout.hpp"

namespace relayout::plan {
namespace {

/// Which tiles are looked at: by the times of 1630 plans for the benchmark's permutations on an H200. The
/// rest is fitted to all kernels' times of 2000 random copies and 160 transposes on an H200
/// (docs/notes/permute.md).
constexpr TileTuning fitted_on_hopper() {
  TileTuning tuning{};
  tuning.shortest_run = 64;
  tuning.longest_run = 16384;
  tuning.fewest_threads = 64;
  tuning.usual_threads = 256;
  tuning.most_threads = kMaxTileThreads;
  tuning.many_tiles = 4;
  tuning.lost_per_read = 16;
  tuning.lost_per_write = 15.6;
  tuning.lost_per_cut_line = 19;
  tuning.line_bytes = 64;
  tuning.least_full = 0.89;
  // Blocks of 256 threads begin every 2.2 to 2.9 ns on an H200, transposes of 4 to 32 rows
  // (docs/notes/permute.md).
  tuning.bytes_while_waiting = 60;
  tuning.idle = 0.2;
  tuning.busy_tiles = 2;
  tuning.large_blocks = 0.9;
  // Random copies, to which all is fitted, end at 128 MB. Tiles that transpose 170 to 1600 MB take 0.79 of
  // what is predicted from there, rows 1.1 (docs/notes/permute.md).
  tuning.large_bytes = 128e6;
  tuning.saved_by_doubling = 0.1;
  tuning.least_of_large = 0.8;
  tuning.unaligned_bytes = 0.69;
  tuning.unaligned = 0.83;
  tuning.unaligned_words = 0.9;
  tuning.scattered[0] = 0.8;
  tuning.scattered[1] = 0.94;
  tuning.scattered[2] = 0.9;
  tuning.scattered[3] = 0.89;
  tuning.scattered_casts = 0.76;
  tuning.lost_per_place = 1.8;
  tuning.lost_in_front = 4;
  tuning.lost_behind = 1;
  tuning.cast_lost_behind = 2;
  tuning.byte_groups = 0.74;
  // The best copy of 524 KB takes 1.7 us (docs/permute.md).
  tuning.launch_microseconds = 1.6;
  // Medians of random copies of less than 1 MB on an H100 (docs/notes/permute.md).
  tuning.gather_start = 0.13;
  tuning.tile_start = 2.4;
  tuning.window_start = 0.78;
  tuning.least_start = 0.47;
  tuning.streaming_bytes = std::int64_t{16} << 20;
  return tuning;
}

/// NOT measured: the H200's numbers but for what the architecture says otherwise. The L2 of CDNA moves lines
/// of 128 bytes. Its 64 KiB of LDS a block are a property of the device.
constexpr TileTuning guessed_for_cdna() {
  TileTuning tuning = fitted_on_hopper();
  tuning.line_bytes = 128;
  return tuning;
}

}  // namespace

const TileTuning kTuningOf32Lanes = fitted_on_hopper();
const TileTuning kTuningOf64Lanes = guessed_for_cdna();

const TileTuning& tile_tuning(const DeviceProperties& device) {
  return device.warp_size == 64 ? kTuningOf64Lanes : kTuningOf32Lanes;
}

}  // namespace relayout::plan
