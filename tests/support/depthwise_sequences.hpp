// The tensors of a case of depthwise operations on sequences, and what is expected of the result.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "host/reference/depthwise_sequences.hpp"
#include "tests/cases/depthwise_sequence_case.hpp"
#include "tests/support/fill.hpp"
#include "tests/support/guarded_buffer.hpp"

namespace relayout::test {

using cases::DepthwiseSequenceCase;
using cases::SequenceMode;

/// Indices that name no row of `slots`.
inline std::int64_t no_row(std::uint64_t i, std::int64_t slots) {
  const std::int64_t all[] = {-1, slots,     std::numeric_limits<std::int32_t>::max(),
                              -7, slots + 1, std::numeric_limits<std::int32_t>::min()};
  return all[i % std::size(all)];
}

/// The operands of one case on one device.
struct DepthwiseSequenceTensors {
  DepthwiseSequenceTensors(const Stream& on, const DepthwiseSequenceCase& from)
      : c(from),
        stream(on),
        in(on, Role::input, c.type, c.shape(),
           strides_of(c.in_place ? c.out_layout : c.in_layout, c.shape())),
        weights(on, Role::input, c.weight_type, c.weight_shape(),
                strides_of(c.weight_layout, c.weight_shape())),
        bias(on, Role::input, c.bias_type, {c.channels}),
        indices(on, Role::input, DType::i32, {c.batch()}, {c.stride}),
        numbers(on, Role::input, DType::i32, {c.batch()}, {-c.stride}),
        starts(on, Role::input, DType::i32, {c.batch() + 1}, {c.stride}),
        has_initial(on, Role::input, c.seed % 2 == 0 ? DType::u8 : DType::bool_, {c.batch()}, {c.stride}),
        out(on, Role::output, c.type, c.shape(), strides_of(c.out_layout, c.shape())),
        state(on, Role::output, c.type, c.state_shape(), strides_of(c.state_layout, c.state_shape())) {
    // Rows from the last to the first; every third sequence has none, and one has the null index.
    fill_with(indices.host(), [&](std::uint64_t i) {
      const bool is_null = c.nulls && (i + c.seed) % 3 == 2;
      return static_cast<double>(is_null ? no_row(i / 3 + c.seed, c.slots())
                                         : c.slots() - 1 - static_cast<std::int64_t>(i));
    });
    null_index = c.nulls && c.slots() >= 4 ? static_cast<std::int32_t>(c.slots() - 4) : -1;
    fill_with(numbers.host(), [&](std::uint64_t i) {
      const std::uint64_t drawn = hash(i, c.seed);
      if (c.mode == SequenceMode::ring) return static_cast<double>(drawn % 50) - 10.0;
      // What a last update may have accepted, and a few numbers that it may not.
      if (drawn % 5 == 0) return drawn % 2 == 0 ? 1e6 : -4.0;
      return 1.0 + static_cast<double>(drawn % static_cast<std::uint64_t>(c.columns() - (c.taps - 1) + 1));
    });
    fill_with(has_initial.host(), [&](std::uint64_t i) {
      return static_cast<double>((hash(i, c.seed) % 3 != 0) * (c.seed % 2 == 0 ? 128 : 1));
    });
    std::int64_t next = DepthwiseSequenceCase::kFree;
    fill_with(starts.host(), [&](std::uint64_t i) {
      const std::int64_t begin = next;
      if (i < c.lengths.size()) next += c.lengths[i];
      const bool is_padding = static_cast<std::int64_t>(i) > c.batch() - c.padded_starts;
      return is_padding ? 0.0 : static_cast<double>(begin);
    });
  }

  void fill_integers() const {
    fill_small_integers(in.host(), c.seed);
    fill_small_integers(weights.host(), c.seed + 1);
    fill_small_integers(bias.host(), c.seed + 2);
    fill_small_integers(state.host(), c.seed + 3);
  }
  void fill_reals() const {
    fill_normal(in.host(), c.seed);
    fill_normal(weights.host(), c.seed + 1, 1.0 / std::sqrt(static_cast<double>(c.taps)));
    fill_normal(bias.host(), c.seed + 2);
    fill_normal(state.host(), c.seed + 3);
  }
  DepthwiseUpdateOptions options() const {
    DepthwiseUpdateOptions all;
    all.state_indices = given(c.indices, indices.device());
    all.null_index = null_index;
    all.null_output = c.zero_null ? NullOutput::zeros : NullOutput::untouched;
    all.cache_seqlens = given(c.mode == SequenceMode::ring, numbers.device());
    all.num_accepted_tokens = given(c.mode == SequenceMode::speculative, numbers.device());
    all.query_start_loc = given(c.starts, starts.device());
    return all;
  }
  Activation activation() const { return c.silu ? Activation::silu : Activation::none; }
  const GuardedBuffer& samples() const { return c.in_place ? out : in; }
  void upload() const {
    if (c.in_place)
      for_each_element(out.host(), [&](const Dims& i, std::int64_t) {
        test::store_bits(element_at(out.host(), offset_of(out.host(), i)), c.type,
                         test::load_bits(element_at(in.host(), offset_of(in.host(), i)), c.type));
      });
    for (const GuardedBuffer* one : inputs_and({&out, &state})) one->upload();
  }
  void update() const {
    upload();
    EXPECT_NO_THROW(depthwise_update(stream, state.device(), samples().device(), weights.device(),
                                     given(c.bias, bias.device()), activation(), out.device(), options()));
  }
  DepthwiseVarlenOptions varlen_options() const {
    DepthwiseVarlenOptions all;
    all.state_indices = given(c.states && c.indices, indices.device());
    all.has_initial_state = given(c.states && c.initial, has_initial.device());
    all.null_index = null_index;
    all.null_output = c.zero_null ? NullOutput::zeros : NullOutput::untouched;
    return all;
  }
  void varlen() const {
    upload();
    EXPECT_NO_THROW(depthwise_varlen(stream, in.device(), starts.device(), weights.device(),
                                     given(c.bias, bias.device()), activation(),
                                     given(c.states, state.device()), out.device(), varlen_options()));
  }
  std::vector<const GuardedBuffer*> inputs_and(std::vector<const GuardedBuffer*> all) const {
    for (const GuardedBuffer* input : {&in, &weights, &bias, &indices, &numbers, &starts, &has_initial})
      all.push_back(input);
    return all;
  }
  reference::DepthwiseOperands operands() const {
    return {in.host(), weights.host(), given(c.bias, bias.host()), {}, {}, c.silu};
  }
  reference::SequenceNumbers host_numbers() const {
    reference::SequenceNumbers all;
    all.indices = given(c.states && c.indices, indices.host());
    all.positions = given(c.mode == SequenceMode::ring, numbers.host());
    all.accepted = given(c.mode == SequenceMode::speculative, numbers.host());
    all.starts = given(c.starts, starts.host());
    all.has_initial = given(c.initial, has_initial.host());
    all.null_index = null_index;
    all.zero_null = c.zero_null;
    return all;
  }
  static TensorView given(bool wanted, const TensorView& view) { return wanted ? view : TensorView(); }

  /// The images of state and outputs as they must be now; sums are exact for small integers.
  void compute_update() const {
    reference::depthwise_indexed_update(operands(), host_numbers(), state.host(), out.host(), c.batch());
  }
  void compute_varlen() const {
    reference::depthwise_varlen(operands(), host_numbers(), given(c.states, state.host()), out.host());
  }
  /// A signal's samples of sequence b, as one item.
  TensorView of_sequence(std::int64_t b, const TensorView& signal) const {
    if (!c.starts) return signal.slice(0, b, b + 1);
    const reference::SequenceSamples samples = reference::samples_of(in.host(), host_numbers(), b);
    const TensorView part = signal.slice(1, samples.begin, samples.begin + samples.length);
    return TensorView(part.data(), c.type, {1, c.channels, samples.length},
                      {0, part.stride(0), part.stride(1)});
  }
  /// The outputs of sequence b have the bits that depthwise_conv1d gives for it alone, which `expected` has
  /// room for.
  void expect_bits_of_sequence(std::int64_t b, const TensorView& initial_state, const TensorView& outputs,
                               const GuardedBuffer& expected) const {
    depthwise_conv1d(stream, of_sequence(b, in.device()), weights.device(), given(c.bias, bias.device()),
                     activation(), initial_state, of_sequence(b, expected.device()));
    const std::vector<unsigned char> bytes = expected.download();
    EXPECT_TRUE(
        same_elements(of_sequence(b, expected.view_of(bytes)), of_sequence(b, outputs), NanRule::exact))
        << "sequence " << b;
  }
  /// Everything but the outputs' values.
  void expect_the_rest() const {
    EXPECT_TRUE(state.check(NanRule::exact));
    EXPECT_TRUE(out.check_outside());
    for (const GuardedBuffer* input : inputs_and({})) EXPECT_TRUE(input->check());
  }

  DepthwiseSequenceCase c;
  Stream stream;
  GuardedBuffer in, weights, bias, indices, numbers, starts, has_initial, out, state;
  std::int32_t null_index = -1;
};

/// Outputs of small integers, exactly, and the states, bit for bit.
inline void check_update_integers(const Stream& stream, const DepthwiseSequenceCase& c) {
  SCOPED_TRACE(::testing::Message() << c);
  const DepthwiseSequenceTensors t(stream, c);
  t.fill_integers();
  t.update();
  t.compute_update();
  EXPECT_TRUE(t.out.check());
  t.expect_the_rest();
}

/// The bits that depthwise_conv1d gives for each sequence, with the samples before it as its initial state.
inline void check_update_bits(const Stream& stream, const DepthwiseSequenceCase& c) {
  SCOPED_TRACE(::testing::Message() << c);
  const DepthwiseSequenceTensors t(stream, c);
  t.fill_reals();
  t.update();
  const GuardedBuffer before(stream, Role::output, c.type, {1, c.channels, c.taps - 1});
  const GuardedBuffer expected(stream, Role::output, c.type, c.shape());
  const std::vector<unsigned char> actual = t.out.download();
  const TensorView result = t.out.view_of(actual);
  const reference::SequenceNumbers numbers = t.host_numbers();
  for (std::int64_t b = 0; b < c.batch(); ++b) {
    const reference::SequenceSamples samples = reference::samples_of(t.in.host(), numbers, b);
    const std::int64_t slot = reference::row_of_states(t.state.host(), numbers, b), columns = c.columns();
    if (slot < 0 || samples.length == 0) continue;
    std::int64_t first = columns - (c.taps - 1);
    const std::int64_t number = reference::number_of(t.numbers.host(), b);
    if (c.mode == SequenceMode::speculative) first = std::max<std::int64_t>(0, std::min(first, number - 1));
    for_each_element(before.host(), [&](const Dims& i, std::int64_t offset) {
      std::int64_t column = first + i[2];
      if (c.mode == SequenceMode::ring)
        column = ((number + i[2] - (c.taps - 1)) % columns + columns) % columns;
      test::store_bits(element_at(before.host(), offset), c.type,
                       reference::load_bits(t.state.host(), {slot, i[1], column}));
    });
    before.upload();
    t.expect_bits_of_sequence(b, before.device(), result, expected);
  }
  t.compute_update();
  t.expect_the_rest();
}

/// Outputs of small integers, exactly, and the states, bit for bit.
inline void check_varlen_integers(const Stream& stream, const DepthwiseSequenceCase& c) {
  SCOPED_TRACE(::testing::Message() << c);
  const DepthwiseSequenceTensors t(stream, c);
  t.fill_integers();
  t.varlen();
  t.compute_varlen();
  EXPECT_TRUE(t.out.check());
  t.expect_the_rest();
}

/// The bits that depthwise_conv1d gives for each sequence.
inline void check_varlen_bits(const Stream& stream, const DepthwiseSequenceCase& c) {
  SCOPED_TRACE(::testing::Message() << c);
  const DepthwiseSequenceTensors t(stream, c);
  t.fill_reals();
  t.varlen();
  const GuardedBuffer expected(stream, Role::output, c.type, c.shape());
  const std::vector<unsigned char> actual = t.out.download();
  const TensorView result = t.out.view_of(actual);
  const reference::SequenceNumbers numbers = t.host_numbers();
  const GuardedBuffer old(stream, Role::input, c.type, c.state_shape());
  for_each_element(old.host(), [&](const Dims& i, std::int64_t offset) {
    test::store_bits(element_at(old.host(), offset), c.type, reference::load_bits(t.state.host(), i));
  });
  old.upload();
  for (std::int64_t b = 0; b < c.batch(); ++b) {
    const reference::SequenceSamples samples = reference::samples_of(t.in.host(), numbers, b);
    const std::int64_t slot = c.states ? reference::row_of_states(t.state.host(), numbers, b) : 0;
    if (slot < 0 || samples.length == 0) continue;
    const bool initial = c.states && c.initial && reference::load_bits(t.has_initial.host(), {b}) != 0;
    t.expect_bits_of_sequence(b, t.given(initial, old.device().slice(0, slot, slot + 1)), result, expected);
  }
  t.compute_varlen();
  t.expect_the_rest();
}

}  // namespace relayout::test
