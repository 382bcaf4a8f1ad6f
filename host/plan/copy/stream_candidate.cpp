// The stream kernel's part in a copy: rows of elements that follow each other on both sides.
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "core/bytes.hpp"
#include "core/integer_math.hpp"
#include "host/plan/copy/cast_rule.hpp"
#include "host/plan/copy/copy_plan.hpp"

namespace relayout::plan {
namespace {

constexpr CopyKernel kKernel = CopyKernel::stream;
/// Blocks that 31 bits count.
constexpr std::int64_t kMaxBlocks = 0x7fffffff;
/// The shortest access, and the shortest rows: of less, a block of one warp would have little to do. Where
/// they begin anywhere, both their ends take as long as a vector of the rows kernel: 1.0 to 1.28 of its time
/// at 1 KiB.
constexpr std::int64_t kLeastAccess = 4, kLeastRowBytes = 1024, kLeastUnalignedRowBytes = 2048;
/// A block of the smallest size.
constexpr std::int64_t kLeastThreads = 64;

/// The share of the memory's speed that words of so many bytes reach. An estimate: PyTorch's copies of 4
/// bytes a lane reach 0.97 on an H200.
inline double share_of(int access) { return access == 16 ? 1 : access == 8 ? 0.99 : 0.98; }

/// Several rows of fewer bytes are blocks of two warps each, of which a multiprocessor has no room for
/// enough: on an H200 copies of rows of 1 KiB take 1.2 times the time that others of their bytes take,
/// from 1.7 KiB on 1.0 to 1.06.
constexpr std::int64_t kShortRowBytes = 1536;
constexpr double kShareOfShortRows = 0.8;

/// What is left of the speed with one block, and blocks of a multiprocessor from which on all of it is there.
/// Fitted to small copies on an H100.
constexpr double kIdle = 0.43, kBusyBlocks = 0.75;

/// Microseconds before the first byte of a cast, whose blocks make a conversion ready, and of words that are
/// shorter than 16 bytes. Chosen as those with which gather takes the small copies that it is faster for.
constexpr double kStartOfCast = 0.6, kStartOfWords = 0.2, kStartOfUnaligned = 0.68;

/// Lanes of a multiprocessor from which on each moves one vector's bytes, by one access or by several of
/// words. On an H200 copies then take 0.94 to 0.96 and 0.88 to 0.93 of the time, but fewer lanes up to 1.04.
/// Rows of less than two blocks, whose lanes look up where they lie, take as long either way.
constexpr std::int64_t kShortLanes = 7 * 1024, kShortLanesOfWords = 5 * 1024;
/// A grid of HIP has fewer than 2^32 threads.
constexpr std::int64_t kMaxShortLanes = std::int64_t{1} << 31;
/// How much faster than others copies by such lanes are.
constexpr double kShortLanesGain = 1.04;

bool has_short_lanes(const DeviceProperties& device, int access, std::int64_t rows, std::int64_t row_bytes) {
  if (rows > 1 && row_bytes < 2 * kStreamThreads * kStreamVectorBytes) return false;
  const std::int64_t least = access == kStreamVectorBytes ? kShortLanes : kShortLanesOfWords,
                     lanes = rows * row_bytes / kStreamVectorBytes;
  return lanes >= least * device.multiprocessors && lanes < kMaxShortLanes;
}

/// Why it has no rows that begin anywhere, or null. Casts that other kernels do as fast or faster are left to
/// them, and those of bytes to bytes, which have a table.
const char* why_not_unaligned(const CopyProblem& problem, std::int64_t larger) {
  if (larger > 2)
    return "it moves elements of 4 bytes and more on multiples of their size, and casts them in one row "
           "only, both sides of which begin on a 16-byte boundary";
  if (!problem.converts()) return nullptr;
  if (!element_cast(problem.in_type, problem.out_type, problem.options.cast).quick)
    return "it casts rows that begin anywhere with the default rounding and overflow only";
  return problem.table_bytes() > 0
             ? "it casts bytes to bytes in one row only, both sides of which begin on a 16-byte boundary"
             : nullptr;
}

/// The longest word on a multiple of which all rows of both sides begin.
int access_of(const CopyProblem& problem) {
  std::int64_t boundary = std::gcd(problem.in.alignment, problem.out.alignment);
  const LoopNest& nest = problem.nest;
  for (int axis = 0; axis + 1 < nest.rank(); ++axis) {
    boundary = std::gcd(boundary, std::abs(nest.strides[0][axis]) * size_of(problem.out_type));
    boundary = std::gcd(boundary, std::abs(nest.strides[1][axis]) * size_of(problem.in_type));
  }
  return static_cast<int>(std::gcd(boundary, std::int64_t{16}));
}

}  // namespace

CopyCandidate stream_candidate(const CopyProblem& problem, const DeviceProperties& device) {
  const LoopNest& nest = problem.nest;
  const int last = nest.rank() - 1;
  if (!problem.common() || nest.rank() == 0 || nest.strides[0][last] != 1 || nest.strides[1][last] != 1)
    return refused(kKernel, "the two sides have no rows in common whose elements follow each other");
  if (is_scaled(problem.options.scale)) return refused(kKernel, "it has no alpha and beta");
  StreamParams params;
  set_operation(problem, params);
  params.access = access_of(problem);
  const auto larger =
      static_cast<std::int64_t>(std::max(size_of(problem.in_type), size_of(problem.out_type)));
  params.unaligned = problem.converts() ? nest.rank() != 1 || params.access != 16
                                        : params.access < std::max(kLeastAccess, larger);
  if (params.unaligned) {
    if (const char* why = why_not_unaligned(problem, larger)) return refused(kKernel, why);
  }
  params.elements = nest.extents[last];
  const std::int64_t rows = nest.elements() / params.elements, row_bytes = params.elements * larger;
  if (rows > 1 && row_bytes < kLeastRowBytes) return refused(kKernel, "rows are shorter than 1 KiB");
  if (rows > 1 && params.unaligned && row_bytes < kLeastUnalignedRowBytes)
    return refused(kKernel, "rows that begin anywhere are shorter than 2 KiB");

  const bool short_lanes =
      !params.unaligned && !problem.converts() && has_short_lanes(device, params.access, rows, row_bytes);
  if (short_lanes) params.bytes_per_thread = kStreamVectorBytes;
  std::int64_t lane_bytes = row_bytes;
  if (params.unaligned) {
    params.bytes_per_thread = kUnalignedVectors * kStreamVectorBytes;
    const ByteRange readable = input_bytes(problem);
    params.in_begin = readable.begin;
    params.in_end = readable.end;
    lane_bytes += kStreamVectorBytes - larger;  // a row's first vector may begin in front of it
  }
  const std::int64_t row_blocks =
      divide_up(lane_bytes, std::int64_t{kStreamThreads} * params.bytes_per_thread);
  params.blocks = row_blocks;
  if (rows > 1) {
    if (row_blocks > kMaxBlocks / rows) return refused(kKernel, "there are more blocks than 31 bits count");
    params.blocks *= rows;
    params.row_blocks = make_divisor(static_cast<std::uint32_t>(row_blocks));
    params.threads = static_cast<int>(
        std::max(round_up(divide_up(lane_bytes, row_blocks * params.bytes_per_thread), std::int64_t{32}),
                 kLeastThreads));
    params.outer_rank = last;
    for (int axis = 0; axis < last; ++axis) {
      params.axes[axis].extent = make_divisor(static_cast<std::uint32_t>(nest.extents[axis]));
      params.axes[axis].in = nest.strides[1][axis] * bytes_of(problem.in_type);
      params.axes[axis].out = nest.strides[0][axis] * bytes_of(problem.out_type);
    }
  }
  params.streaming = is_streaming(problem, device);

  CopyCandidate candidate;
  candidate.kernel = kKernel;
  candidate.possible = true;
  candidate.reason = params.unaligned
                         ? "both sides have rows of elements that follow each other, from any address"
                     : rows > 1 ? "both sides have rows of elements that follow each other"
                     : params.access == 16
                         ? "both sides are one piece of memory, from a 16-byte boundary on"
                         : "both sides are one piece of memory, of which words move that both have in common";
  const double whole = static_cast<double>(params.blocks * params.threads) * params.bytes_per_thread /
                       (kStreamThreads * kStreamBytesPerThread);
  const double busy = busy_share(kIdle, kBusyBlocks * static_cast<double>(device.multiprocessors), whole);
  const double of_rows = rows > 1 && row_bytes < kShortRowBytes ? kShareOfShortRows
                         : short_lanes                          ? kShortLanesGain
                                                                : 1;
  candidate.microseconds = microseconds_at(problem, device, share_of(params.access) * busy * of_rows);
  add_start(candidate, problem, device,
            params.unaligned     ? kStartOfUnaligned
            : problem.converts() ? kStartOfCast
            : params.access < 16 ? kStartOfWords
                                 : 0);
  candidate.params = params;
  return candidate;
}

}  // namespace relayout::plan
