// The copies that take every problem: the gather kernel's, element by element, and native code's on the
// processor.
#include <algorithm>
#include <optional>
#include <utility>

#include "core/bytes.hpp"
#include "core/integer_math.hpp"
#include "core/sector.hpp"
#include "host/plan/copy/cast_rule.hpp"
#include "host/plan/copy/copy_nest.hpp"
#include "host/plan/copy/copy_plan.hpp"
#include "host/plan/copy/order_traffic.hpp"
#include "host/plan/device_rates.hpp"

namespace relayout::plan {
namespace {

/// Instructions of a lane: for an element without its axes, for each of its axes, and for a cast. Fitted.
constexpr double kInstructions = 17, kInstructionsAnAxis = 12, kInstructionsOfCast = 11;
/// The share of the memory's speed that the kernel reaches, and with accesses of 8 and 16 bytes; how many
/// elements in a row find in the first cache what one of them brought; what a byte from the second cache
/// costs beside one from the memory. Fitted.
constexpr double kMemoryShare = 0.86, kWideMemoryShare = 0.93, kNeighbours = 230, kOfCache = 0.56;
/// Microseconds of the start of casts, and of those of 8 bytes: fitted to small ones.
constexpr double kStartOfCast = 0.18, kStartOfWideCast = 0.9;
/// What is left of the speed with one block, and blocks of a multiprocessor from which on all of it is there.
/// Fitted.
constexpr double kIdle = 0.4, kBusyBlocks = 1.25;

/// Blocks for each multiprocessor up to which there are twice as many of half the threads: on an H200 0.97 of
/// the time of 163 copies of 1024 to 32767 elements (0.85 to 1.01), 1.0 from 65536 on.
constexpr double kFewBlocks = 0.25;

/// Elements that a block of the most threads moves.
std::int64_t most_of_block(const CopyProblem& problem) {
  return std::int64_t{kMaxGatherThreads} * gather_elements_per_thread(size_of(problem.in_type));
}

int threads_of(const CopyProblem& problem, const DeviceProperties& device) {
  const auto blocks = static_cast<double>(divide_up(problem.nest.elements(), most_of_block(problem)));
  return blocks <= kFewBlocks * device.multiprocessors ? kMaxGatherThreads / 2 : kMaxGatherThreads;
}

/// For native code.
CopyParams nest_params(const CopyProblem& problem) {
  const LoopNest& nest = problem.nest;
  CopyParams params;
  set_operation(problem, params);
  params.rank = nest.rank();
  params.elements = nest.elements();
  std::copy(nest.extents.begin(), nest.extents.end(), params.extents);
  std::copy(nest.strides[0].begin(), nest.strides[0].end(), params.out_strides);
  const LoopNest& in = problem.common() ? nest : problem.in_nest;
  std::copy(in.strides.back().begin(), in.strides.back().end(), params.in_strides);
  if (problem.common()) {
    params.in_axis = fastest_input_axis(nest);
  } else {
    params.in_rank = in.rank();
    std::copy(in.extents.begin(), in.extents.end(), params.in_extents);
  }
  return params;
}

void make_extent(std::int64_t extent, Divisor& result) {
  result = make_divisor(static_cast<std::uint32_t>(extent));
}
void make_extent(std::int64_t extent, std::uint64_t& result) { result = static_cast<std::uint64_t>(extent); }

template <class Extent, class Offset>
GatherParams<Extent, Offset> gather_params_of(const CopyProblem& problem, const DeviceProperties& device) {
  const LoopNest& nest = problem.nest;
  GatherParams<Extent, Offset> params;
  set_operation(problem, params);
  params.elements = nest.elements();
  params.threads = threads_of(problem, device);
  params.rank = nest.rank();
  for (int axis = 0; axis < nest.rank(); ++axis) {
    make_extent(nest.extents[axis], params.axes[axis].extent);
    params.axes[axis].out = static_cast<Offset>(nest.strides[0][axis]);
    if (problem.common()) params.axes[axis].in = static_cast<Offset>(nest.strides[1][axis]);
  }
  if (problem.common()) return params;
  const LoopNest& in = problem.in_nest;
  params.in_rank = in.rank();
  for (int axis = 0; axis < in.rank(); ++axis) {
    make_extent(in.extents[axis], params.in_axes[axis].extent);
    params.in_axes[axis].in = static_cast<Offset>(in.strides[0][axis]);
  }
  return params;
}

/// The greatest distance of an element from the first one, in elements, but for the signs of strides.
std::int64_t reach(const LoopNest& nest, int operand) {
  const OffsetRange range = offset_range(nest, operand);
  return range.greatest - range.least;
}

CopyKernelParams gather_params(const CopyProblem& problem, const DeviceProperties& device) {
  constexpr std::int64_t kMax = 0x7fffffff;
  if (problem.nest.elements() > kMax) return gather_params_of<std::uint64_t, std::int64_t>(problem, device);
  const std::int64_t in_reach = problem.common() ? reach(problem.nest, 1) : reach(problem.in_nest, 0);
  if (in_reach > kMax || reach(problem.nest, 0) > kMax)
    return gather_params_of<Divisor, std::int64_t>(problem, device);
  return gather_params_of<Divisor, std::int32_t>(problem, device);
}

/// The same copy with neighbours that lie beside each other on both sides as one element of up to 16 bytes:
/// an access moves them, and they are found once. Nothing where there are none.
std::optional<CopyProblem> in_wide_elements(const CopyProblem& problem) {
  const bool moves_bits = !problem.converts() && !is_scaled(problem.options.scale);
  if (!moves_bits || !problem.common() || problem.nest.rank() == 0) return std::nullopt;
  const LoopNest& nest = problem.nest;
  if (nest.strides[0].back() != 1 || nest.strides[1].back() != 1) return std::nullopt;
  const int last = nest.rank() - 1;
  const std::int64_t size = bytes_of(problem.in_type);
  const auto allows = [&](std::int64_t count) {
    bool whole = nest.extents[last] % count == 0 && problem.in.alignment % (count * size) == 0 &&
                 problem.out.alignment % (count * size) == 0;
    for (int axis = 0; axis < last; ++axis)
      whole = whole && nest.strides[0][axis] % count == 0 && nest.strides[1][axis] % count == 0;
    return whole;
  };
  std::int64_t count = 1;
  while (2 * count * size <= kVectorBytes && allows(2 * count)) count *= 2;
  if (count == 1) return std::nullopt;
  CopyProblem wide = problem;
  const std::int64_t bytes = count * size;
  wide.in_type = wide.out_type = bytes == kVectorBytes ? DType::b128 : unsigned_of(bytes);
  wide.nest.extents[last] /= count;
  for (Dims& strides : wide.nest.strides) {
    for (int axis = 0; axis < last; ++axis) strides[axis] /= count;
  }
  if (wide.nest.extents[last] > 1) return wide;
  wide.nest.extents.pop_back();
  for (Dims& strides : wide.nest.strides) strides.pop_back();
  return wide;
}

/// What an operand costs the memory, in bytes.
double bytes_met(const DeviceProperties& device, const LoopNest& nest, std::size_t operand, DType type,
                 std::int64_t alignment) {
  const std::int64_t size = bytes_of(type);
  return traffic_in_order(device, nest.extents, nest.strides[operand], size, alignment, kNeighbours)
      .bytes(kOfCache);
}

double start(const CopyProblem& problem, const TileTuning& tuning) {
  if (problem.in_type == problem.out_type) return tuning.gather_start;
  const bool wide = std::max(size_of(problem.in_type), size_of(problem.out_type)) == 8;
  return tuning.gather_start + (wide ? kStartOfWideCast : kStartOfCast);
}

/// What the memory, the instructions and the first cache take together.
double predicted(const CopyProblem& problem, const DeviceProperties& device) {
  const TileTuning& tuning = tile_tuning(device);
  const DeviceRates rates = device_rates(device);
  const bool common = problem.common();
  const LoopNest& in = common ? problem.nest : problem.in_nest;
  const auto elements = static_cast<double>(problem.nest.elements());
  const double met = bytes_met(device, problem.nest, 0, problem.out_type, problem.out.alignment) +
                     bytes_met(device, in, common ? 1 : 0, problem.in_type, problem.in.alignment);
  const double busy =
      busy_share(kIdle, kBusyBlocks * static_cast<double>(device.multiprocessors),
                 static_cast<double>(divide_up(problem.nest.elements(), most_of_block(problem))));
  const int axes = problem.nest.rank() + (common ? 0 : in.rank());
  const double instructions = kInstructions + kInstructionsAnAxis * axes +
                              (problem.in_type != problem.out_type ? kInstructionsOfCast : 0);
  const double issued = elements / device.warp_size * instructions /
                        (rates.instructions_per_microsecond * device.multiprocessors * busy);
  const bool wide = !problem.converts() && size_of(problem.in_type) >= 8;
  const double memory = met / (rates.bytes_per_microsecond * busy * (wide ? kWideMemoryShare : kMemoryShare));
  const auto lines = [&](const LoopNest& nest, std::size_t operand, DType type) {
    return lines_of_access(nest.extents, nest.strides[operand], bytes_of(type), device.warp_size, 1);
  };
  const double looked_up =
      elements / device.warp_size *
      (lines(problem.nest, 0, problem.out_type) + lines(in, common ? 1 : 0, problem.in_type)) /
      (rates.accesses_per_microsecond * device.multiprocessors * busy);
  return tuning.launch_microseconds + time_together({memory, issued, looked_up});
}

CopyCandidate of_any_nest(CopyKernel kernel, const char* reason, CopyKernelParams params) {
  CopyCandidate candidate;
  candidate.kernel = kernel;
  candidate.possible = true;
  candidate.reason = reason;
  candidate.params = std::move(params);
  return candidate;
}

}  // namespace

CopyCandidate gather_candidate(const CopyProblem& problem, const DeviceProperties& device) {
  if (problem.table) return refused(CopyKernel::gather, "it looks nothing up in a table of bytes");
  const std::optional<CopyProblem> wide = in_wide_elements(problem);
  const CopyProblem& moved = wide ? *wide : problem;
  CopyCandidate candidate =
      of_any_nest(CopyKernel::gather,
                  wide ? "it moves any elements, up to 16 bytes of neighbours at once, from wherever they lie"
                       : "it moves any elements, one by one, from wherever they lie",
                  gather_params(moved, device));
  candidate.microseconds = predicted(moved, device);
  add_start(candidate, problem, device, start(problem, tile_tuning(device)));
  add_output_gaps(candidate, problem, device, kOfElementRow);
  return candidate;
}

CopyCandidate native_candidate(const CopyProblem& problem) {
  return of_any_nest(
      CopyKernel::native,
      "the device is the processor, which runs its own code: boxes of the nest that fit its caches",
      nest_params(problem));
}

}  // namespace relayout::plan
