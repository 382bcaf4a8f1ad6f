// The oracle of depthwise operations on sequences: every sequence by itself, its samples in a row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/reference/depthwise.hpp"

namespace relayout::reference {

/// The numbers of each sequence; default views stand for "none".
struct SequenceNumbers {
  TensorView indices, positions, accepted, starts, has_initial;
  /// With indices [sequences, blocks].
  TensorView initial_block, last_block, first_block, computed;
  std::int64_t block_size = 0;
  std::int64_t null_index = -1;
  bool zero_null = true;
};

inline std::int64_t number_of(const TensorView& view, std::int64_t sequence) {
  return static_cast<std::int32_t>(load_bits(view, {sequence}));
}

/// One sequence in the views of a call: [channels, total] with starts, else [batch, channels, length].
struct SequenceSamples {
  std::int64_t sequence = 0, begin = 0, length = 0;
  bool has_starts = false;

  Dims index(std::int64_t channel, std::int64_t time) const {
    if (has_starts) return {channel, begin + time};
    return {sequence, channel, time};
  }
};

inline SequenceSamples samples_of(const TensorView& in, const SequenceNumbers& numbers,
                                  std::int64_t sequence) {
  if (numbers.starts.data() == nullptr) return {sequence, 0, in.extent(2), false};
  const auto inside = [&](std::int64_t time) {
    return std::max<std::int64_t>(0, std::min(in.extent(1), time));
  };
  const std::int64_t begin = inside(number_of(numbers.starts, sequence)),
                     end = inside(number_of(numbers.starts, sequence + 1));
  return {sequence, begin, std::max<std::int64_t>(0, end - begin), true};
}

/// The row of the table of states, or -1; with blocks, of this one.
inline std::int64_t row_of_states(const TensorView& states, const SequenceNumbers& numbers,
                                  std::int64_t sequence, std::int64_t block = 0) {
  if (numbers.indices.data() == nullptr) return sequence;
  std::int64_t index = 0;
  if (numbers.indices.rank() == 2) {
    if (block < 0 || block >= numbers.indices.extent(1)) return -1;
    index = static_cast<std::int32_t>(load_bits(numbers.indices, {sequence, block}));
  } else {
    index = number_of(numbers.indices, sequence);
  }
  if (index == numbers.null_index || index < 0 || index >= states.extent(0)) return -1;
  return index;
}

/// The rows that are read and written; -1 in both if either is none.
struct StateRows {
  std::int64_t read = -1, written = -1;
  StateRows(const TensorView& states, const SequenceNumbers& numbers, std::int64_t sequence) {
    const bool has_blocks = numbers.initial_block.data() != nullptr;
    read =
        row_of_states(states, numbers, sequence, has_blocks ? number_of(numbers.initial_block, sequence) : 0);
    written =
        row_of_states(states, numbers, sequence, has_blocks ? number_of(numbers.last_block, sequence) : 0);
    if (read < 0 || written < 0) read = written = -1;
  }
};

/// act(bias + sum) of the last `taps` samples of `row`, up to and with `last`, rounded once.
inline std::uint64_t depthwise_of_row(const DepthwiseOperands& o, std::int64_t channel,
                                      const std::vector<std::uint64_t>& row, std::size_t last) {
  const std::int64_t taps = o.weights.extent(1);
  double sum = o.bias.data() == nullptr ? 0.0 : load(o.bias, {channel});
  for (std::int64_t k = 0; k < taps; ++k)
    sum += load(o.weights, {channel, k}) *
           decode(o.in.dtype(), row[last - static_cast<std::size_t>(taps - 1 - k)]);
  if (o.silu) sum = sum / (1.0 + std::exp(-sum));
  return encode(o.in.dtype(), sum);
}

/// depthwise_update with options. `o.in` are the samples; `out` may be another view of them only if it is
/// not written before it is read, so tests copy it.
inline void depthwise_indexed_update(const DepthwiseOperands& o, const SequenceNumbers& numbers,
                                     const TensorView& states, const TensorView& out,
                                     std::int64_t sequences) {
  const std::int64_t before = o.weights.extent(1) - 1, columns = states.extent(2);
  for (std::int64_t b = 0; b < sequences; ++b) {
    SequenceSamples samples = samples_of(o.in, numbers, b);
    const StateRows rows(states, numbers, b);
    const std::int64_t slot = rows.written;
    const bool speculates = numbers.accepted.data() != nullptr, is_ring = numbers.positions.data() != nullptr;
    if (speculates) samples.length = std::min(samples.length, columns - (before - 1));
    for (std::int64_t c = 0; c < o.weights.extent(0); ++c) {
      if (slot < 0) {
        for (std::int64_t t = 0; numbers.zero_null && t < samples.length; ++t)
          store_bits(out, samples.index(c, t), 0);
        continue;
      }
      if (samples.length == 0) continue;
      const auto column = [&](std::int64_t s) { return Dims{slot, c, s}; };
      const auto old = [&](std::int64_t s) { return Dims{rows.read, c, s}; };
      const auto ring = [&](std::int64_t s) {
        return column(((s + number_of(numbers.positions, b)) % columns + columns) % columns);
      };
      std::int64_t first = columns - before;
      if (speculates)
        first = std::max<std::int64_t>(0, std::min(columns - before, number_of(numbers.accepted, b) - 1));
      std::vector<std::uint64_t> row;
      for (std::int64_t s = 0; s < before; ++s)
        row.push_back(load_bits(states, is_ring ? ring(s - before) : old(first + s)));
      for (std::int64_t t = 0; t < samples.length; ++t) row.push_back(load_bits(o.in, samples.index(c, t)));
      for (std::int64_t t = 0; t < samples.length; ++t)
        store_bits(out, samples.index(c, t),
                   depthwise_of_row(o, c, row, static_cast<std::size_t>(before + t)));
      if (is_ring) {
        for (std::int64_t t = 0; t < samples.length && columns > 0; ++t)
          store_bits(states, ring(t), row[static_cast<std::size_t>(before + t)]);
      } else if (speculates) {
        for (std::size_t s = 1; s < row.size(); ++s)
          store_bits(states, column(static_cast<std::int64_t>(s) - 1), row[s]);
      } else {
        std::vector<std::uint64_t> all;
        for (std::int64_t s = 0; s < columns - before; ++s) all.push_back(load_bits(states, old(s)));
        all.insert(all.end(), row.begin(), row.end());
        for (std::int64_t s = 0; s < columns; ++s)
          store_bits(states, column(s), all[static_cast<std::size_t>(samples.length + s)]);
      }
    }
  }
}

/// The states or zeros before a sequence, and then its samples.
inline std::vector<std::uint64_t> varlen_row(const DepthwiseOperands& o, const SequenceNumbers& numbers,
                                             const TensorView& states, const SequenceSamples& samples,
                                             std::int64_t channel, std::int64_t before) {
  const bool initial =
      numbers.has_initial.data() != nullptr && load_bits(numbers.has_initial, {samples.sequence}) != 0;
  std::vector<std::uint64_t> row;
  for (std::int64_t s = 0; s < before; ++s)
    row.push_back(initial ? load_bits(states, {StateRows(states, numbers, samples.sequence).read, channel, s})
                          : 0);
  for (std::int64_t t = 0; t < samples.length; ++t) row.push_back(load_bits(o.in, samples.index(channel, t)));
  return row;
}

/// depthwise_varlen; default states stand for "none".
inline void depthwise_varlen(const DepthwiseOperands& o, const SequenceNumbers& numbers,
                             const TensorView& states, const TensorView& out) {
  const std::int64_t before = o.weights.extent(1) - 1;
  const bool has_states = states.data() != nullptr;
  for (std::int64_t b = 0; b + 1 < numbers.starts.extent(0); ++b) {
    const SequenceSamples samples = samples_of(o.in, numbers, b);
    const std::int64_t slot = has_states ? StateRows(states, numbers, b).written : 0;
    const bool is_null = slot < 0;
    for (std::int64_t c = 0; c < o.weights.extent(0); ++c) {
      if (is_null) {
        for (std::int64_t t = 0; numbers.zero_null && t < samples.length; ++t)
          store_bits(out, samples.index(c, t), 0);
        continue;
      }
      if (samples.length == 0) continue;
      const std::vector<std::uint64_t> row = varlen_row(o, numbers, states, samples, c, before);
      for (std::int64_t t = 0; t < samples.length; ++t)
        store_bits(out, samples.index(c, t),
                   depthwise_of_row(o, c, row, static_cast<std::size_t>(before + t)));
      if (!has_states) continue;
      const auto store_state = [&](std::int64_t to, std::int64_t length) {
        for (std::int64_t s = 0; to >= 0 && s < before; ++s)
          store_bits(states, {to, c, s}, row[static_cast<std::size_t>(length + s)]);
      };
      store_state(slot, samples.length);
      if (numbers.block_size == 0) continue;
      const std::int64_t computed = std::max<std::int64_t>(0, number_of(numbers.computed, b));
      std::int64_t block = number_of(numbers.first_block, b);
      for (std::int64_t t = 1; t < samples.length && block < number_of(numbers.last_block, b); ++t)
        if ((computed + t) % numbers.block_size == 0)
          store_state(row_of_states(states, numbers, b, block++), t);
    }
  }
}

/// The last samples of each sequence, zeros before its first one.
inline void depthwise_varlen_states(const TensorView& in, const TensorView& starts,
                                    const TensorView& states) {
  SequenceNumbers numbers;
  numbers.starts = starts;
  for_each_index(states.shape(), [&](const Dims& i) {
    const SequenceSamples samples = samples_of(in, numbers, i[0]);
    const std::int64_t time = samples.length - states.extent(2) + i[2];
    store_bits(states, i, time < 0 ? 0 : load_bits(in, samples.index(i[1], time)));
  });
}

}  // namespace relayout::reference
