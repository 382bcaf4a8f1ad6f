#include "host/plan/conv/direct_plan.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/bytes.hpp"
#include "core/integer_math.hpp"
#include "host/plan/plan_words.hpp"

namespace relayout::plan {
namespace {

/// Several blocks a multiprocessor fit even where it has 64 KiB (CDNA's LDS).
constexpr std::int64_t kMaxSharedBytes = 24 * 1024;
/// Bytes of the sums of one position.
constexpr std::int64_t kSumsBytes = kConvColumns * static_cast<std::int64_t>(sizeof(float));

std::int64_t column_tiles(const ConvParams& p) { return divide_up(p.columns, kConvColumns); }

}  // namespace

void plan_direct(const DeviceProperties& device, ConvParams& p) {
  // Many positions share the weights that a block reads, few keep every multiprocessor busy.
  const std::int64_t wanted = 2 * static_cast<std::int64_t>(device.multiprocessors);
  const bool enough = p.batch * p.groups * column_tiles(p) * divide_up(p.positions, kManyPositions) >= wanted;
  p.tile_positions = enough ? kManyPositions : kFewPositions;
  p.tile_channels = p.tile_pitch = kConvChannels;

  // Bytes in shared memory of one sample, or of the results of one position.
  const std::int64_t row_bytes = kConvChannels * bytes_of(p.out_type);
  const std::int64_t most_rows = std::min(kMaxSharedBytes, device.shared_memory_per_block) / row_bytes;
  const std::int64_t halo = (p.taps - 1) * p.dilation;
  const bool all_taps =
      p.stride <= most_rows && halo < most_rows && (p.tile_positions - 1) * p.stride + halo + 1 <= most_rows;
  if (all_taps) {
    p.tile_samples = static_cast<std::int32_t>((p.tile_positions - 1) * p.stride + halo + 1);
    p.pass_taps = static_cast<std::int32_t>(p.taps);
    p.position_rows = static_cast<std::int32_t>(p.stride);
    p.tap_rows = static_cast<std::int32_t>(p.dilation);
    p.row_samples = 1;
  } else {
    p.tile_samples = p.tile_positions;
    p.pass_taps = p.position_rows = 1;
    p.tap_rows = 0;
    p.row_samples = p.stride;
  }
  const std::int64_t others = (conv_parts(p.tile_positions) - 1) * kSumsBytes;
  p.shared_bytes = std::max(p.tile_samples * row_bytes, p.tile_positions * (row_bytes + others));

  p.along_time = p.channels == 1 || std::abs(p.in_time) <= std::abs(p.in_channel);
  const std::int64_t y_bytes = p.batch * p.groups * p.positions * p.columns * bytes_of(p.out_type);
  p.streaming = y_bytes > static_cast<std::int64_t>(device.l2_bytes / 2);
  p.warp_size = device.warp_size;
}

std::string explain_direct(bool native, const ConvParams& p) {
  if (native)
    return "Kernel native: the processor's own code, which gathers a window's samples for its GEMM.\n";
  SentenceStream text;
  text << "Kernel conv: one kernel from the input to y, on the matrix unit; neither A nor a padded signal is "
          "written.\n";
  text << "Tile: " << plural(p.tile_positions, "position") << " and " << plural(kConvColumns, "column")
       << ", " << plural(kConvChannels, "channel") << " at a time, from " << plural(p.tile_samples, "row")
       << " of samples "
       << (p.pass_taps == p.taps ? "for all taps" : "for one tap after the other, as those of all do not fit")
       << "; " << plural(std::int64_t{kConvWarps} * conv_parts(p.tile_positions) * p.warp_size, "thread")
       << ", " << plural(p.shared_bytes, "byte") << " of shared memory; "
       << plural(p.batch * p.groups * divide_up(p.positions, p.tile_positions) * column_tiles(p), "block")
       << ".\n";
  text << "Accesses: " << plural(bytes_of(p.in_type), "byte") << " of the input, lanes along "
       << (p.along_time ? "time" : "channels") << "; 16 bytes of y, "
       << (p.streaming ? "stored past the caches" : "stored through the caches") << ".\n";
  return text.str();
}

}  // namespace relayout::plan
