// The staged route: packed, copied and unpacked, in chunks.
#include <algorithm>
#include <cmath>
#include <map>

#include "host/redistribute/route_builder.hpp"

namespace relayout {
namespace {

constexpr int kMostChunks = 16;

/// A message of a staged route. It crosses in the narrower type, packed in the output's order or still in the
/// input's. A side that lies like the message needs no kernel and no workspace.
void stage(RouteBuilder& b, const plan::BoxMove& move, RouteChunk& chunk) {
  const RedistributeProblem& p = b.problem();
  const int from = b.local(move.from), to = b.local(move.to);
  const std::size_t in_size = size_of(p.in_type), out_size = size_of(p.out_type);
  // Processes that do not see each other's strides go by the types alone.
  const bool in_order =
      in_size < out_size || (in_size == out_size && b.is_one_process() &&
                             b.input(move).view.is_contiguous() && !b.output(move).view.is_contiguous());
  const DType type = in_order ? p.in_type : p.out_type;
  const Dims shape = in_order ? move.box.shape() : plan::permuted(move.box, p.axes).shape();
  const auto lies_like_it = [&](const Part& part) {
    return part.view.dtype() == type && part.view.is_contiguous();
  };

  RouteTransfer transfer;
  transfer.from = move.from;
  transfer.to = move.to;
  transfer.width = static_cast<std::size_t>(move.box.elements()) * size_of(type);
  transfer.source_pitch = transfer.destination_pitch = transfer.width;
  if (from >= 0) {
    Part in = b.input(move);
    if (!in_order) in.view = in.view.permuted(p.axes);
    if (lies_like_it(in)) {
      transfer.source = in.place;
    } else {
      const Part packed = b.workspace(from, type, shape);
      chunk.packs.push_back(b.kernel(from, move, in, packed));
      transfer.source = packed.place;
    }
  }
  if (to >= 0) {
    Part out = b.output(move);
    if (in_order) out.view = out.view.permuted(plan::inverse(p.axes));
    if (lies_like_it(out)) {
      transfer.destination = out.place;
    } else {
      const Part arrived = b.workspace(to, type, shape);
      chunk.unpacks.push_back(b.kernel(to, move, arrived, out));
      transfer.destination = arrived.place;
    }
  }
  b.transfer(chunk, transfer);
}

/// Parts of a message: each more overlaps packing and unpacking with the link, and costs a copy's start.
int chunks_of(const RedistributeProblem& problem, const plan::LinkModel& model) {
  std::map<int, double> sent;
  for (const plan::BoxMove& move : problem.moves)
    if (move.from != move.to) sent[move.from] += static_cast<double>(move.box.elements());
  double most = 0;
  for (const auto& rank : sent) most = std::max(most, rank.second);
  const double bytes = most * static_cast<double>(size_of(problem.in_type) + size_of(problem.out_type));
  const double parts = std::sqrt(2 * bytes / model.memory / std::max(model.message, 1.0));
  return static_cast<int>(std::min(std::max(std::round(parts), 1.0), static_cast<double>(kMostChunks)));
}

/// The time of a chunk's kernels, which the link waits for at the start and which wait for it at the end.
double exposed_microseconds(const RouteBuilder& b, const RouteChunk& chunk) {
  plan::RouteTime time(b.model());
  for (const auto* kernels : {&chunk.packs, &chunk.unpacks})
    for (const RouteKernel& kernel : *kernels) b.add_time(time, kernel);
  return time.microseconds() - b.model().start;
}

}  // namespace

Route staged_route(const RedistributeProblem& problem) {
  RouteBuilder b(problem, RedistributeRoute::staged);
  const int parts = chunks_of(problem, b.model());
  std::vector<RouteChunk>& chunks = b.result().chunks;
  for (const plan::BoxMove& move : problem.moves) {
    if (move.from == move.to) {
      b.within(move);
      continue;
    }
    if (b.local(move.from) < 0 && b.local(move.to) < 0) continue;
    const std::vector<plan::BoxMove> cut = plan::pieces(move, problem.axes, parts);
    if (chunks.size() < cut.size()) chunks.resize(cut.size());
    for (std::size_t i = 0; i < cut.size(); ++i) stage(b, cut[i], chunks[i]);
  }
  return b.finish(chunks.empty() ? 0 : exposed_microseconds(b, chunks.front()));
}

}  // namespace relayout
