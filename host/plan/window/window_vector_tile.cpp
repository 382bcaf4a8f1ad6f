#include "host/plan/window/window_vector_tile.hpp"

#include <algorithm>
#include <initializer_list>
#include <numeric>

#include "core/window_geometry.hpp"

namespace relayout::plan {
namespace {

constexpr std::int64_t kPackBytes = 16;
/// Without opting in to more; CDNA's 64 KiB hold one such block beside smaller ones.
constexpr std::int64_t kMaxSharedBytes = 48 * 1024;
// Measured on an H200 (docs/conv1d.md): rows of 256 bytes and tiles of 16 KiB are best where the output is
// several times the input, twice that where it is not; smaller tiles read more halo, larger ones spread the
// writes of the blocks that run together over more of the memory.
constexpr std::int64_t kMaxPacks = 16, kFewestPacks = 4;
constexpr std::int64_t kTilePacks = 1024;
constexpr std::int64_t kFewestSamples = 16;

/// Strides of axes with one index do not matter.
struct Axis {
  std::int64_t extent, stride;
};
bool rows_aligned(std::uintptr_t base, std::int64_t element_bytes, std::initializer_list<Axis> axes) {
  return base % kPackBytes == 0 && std::all_of(axes.begin(), axes.end(), [&](const Axis& axis) {
           return axis.extent <= 1 || axis.stride % (kPackBytes / element_bytes) == 0;
         });
}

bool output_aligned(const WindowAccess& a) {
  if (!has_vector_window(a.in_bytes, a.out_bytes, false)) return false;
  if (a.channels % (kPackBytes / a.out_bytes) != 0) return false;
  const bool tap_outer = a.out_channel == 1;
  const bool channel_outer = a.taps > 1 && a.out_tap == 1 && a.out_channel == a.taps;
  if (!tap_outer && !channel_outer) return false;
  return rows_aligned(a.out, a.out_bytes,
                      {{a.batch, a.out_batch},
                       {a.groups, a.out_group},
                       {a.positions, a.out_position},
                       {tap_outer ? a.taps : 1, a.out_tap}});
}

std::int64_t divided_up(std::int64_t value, std::int64_t by) { return (value + by - 1) / by; }

/// Output positions under `samples` input samples of which the first `offset` are not needed; 0 when not even
/// one.
std::int64_t positions_under(std::int64_t samples, std::int64_t offset, const WindowShape& shape) {
  if (samples - offset < shape.span) return 0;
  return (samples - offset - shape.span) / shape.stride + 1;
}

struct Candidate {
  std::int64_t positions, channels, samples;
};

/// The positions of a tile of this many samples. A multiple of `vector / gcd(stride, vector)` positions keeps
/// every tile's start equally far behind a boundary; otherwise the worst distance is allowed for.
Candidate fitted(std::int64_t samples, std::int64_t channels, std::int64_t vector, std::int64_t pad_left,
                 const WindowShape& shape) {
  const std::int64_t offset = ((-pad_left) % vector + vector) % vector;
  const std::int64_t unit = vector / std::gcd(shape.stride, vector);
  const std::int64_t even = positions_under(samples, offset, shape) / unit * unit;
  const std::int64_t any = positions_under(samples, vector - 1, shape);
  return {std::min(std::max(even, any), shape.positions), channels, samples};
}

}  // namespace

VectorAxis vector_axis(const WindowAccess& a) {
  if (a.length == 0 || !output_aligned(a)) return VectorAxis::none;
  const std::int64_t all_channels = a.channels * a.groups;
  if (a.in_time == 1 &&
      rows_aligned(a.in, a.in_bytes, {{a.batch, a.in_batch}, {all_channels, a.in_channel}})) {
    return VectorAxis::time;
  }
  if (has_vector_window_along_channels(a.in_bytes, a.out_bytes) && a.in_channel == 1 &&
      rows_aligned(a.in, a.in_bytes, {{a.batch, a.in_batch}, {a.length, a.in_time}})) {
    return VectorAxis::channel;
  }
  return VectorAxis::none;
}

WindowTile choose_vector_tile(const WindowShape& shape, const WindowAccess& access, VectorAxis axis,
                              std::int64_t pad_left, const DeviceProperties& device) {
  const std::int64_t vector = axis == VectorAxis::time ? kPackBytes / access.in_bytes : 1;
  const std::int64_t pack = kPackBytes / access.out_bytes;
  std::int64_t packs = 1;
  while (packs < kMaxPacks && packs * pack < shape.channels) packs *= 2;

  // A tile should be mostly output, not halo: four spans where shared memory allows.
  std::int64_t samples = kTilePacks / packs * (access.taps == 1 ? 2 : 1);
  if (packs < kMaxPacks) samples = std::min(samples, 2 * kTilePacks / kMaxPacks);
  const std::int64_t limit = std::min(kMaxSharedBytes, device.shared_memory_per_block);
  const auto row_bytes = [&] { return packs * kPackBytes; };
  while (samples < 4 * shape.span && 2 * samples * row_bytes() <= limit) samples *= 2;

  Candidate chosen = fitted(samples, packs * pack, vector, pad_left, shape);
  if (chosen.positions == 0) return {};
  const std::int64_t wanted = device.multiprocessors;
  const auto blocks = [&](const Candidate& c) {
    return access.batch * access.groups * divided_up(shape.channels, c.channels) *
           divided_up(shape.positions, c.positions);
  };
  // Too few blocks leave multiprocessors idle: halve the time first, whose halo is still small.
  while (blocks(chosen) < wanted) {
    if (samples / 2 >= std::max({kFewestSamples, 2 * shape.span, 2 * vector})) {
      samples /= 2;
    } else if (packs / 2 >= kFewestPacks) {
      packs /= 2;
    } else {
      break;
    }
    chosen = fitted(samples, packs * pack, vector, pad_left, shape);
  }
  WindowTile tile;
  tile.positions = static_cast<int>(chosen.positions);
  tile.channels = static_cast<int>(chosen.channels);
  tile.samples = static_cast<int>(chosen.samples);
  tile.pitch = tile.channels;
  tile.shared_bytes = chosen.samples * row_bytes();
  return tile;
}

}  // namespace relayout::plan
