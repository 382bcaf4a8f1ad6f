// The staged route: packed, moved and unpacked, in chunks. Copies move the messages, or, between processes
// that have not registered workspaces, the communicator.
#include <algorithm>
#include <cmath>
#include <map>

#include "host/redistribute/route_builder.hpp"

namespace relayout {
namespace {

constexpr int kMostChunks = 16;

/// What crosses for a move: in the narrower type, packed in the output's order or still in the input's.
struct Message {
  bool in_order;
  DType type;
  Dims shape;
};

/// Processes that do not see each other's strides go by the types alone.
Message message_of(const RouteBuilder& b, const plan::BoxMove& move) {
  const RedistributeProblem& p = b.problem();
  const std::size_t in_size = size_of(p.in_type), out_size = size_of(p.out_type);
  const bool keeps_the_input = in_size == out_size && b.is_one_process() &&
                               b.input(move).view.is_contiguous() && !b.output(move).view.is_contiguous();
  if (in_size < out_size || keeps_the_input) return {true, p.in_type, move.box.shape()};
  return {false, p.out_type, plan::permuted(move.box, p.axes).shape()};
}

/// A side of the move with the message's axes.
Part input_like(const RouteBuilder& b, const plan::BoxMove& move, const Message& message) {
  Part in = b.input(move);
  if (!message.in_order) in.view = in.view.permuted(b.problem().axes);
  return in;
}
Part output_like(const RouteBuilder& b, const plan::BoxMove& move, const Message& message) {
  Part out = b.output(move);
  if (message.in_order) out.view = out.view.permuted(plan::inverse(b.problem().axes));
  return out;
}

bool lies_like(const Part& part, const Message& message) {
  return part.view.dtype() == message.type && part.view.is_contiguous();
}

RouteTransfer transfer_of(const plan::BoxMove& move, const Message& message) {
  RouteTransfer transfer;
  transfer.from = move.from;
  transfer.to = move.to;
  transfer.width = static_cast<std::size_t>(move.box.elements()) * size_of(message.type);
  transfer.source_pitch = transfer.destination_pitch = transfer.width;
  return transfer;
}

/// Where the message is on the side of the local rank that sends it: in the input, which may lie like it, or
/// packed into room().
template <class Room>
Place packed(RouteBuilder& b, const plan::BoxMove& move, const Message& message, RouteChunk& chunk,
             const Room& room) {
  const Part in = input_like(b, move, message);
  if (lies_like(in, message)) return in.place;
  const Part to = room();
  chunk.packs.push_back(b.kernel(b.local(move.from), move, in, to));
  return to.place;
}

/// A side that lies like the message needs no kernel and no workspace.
void stage(RouteBuilder& b, const plan::BoxMove& move, RouteChunk& chunk) {
  const int from = b.local(move.from), to = b.local(move.to);
  const Message message = message_of(b, move);
  RouteTransfer transfer = transfer_of(move, message);
  if (from >= 0)
    transfer.source =
        packed(b, move, message, chunk, [&] { return b.workspace(from, message.type, message.shape); });
  if (to >= 0) {
    const Part out = output_like(b, move, message);
    if (lies_like(out, message)) {
      transfer.destination = out.place;
    } else {
      const Part arrived = b.workspace(to, message.type, message.shape);
      chunk.unpacks.push_back(b.kernel(to, move, arrived, out));
      transfer.destination = arrived.place;
    }
  }
  b.transfer(chunk, transfer);
}

/// The same between processes that reach each other's registered workspaces, in which all ranks know the
/// places of all messages, whoever needs them. Of outputs they know nothing.
void stage_in_registered(RouteBuilder& b, const plan::BoxMove& move, RouteChunk& chunk) {
  const int from = b.local(move.from), to = b.local(move.to);
  const Message message = message_of(b, move);
  const Part room = b.shared_workspace(move.from, message.type, message.shape),
             arrived = b.shared_workspace(move.to, message.type, message.shape);
  RouteTransfer transfer = transfer_of(move, message);
  transfer.destination = arrived.place;
  if (from >= 0) transfer.source = packed(b, move, message, chunk, [&] { return room; });
  if (to >= 0) chunk.unpacks.push_back(b.kernel(to, move, arrived, output_like(b, move, message)));
  if (from >= 0 || to >= 0) b.transfer(chunk, transfer);
  b.tell(b.result().ready, move.to, move.from);
  b.tell(chunk.sent, move.from, move.to);
}

/// Whether a move writes its receiver's output, if that is contiguous, in short runs that begin or end within
/// sectors, so that others write the rest of them. Elements below 4 bytes are bound by their stores anyway.
bool shares_sectors(const RedistributeProblem& p, const plan::BoxMove& move) {
  constexpr std::int64_t kSector = 32, kShortRun = 128;
  if (size_of(p.out_type) < 4) return false;
  const Dims part = plan::permuted(move.box, p.axes).shape(), whole = p.out_distribution.box(move.to).shape();
  const auto size = static_cast<std::int64_t>(size_of(p.out_type));
  std::int64_t run = size, row = size;
  for (std::size_t axis = part.size(); axis-- > 0 && run == row && run < kShortRun;) {
    run *= part[axis];
    row *= whole[axis];
  }
  return run < kShortRun && run != row && (run % kSector != 0 || row % kSector != 0);
}

/// Parts of a message, the same number on all ranks: each more overlaps packing and unpacking with the link,
/// and costs a copy's start. But what all of them write of an output in shared sectors stays in the cache
/// until the sectors are whole.
int chunks_of(const RouteBuilder& b) {
  const RedistributeProblem& p = b.problem();
  std::map<int, double> sent, shared;
  for (const plan::BoxMove& move : p.moves) {
    const auto elements = static_cast<double>(move.box.elements());
    if (move.from != move.to) sent[move.from] += elements;
    if (shares_sectors(p, move)) shared[move.to] += elements;
  }
  const auto most = [](const std::map<int, double>& elements) {
    double count = 0;
    for (const auto& rank : elements) count = std::max(count, rank.second);
    return count;
  };
  const auto in_size = static_cast<double>(size_of(p.in_type)),
             out_size = static_cast<double>(size_of(p.out_type));
  const double parts = std::sqrt(2 * most(sent) * (in_size + out_size) / b.model().memory /
                                 std::max(b.model().message, 1.0)),
               in_cache = most(shared) * out_size / b.model().cached;
  return static_cast<int>(std::clamp(std::round(std::max(parts, in_cache)), 1.0, double{kMostChunks}));
}

/// The time of a chunk's kernels, which the link waits for at the start and which wait for it at the end.
double exposed_microseconds(const RouteBuilder& b, const RouteChunk& chunk) {
  plan::RouteTime time(b.model());
  for (const auto* kernels : {&chunk.packs, &chunk.unpacks})
    for (const RouteKernel& kernel : *kernels) b.add_time(time, kernel);
  return time.microseconds() - b.model().start;
}

/// Calls add(piece, chunk) for what crosses in each chunk, in an order that all ranks have in common. What
/// stays on a rank is done while the first chunk crosses, or chunk by chunk where that shares its sectors.
template <class Add>
Route in_chunks(RouteBuilder& b, const Add& add) {
  const RedistributeProblem& p = b.problem();
  const int parts = chunks_of(b);
  const bool shares = std::any_of(p.moves.begin(), p.moves.end(),
                                  [&](const plan::BoxMove& move) { return shares_sectors(p, move); });
  std::vector<RouteChunk>& chunks = b.result().chunks;
  for (const plan::BoxMove& move : p.moves) {
    const bool stays = move.from == move.to;
    const std::vector<plan::BoxMove> cut = plan::pieces(move, p.axes, stays && !shares ? 1 : parts);
    if (chunks.size() < cut.size()) chunks.resize(cut.size());
    for (std::size_t i = 0; i < cut.size(); ++i) {
      if (stays) {
        b.within(cut[i], chunks[i].within);
      } else {
        add(cut[i], chunks[i]);
      }
    }
  }
  return b.finish(chunks.empty() ? 0 : exposed_microseconds(b, chunks.front()));
}

Route by_registered(const RedistributeProblem& problem) {
  RouteBuilder b(problem, RedistributeRoute::staged);
  const SharedMemory& workspace = shared_workspace_of(problem);
  std::vector<std::size_t>& taken = b.result().shared_workspace_bytes;
  taken.assign(workspace.parts.size(), 0);
  Route route = in_chunks(
      b, [&](const plan::BoxMove& piece, RouteChunk& chunk) { stage_in_registered(b, piece, chunk); });
  const std::vector<std::size_t>& needed = route.shared_workspace_bytes;
  for (std::size_t rank = 0; rank < needed.size(); ++rank)
    if (needed[rank] > workspace.parts[rank].bytes)
      return b.refuse("it needs " + std::to_string(needed[rank]) + " bytes on rank " + std::to_string(rank) +
                      ", and has " + std::to_string(workspace.parts[rank].bytes));
  route.microseconds += static_cast<double>(1 + route.chunks.size()) * b.model().signal;
  return route;
}

}  // namespace

Route staged_route(const RedistributeProblem& problem) {
  std::string remark;
  if (problem.shared_workspace >= 0) {
    Route route = by_registered(problem);
    if (route.possible) return route;
    remark = route.reason;
  }
  RouteBuilder b(problem, RedistributeRoute::staged, true);
  b.result().remark = remark;
  return in_chunks(b, [&](const plan::BoxMove& piece, RouteChunk& chunk) {
    if (b.local(piece.from) >= 0 || b.local(piece.to) >= 0) stage(b, piece, chunk);
  });
}

}  // namespace relayout
