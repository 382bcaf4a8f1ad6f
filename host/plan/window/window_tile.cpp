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

WindowTile choose_window_tile(const WindowShape& shape, const DeviceProperties& device) {
  const std::int64_t limit = std::min(kMaxSharedBytes, device.shared_memory_per_block);
  WindowTile tile;
  tile.positions = power_of_two_up_to(shape.positions, kMaxPositions);
  tile.channels = power_of_two_up_to(shape.channels, kMaxChannels);
  // Fewer positions first: that keeps the runs of channels long; the halo grows in proportion.
  for (;;) {
    const std::int64_t pitch = pitch_of(tile.channels, shape.element_bytes);
    // samples <= limit / row bytes, asked without a product that could overflow
    const std::int64_t rows = limit / (pitch * shape.element_bytes);
    const bool fits = shape.span <= rows &&
                      (tile.positions == 1 || shape.stride <= (rows - shape.span) / (tile.positions - 1));
    if (fits) {
      tile.samples = static_cast<int>((tile.positions - 1) * shape.stride + shape.span);
      tile.pitch = static_cast<int>(pitch);
      tile.shared_bytes = tile.samples * pitch * shape.element_bytes;
      return tile;
    }
    if (tile.positions > kFewestPositions) {
      tile.positions /= 2;
    } else if (tile.channels > kFewestChannels) {
      tile.channels /= 2;
      tile.positions = power_of_two_up_to(shape.positions, kMaxPositions);
    } else {
      break;
    }
  }
  tile.positions = power_of_two_up_to(shape.positions, kMaxPositions);
  tile.channels = power_of_two_up_to(shape.channels, kMaxChannels);
  return tile;
}

}  // namespace relayout::plan
