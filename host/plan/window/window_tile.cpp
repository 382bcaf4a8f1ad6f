#include "host/plan/window/window_tile.hpp"

#include <algorithm>

namespace relayout::plan {
namespace {

constexpr int kMaxChannels = 64, kFewestChannels = 8;
constexpr int kMaxPositions = 64, kFewestPositions = 4;
/// Three blocks a multiprocessor fit even where it has 64 KiB (CDNA's LDS).
constexpr std::int64_t kMaxSharedBytes = 20 * 1024;

int power_of_two_up_to(std::int64_t wanted, int most) {
  int result = 1;
  while (result < most && result < wanted) result *= 2;
  return result;
}

/// An odd number of 4-byte banks from row to row, so that lanes that walk down the samples hit different
/// banks. `channels` is a power of two: one bank more makes rows of 4 bytes and up odd; 8-byte rows shift by
/// two banks.
int pitch_of(int channels, std::int64_t element_bytes) {
  const int per_bank = element_bytes >= 4 ? 1 : static_cast<int>(4 / element_bytes);
  return std::max(channels, per_bank) + per_bank;
}

}  // namespace

void choose_window_tile(const DeviceProperties& device, WindowParams& p) {
  const std::int64_t limit = std::min(kMaxSharedBytes, device.shared_memory_per_block);
  const auto element_bytes = static_cast<std::int64_t>(size_of(p.out_type));
  const std::int64_t span = p.span();
  p.tile_positions = power_of_two_up_to(p.positions, kMaxPositions);
  p.tile_channels = power_of_two_up_to(p.channels, kMaxChannels);
  // Fewer positions first: that keeps the runs of channels long; the halo grows in proportion.
  for (;;) {
    const std::int64_t pitch = pitch_of(p.tile_channels, element_bytes);
    // samples <= limit / row bytes, asked without a product that could overflow
    const std::int64_t rows = limit / (pitch * element_bytes);
    const bool fits =
        span <= rows && (p.tile_positions == 1 || p.stride <= (rows - span) / (p.tile_positions - 1));
    if (fits) {
      p.tile_samples = static_cast<std::int32_t>((p.tile_positions - 1) * p.stride + span);
      p.tile_pitch = static_cast<std::int32_t>(pitch);
      p.shared_bytes = p.tile_samples * pitch * element_bytes;
      return;
    }
    if (p.tile_positions > kFewestPositions) {
      p.tile_positions /= 2;
    } else if (p.tile_channels > kFewestChannels) {
      p.tile_channels /= 2;
      p.tile_positions = power_of_two_up_to(p.positions, kMaxPositions);
    } else {
      break;
    }
  }
  p.tile_positions = power_of_two_up_to(p.positions, kMaxPositions);
  p.tile_channels = power_of_two_up_to(p.channels, kMaxChannels);
  p.tile_samples = p.tile_pitch = 0;
  p.shared_bytes = 0;
}

}  // namespace relayout::plan
