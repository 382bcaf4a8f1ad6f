// The planner of all copies (permute, transpose, copy, contiguous, cast): from a checked problem to a kernel
// with finished parameters. Each kernel's planner states a candidate or why there is none; the choice is
// made among the candidates, here alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/copy_params.hpp"
#include "host/plan/copy/tile_plan.hpp"
#include "host/plan/loop_nest.hpp"
#include "relayout/copy_plan.hpp"

namespace relayout::plan {

/// The memory of one side.
struct CopyOperand {
  const void* data = nullptr;  // as planned
  std::int64_t offset = 0;     // bytes from there to the first element of the nest
  TensorView::ByteRange range{0, 0};
  std::int64_t alignment = 1;  // that the plan counts on, of data + offset

  /// Where the nest starts for a pointer in the place of `data`.
  std::uintptr_t start(const void* pointer) const noexcept {
    return reinterpret_cast<std::uintptr_t>(pointer) + static_cast<std::uintptr_t>(offset);
  }
  /// Whether it then lies on such a multiple.
  bool is_aligned(const void* pointer) const noexcept {
    return start(pointer) % static_cast<std::uintptr_t>(alignment) == 0;
  }
};

/// What a copy's plan depends on beside the device.
struct CopyProblem {
  DType in_type = DType::f32, out_type = DType::f32;  // as kernels move them
  CopyPlanOptions options;                            // the scale rounded as kernels take it
  LoopNest nest;     // without operand 1 where the two views have no nest in common
  LoopNest in_nest;  // then the input's own axes
  CopyOperand in, out;
  /// What each byte becomes, where that is no cast. Both types are u8 then.
  std::optional<ByteTable> table;

  bool common() const noexcept { return nest.operands() == 2; }
  /// Whether elements change on their way.
  bool converts() const noexcept { return table.has_value() || in_type != out_type; }
  /// Whether they do in kernels that know the sizes of the types alone.
  bool converts_by_size() const;
  /// Shared memory of the table that elements are looked up in.
  int table_bytes() const noexcept {
    return table ? kCastTableBytes : cast_table_bytes_of(in_type, out_type);
  }
};

/// out = in by flat C index. Both views have as many elements and pass the checks of a copy; null pointers
/// count as aligned. A nest without operands says that there is nothing to do.
CopyProblem copy_problem(const TensorView& in, const TensorView& out, const CopyPlanOptions& options);

/// What one kernel would do, or that it cannot.
struct CopyCandidate {
  CopyKernel kernel = CopyKernel::nothing;
  bool possible = false;
  const char* reason = "";  // why it suits, or why it cannot
  double microseconds = 0;  // predicted; 0: there is no estimate
  double start = 0;         // of these, what the kernel's start takes (tile_tuning.hpp)
  CopyKernelParams params;  // complete but for the pointers
  TilePlan tile;            // of CopyKernel::tile
};

/// Whether starts count in full.
bool is_small(const CopyProblem& problem);

/// The planners of the kernels, each in a file of its own (stream_candidate.cpp, ...).
CopyCandidate stream_candidate(const CopyProblem& problem, const DeviceProperties& device);
CopyCandidate transpose_candidate(const CopyProblem& problem, const DeviceProperties& device);
CopyCandidate rows_candidate(const CopyProblem& problem, const DeviceProperties& device);
CopyCandidate tile_candidate(const CopyProblem& problem, const DeviceProperties& device);
CopyCandidate gather_candidate(const CopyProblem& problem, const DeviceProperties& device);
/// The rows kernel in one of its two forms: lanes move vectors, or (`lanes`) single elements
/// (RowsRead::lanes).
CopyCandidate rows_candidate(const CopyProblem& problem, const DeviceProperties& device, bool lanes);
/// Not in the choice: what Device::cpu() runs.
CopyCandidate native_candidate(const CopyProblem& problem);

/// A copy and the candidate that was chosen for it.
struct PlannedCopy : CopyProblem, CopyCandidate {
  const char* operation = "";
};

/// The copy with the candidate that is taken; `native`: the device runs native code.
PlannedCopy plan_copy(CopyProblem problem, const DeviceProperties& device, bool native);

/// What every kernel of a GPU makes of the copy, in the order of preference: possible or not.
std::vector<CopyCandidate> copy_candidates(const CopyProblem& problem, const DeviceProperties& device);

/// What the choice is made among, to be timed beside each other: every kernel that can do it, the rows kernel
/// in both of its forms, and up to so many tiles, the best by estimate first and others of the whole range.
std::vector<CopyCandidate> possible_candidates(const CopyProblem& problem, const DeviceProperties& device,
                                               std::size_t tiles);

/// The plans of the same copy, the best by estimate first: of all tiles, and one of each other kernel that
/// can do it. Where nothing is faster than the plan, the plan alone.
std::vector<PlannedCopy> plans_to_time(const DeviceProperties& device, const PlannedCopy& planned);

/// The candidate of one of tile_candidates() of the problem's nest.
CopyCandidate tile_candidate_of(const CopyProblem& problem, const DeviceProperties& device,
                                const TilePlan& tile);
TileTarget tile_target(const CopyProblem& problem, const DeviceProperties& device);

// For the planners:

/// A kernel that cannot do it.
CopyCandidate refused(CopyKernel kernel, const char* why);
/// The types, the scale and the cast among a kernel's parameters.
void set_operation(const CopyProblem& problem, CopyOperands& params);
/// Whether to store past the caches.
bool is_streaming(const CopyProblem& problem, const DeviceProperties& device);
/// The predicted time of a kernel that reaches this share of the memory's speed with all multiprocessors
/// busy.
double microseconds_at(const CopyProblem& problem, const DeviceProperties& device, double share);
/// The bytes that move: every different element of the input and of the output once, with a beta twice.
double bytes_moved(const CopyProblem& problem);
/// Which bytes of the input there are, counted from its first element.
struct ByteRange {
  std::int64_t begin = 0, end = 0;
};
ByteRange input_bytes(const CopyProblem& problem);
/// Adds what a kernel with this start (tile_tuning.hpp) takes before the first byte of the problem moves.
void add_start(CopyCandidate& candidate, const CopyProblem& problem, const DeviceProperties& device,
               double start);

/// Microseconds of one multiprocessor that the ends of an output row cost where rows lie apart and off the
/// boundaries of vectors: none in kernels that store single elements, so many a row in tiles, and in vectors
/// of rows so many for each element that a vector may leave over.
constexpr double kOfElementRow = 0, kOfTileRow = 0.0079, kOfVectorRowElement = 0.0014;
/// Where the output has such rows (output_gaps.hpp): what the memory takes to complete their sectors, if the
/// candidate was predicted to be faster, and of_row for each row of several elements.
void add_output_gaps(CopyCandidate& candidate, const CopyProblem& problem, const DeviceProperties& device,
                     double of_row);

/// Numbers about a planned copy between these views, and the same in words.
CopyDetails copy_details(const PlannedCopy& copy, const TensorView& in, const TensorView& out,
                         const DeviceProperties& device, const CopyMeasurement& measurement);
/// `device_name`: "gpu(0)", empty for mere properties.
std::string explain_copy(const PlannedCopy& copy, const TensorView& in, const TensorView& out,
                         const std::string& device_name, const DeviceProperties& device,
                         const CopyMeasurement& measurement);

}  // namespace relayout::plan
