// The tile kernel's part in a copy: boxes of the nest through shared memory. tile_plan.cpp finds the best
// box, and tile_params.cpp makes its parameters.
#include "host/plan/copy/copy_plan.hpp"

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

/// What is left of a tile's speed where elements are cast by format on their way in, one vector after the
/// other: the median of random casts on an H200.
double cast_share(const CopyProblem& problem) { return problem.converts_by_size() ? 0.5 : 1; }

}  // namespace

TileTarget tile_target(const CopyProblem& problem, const DeviceProperties& device) {
  TileTarget target = tile_target(device, static_cast<int>(size_of(problem.in_type)),
                                  static_cast<int>(size_of(problem.out_type)));
  target.groups = !problem.converts_by_size();
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
  candidate.microseconds = microseconds_at(problem, device, tile.score * cast_share(problem));
  add_start(candidate, problem, tile_tuning(device).tile_start);
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
