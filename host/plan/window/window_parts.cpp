#include "host/plan/window/window_parts.hpp"

#include <algorithm>

#include "core/bytes.hpp"
#include "core/integer_math.hpp"
#include "host/plan/device_rates.hpp"
#include "host/plan/window/window_cost.hpp"
#include "host/plan/window/window_plan.hpp"

namespace relayout::plan {
namespace {

double bytes_of(DType type, std::int64_t elements) {
  return static_cast<double>(elements) * static_cast<double>(size_of(type));
}

/// The positions [begin, end) of which no window meets padding.
struct Positions {
  std::int64_t begin, end;
};
Positions positions_inside(const WindowParams& p) {
  const std::int64_t begin =
      std::min(p.positions, divide_up(std::max<std::int64_t>(0, p.pad_left), p.stride));
  const std::int64_t last = p.length - p.span() + p.pad_left;  // where the last of them may begin
  const std::int64_t end = last < 0 ? 0 : std::min(p.positions, last / p.stride + 1);
  return {begin, std::max(begin, end)};
}

const void* at(const void* address, std::int64_t bytes) {
  return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(address) +
                                       static_cast<std::uintptr_t>(bytes));
}
void* at(void* address, std::int64_t bytes) {
  return const_cast<void*>(at(static_cast<const void*>(address), bytes));
}

/// What the planner of copies leaves out beside windows: fitted, as window_cost.cpp says.
double slowness(CopyKernel kernel) { return kernel == CopyKernel::stream ? 1.0 : 0.93; }

/// The planner of copies counts every sample as often as it is read; a sample under several windows comes
/// from the caches but once.
double microseconds_inside(const WindowTuning& tuning, const InsidePart& inside, const WindowParams& p) {
  const std::int64_t rows = p.batch * p.groups * p.channels, positions = inside.end - inside.begin;
  const double read = bytes_of(p.in_type, rows * positions * p.taps),
               written = bytes_of(p.out_type, rows * positions * p.taps),
               once = std::min(read, bytes_of(p.in_type, rows * ((positions - 1) * p.stride + p.span())));
  const double moved = once + tuning.cached * (read - once) + written;
  return tuning.launch_microseconds + inside.copy.start +
         slowness(inside.copy.kernel) *
             std::max(0.0, inside.copy.microseconds - inside.copy.start - tuning.launch_microseconds) *
             moved / (read + written);
}

InsidePart plan_inside(const DeviceProperties& device, const WindowParams& p, const Positions& positions) {
  const auto [begin, end] = positions;
  InsidePart inside;
  inside.begin = begin;
  inside.end = end;
  inside.in_offset = (begin * p.stride - p.pad_left) * p.in_time * bytes_of(p.in_type);
  inside.out_offset = begin * p.out_position * bytes_of(p.out_type);
  const Dims shape{p.batch, p.groups, p.channels, end - begin, p.taps};
  // A single position has no step: the caller's stride may be too large to multiply.
  const std::int64_t step = end - begin > 1 ? p.stride * p.in_time : 0;
  inside.in = TensorView(at(p.in, inside.in_offset), p.in_type, shape,
                         {p.in_batch, p.channels * p.in_channel, p.in_channel, step, p.dilation * p.in_time});
  inside.out = TensorView(at(p.out, inside.out_offset), p.out_type, shape,
                          {p.out_batch, p.out_group, p.out_channel, p.out_position, p.out_tap});
  inside.copy = plan_copy(copy_problem(inside.in, inside.out, {}), device, false);
  inside.copy.operation = "copy";
  return inside;
}

/// Positions [begin, end) by the window kernel that takes the least time.
WindowPart part_of(const DeviceProperties& device, const WindowParams& problem, std::int64_t begin,
                   std::int64_t end, double& microseconds) {
  WindowPart part{problem, begin * problem.out_position * bytes_of(problem.out_type)};
  part.params.out = at(problem.out, part.out_offset);
  part.params.positions = end - begin;
  part.params.pad_left -= begin * problem.stride;
  microseconds += choose_window_kernel(device, false, part.params);
  return part;
}

/// The positions before `inside` and behind it: by a launch for each end, or, where they are few, by one for
/// both.
void plan_ends(const DeviceProperties& device, const WindowParams& problem, const Positions& inside,
               PlannedWindow& window) {
  const auto [begin, end] = inside;
  const bool left = begin > 0, right = end < problem.positions;
  double apart = 0;
  if (left) window.parts[window.count++] = part_of(device, problem, 0, begin, apart);
  if (right) window.parts[window.count++] = part_of(device, problem, end, problem.positions, apart);
  double together = apart;
  if (left && right) {
    WindowParams both = problem;
    both.positions -= end - begin;
    both.gap_begin = begin;
    both.gap = end - begin;
    const WindowCandidate candidate = window_candidate(device, both, WindowKernel::direct);
    if (candidate.microseconds < apart) {
      together = candidate.microseconds;
      window.parts[0] = {candidate.params, 0};
      window.count = 1;
    }
  }
  window.microseconds += together;
}

PlannedWindow in_parts(const DeviceProperties& device, const WindowParams& problem,
                       const Positions& positions) {
  PlannedWindow window;
  if (positions.begin == positions.end || problem.batch == 0 || problem.groups == 0 ||
      problem.channels == 0 || problem.taps == 0) {
    window.not_in_parts = "no window lies inside the signal";
    return window;
  }
  window.inside = plan_inside(device, problem, positions);
  window.microseconds = microseconds_inside(window_tuning(device), *window.inside, problem);
  plan_ends(device, problem, positions, window);
  return window;
}

}  // namespace

PlannedWindow window_in_parts(const DeviceProperties& device, const WindowParams& problem) {
  return in_parts(device, problem, positions_inside(problem));
}

PlannedWindow plan_window(const DeviceProperties& device, bool native, const WindowParams& problem) {
  PlannedWindow one;
  one.count = 1;
  one.parts[0].params = problem;
  one.microseconds = choose_window_kernel(device, native, one.parts[0].params);
  if (one.microseconds == 0) return one;
  // What the memory and the launches, with a second one for ends, would take at least.
  const WindowTuning& tuning = window_tuning(device);
  const Positions inside = positions_inside(problem);
  const double launches = inside.begin == 0 && inside.end == problem.positions ? 1 : 2;
  const std::int64_t rows = problem.batch * problem.groups * problem.channels;
  const double bytes = bytes_of(problem.in_type, rows * std::min(problem.length, problem.positions)) +
                       bytes_of(problem.out_type, rows * problem.positions * problem.taps);
  if (one.microseconds <
      launches * tuning.launch_microseconds + bytes / device_rates(device).bytes_per_microsecond) {
    one.not_in_parts = "a copy and a kernel for the ends would take longer";
    return one;
  }
  PlannedWindow parts = in_parts(device, problem, inside);
  if (parts.inside && parts.microseconds < one.microseconds) return parts;
  one.not_in_parts =
      parts.inside ? "a copy and kernels for the ends are predicted to take longer" : parts.not_in_parts;
  return one;
}

WindowAlignment alignment_of(const PlannedWindow& window) {
  WindowAlignment alignment;
  for (int i = 0; i < window.count; ++i) {
    const WindowAlignment part = window_alignment(window.parts[i].params);
    alignment.in = std::max(alignment.in, part.in);
    alignment.out = std::max(alignment.out, part.out);
  }
  if (window.inside) {
    alignment.in = std::max(alignment.in, window.inside->copy.in.alignment);
    alignment.out = std::max(alignment.out, window.inside->copy.out.alignment);
  }
  return alignment;
}

}  // namespace relayout::plan
