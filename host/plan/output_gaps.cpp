#include "host/plan/output_gaps.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/sector.hpp"

namespace relayout::plan {
namespace {

/// So many times the pitch of a row, up to so many bytes of it. Fitted to 48 copies of rows of 5 to 100
/// elements into pitches of 7 to 199 on an H200, and right for rows of 2540 bytes and for single elements.
constexpr double kCompleted = 1.5, kMaxCompleted = 512;

}  // namespace

double GappedRows::completed_bytes() const { return count * kCompleted * std::min(pitch, kMaxCompleted); }

GappedRows gapped_rows(const OutputAxis* axes, int rank, std::int64_t element_bytes, std::int64_t address) {
  std::int64_t run = 1;
  int axis = 0;
  for (; axis < rank && (axes[axis].extent == 1 || std::abs(axes[axis].stride) == run); ++axis)
    run *= axes[axis].extent;
  if (axis == rank) return {};
  std::int64_t rows = 1;
  for (int other = axis; other < rank; ++other) rows *= axes[other].extent;
  const std::int64_t bytes = run * element_bytes, pitch = std::abs(axes[axis].stride) * element_bytes;
  if ((bytes | pitch | address) % kSectorBytes == 0) return {};
  return {static_cast<double>(rows), static_cast<double>(bytes), static_cast<double>(pitch)};
}

}  // namespace relayout::plan
