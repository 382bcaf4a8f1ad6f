#include "host/redistribute/message.hpp"

#include <cstddef>
#include <numeric>

#include "core/bytes.hpp"
#include "core/integer_math.hpp"

namespace relayout {
namespace {

constexpr std::int64_t kLine = 128;  // bytes

Dims shape_of(const Message& message, const plan::BoxMove& move) {
  return plan::permuted(move.box, message.order).shape();
}

/// Whether the part can be sent, or written, as it is.
bool lies_like(const Part& part, const TensorView& layout) {
  return part.view.dtype() == layout.dtype() && part.view.is_contiguous() && layout.is_contiguous();
}

/// Where the message is on the side of the rank that sends it.
Place packed(RouteBuilder& b, const plan::BoxMove& move, const Message& message, const TensorView& layout,
             RouteChunk& chunk) {
  Part to;
  if (b.uses_registered()) to = room(b, move.from, layout);
  if (b.local(move.from) < 0) return {};
  const Part in = input_like(b, move, message);
  if (lies_like(in, layout)) return in.place;
  if (!b.uses_registered()) to = room(b, move.from, layout);
  chunk.packs.push_back(b.kernel(b.local(move.from), move, in, to));
  return to.place;
}

/// Where the message arrives. An output that lies like it needs no kernel and no workspace, but other
/// processes do not know how outputs lie.
Place arrived(RouteBuilder& b, const plan::BoxMove& move, const Message& message, const TensorView& layout,
              RouteChunk& chunk) {
  const int to = b.local(move.to);
  if (!has_room(b, move.to)) return {};
  if (to < 0) return room(b, move.to, layout).place;
  const Part out = output_like(b, move, message);
  if (!b.uses_registered() && lies_like(out, layout)) return out.place;
  const Part from = room(b, move.to, layout);
  chunk.unpacks.push_back(b.kernel(to, move, from, out));
  return from.place;
}

}  // namespace

DType narrower_type(const RedistributeProblem& problem) {
  return size_of(problem.in_type) < size_of(problem.out_type) ? problem.in_type : problem.out_type;
}

Message message_of(const RouteBuilder& b, const plan::BoxMove& move) {
  const RedistributeProblem& p = b.problem();
  const std::size_t in_size = size_of(p.in_type), out_size = size_of(p.out_type);
  const bool keeps_the_input = in_size == out_size && b.is_one_process() &&
                               b.input(move).view.is_contiguous() && !b.output(move).view.is_contiguous();
  Message message{keeps_the_input ? p.in_type : narrower_type(p), p.axes};
  if (in_size < out_size || keeps_the_input) std::iota(message.order.begin(), message.order.end(), 0);
  return message;
}

TensorView joined_layout(const Message& message, const plan::BoxMove& move) {
  const Dims shape = shape_of(message, move);
  Dims strides = contiguous_strides(shape);
  const std::int64_t line = kLine / bytes_of(message.type);
  if (strides.front() > line) strides.front() = round_up(strides.front(), line);
  return {nullptr, message.type, shape, strides};
}

Part input_like(const RouteBuilder& b, const plan::BoxMove& move, const Message& message) {
  Part in = b.input(move);
  in.view = in.view.permuted(message.order);
  return in;
}

Part output_like(const RouteBuilder& b, const plan::BoxMove& move, const Message& message) {
  const std::vector<int> place = plan::inverse(b.problem().axes);  // of the input's axes, in the output
  std::vector<int> order;
  for (const int axis : message.order) order.push_back(place[static_cast<std::size_t>(axis)]);
  Part out = b.output(move);
  out.view = out.view.permuted(order);
  return out;
}

bool has_room(const RouteBuilder& b, int rank) { return b.uses_registered() || b.local(rank) >= 0; }

Part room(RouteBuilder& b, int rank, const TensorView& layout) {
  if (b.uses_registered()) return b.shared_workspace(rank, layout);
  return b.workspace(b.local(rank), layout);
}

void send(RouteBuilder& b, const plan::BoxMove& move, const Message& message, RouteChunk& chunk,
          const Part* joined) {
  const TensorView layout = joined != nullptr ? joined_layout(message, move)
                                              : TensorView(nullptr, message.type, shape_of(message, move));
  RouteTransfer transfer;
  transfer.from = move.from;
  transfer.to = move.to;
  transfer.width = static_cast<std::size_t>(layout.byte_range().end);
  transfer.source_pitch = transfer.destination_pitch = transfer.width;
  transfer.source = packed(b, move, message, layout, chunk);
  transfer.destination = joined != nullptr ? joined->place : arrived(b, move, message, layout, chunk);
  if (b.local(move.from) >= 0 || b.local(move.to) >= 0) b.transfer(chunk, transfer);
  if (!b.uses_registered()) return;
  b.tell(b.result().ready, move.to, move.from);
  b.tell(chunk.sent, move.from, move.to);
}

}  // namespace relayout
