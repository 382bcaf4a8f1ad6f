// The routes that stage messages: packed, moved and unpacked, in chunks. Copies move the messages, or,
// between processes that have not registered workspaces, the communicator.
#include <algorithm>
#include <cmath>
#include <map>

#include "core/bytes.hpp"
#include "host/redistribute/message.hpp"

namespace relayout {
namespace {

constexpr int kMaxChunks = 16;

/// The moves to one rank.
using Received = std::vector<plan::BoxMove>;

std::vector<Received> by_receiver(const RedistributeProblem& p) {
  std::vector<Received> result;
  for (const plan::BoxMove& move : p.moves) {
    if (result.empty() || result.back().front().to != move.to) result.emplace_back();
    result.back().push_back(move);
  }
  return result;
}

/// Whether a move writes its receiver's output, if that is contiguous, in short runs that begin or end within
/// sectors, so that others write the rest of them. Elements below 4 bytes are bound by their stores anyway.
bool shares_sectors(const RedistributeProblem& p, const plan::BoxMove& move) {
  constexpr std::int64_t kSector = 32, kShortRun = 128;
  if (size_of(p.out_type) < 4) return false;
  const Dims part = plan::permuted(move.box, p.axes).shape(), whole = p.out_distribution.box(move.to).shape();
  const std::int64_t size = bytes_of(p.out_type);
  std::int64_t run = size, row = size;
  for (std::size_t axis = part.size(); axis-- > 0 && run == row && run < kShortRun;) {
    run *= part[axis];
    row *= whole[axis];
  }
  return run < kShortRun && run != row && (run % kSector != 0 || row % kSector != 0);
}

/// Parts of a message, the same number on all ranks: each more overlaps packing and unpacking with the link,
/// and costs the starts of a rank's copies.
double chunks_that_overlap(const RouteBuilder& b, bool joins) {
  const RedistributeProblem& p = b.problem();
  std::map<int, double> packed, unpacked, copies;  // elements, elements, messages
  for (const plan::BoxMove& move : p.moves) {
    const auto elements = static_cast<double>(move.box.elements());
    if (move.from != move.to) packed[move.from] += elements;
    if (move.from != move.to) copies[move.from] += 1;
    if (move.from != move.to || joins) unpacked[move.to] += elements;
  }
  const auto bytes = static_cast<double>(size_of(p.in_type) + size_of(p.out_type));
  return std::sqrt((plan::largest(packed) + plan::largest(unpacked)) * bytes / b.model().memory /
                   std::max(plan::largest(copies) * b.model().message, 1.0));
}

/// What all chunks write of an output in shared sectors stays in the cache until the sectors are whole.
double chunks_in_cache(const RouteBuilder& b) {
  const RedistributeProblem& p = b.problem();
  std::map<int, double> shared;  // elements
  for (const plan::BoxMove& move : p.moves)
    if (shares_sectors(p, move)) shared[move.to] += static_cast<double>(move.box.elements());
  return plan::largest(shared) * static_cast<double>(size_of(p.out_type)) / b.model().cached;
}

RouteChunk& chunk_of(RouteBuilder& b, std::size_t i) {
  std::vector<RouteChunk>& chunks = b.result().chunks;
  if (chunks.size() <= i) chunks.resize(i + 1);
  return chunks[i];
}

bool concerns(const RouteBuilder& b, const plan::BoxMove& move) {
  return has_room(b, move.from) || has_room(b, move.to);
}

/// The moves one by one. What stays on a rank is done while the first chunk crosses, or chunk by chunk where
/// that shares its sectors.
void add_apart(RouteBuilder& b, const Received& moves, int parts, bool shares) {
  for (const plan::BoxMove& move : moves) {
    const bool stays = move.from == move.to;
    const auto cut = plan::pieces(move, b.problem().axes, stays && !shares ? 1 : parts);
    for (std::size_t i = 0; i < cut.size(); ++i) {
      RouteChunk& chunk = chunk_of(b, i);
      if (stays) {
        b.within(cut[i], chunk.within);
      } else if (concerns(b, cut[i])) {
        send(b, cut[i], message_of(b, cut[i]), chunk);
      }
    }
  }
}

/// A chunk of all moves together.
plan::BoxMove joined(const std::vector<Received>& cut, std::size_t chunk) {
  plan::BoxMove whole = cut.front()[chunk];
  whole.from = whole.to;
  for (const Received& move : cut)
    for (std::size_t axis = 0; axis < whole.box.begin.size(); ++axis) {
      whole.box.begin[axis] = std::min(whole.box.begin[axis], move[chunk].box.begin[axis]);
      whole.box.end[axis] = std::max(whole.box.end[axis], move[chunk].box.end[axis]);
    }
  return whole;
}

/// Elements of a part's first axis.
Part rows_of(const Part& part, std::int64_t begin, std::int64_t end) {
  Part rows = part;
  rows.view = part.view.slice(0, begin, end);
  rows.place.offset += begin * part.view.stride(0) * bytes_of(part.view.dtype());
  return rows;
}

/// The moves, which continue each other along the message's first axis, side by side in the receiver's
/// workspace, what stays on it among them: one kernel writes a chunk of the output, in whole rows.
void add_joined(RouteBuilder& b, const Received& moves, const Message& message, int parts) {
  const int to = moves.front().to, local = b.local(to);
  const auto axis = static_cast<std::size_t>(message.order.front());
  std::vector<Received> cut;
  for (const plan::BoxMove& move : moves)
    cut.push_back(plan::pieces(move, b.problem().axes, parts, message.order.front()));
  for (std::size_t i = 0; i < cut.front().size(); ++i) {
    RouteChunk& chunk = chunk_of(b, i);
    const plan::BoxMove whole = joined(cut, i);
    Part arrived{joined_layout(message, whole), {}};
    if (has_room(b, to)) arrived = room(b, to, arrived.view);
    for (const Received& move : cut) {
      const Box& box = move[i].box;
      const Part rows =
          rows_of(arrived, box.begin[axis] - whole.box.begin[axis], box.end[axis] - whole.box.begin[axis]);
      if (move[i].from == to) {
        if (local >= 0)
          chunk.within.push_back(b.kernel(local, move[i], input_like(b, move[i], message), rows));
      } else if (concerns(b, move[i])) {
        send(b, move[i], message, chunk, &rows);
      }
    }
    if (local >= 0) chunk.unpacks.push_back(b.kernel(local, whole, arrived, output_like(b, whole, message)));
  }
}

/// The time of a chunk's kernels, which the link waits for at the start and which wait for it at the end.
double exposed_microseconds(const RouteBuilder& b, const RouteChunk& chunk) {
  plan::RouteTime time(b.model());
  for (const auto* kernels : {&chunk.packs, &chunk.unpacks})
    for (const RouteKernel& kernel : *kernels) b.add_time(time, kernel);
  return time.microseconds() - b.model().start;
}

int whole_chunks(double chunks) {
  return static_cast<int>(std::clamp(std::round(chunks), 1.0, double{kMaxChunks}));
}

Route apart(RouteBuilder& b) {
  const RedistributeProblem& p = b.problem();
  const int parts = whole_chunks(std::max(chunks_that_overlap(b, false), chunks_in_cache(b)));
  const bool shares = std::any_of(p.moves.begin(), p.moves.end(),
                                  [&](const plan::BoxMove& move) { return shares_sectors(p, move); });
  for (const Received& moves : by_receiver(p)) add_apart(b, moves, parts, shares);
  const std::vector<RouteChunk>& chunks = b.result().chunks;
  return b.finish(chunks.empty() ? 0 : exposed_microseconds(b, chunks.front()));
}

/// The message's axes: the one along which the moves continue each other, then the others as the input or as
/// the output has them.
std::vector<int> joined_order(const RedistributeProblem& p, int first, bool as_input) {
  std::vector<int> order{first};
  for (int k = 0; k < static_cast<int>(p.axes.size()); ++k) {
    const int axis = as_input ? k : p.axes[static_cast<std::size_t>(k)];
    if (axis != first) order.push_back(axis);
  }
  return order;
}

Route together(RouteBuilder& b, bool as_input) {
  const RedistributeProblem& p = b.problem();
  const int parts = whole_chunks(chunks_that_overlap(b, true));
  for (const Received& moves : by_receiver(p)) {
    const int first = plan::joining_axis(moves);
    if (first >= 0) {
      add_joined(b, moves, {narrower_type(p), joined_order(p, first, as_input)}, parts);
    } else {
      add_apart(b, moves, parts, false);
    }
  }
  return b.finish(exposed_microseconds(b, b.result().chunks.front()));
}

/// The route of a builder, by way of the workspaces that the ranks have registered, if these are large
/// enough.
template <class Build>
Route by_registered(const RedistributeProblem& problem, RedistributeRoute name, const Build& build) {
  RouteBuilder b(problem, name);
  const SharedMemory& workspace = shared_workspace_of(problem);
  b.result().shared_workspace_bytes.assign(workspace.parts.size(), 0);
  Route route = build(b);
  const std::vector<std::size_t>& needed = route.shared_workspace_bytes;
  for (std::size_t rank = 0; rank < needed.size(); ++rank)
    if (needed[rank] > workspace.parts[rank].bytes)
      return b.refuse("it needs " + std::to_string(needed[rank]) + " bytes on rank " + std::to_string(rank) +
                      ", and has " + std::to_string(workspace.parts[rank].bytes));
  route.microseconds += static_cast<double>(1 + route.chunks.size()) * b.model().signal;
  return route;
}

/// The same where workspaces are registered, else, and where they are too small, without.
template <class Build>
Route staged_as(const RedistributeProblem& problem, RedistributeRoute name, const Build& build) {
  std::string remark;
  if (problem.shared_workspace >= 0) {
    Route route = by_registered(problem, name, build);
    if (route.possible) return route;
    remark = route.reason;
  }
  RouteBuilder b(problem, name, true);
  b.result().remark = remark;
  return build(b);
}

}  // namespace

Route staged_route(const RedistributeProblem& problem) {
  return staged_as(problem, RedistributeRoute::staged, [](RouteBuilder& b) { return apart(b); });
}

Route joined_route(const RedistributeProblem& problem, bool as_input) {
  const std::vector<Received> received = by_receiver(problem);
  if (std::none_of(received.begin(), received.end(),
                   [](const Received& moves) { return plan::joining_axis(moves) >= 0; }))
    return RouteBuilder(problem, RedistributeRoute::joined)
        .refuse("what ranks send to one rank does not continue along one axis");
  return staged_as(problem, RedistributeRoute::joined,
                   [&](RouteBuilder& b) { return together(b, as_input); });
}

}  // namespace relayout
