// The tile kernel's part in a copy: boxes of the nest through shared memory. tile_plan.cpp finds the best
// box, and tile_params.cpp makes its parameters.
#include <algorithm>
#include <cmath>

#include "host/plan/copy/copy_nest.hpp"
#include "host/plan/copy/copy_plan.hpp"
#include "host/plan/device_rates.hpp"

namespace relayout::plan {
namespace {

constexpr CopyKernel kKernel = CopyKernel::tile;

/// Null: tiles are possible so far.
const char* why_no_tiles(const CopyProblem& problem) {
  if (!problem.common())
    return "the two shapes have no loop nest in common, so that each element's place is worked out on both "
           "sides";
  // A tile holds elements of the output's type, in which alpha * in would be rounded before beta * out is
  // added.
  if (problem.options.scale.beta != 0 && problem.in_type != problem.out_type)
    return "a cast is added to the output with one rounding, while tiles hold elements of the output's type";
  if (problem.nest.rank() == 0) return "there is one element";
  return nullptr;
}

/// Instructions of a lane for an element that is cast by size, on its whole way through the tile: by a table,
/// and by its format; and the share of the issue slots that the kernel reaches. Fitted, as tile_tuning.cpp
/// is.
constexpr double kOfLookUp = 19, kOfConversion = 32, kIssueShare = 0.75;

double cast_microseconds(const CopyProblem& problem, const DeviceProperties& device) {
  if (!problem.converts_by_size()) return 0;
  const double instructions = problem.table_bytes() > 0 ? kOfLookUp : kOfConversion;
  return tile_tuning(device).launch_microseconds +
         static_cast<double>(problem.nest.elements()) / device.warp_size * instructions /
             (device_rates(device).instructions_per_microsecond * device.multiprocessors * kIssueShare);
}

/// Whether a copy that transposes is larger than those to which numbers are fitted. Casts are not faster than
/// predicted where they are large, nor are copies along one axis.
bool is_large(const CopyProblem& problem, const TileTuning& tuning) {
  return bytes_moved(problem) > tuning.large_bytes && problem.in_type == problem.out_type &&
         fastest_input_axis(problem.nest) != problem.nest.rank() - 1;
}

/// What a copy takes of the time that is fitted to smaller ones.
double part_of_large(const CopyProblem& problem, const TileTuning& tuning) {
  if (!is_large(problem, tuning)) return 1;
  const double doublings = std::log2(bytes_moved(problem) / tuning.large_bytes);
  return std::max(tuning.least_of_large, 1 - tuning.saved_by_doubling * doublings);
}

}  // namespace

TileTarget tile_target(const CopyProblem& problem, const DeviceProperties& device) {
  TileTarget target = tile_target(device, static_cast<int>(size_of(problem.in_type)),
                                  static_cast<int>(size_of(problem.out_type)));
  target.groups = !problem.converts_by_size();
  target.large = is_large(problem, *target.tuning);
  if (!target.groups) target.shared_bytes -= problem.table_bytes();
  target.in_offset = static_cast<int>(problem.in.start(problem.in.data) % 16);
  target.out_offset = static_cast<int>(problem.out.start(problem.out.data) % kTileRunAlignment);
  return target;
}

CopyCandidate tile_candidate_of(const CopyProblem& problem, const DeviceProperties& device,
                                const TilePlan& tile) {
  CopyCandidate candidate;
  candidate.kernel = kKernel;
  candidate.possible = true;
  candidate.reason = tile.read.axes[0] == tile.write.axes[0]
                         ? "both sides run along the same axis, with runs of whole vectors' length in a tile"
                         : "the sides run along different axes, and a tile has runs on both";
  // No copy is faster than that of one piece.
  const double share = std::min(1.0, tile.score / part_of_large(problem, tile_tuning(device)));
  candidate.microseconds =
      std::max(microseconds_at(problem, device, share), cast_microseconds(problem, device));
  add_start(candidate, problem, device, tile_tuning(device).tile_start);
  add_output_gaps(candidate, problem, device, tile.unaligned_out ? kOfTileRow : 0);
  candidate.tile = tile;
  auto& params = candidate.params.emplace<TileParams>();
  set_operation(problem, params);
  fill_tile_params(problem.nest, tile, params);
  params.streaming = is_streaming(problem, device);
  return candidate;
}

CopyCandidate tile_candidate(const CopyProblem& problem, const DeviceProperties& device) {
  if (const char* why = why_no_tiles(problem)) return refused(kKernel, why);
  const TilePlan tile = choose_tile(problem.nest, tile_target(problem, device));
  if (!tile.valid) {
    return refused(kKernel,
                   "one side has no run: no two elements that follow each other in memory, or no tile fits");
  }
  return tile_candidate_of(problem, device, tile);
}

}  // namespace relayout::plan
