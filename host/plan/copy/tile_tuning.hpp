// The numbers by which plans for tiles are looked for and compared: data, one set for each class of device.
// docs/permute.md, "Tuning", says how to find others.
#pragma once

#include <algorithm>
#include <cstdint>

#include "relayout/device.hpp"

namespace relayout::plan {

struct TileTuning {
  // Which tiles are looked at (tile_plan.cpp).
  /// Bytes of a run on either side: powers of two from one to the other, at most 16 of them.
  std::int64_t shortest_run, longest_run;
  /// Threads of a block: powers of two; small blocks only for nests of fewer tiles than `many_tiles` a
  /// multiprocessor, of `usual_threads` each.
  int fewest_threads, usual_threads, most_threads;
  std::int64_t many_tiles;

  // How they are compared (tile_score.cpp). No share is above 1: the search relies on it.
  /// Bytes lost per run of the input and of the output; more of them where output runs start anywhere, in
  /// proportion where they start on some boundary within a line, a power of two of bytes.
  double lost_per_read, lost_per_write, lost_per_cut_line;
  std::int64_t line_bytes;
  /// The share of the memory's speed that is left when a tile uses few of its threads.
  double least_full;
  /// Bytes of both sides that a thread moves in the time for which its block waits at least.
  double bytes_while_waiting;
  /// The same of a device of which nearly no multiprocessor has work; all have with `busy_tiles` each.
  double idle;
  std::int64_t busy_tiles;
  /// Shares that instructions leave on an H200; of a slower memory they leave more (memory_ratio). Blocks of
  /// more than the usual threads: fewer at a time hide less of each other's waits.
  double large_blocks;
  /// Transposes that read and write more bytes than these: nothing of large_blocks is lost, and each doubling
  /// takes `saved_by_doubling` off a tile's time beside the launch, down to `least_of_large` of it.
  double large_bytes, saved_by_doubling, least_of_large;
  /// More instructions an element: rows that start anywhere, of bytes, of other elements that are joined from
  /// two vectors, or of words; places that come from a table, for elements of 1, 2, 4 and 8 bytes.
  double unaligned_bytes, unaligned, unaligned_words, scattered[4];
  /// What is left of the latter in casts by size, and where four rows of bytes share words.
  double scattered_casts, byte_groups;
  /// Time, counted in elements: of an entry of such a table; of an element that an unaligned output run has
  /// in front of its first boundary; of one behind its last vector, and in casts by size.
  double lost_per_place, lost_in_front, lost_behind, cast_lost_behind;

  // What a predicted time is made of (copy_plan.cpp).
  /// Before the first and after the last byte. How fast the device is otherwise: device_rates.hpp.
  double launch_microseconds;
  /// What kernels take more than launch_microseconds, which is the stream kernel's, where problems are small:
  /// they look up more, and wait for it, before the first byte moves (rows: rows_candidate.cpp). In large
  /// problems other blocks move bytes meanwhile, and such a share of it is left.
  double gather_start, tile_start, window_start, least_start;

  /// Outputs from this size on find no room in the caches for a reader: they are stored past them.
  std::int64_t streaming_bytes;
};

/// 32 lanes, as NVIDIA's; and what RDNA and emulated warps of 32 use.
extern const TileTuning kTuningOf32Lanes;
/// 64 lanes, as CDNA's.
extern const TileTuning kTuningOf64Lanes;

const TileTuning& tile_tuning(const DeviceProperties& device);

/// The share of the memory's speed that runs of so many bytes reach, each of which loses `lost` bytes.
inline double run_share(double bytes, double lost) { return bytes / (bytes + lost); }

/// The share of a device's speed that so many blocks reach: from `enough` of them on all of it, with hardly
/// one the share `idle`.
inline double busy_share(double idle, double enough, double blocks) {
  return idle + (1 - idle) * std::min(1.0, blocks / enough);
}

}  // namespace relayout::plan
