#include "host/plan/copy/output_gaps.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/bytes.hpp"
#include "core/sector.hpp"
#include "host/plan/device_rates.hpp"

namespace relayout::plan {
namespace {

/// Beside what is written, the memory moves so many times the pitch of a row, up to so many bytes of it: it
/// reads what it has of lines that are written in part, and writes them back. Fitted to 48 copies of rows of
/// 5 to 100 elements into pitches of 7 to 199 on an H200, and right for rows of 2540 bytes.
constexpr double kCompleted = 1.5, kMaxCompleted = 512;

struct Rows {
  double count = 0, bytes = 0, pitch = 0;  // none: they lie side by side, or are of whole sectors
};

Rows rows_with_gaps(const CopyProblem& problem) {
  const LoopNest& nest = problem.nest;
  const Dims& strides = nest.strides[0];
  if (!problem.common() || nest.rank() < 2 || strides.back() != 1) return {};
  std::int64_t run = 1;
  int axis = nest.rank() - 1;
  for (; axis >= 0 && strides[axis] == run; --axis) run *= nest.extents[axis];
  if (axis < 0) return {};
  const std::int64_t size = bytes_of(problem.out_type);
  const std::int64_t bytes = run * size, pitch = std::abs(strides[axis]) * size;
  if ((bytes | pitch | problem.out.start(problem.out.data)) % kSectorBytes == 0) return {};
  return {static_cast<double>(nest.elements() / run), static_cast<double>(bytes), static_cast<double>(pitch)};
}

}  // namespace

void add_output_gaps(CopyCandidate& candidate, const CopyProblem& problem, const DeviceProperties& device,
                     double of_row) {
  const Rows rows = rows_with_gaps(problem);
  if (rows.count == 0) return;
  const double out =
      static_cast<double>(problem.nest.elements()) * static_cast<double>(size_of(problem.out_type));
  const double sectors = std::min(rows.pitch, rows.bytes + static_cast<double>(kSectorBytes)),
               completed = kCompleted * std::min(rows.pitch, kMaxCompleted);
  const double moved = bytes_moved(problem) - out + rows.count * (sectors + completed);
  const double memory =
      tile_tuning(device).launch_microseconds + moved / device_rates(device).bytes_per_microsecond;
  candidate.microseconds =
      std::max(candidate.microseconds, memory) + rows.count * of_row / device.multiprocessors;
}

}  // namespace relayout::plan
