// The routes without a workspace: direct, and the copy engine.
#include "host/redistribute/routes.hpp"

#include <algorithm>
#include <utility>

#include "core/bytes.hpp"
#include "host/api/plan_checks.hpp"
#include "host/plan/copy/cast_rule.hpp"
#include "host/plan/copy/copy_nest.hpp"
#include "host/redistribute/route_builder.hpp"

namespace relayout {
namespace {

/// Bytes between rows that the copy engines of both vendors take.
constexpr std::int64_t kMaxPitch = (std::int64_t{1} << 31) - 1;

/// The move as one copy of rows of bytes, where it is one.
bool as_rows(const RedistributeProblem& p, const Part& in, const Part& out, RouteTransfer& transfer) {
  if (!keeps_bits(p.in_type, p.out_type, p.cast)) return false;
  const plan::LoopNest nest = plan::common_nest(out.view, in.view.permuted(p.axes));
  if (nest.operands() != 2 || nest.rank() > 2) return false;
  const std::int64_t size = bytes_of(p.out_type);
  transfer.destination = out.place;
  transfer.destination.offset += nest.offsets[0] * size;
  transfer.source = in.place;
  transfer.source.offset += nest.offsets[1] * size;
  // Where there is a single column, the rows are an element each.
  const int inner = nest.rank() > 0 && nest.strides[0].back() == 1 && nest.strides[1].back() == 1
                        ? nest.rank() - 1
                        : nest.rank();
  const std::int64_t width = inner < nest.rank() ? nest.extents[static_cast<std::size_t>(inner)] : 1;
  if (inner > 1) return false;
  std::int64_t rows = 1, pitch = width, source_pitch = width;
  if (inner == 1) {
    rows = nest.extents[0];
    pitch = nest.strides[0][0];
    source_pitch = nest.strides[1][0];
    if (std::min(pitch, source_pitch) < width || std::max(pitch, source_pitch) > kMaxPitch / size)
      return false;
  }
  transfer.width = static_cast<std::size_t>(width * size);
  transfer.rows = static_cast<std::size_t>(rows);
  transfer.destination_pitch = static_cast<std::size_t>(pitch * size);
  transfer.source_pitch = static_cast<std::size_t>(source_pitch * size);
  return true;
}

}  // namespace

Route direct_route(const RedistributeProblem& problem) {
  RouteBuilder b(problem, RedistributeRoute::direct);
  const bool one_process = b.is_one_process();
  if (!one_process && !problem.no_outputs.empty()) return b.refuse(problem.no_outputs);
  for (const plan::BoxMove& move : problem.moves) {
    if (move.from == move.to) {
      b.within(move, b.result().within);
      continue;
    }
    if (!one_process) {
      if (b.local(move.from) < 0 && b.local(move.to) < 0) continue;
      b.tell(b.result().ready, move.to, move.from);
      b.tell(b.result().done, move.from, move.to);
      if (b.local(move.from) < 0) continue;
    }
    // The side that sends writes, because a store waits for nothing; the side that receives reads where that
    // makes fewer bytes cross. Only the output of another process is mapped.
    const bool reads = one_process && size_of(problem.in_type) < size_of(problem.out_type);
    const int runs = reads ? move.to : move.from, other = reads ? move.from : move.to;
    if (one_process && !problem.group.reaches(runs, other))
      return b.refuse("kernels of rank " + std::to_string(runs) + " do not reach the memory of rank " +
                      std::to_string(other));
    RouteKernel kernel = b.whole(runs, move);
    if (!is_native(problem.group.stream(runs).device())) {
      const CopyDetails details = kernel.plan.details();
      const CopySide& crossing = reads ? details.in : details.out;
      b.time().add_bytes(b.device_of(move.from), b.device_of(move.to), static_cast<double>(crossing.bytes),
                         plan::share_of_link(details, reads, b.model()));
    }
    b.result().across.push_back(std::move(kernel));
  }
  const bool tells = (b.result().ready.tell | b.result().ready.await) != 0;
  return b.finish(tells ? 2 * b.model().signal : 0);
}

Route copy_engine_route(const RedistributeProblem& problem) {
  RouteBuilder b(problem, RedistributeRoute::copy_engine);
  if (!b.is_one_process()) return b.refuse(kOtherProcesses);
  RouteChunk chunk;
  for (const plan::BoxMove& move : problem.moves) {
    if (move.from == move.to) {
      b.within(move, b.result().within);
      continue;
    }
    RouteTransfer transfer;
    transfer.from = move.from;
    transfer.to = move.to;
    if (!as_rows(problem, b.input(move), b.output(move), transfer))
      return b.refuse("what rank " + std::to_string(move.from) + " sends to rank " + std::to_string(move.to) +
                      " is more than rows of bytes");
    b.transfer(chunk, transfer);
  }
  if (!chunk.transfers.empty()) b.result().chunks.push_back(std::move(chunk));
  return b.finish();
}

}  // namespace relayout
