// What crosses for a move on the routes that stage it: the elements of its box in the narrower type, in an
// order of axes that sender and receiver have in common.
#pragma once

#include <vector>

#include "host/redistribute/route_builder.hpp"

namespace relayout {

/// The message's axis k is the input's axis order[k].
struct Message {
  DType type = DType::f32;
  std::vector<int> order;
};

/// The type with fewer bytes: the output's where they are equal.
DType narrower_type(const RedistributeProblem& problem);

/// A message by itself is contiguous, and has the axes as the input or as the output has them: processes that
/// do not see each other's strides go by the types alone.
Message message_of(const RouteBuilder& b, const plan::BoxMove& move);

/// How messages lie that continue each other along their first axis: its rows, unless they are shorter, begin
/// on the lines of a cache, so that no message shares one with another, and vectors fit every row.
TensorView joined_layout(const Message& message, const plan::BoxMove& move);

/// A side of the move, which this process has, with the message's axes.
Part input_like(const RouteBuilder& b, const plan::BoxMove& move, const Message& message);
Part output_like(const RouteBuilder& b, const plan::BoxMove& move, const Message& message);

/// Whether this process knows of room in a rank's workspace. In workspaces that are registered all ranks know
/// the places of all messages, whoever needs them.
bool has_room(const RouteBuilder& b, int rank);
Part room(RouteBuilder& b, int rank, const TensorView& layout);

/// What a move from a rank to another adds to a chunk, in an order that all ranks have in common. The message
/// arrives in `joined` of the receiver's workspace, if that is given, and is unpacked by somebody else.
void send(RouteBuilder& b, const plan::BoxMove& move, const Message& message, RouteChunk& chunk,
          const Part* joined = nullptr);

}  // namespace relayout
