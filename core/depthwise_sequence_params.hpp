// What the depthwise kernels for sequences are told: each sequence has its own row of a table of states, and
// its own number of samples, both of which only the device's memory says. Those numbers cannot be checked
// before a launch, so every use of them goes through the functions below, which leave nothing out of bounds.
#pragma once

#include <cstdint>

#include "core/depthwise_params.hpp"

namespace relayout {

/// What runs an operation on sequences.
enum class DepthwiseSequenceKernel : std::int32_t {
  nothing,          // no sequences, or nothing in them
  native,           // the processor's own code
  update,           // a channel a thread, the window in the state; any taps and strides
  update_unrolled,  // the same for neighbouring channels, the window in registers; up to kUnrolledTaps taps
  varlen,           // a few samples of a channel a thread; any taps and strides
  varlen_channel,   // neighbouring channels, words where they can be, up to kUnrolledTaps taps
  varlen_time,      // packs of 16 bytes along time, up to kUnrolledTaps taps
  states,           // the last samples alone, an element a thread
};

enum class DepthwiseSequenceTask : std::int32_t {
  update,  // depthwise_update with options
  varlen,  // depthwise_varlen
  states,  // depthwise_varlen_states
};

/// A number of each sequence, in the device's memory.
template <class T>
struct PerSequence {
  const T* numbers = nullptr;  // null: not given
  std::int64_t stride = 0;

  constexpr bool is_given() const { return numbers != nullptr; }
  constexpr std::int64_t operator[](std::int64_t sequence) const { return numbers[sequence * stride]; }
};

struct DepthwiseSequenceParams {
  /// batch: the number of sequences. length: the samples of each or, with `starts`, of all together, and then
  /// in_batch and out_batch are 0. state: the table, state_batch from row to row. No initial state, no ids.
  DepthwiseParams conv;
  std::int64_t slots = 0;                 // rows of the table
  PerSequence<std::int32_t> starts;       // where a sequence begins; one number more says where the last ends
  PerSequence<std::uint8_t> has_initial;  // whether its state comes before its samples; not given: never
  PerSequence<std::int32_t> indices;      // its row of the table; not given: its own number
  PerSequence<std::int32_t> positions;    // the states are rings: the place of the next sample
  PerSequence<std::int32_t> accepted;     // samples of the last update that stay, at least 1
  // These are given where indices are [sequences, blocks]: they say which of a sequence's blocks is read, and
  // which is written. With a block size, the states at the ends of the blocks from first_block on are
  // written, too.
  std::int64_t blocks = 0, block_stride = 0;  // 0: an index a sequence
  PerSequence<std::int32_t> initial_block, first_block, last_block;
  PerSequence<std::int32_t> computed;  // samples before these
  std::int64_t block_size = 0;
  std::int32_t null_index = -1;  // names no row, as every negative number and those past the table
  bool zero_null = true;         // outputs of sequences without a row become 0, else they stay
  DepthwiseSequenceTask task = DepthwiseSequenceTask::update;

  // The plan's. Native code ignores it.
  DepthwiseSequenceKernel kernel = DepthwiseSequenceKernel::update;
  std::int32_t width = 1;  // channels of a thread
  std::int32_t run = 1;    // varlen: samples of a thread. varlen_channel: too, a multiple of kDepthwiseStep.
                           // varlen_time: its packs, `lanes` apart
  std::int32_t lanes = 1;  // varlen_time: threads of a block along time, a power of two
  bool lanes_along_time = true;  // varlen, states: neighbouring threads lie along time, else along channels
};

/// Where the samples and the state of a sequence are.
struct DepthwiseSequence {
  std::int64_t begin = 0, length = 0;  // its first sample along time, and how many
  // The rows of the table that are read and written. -1: none; then no row is read.
  std::int64_t source = 0, slot = 0;

  constexpr bool is_null() const { return source < 0; }
};

constexpr std::int64_t clamped(std::int64_t value, std::int64_t least, std::int64_t most) {
  return value < least ? least : value > most ? most : value;
}

/// The most samples that a speculative update takes: the state has no room for more.
constexpr std::int64_t speculative_room(const DepthwiseParams& p) { return p.state_length - (p.taps - 2); }

/// The row of the table of a block of a sequence; -1: none. Without blocks there is block 0 alone.
constexpr std::int64_t slot_of(const DepthwiseSequenceParams& p, std::int64_t sequence,
                               std::int64_t block = 0) {
  if (!p.indices.is_given()) return sequence < p.slots ? sequence : -1;
  if (p.blocks > 0 && (block < 0 || block >= p.blocks)) return -1;
  const std::int64_t index = p.indices.numbers[sequence * p.indices.stride + block * p.block_stride];
  return index == p.null_index || index < 0 || index >= p.slots ? -1 : index;
}

/// Ends before their begins are empty sequences; begins and ends outside the samples are moved inside.
template <bool Blocks>
constexpr DepthwiseSequence sequence_of(const DepthwiseSequenceParams& p, std::int64_t sequence) {
  DepthwiseSequence found;
  found.slot = found.source = slot_of(p, sequence, Blocks ? p.last_block[sequence] : 0);
  if (Blocks && found.slot >= 0) found.source = slot_of(p, sequence, p.initial_block[sequence]);
  found.length = p.conv.length;
  if (p.starts.is_given()) {
    found.begin = clamped(p.starts[sequence], 0, p.conv.length);
    found.length = clamped(p.starts[sequence + 1], found.begin, p.conv.length) - found.begin;
  }
  if (p.accepted.is_given() && found.length > speculative_room(p.conv))
    found.length = speculative_room(p.conv);
  return found;
}

constexpr DepthwiseSequence sequence_of(const DepthwiseSequenceParams& p, std::int64_t sequence) {
  return p.blocks > 0 ? sequence_of<true>(p, sequence) : sequence_of<false>(p, sequence);
}

/// How an update moves a state on. Let the row be the window, the taps-1 samples before the new ones, and
/// then the new ones. It is written over the state from `first` - (taps-1) on, so that new samples begin at
/// column `first`; what falls outside the state is dropped. In a ring only the new samples are written.
struct StateMove {
  std::int64_t window = 0;  // the column of the window's first sample; it goes on modulo the state's length
  std::int64_t first = 0;
  std::int64_t shift = 0;  // by which columns older than the window move to the left, 0: there are none
  bool is_ring = false;

  /// The column of sample `offset` of the row that begins at `begin`, offset up to the state's length.
  static constexpr std::int64_t wrap(const DepthwiseParams& p, std::int64_t column) {
    return column >= p.state_length ? column - p.state_length : column;
  }
};

/// The sequence has at least one sample.
constexpr StateMove state_move(const DepthwiseSequenceParams& p, std::int64_t sequence, std::int64_t length) {
  const std::int64_t columns = p.conv.state_length, before = p.conv.taps - 1;
  StateMove move;
  if (p.positions.is_given()) {
    move.is_ring = true;
    if (columns == 0) return move;
    const std::int64_t place = p.positions[sequence] % columns;
    move.first = place < 0 ? place + columns : place;
    move.window = move.first < before ? move.first - before + columns : move.first - before;
  } else if (p.accepted.is_given()) {
    move.window = clamped(p.accepted[sequence] - 1, 0, columns - before);
    move.first = before - 1;
  } else {
    move.window = columns - before;
    move.first = columns - length;
    move.shift = length;
  }
  return move;
}

/// The state of one channel while the samples of an update pass one by one. The samples before the next one
/// always lie in it, so that outputs may take the place of the samples.
template <class T>
struct StateColumns {
  const DepthwiseParams& p;
  const T* source;  // the row that is read before the first sample comes in; a ring has one row
  T* columns;
  StateMove move;
  std::int64_t window, next;  // columns of the window's first sample and of the next sample

  constexpr StateColumns(const DepthwiseParams& params, const T* read, T* row, const StateMove& how)
      : p(params),
        source(read),
        columns(row),
        move(how),
        window(how.window),
        // Without a ring each sample is appended, and the others move by one.
        next(how.shift > 0 ? params.state_length - 1 : how.first) {}

  /// The sample `distance` before the next one, 1 <= distance < taps.
  constexpr T before_next(std::int64_t distance) const {
    return source[StateMove::wrap(p, window + p.taps - 1 - distance) * p.state_time];
  }
  /// Takes the next sample in.
  constexpr void push(T sample) {
    if (move.shift > 0) {
      for (std::int64_t i = 0; i < next; ++i) columns[i * p.state_time] = source[(i + 1) * p.state_time];
    } else if (!move.is_ring && next == p.taps - 2) {
      // The first sample of a speculative update brings the window, less its oldest sample, to the front.
      for (std::int64_t i = 0; i < next; ++i)
        columns[i * p.state_time] = source[(window + 1 + i) * p.state_time];
    }
    source = columns;
    if (next >= 0 && next < p.state_length) columns[next * p.state_time] = sample;
    if (move.is_ring) {
      next = StateMove::wrap(p, next + 1);
      window = StateMove::wrap(p, window + 1);
    } else if (move.shift == 0) {
      window = next - (p.taps - 2);
      ++next;
    }
  }
};

/// The ends of blocks inside a sequence, each `block_size` behind the one before.
struct BlockEnds {
  std::int64_t first = 0;  // samples of the sequence up to the first of them
  std::int64_t count = 0;

  constexpr BlockEnds(const DepthwiseSequenceParams& p, std::int64_t sequence, std::int64_t length) {
    if (p.block_size <= 0) return;
    const std::int64_t computed = p.computed[sequence] < 0 ? 0 : p.computed[sequence];
    first = p.block_size - computed % p.block_size;
    const std::int64_t inside = length > first ? (length - 1 - first) / p.block_size + 1 : 0;
    count = clamped(p.last_block[sequence] - p.first_block[sequence], 0, inside);
  }
  constexpr std::int64_t end(const DepthwiseSequenceParams& p, std::int64_t number) const {
    return first + number * p.block_size;
  }
};

/// The first of `count` sequences that ends behind `time`, or `count`. Their ends do not decrease.
constexpr std::int64_t sequence_among(const DepthwiseSequenceParams& p, std::int64_t time,
                                      std::int64_t count) {
  std::int64_t first = 0;
  while (count > 0) {
    const std::int64_t half = count / 2;
    if (p.starts[first + half + 1] > time) {
      count = half;
    } else {
      first += half + 1;
      count -= half + 1;
    }
  }
  return first;
}

/// The first sequence that ends behind `time`, or the number of sequences. Ends may drop behind the last
/// sequence that is not empty, as where a table is filled up with zeros.
constexpr std::int64_t sequence_at(const DepthwiseSequenceParams& p, std::int64_t time) {
  const std::int64_t batch = p.conv.batch, first = sequence_among(p, time, batch);
  if (first < batch) return first;
  std::int64_t last = batch;
  while (last > 1 && p.starts[last] <= p.starts[last - 1]) --last;
  if (last == batch) return batch;
  const std::int64_t found = sequence_among(p, time, last);
  return found < last ? found : batch;
}

/// What falls to one tile of time of a sequence: the outputs `from` .. `to`, as times of all samples
/// together.
///
/// A state is read for the first taps-1 outputs of its sequence, and it is replaced in the same launch. So
/// one tile does both, channel by channel in one thread: the tile in which the sequence begins owns it, takes
/// its first taps-1 outputs, also those behind the tile's end, and then stores the state. Other tiles begin
/// behind these outputs, and read samples only. With blocks a launch of its own stores all states, behind
/// this one (kernels/depthwise/depthwise_block_states.cpp).
struct SequencePiece {
  DepthwiseSequence sequence;
  std::int64_t from = 0, to = 0;
  bool owns = false;
};

template <bool Blocks>
constexpr SequencePiece piece_of(const DepthwiseSequenceParams& p, std::int64_t sequence,
                                 std::int64_t tile_begin, std::int64_t tile_end) {
  SequencePiece piece;
  piece.sequence = sequence_of<Blocks>(p, sequence);
  const std::int64_t begin = piece.sequence.begin, end = begin + piece.sequence.length;
  const std::int64_t owned = begin + (p.conv.taps - 1);  // the end of the owner's outputs
  piece.owns = begin >= tile_begin && begin < tile_end;
  piece.from = piece.owns ? begin : owned > tile_begin ? owned : tile_begin;
  piece.to = piece.owns && owned > tile_end ? owned : tile_end;
  if (piece.to > end) piece.to = end;
  return piece;
}

}  // namespace relayout
