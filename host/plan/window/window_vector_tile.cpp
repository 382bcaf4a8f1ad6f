#include "host/plan/window/window_vector_tile.hpp"

#include <algorithm>
#include <initializer_list>
#include <numeric>

#include "core/bytes.hpp"
#include "core/integer_math.hpp"
#include "core/sector.hpp"
#include "core/window_geometry.hpp"
#include "host/plan/window/window_problem.hpp"

namespace relayout::plan {
namespace {

/// Without opting in to more; CDNA's 64 KiB hold one such block beside smaller ones.
constexpr std::int64_t kMaxSharedBytes = 48 * 1024;
// Measured on an H200 (docs/conv1d.md): rows of 256 bytes and tiles of 16 KiB are best where the output is
// several times the input, twice that where it is not; smaller tiles read more halo, larger ones spread the
// writes of the blocks that run together over more of the memory.
constexpr std::int64_t kMaxPacks = 16, kFewestPacks = 4;
constexpr std::int64_t kTilePacks = 1024;
constexpr std::int64_t kFewestSamples = 16;
/// Packs of a row where a signal is so short that the tile has room for more.
constexpr std::int64_t kMaxPacksOfShort = 64;

/// `steps`: from row to row, in elements.
bool rows_aligned(const void* base, std::int64_t element_bytes, std::initializer_list<std::int64_t> steps) {
  return reinterpret_cast<std::uintptr_t>(base) % kVectorBytes == 0 &&
         std::all_of(steps.begin(), steps.end(),
                     [&](std::int64_t step) { return step % (kVectorBytes / element_bytes) == 0; });
}

const char* output_obstacle(const WindowParams& p) {
  const std::int64_t out_bytes = bytes_of(p.out_type);
  if (p.channels % (kVectorBytes / out_bytes) != 0)
    return "the channels of a group do not fill whole 16-byte packs of the output";
  if (p.out_channel != 1) return "channels do not lie side by side in the output";
  const bool aligned = rows_aligned(p.out, out_bytes,
                                    {step_along(p.batch, p.out_batch), step_along(p.groups, p.out_group),
                                     step_along(p.positions, p.out_position), step_along(p.taps, p.out_tap)});
  return aligned ? nullptr : "rows of the output do not lie on 16-byte boundaries";
}

/// Output positions under `samples` input samples of which the first `offset` are not needed; 0 when not even
/// one.
std::int64_t positions_under(std::int64_t samples, std::int64_t offset, const WindowParams& p) {
  if (samples - offset < p.span()) return 0;
  return (samples - offset - p.span()) / p.stride + 1;
}

struct Tile {
  std::int64_t positions, channels, samples;
};

/// The positions of a tile of this many samples. A multiple of `vector / gcd(stride, vector)` positions keeps
/// every tile's start equally far behind a boundary; otherwise the worst distance is allowed for.
Tile fitted(std::int64_t samples, std::int64_t channels, std::int64_t vector, const WindowParams& p) {
  const std::int64_t offset = ((-p.pad_left) % vector + vector) % vector;
  const std::int64_t unit = vector / std::gcd(p.stride, vector);
  const std::int64_t even = positions_under(samples, offset, p) / unit * unit;
  const std::int64_t any = positions_under(samples, vector - 1, p);
  return {std::min(std::max(even, any), p.positions), channels, samples};
}

}  // namespace

const char* vector_obstacle(WindowParams& p) {
  const std::int64_t in_bytes = bytes_of(p.in_type), out_bytes = bytes_of(p.out_type);
  if (!has_vector_window(in_bytes, out_bytes, p.in_type != p.out_type))
    return "it has no code for these two types";
  if (p.length == 0) return "the signal has no samples";
  if (const char* obstacle = output_obstacle(p)) return obstacle;
  p.along_time = p.in_time == 1 && rows_aligned(p.in, in_bytes,
                                                {step_along(p.batch, p.in_batch),
                                                 step_along(p.channels * p.groups, p.in_channel)});
  if (p.along_time) return nullptr;
  if (p.in_time != 1 && p.in_channel != 1) return "neither time nor channels lie side by side in the input";
  if (p.in_channel != 1 ||
      !rows_aligned(p.in, in_bytes, {step_along(p.batch, p.in_batch), step_along(p.length, p.in_time)}))
    return "rows of the input do not lie on 16-byte boundaries";
  return has_vector_window_along_channels(in_bytes, out_bytes)
             ? nullptr
             : "along channels it takes no input elements that are smaller than the output's";
}

bool choose_vector_tile(const DeviceProperties& device, WindowParams& p) {
  const std::int64_t vector = p.along_time ? kVectorBytes / bytes_of(p.in_type) : 1;
  const std::int64_t pack = kVectorBytes / bytes_of(p.out_type);
  std::int64_t packs = 1;
  while (packs < kMaxPacks && packs * pack < p.channels) packs *= 2;

  // A tile should be mostly output, not halo: four spans where shared memory allows.
  std::int64_t samples = kTilePacks / packs * (p.taps == 1 ? 2 : 1);
  if (packs < kMaxPacks) samples = std::min(samples, 2 * kTilePacks / kMaxPacks);
  const std::int64_t limit = std::min(kMaxSharedBytes, device.shared_memory_per_block);
  const auto row_bytes = [&] { return packs * kVectorBytes; };
  while (samples / 4 < p.span() && 2 * samples * row_bytes() <= limit) samples *= 2;
  // A tile has no room for samples that a short signal does not have. Lanes along time would wait for them:
  // there the tile has more channels instead.
  const std::int64_t all = (p.positions - 1) * p.stride + p.span() + vector - 1;
  while (samples / 2 >= std::max(all, vector)) {
    samples /= 2;
    if (p.along_time && packs < kMaxPacksOfShort && packs * pack < p.channels) packs *= 2;
  }

  Tile chosen = fitted(samples, packs * pack, vector, p);
  if (chosen.positions == 0) return false;
  const std::int64_t wanted = device.multiprocessors;
  const auto blocks = [&](const Tile& tile) {
    return p.batch * p.groups * divide_up(p.channels, tile.channels) * divide_up(p.positions, tile.positions);
  };
  // Too few blocks leave multiprocessors idle: halve the time first, whose halo is still small.
  while (blocks(chosen) < wanted) {
    if (samples / 2 >= std::max({kFewestSamples, 2 * p.span(), 2 * vector})) {
      samples /= 2;
    } else if (packs / 2 >= kFewestPacks) {
      packs /= 2;
    } else {
      break;
    }
    chosen = fitted(samples, packs * pack, vector, p);
  }
  p.tile_positions = static_cast<std::int32_t>(chosen.positions);
  p.tile_channels = p.tile_pitch = static_cast<std::int32_t>(chosen.channels);
  p.tile_samples = static_cast<std::int32_t>(chosen.samples);
  p.shared_bytes = chosen.samples * row_bytes();
  return true;
}

}  // namespace relayout::plan
