#include "host/plan/window/window_plan.hpp"

#include <algorithm>

#include "core/integer_math.hpp"
#include "core/window_geometry.hpp"
#include "host/plan/window/window_tile.hpp"
#include "host/plan/window/window_vector_tile.hpp"

namespace relayout::plan {
namespace {

constexpr std::int64_t kPackBytes = 16;

/// What is in the way of the kernel for whole rows.
const char* rows_obstacle(const WindowParams& p) {
  if (p.in_type != p.out_type) return "it converts nothing";
  if (p.taps != 1 || p.stride != 1) return "it takes one tap and a stride of 1 only";
  const bool time_fastest =
      p.in_time == 1 && p.out_position == 1 && (p.channels * p.groups == 1 || p.out_channel != 1);
  return time_fastest ? nullptr : "time is not the fast axis of both sides";
}

/// A row's packs are divided among the threads of one block, or among blocks; short rows share a block.
void divide_rows(WindowParams& p) {
  const std::int64_t count = kPackBytes / static_cast<std::int64_t>(size_of(p.out_type));
  int threads = kWindowThreads;
  while (threads > 8 && p.positions < threads / 2 * kRowPacksPerThread * count) threads /= 2;
  const std::int64_t most_packs = std::int64_t{threads} * kRowPacksPerThread;
  // Packs that a row's threads may copy, and elements that they surely do not.
  const std::int64_t packs = std::max<std::int64_t>(0, std::min(p.positions, p.length - 2 * count)) / count;
  const std::int64_t singles = p.positions - packs * count;
  const std::int64_t blocks =
      std::max({std::int64_t{1}, divide_up(packs, most_packs), divide_up(singles, most_packs * count)});
  p.row_threads = threads;
  p.row_blocks = static_cast<std::int32_t>(blocks);
  p.block_packs = divide_up(packs, blocks);
}

/// Makes `kernel` the window's, with its tile; returns what is in the way of it.
const char* take(const DeviceProperties& device, WindowKernel kernel, WindowParams& p) {
  p.kernel = kernel;
  switch (kernel) {
    case WindowKernel::rows:
      if (const char* obstacle = rows_obstacle(p)) return obstacle;
      divide_rows(p);
      return nullptr;
    case WindowKernel::vector:
      if (const char* obstacle = vector_obstacle(p)) return obstacle;
      return choose_vector_tile(device, p) ? nullptr : "no tile of whole windows fits into shared memory";
    case WindowKernel::general:
      choose_window_tile(device, p);
      return nullptr;
    default:
      return "it is none of the GPU's";
  }
}

bool is_empty(const WindowParams& p) {
  return p.batch == 0 || p.groups == 0 || p.channels == 0 || p.positions == 0 || p.taps == 0;
}

void set_streaming(const DeviceProperties& device, WindowParams& p) {
  const auto half_of_l2 = static_cast<std::int64_t>(device.l2_bytes / 2);
  const std::int64_t rows = p.batch * p.groups * p.channels;
  p.streaming = rows * p.taps * p.positions * static_cast<std::int64_t>(size_of(p.out_type)) > half_of_l2;
}

}  // namespace

WindowCandidate window_candidate(const DeviceProperties& device, const WindowParams& problem,
                                 WindowKernel kernel) {
  WindowCandidate candidate{problem, nullptr};
  set_streaming(device, candidate.params);
  candidate.refused = take(device, kernel, candidate.params);
  return candidate;
}

void plan_window(const DeviceProperties& device, bool native, WindowParams& params) {
  if (is_empty(params)) {
    params.kernel = WindowKernel::nothing;
  } else if (native) {
    params.kernel = WindowKernel::native;
  } else {
    set_streaming(device, params);
    for (const WindowKernel kernel : {WindowKernel::rows, WindowKernel::vector, WindowKernel::general}) {
      if (take(device, kernel, params) == nullptr) return;
    }
  }
}

std::int64_t window_alignment(const WindowParams& params) {
  return params.kernel == WindowKernel::vector ? kPackBytes : 1;
}

}  // namespace relayout::plan

namespace relayout {

bool plan_vector_window(const DeviceProperties& device, WindowParams& params) {
  plan::set_streaming(device, params);
  return plan::rows_obstacle(params) != nullptr &&
         plan::take(device, WindowKernel::vector, params) == nullptr;
}

}  // namespace relayout
