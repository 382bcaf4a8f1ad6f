#include "host/plan/window/window_tile.hpp"

#include <algorithm>

#include "core/sector.hpp"
#include "host/plan/window/window_cost.hpp"
#include "host/plan/window/window_tile_shape.hpp"
#include "host/plan/window/window_tile_work.hpp"

namespace relayout::plan {
namespace {

/// More would leave too few blocks on a multiprocessor to hide each other's waits.
constexpr std::int64_t kMaxSharedBytes = 48 * 1024;

std::int64_t shared_limit(const DeviceProperties& device) {
  return std::min(kMaxSharedBytes, device.shared_memory_per_block) - kVectorBytes;
}

/// Calls consider(choice) for each tile that fits.
template <class Consider>
void for_each_tile(const DeviceProperties& device, const WindowParams& p, Consider&& consider) {
  const WindowTuning& tuning = window_tuning(device);
  const std::int64_t limit = shared_limit(device);
  WindowParams trial = p;
  bool found = false;
  const auto try_channels = [&](std::int64_t channels) {
    const TileShape shape(p, channels, limit);
    for (std::int64_t multiple = 1; shape.make(multiple, limit, trial); multiple *= 2) {
      const WindowWork work = window_tile_work(tuning, trial, shape.layout(), shape.on_sectors());
      consider(WindowTileChoice{channels, multiple, predicted_microseconds(tuning, device, work)});
      found = true;
      if (trial.tile_positions >= p.positions + trial.tile.positions_before) break;
    }
  };
  try_channels(p.channels);
  for (std::int64_t channels = 256; channels >= 1; channels /= 2) {
    if (channels < p.channels && (channels >= 16 || !found)) try_channels(channels);
  }
}

}  // namespace

double choose_window_tile(const DeviceProperties& device, WindowParams& p) {
  WindowTileChoice best;
  best.microseconds = -1;
  for_each_tile(device, p, [&](const WindowTileChoice& choice) {
    if (best.microseconds < 0 || choice.microseconds < best.microseconds) best = choice;
  });
  if (best.microseconds >= 0) set_window_tile(device, best, p);
  return best.microseconds;
}

std::vector<WindowTileChoice> window_tiles(const DeviceProperties& device, const WindowParams& p) {
  std::vector<WindowTileChoice> choices;
  for_each_tile(device, p, [&](const WindowTileChoice& choice) { choices.push_back(choice); });
  std::stable_sort(choices.begin(), choices.end(), [](const WindowTileChoice& a, const WindowTileChoice& b) {
    return a.microseconds < b.microseconds;
  });
  return choices;
}

void set_window_tile(const DeviceProperties& device, const WindowTileChoice& choice, WindowParams& p) {
  const std::int64_t limit = shared_limit(device);
  const TileShape shape(p, choice.channels, limit);
  shape.make(choice.multiple, limit, p);
  shape.finish(p);
}

}  // namespace relayout::plan
