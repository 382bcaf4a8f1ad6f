#include "host/plan/window/window_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <limits>

#include "core/bytes.hpp"
#include "core/integer_math.hpp"
#include "core/sector.hpp"
#include "core/window_geometry.hpp"
#include "host/plan/device_rates.hpp"
#include "host/plan/output_gaps.hpp"
#include "host/plan/spread.hpp"
#include "host/plan/window/window_problem.hpp"
#include "host/plan/window/window_tile.hpp"
#include "host/plan/window/window_vector_tile.hpp"
#include "host/plan/window/window_work.hpp"

namespace relayout::plan {
namespace {

/// Tiles begin a little before the padding.
constexpr std::int64_t kMaxIndex = std::int64_t{1} << 62;

/// What is in the way of the kernel for whole rows.
const char* rows_obstacle(const WindowParams& p) {
  if (p.in_type != p.out_type) return "it converts nothing";
  if (p.taps != 1 || p.stride != 1) return "it takes one tap and a stride of 1 only";
  const bool time_fastest =
      p.in_time == 1 && p.out_position == 1 && (p.channels * p.groups == 1 || p.out_channel != 1);
  return time_fastest ? nullptr : "time is not the fast axis of both sides";
}

/// Packs of the shortest padding that has blocks of its own.
constexpr std::int64_t kLeastPaddingPacks = 32;

/// A row's packs are divided among the threads of one block, or among blocks; short rows share a block. Long
/// padding has blocks of its own: where it has more elements than the row has packs, they would take most of
/// the time one by one.
void divide_rows(WindowParams& p) {
  const std::int64_t count = kVectorBytes / bytes_of(p.out_type);
  const std::int64_t samples = samples_within(p), padding = p.positions - samples;
  const bool long_padding = padding > p.positions / count && padding >= kLeastPaddingPacks * count;
  const std::int64_t shared = long_padding ? std::max(samples, padding) : p.positions;
  int threads = kWindowThreads;
  while (threads > 8 && shared < threads / 2 * kRowPacksPerThread * count) threads /= 2;
  const std::int64_t most_packs = std::int64_t{threads} * kRowPacksPerThread;
  // Packs that a row's threads may copy, and elements that they surely do not.
  const std::int64_t packs = std::max<std::int64_t>(0, std::min(samples, p.length - 2 * count)) / count;
  const std::int64_t singles = p.positions - packs * count;
  const auto blocks_of = [&](std::int64_t elements) { return divide_up(elements, most_packs * count); };
  const std::int64_t copy_blocks =
      std::max({std::int64_t{1}, divide_up(packs, most_packs), long_padding ? 0 : blocks_of(singles)});
  p.row_threads = threads;
  p.copy_blocks = static_cast<std::int32_t>(copy_blocks);
  p.row_blocks = static_cast<std::int32_t>(copy_blocks + (long_padding ? blocks_of(singles) : 0));
  p.block_packs = divide_up(packs, copy_blocks);
}

/// As many elements as lanes write at a time, so that those run along the output's fastest axis; fewer of the
/// slow one where the multiprocessors would not all have a block.
void choose_direct_tile(const DeviceProperties& device, WindowParams& p) {
  constexpr std::int64_t kMax = 64;
  std::int64_t positions = std::min(p.positions, kMax), channels = std::min(p.channels, kMax);
  std::int64_t& slow = p.order == WriteOrder::position ? channels : positions;
  const auto blocks = [&] {
    return p.batch * p.groups * divide_up(p.positions, positions) * divide_up(p.channels, channels);
  };
  while (slow > 1 && positions * channels * p.taps > kWindowThreads && blocks() < 4 * device.multiprocessors)
    slow = divide_up<std::int64_t>(slow, 2);
  p.tile_positions = static_cast<std::int32_t>(positions);
  p.tile_channels = static_cast<std::int32_t>(channels);
}

/// What is in the way of the kernel for tiles of any strides.
const char* tile_obstacle(const WindowParams& p) {
  if (p.pad_left > kMaxIndex || p.positions > kMaxIndex)
    return "the indices of its tiles would not fit into 64 bits";
  const std::int64_t farthest = std::numeric_limits<std::int32_t>::max() / bytes_of(p.in_type);
  const auto is_far = [&](std::int64_t step) { return step > farthest || step < -farthest; };
  if (is_far(step_along(p.channels, p.in_channel)) || is_far(step_along(p.length, p.in_time)))
    return "the input's channels or samples lie more than 2 GiB apart";
  return nullptr;
}

/// What is in the way of a kernel, whose fields it fills in where nothing is; and its predicted time.
const char* take(const DeviceProperties& device, WindowKernel kernel, WindowParams& p, double& microseconds) {
  p.kernel = kernel;
  p.tile = WindowTile();
  switch (kernel) {
    case WindowKernel::rows:
      if (const char* obstacle = rows_obstacle(p)) return obstacle;
      divide_rows(p);
      break;
    case WindowKernel::vector:
      if (const char* obstacle = vector_obstacle(p)) return obstacle;
      if (!choose_vector_tile(device, p)) return "no tile of whole windows fits into shared memory";
      break;
    case WindowKernel::tile:
      if (const char* obstacle = tile_obstacle(p)) return obstacle;
      microseconds = choose_window_tile(device, p);
      return microseconds < 0 ? "the samples under a window do not fit into shared memory" : nullptr;
    case WindowKernel::direct:
      choose_direct_tile(device, p);
      break;
    default:
      return "it is none of the GPU's";
  }
  const WindowTuning& tuning = window_tuning(device);
  microseconds = predicted_microseconds(tuning, device, window_work(tuning, p));
  return nullptr;
}

/// Parts of the second-level cache: the memory completes no sectors of outputs whose rows reach over less
/// than the first, and those of all rows from the second on. Fitted to 50 random outputs with gaps on an
/// H200.
constexpr double kNoneCompleted = 0.33, kAllCompleted = 0.66;

/// What the memory takes to complete the output's sectors where its rows lie apart.
double microseconds_of_gaps(const DeviceProperties& device, const WindowParams& p) {
  OutputAxis axes[] = {{p.channels, p.out_channel},
                       {p.taps, p.out_tap},
                       {p.positions, p.out_position},
                       {p.groups, p.out_group},
                       {p.batch, p.out_batch}};
  std::sort(std::begin(axes), std::end(axes), [](const OutputAxis& a, const OutputAxis& b) {
    return std::abs(step_along(a.extent, a.stride)) < std::abs(step_along(b.extent, b.stride));
  });
  const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p.out) % kSectorBytes);
  const GappedRows rows = gapped_rows(axes, static_cast<int>(std::size(axes)), bytes_of(p.out_type), address);
  if (rows.count == 0) return 0;
  const double cache = static_cast<double>(std::max<std::size_t>(1, device.l2_bytes)),
               reach = rows.count * rows.pitch / cache,
               part = std::clamp((reach - kNoneCompleted) / (kAllCompleted - kNoneCompleted), 0.0, 1.0);
  return part * rows.completed_bytes() / device_rates(device).bytes_per_microsecond;
}

bool is_empty(const WindowParams& p) {
  return p.batch == 0 || p.groups == 0 || p.channels == 0 || p.positions == 0 || p.taps == 0;
}

void set_streaming(const DeviceProperties& device, WindowParams& p) {
  const auto half_of_l2 = static_cast<std::int64_t>(device.l2_bytes / 2);
  const std::int64_t rows = p.batch * p.groups * p.channels;
  p.streaming = rows * p.taps * p.positions * bytes_of(p.out_type) > half_of_l2;
}

WindowCandidate candidate_of(const DeviceProperties& device, const WindowParams& problem, WindowKernel kernel,
                             double of_gaps) {
  WindowCandidate candidate{problem, nullptr, 0};
  set_streaming(device, candidate.params);
  candidate.refused = take(device, kernel, candidate.params, candidate.microseconds);
  candidate.microseconds += of_gaps;
  return candidate;
}

}  // namespace

WindowCandidate window_candidate(const DeviceProperties& device, const WindowParams& problem,
                                 WindowKernel kernel) {
  return candidate_of(device, problem, kernel, microseconds_of_gaps(device, problem));
}

std::vector<WindowCandidate> window_candidates(const DeviceProperties& device, WindowParams problem,
                                               std::size_t tiles) {
  simplify_window(problem);
  const double of_gaps = microseconds_of_gaps(device, problem);
  std::vector<WindowCandidate> candidates;
  for (const WindowKernel kernel : {WindowKernel::direct, WindowKernel::vector, WindowKernel::rows})
    candidates.push_back(candidate_of(device, problem, kernel, of_gaps));
  WindowCandidate tile = candidate_of(device, problem, WindowKernel::tile, of_gaps);
  const std::vector<WindowTileChoice> choices =
      tile.refused == nullptr ? window_tiles(device, tile.params) : std::vector<WindowTileChoice>();
  if (choices.empty()) candidates.push_back(tile);
  for (const std::size_t i : spread(choices.size(), tiles)) {
    set_window_tile(device, choices[i], tile.params);
    tile.microseconds = choices[i].microseconds + of_gaps;
    candidates.push_back(tile);
  }
  return candidates;
}

double choose_window_kernel(const DeviceProperties& device, bool native, WindowParams& params) {
  if (is_empty(params) || native) {
    params.kernel = native && !is_empty(params) ? WindowKernel::native : WindowKernel::nothing;
    return 0;
  }
  simplify_window(params);
  const double of_gaps = microseconds_of_gaps(device, params);
  WindowCandidate best = candidate_of(device, params, WindowKernel::direct, of_gaps);
  for (const WindowKernel kernel : {WindowKernel::tile, WindowKernel::vector, WindowKernel::rows}) {
    const WindowCandidate candidate = candidate_of(device, params, kernel, of_gaps);
    if (candidate.refused == nullptr && candidate.microseconds < best.microseconds) best = candidate;
  }
  params = best.params;
  return best.microseconds;
}

WindowAlignment window_alignment(const WindowParams& params) {
  if (params.kernel == WindowKernel::vector) return {kVectorBytes, kVectorBytes};
  const std::int64_t element = params.widened ? bytes_of(params.in_type) : 1;
  const std::int64_t line = params.kernel == WindowKernel::tile ? params.tile.out_alignment : 1;
  return {element, std::max(element, line)};
}

}  // namespace relayout::plan

namespace relayout {

bool plan_vector_window(const DeviceProperties& device, WindowParams& params) {
  plan::set_streaming(device, params);
  double microseconds;
  return plan::rows_obstacle(params) != nullptr &&
         plan::take(device, WindowKernel::vector, params, microseconds) == nullptr;
}

}  // namespace relayout
