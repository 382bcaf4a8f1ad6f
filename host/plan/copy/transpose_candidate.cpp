// The window kernel's part in a copy: an aligned transpose of at most three axes is a window of one tap. The
// output's fastest axis takes the place of the channels, the input's that of time.
#include <cmath>

#include "core/bytes.hpp"
#include "core/integer_math.hpp"
#include "host/plan/copy/cast_rule.hpp"
#include "host/plan/copy/copy_nest.hpp"
#include "host/plan/copy/copy_plan.hpp"
#include "host/plan/window/window_plan.hpp"

namespace relayout::plan {
namespace {

constexpr CopyKernel kKernel = CopyKernel::window;
/// Beside tiles with runs of the same lengths, on an H200: elements that grow are stored with less work.
constexpr double kBesideTiles = 0.8, kOfWidening = 0.98;

double predicted(const CopyProblem& problem, const DeviceProperties& device, const WindowParams& window) {
  const TileTuning& tuning = tile_tuning(device);
  const std::int64_t along = divide_up(window.positions, window.tile_positions),
                     across = divide_up(window.channels, window.tile_channels);
  const auto part = [](std::int64_t used, std::int64_t covered) {
    return static_cast<double>(used) / static_cast<double>(covered);
  };
  // Lanes for samples that do not exist wait beside the others, and keep shared memory that other blocks
  // would use.
  const double lanes = std::sqrt(part(window.positions, along * window.tile_samples));
  const auto run_bytes = [](std::int64_t elements, DType type) {
    return static_cast<double>(elements * bytes_of(type));
  };
  const double share =
      (bytes_of(window.in_type) < bytes_of(window.out_type) ? kOfWidening : kBesideTiles) * lanes *
      part(window.channels, across * window.tile_channels) *
      run_share(run_bytes(window.tile_positions, window.in_type), tuning.lost_per_read) *
      run_share(run_bytes(window.tile_channels, window.out_type), tuning.lost_per_write) *
      busy_share(tuning.idle, static_cast<double>(tuning.busy_tiles * device.multiprocessors),
                 static_cast<double>(window.batch * along * across));
  return microseconds_at(problem, device, share);
}

}  // namespace

CopyCandidate transpose_candidate(const CopyProblem& problem, const DeviceProperties& device) {
  const CopyPlanOptions& options = problem.options;
  if (!problem.common()) return refused(kKernel, "the two shapes have no loop nest in common");
  if (is_scaled(options.scale)) return refused(kKernel, "it has no alpha and beta");
  if (options.indirect) return refused(kKernel, "it reads no slots");
  if (problem.converts_by_size())
    return refused(kKernel, "of casts it has those among the floating types to nearest even");
  const LoopNest& nest = problem.nest;
  if (nest.rank() < 2 || nest.rank() > 3)
    return refused(kKernel, "it is for transposes of two or three axes, after merging");
  const int channel = nest.rank() - 1, time = fastest_input_axis(nest);
  if (time == channel) return refused(kKernel, "both sides are fastest along the same axis");

  const int batch = nest.rank() == 3 ? 1 - time : -1;
  const Dims &extents = nest.extents, &out_strides = nest.strides[0], &in_strides = nest.strides[1];
  WindowParams window;
  window.in = reinterpret_cast<const void*>(problem.in.start(problem.in.data));
  window.out = reinterpret_cast<void*>(problem.out.start(problem.out.data));
  window.in_type = problem.in_type;
  window.out_type = problem.out_type;
  window.batch = batch < 0 ? 1 : extents[batch];
  window.channels = extents[channel];
  window.length = window.positions = extents[time];
  window.in_batch = batch < 0 ? 0 : in_strides[batch];
  window.in_channel = in_strides[channel];
  window.in_time = in_strides[time];
  window.out_batch = batch < 0 ? 0 : out_strides[batch];
  window.out_position = out_strides[time];
  window.out_channel = out_strides[channel];
  if (!plan_vector_window(device, window))
    return refused(kKernel,
                   "it takes elements of 2 and 4 bytes and rows on 16-byte boundaries on both sides");

  CopyCandidate candidate;
  candidate.kernel = kKernel;
  candidate.possible = true;
  candidate.reason =
      "an aligned transpose of two or three axes, as a window of one tap: rows on 16-byte boundaries";
  candidate.microseconds = predicted(problem, device, window);
  add_start(candidate, problem, device, tile_tuning(device).window_start);
  candidate.params = window;
  return candidate;
}

}  // namespace relayout::plan
