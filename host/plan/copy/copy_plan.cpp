#include "host/plan/copy/copy_plan.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/bytes.hpp"
#include "core/sector.hpp"
#include "host/plan/copy/cast_rule.hpp"
#include "host/plan/copy/copy_nest.hpp"
#include "host/plan/device_rates.hpp"
#include "host/plan/output_gaps.hpp"
#include "host/plan/small_problems.hpp"
#include "host/plan/spread.hpp"
#include "relayout/error.hpp"

namespace relayout::plan {
namespace {

/// The kernels of a GPU. The one of the least predicted time is taken, of equals the first. No other can be
/// faster than the stream kernel on one piece of memory.
constexpr CopyCandidate (*kPlanners[])(const CopyProblem&, const DeviceProperties&) = {
    stream_candidate, transpose_candidate, tile_candidate, rows_candidate, gather_candidate};

/// The same memory as elements of 8 bytes, the two of an element along a new last axis. Axes that can be are
/// merged, which leaves room for it.
TensorView as_u64_pairs(const TensorView& view) {
  if (view.elements() == 0) return TensorView(view.data(), DType::u64, {0});
  LoopNest nest = own_nest(view);
  Dims &shape = nest.extents, &strides = nest.strides[0];
  if (nest.rank() == kMaxRank)
    throw Error(ErrorCode::rank, "b128 elements move as an axis of two of 8 bytes, and none of the " +
                                     std::to_string(kMaxRank) + " axes of " + view.to_string() +
                                     " can be merged with its neighbour to make room for it");
  for (std::int64_t& stride : strides) stride *= 2;
  shape.push_back(2);
  strides.push_back(1);
  return TensorView(view.data(), DType::u64, std::move(shape), std::move(strides));
}

CopyOperand operand_of(const TensorView& view, std::int64_t offset) {
  CopyOperand operand;
  operand.data = view.data();
  operand.offset = offset * bytes_of(view.dtype());
  operand.range = view.byte_range();
  const std::uintptr_t start = operand.start(operand.data);
  while (operand.alignment < kVectorBytes && start % static_cast<std::uintptr_t>(2 * operand.alignment) == 0)
    operand.alignment *= 2;
  return operand;
}

/// Up to so many bytes a problem is small: kernels' starts count in full, and less and less up to twice as
/// many.
constexpr double kSmallBytes = 4e6;

/// All different elements of an operand together.
double bytes_of(const LoopNest& nest, int operand, DType type) {
  auto bytes = static_cast<double>(size_of(type));
  for (int axis = 0; axis < nest.rank(); ++axis)
    if (nest.strides[operand][axis] != 0) bytes *= static_cast<double>(nest.extents[axis]);
  return bytes;
}

/// One piece of memory in words of 16 bytes: nothing is faster.
bool is_best(const CopyCandidate& candidate) {
  if (candidate.kernel != CopyKernel::stream) return false;
  const auto& params = std::get<StreamParams>(candidate.params);
  return params.outer_rank == 0 && params.access == 16 && !params.unaligned;
}

/// Which of the rows kernel's two forms are listed: the better one, or both.
enum class RowsForms { best, both };

/// Every kernel that can do it, in the order of preference, and up to so many tiles.
std::vector<CopyCandidate> with_tiles(const CopyProblem& problem, const DeviceProperties& device,
                                      std::size_t tiles, RowsForms rows) {
  std::vector<CopyCandidate> candidates;
  const auto add = [&](CopyCandidate candidate) {
    if (candidate.possible) candidates.push_back(std::move(candidate));
  };
  for (const CopyCandidate& candidate : copy_candidates(problem, device)) {
    if (candidate.kernel == CopyKernel::tile && candidate.possible) {
      const std::vector<TilePlan> plans = tile_candidates(problem.nest, tile_target(problem, device));
      for (const std::size_t i : spread(plans.size(), tiles))
        add(tile_candidate_of(problem, device, plans[i]));
    } else if (candidate.kernel == CopyKernel::rows && rows == RowsForms::both) {
      for (const bool lanes : {false, true}) add(rows_candidate(problem, device, lanes));
    } else {
      add(candidate);
    }
  }
  return candidates;
}

}  // namespace

CopyProblem copy_problem(const TensorView& in, const TensorView& out, const CopyPlanOptions& options) {
  // Elements of 16 bytes move as two of 8.
  if (in.dtype() == DType::b128 && out.dtype() == DType::b128)
    return copy_problem(as_u64_pairs(in), as_u64_pairs(out), options);
  CopyProblem problem;
  problem.out_type = out.dtype();
  problem.in_type = keeps_bits(in.dtype(), out.dtype(), options.cast) ? out.dtype() : in.dtype();
  problem.options = options;
  if (out.elements() == 0) return problem;

  problem.nest = common_nest(out, in);
  const bool common = problem.common();
  if (!common) {
    problem.nest = own_nest(out);
    problem.in_nest = own_nest(in);
  }
  problem.out = operand_of(out, problem.nest.offsets[0]);
  problem.in = operand_of(in, common ? problem.nest.offsets[1] : 0);
  return problem;
}

bool CopyProblem::converts_by_size() const {
  return table.has_value() || needs_generic_cast(in_type, out_type, options.cast);
}

CopyCandidate refused(CopyKernel kernel, const char* why) {
  CopyCandidate candidate;
  candidate.kernel = kernel;
  candidate.reason = why;
  return candidate;
}

void set_operation(const CopyProblem& problem, CopyOperands& params) {
  const CopyPlanOptions& options = problem.options;
  params.in_type = problem.in_type;
  params.out_type = problem.out_type;
  params.scaled = is_scaled(options.scale);
  params.alpha = options.scale.alpha;
  params.beta = options.scale.beta;
  params.generic_cast = problem.converts_by_size();
  if (problem.in_type != problem.out_type)
    params.cast = element_cast(problem.in_type, problem.out_type, options.cast);
}

bool is_streaming(const CopyProblem& problem, const DeviceProperties& device) {
  return problem.nest.elements() * bytes_of(problem.out_type) >= tile_tuning(device).streaming_bytes;
}

double bytes_moved(const CopyProblem& problem) {
  const double out = bytes_of(problem.nest, 0, problem.out_type);
  const double in = problem.common() ? bytes_of(problem.nest, 1, problem.in_type)
                                     : bytes_of(problem.in_nest, 0, problem.in_type);
  return in + (problem.options.scale.beta != 0 ? 2 : 1) * out;
}

bool is_small(const CopyProblem& problem) { return !plans_as_large() && bytes_moved(problem) <= kSmallBytes; }

double microseconds_at(const CopyProblem& problem, const DeviceProperties& device, double share) {
  return tile_tuning(device).launch_microseconds +
         bytes_moved(problem) / (device_rates(device).bytes_per_microsecond * share);
}

ByteRange input_bytes(const CopyProblem& problem) {
  const OffsetRange elements = offset_range(problem.nest, 1);
  const std::int64_t size = bytes_of(problem.in_type);
  return {elements.least * size, (elements.greatest + 1) * size};
}

void add_start(CopyCandidate& candidate, const CopyProblem& problem, const DeviceProperties& device,
               double start) {
  if (plans_as_large()) return;
  const double least = tile_tuning(device).least_start;
  candidate.start = start * std::clamp(2 - bytes_moved(problem) / kSmallBytes, least, 1.0);
  candidate.microseconds += candidate.start;
}

void add_output_gaps(CopyCandidate& candidate, const CopyProblem& problem, const DeviceProperties& device,
                     double of_row) {
  const LoopNest& nest = problem.nest;
  OutputAxis axes[kMaxRank];
  for (int axis = 0; axis < nest.rank(); ++axis)
    axes[nest.rank() - 1 - axis] = {nest.extents[axis], nest.strides[0][axis]};
  const std::int64_t size = bytes_of(problem.out_type),
                     address = static_cast<std::int64_t>(problem.out.start(problem.out.data) % kSectorBytes);
  const GappedRows rows = gapped_rows(axes, nest.rank(), size, address);
  if (rows.count == 0) return;
  const double sectors = std::min(rows.pitch, rows.bytes + static_cast<double>(kSectorBytes)),
               out = static_cast<double>(nest.elements()) * static_cast<double>(size);
  const double moved = bytes_moved(problem) - out + rows.count * sectors + rows.completed_bytes();
  const double memory =
      tile_tuning(device).launch_microseconds + moved / device_rates(device).bytes_per_microsecond;
  candidate.microseconds = std::max(candidate.microseconds, memory);
  if (rows.bytes > static_cast<double>(size))
    candidate.microseconds += rows.count * of_row / device.multiprocessors;
}

PlannedCopy plan_copy(CopyProblem problem, const DeviceProperties& device, bool native) {
  PlannedCopy planned;
  static_cast<CopyProblem&>(planned) = std::move(problem);
  CopyCandidate& taken = planned;
  if (planned.nest.operands() == 0) {
    taken = refused(CopyKernel::nothing, "there are no elements");
    return planned;
  }
  if (native) {
    taken = native_candidate(planned);
    return planned;
  }
  const auto consider = [&](CopyCandidate candidate) {
    if (!candidate.possible) return;
    // The gather kernel is taken where no other can do the copy, or where it ends first. Tests that plan
    // small problems as large ones want the other kernels.
    const bool is_gather = candidate.kernel == CopyKernel::gather;
    const bool is_faster = candidate.microseconds < taken.microseconds && !(is_gather && plans_as_large());
    if (taken.possible && !is_faster) return;
    if (is_gather)
      candidate.reason =
          taken.possible ? "no other is predicted to take less time" : "no other can do this copy";
    taken = std::move(candidate);
  };
  for (const auto planner : kPlanners) {
    consider(planner(planned, device));
    if (is_best(taken)) break;
  }
  // A small cast may be over before the blocks of the stream kernel have made their conversion ready.
  if (is_best(taken) && planned.in_type != planned.out_type && is_small(planned))
    consider(gather_candidate(planned, device));
  return planned;
}

std::vector<CopyCandidate> copy_candidates(const CopyProblem& problem, const DeviceProperties& device) {
  std::vector<CopyCandidate> candidates;
  for (const auto planner : kPlanners) candidates.push_back(planner(problem, device));
  return candidates;
}

std::vector<CopyCandidate> possible_candidates(const CopyProblem& problem, const DeviceProperties& device,
                                               std::size_t tiles) {
  return with_tiles(problem, device, tiles, RowsForms::both);
}

std::vector<PlannedCopy> plans_to_time(const DeviceProperties& device, const PlannedCopy& planned) {
  if (planned.kernel == CopyKernel::nothing || planned.kernel == CopyKernel::native || is_best(planned))
    return {planned};
  std::vector<CopyCandidate> candidates =
      with_tiles(planned, device, std::numeric_limits<std::size_t>::max(), RowsForms::best);
  std::stable_sort(candidates.begin(), candidates.end(), [](const CopyCandidate& a, const CopyCandidate& b) {
    return a.microseconds < b.microseconds;
  });
  std::vector<PlannedCopy> plans;
  for (CopyCandidate& candidate : candidates) {
    PlannedCopy plan = planned;
    static_cast<CopyCandidate&>(plan) = std::move(candidate);
    plans.push_back(std::move(plan));
  }
  return plans;
}

}  // namespace relayout::plan
