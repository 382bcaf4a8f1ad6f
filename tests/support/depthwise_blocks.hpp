// The tensors of a case of depthwise operations on sequences with a table of blocks, and its checks, exact
// against the oracle.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "tests/support/depthwise_sequences.hpp"

namespace relayout::test {

constexpr std::int64_t kBlocks = 5;

/// Sequences in blocks of `size` samples, each with some computed before. Hostile: any numbers of blocks.
struct BlockTensors {
  BlockTensors(const Stream& stream, const DepthwiseSequenceCase& c, std::int64_t block_size, bool hostile)
      : size(block_size),
        t(stream, with_slots(c)),
        table(stream, Role::output, c.type, {c.batch() * kBlocks + 1, c.channels, t.c.columns()},
              strides_of(c.state_layout, {c.batch() * kBlocks + 1, c.channels, t.c.columns()})),
        rows(stream, Role::input, DType::i32, {c.batch(), kBlocks}, {1, c.batch() + 1}),
        initial(stream, Role::input, DType::i32, {c.batch()}),
        first(stream, Role::input, DType::i32, {c.batch()}),
        last(stream, Role::input, DType::i32, {c.batch()}),
        computed(stream, Role::input, DType::i32, {c.batch()}) {
    t.fill_integers();
    fill_small_integers(table.host(), 9);
    const std::int64_t count = c.batch() * kBlocks;
    // No two blocks share a row.
    fill_with(rows.host(), [&](std::uint64_t i) {
      const auto turned = static_cast<std::int64_t>(c.seed) - static_cast<std::int64_t>(i);
      return static_cast<double>((count + 1 + turned) % (count + 1));
    });
    for (std::int64_t b = 0; b < c.batch(); ++b) {
      const auto drawn = static_cast<std::int64_t>(hash(static_cast<std::uint64_t>(b), c.seed) % 64);
      const std::int64_t before = drawn % (2 * size), all = before + c.lengths[static_cast<std::size_t>(b)];
      const std::int64_t read = before == 0 ? 0 : (before - 1) / size;
      put(computed, b, before);
      put(initial, b, hostile && drawn % 5 == 0 ? -1 : read);
      put(first, b, hostile && drawn % 3 == 0 ? kBlocks - 1 : before / size);
      put(last, b,
          hostile && drawn % 7 == 0 ? kBlocks : std::min(kBlocks - 1, all == 0 ? 0 : (all - 1) / size));
      if (hostile && drawn % 4 == 0) put(computed, b, std::numeric_limits<std::int32_t>::min());
    }
  }
  static DepthwiseSequenceCase with_slots(DepthwiseSequenceCase c) {
    c.nulls = false;
    return c;
  }
  static void put(const GuardedBuffer& numbers, std::int64_t b, std::int64_t value) {
    reference::store_bits(numbers.host(), {b}, static_cast<std::uint32_t>(value));
  }
  void upload() const {
    t.upload();
    for (const GuardedBuffer* one : {&table, &rows, &initial, &first, &last, &computed}) one->upload();
  }
  reference::SequenceNumbers numbers() const {
    reference::SequenceNumbers all = t.host_numbers();
    all.indices = rows.host();
    all.initial_block = initial.host();
    all.last_block = last.host();
    all.null_index = -1;
    return all;
  }
  DepthwiseVarlenOptions varlen_options() const {
    DepthwiseVarlenOptions options = t.varlen_options();
    options.state_indices = rows.device();
    options.initial_block = initial.device();
    options.last_block = last.device();
    options.first_block = first.device();
    options.computed_tokens = computed.device();
    options.block_size = size;
    options.null_index = -1;
    return options;
  }
  DepthwiseUpdateOptions update_options() const {
    DepthwiseUpdateOptions options = t.options();
    options.state_indices = rows.device();
    options.initial_block = initial.device();
    options.last_block = last.device();
    options.null_index = -1;
    return options;
  }
  void check() const {
    EXPECT_TRUE(t.out.check());
    EXPECT_TRUE(table.check(NanRule::exact));
    for (const GuardedBuffer* one : {&rows, &initial, &first, &last, &computed}) EXPECT_TRUE(one->check());
  }

  std::int64_t size;
  DepthwiseSequenceTensors t;
  GuardedBuffer table, rows, initial, first, last, computed;
};

inline void check_varlen_blocks(const Stream& stream, const DepthwiseSequenceCase& c, std::int64_t size,
                                bool hostile) {
  SCOPED_TRACE(::testing::Message() << c << " blocks of " << size << (hostile ? " hostile" : ""));
  const BlockTensors blocks(stream, c, size, hostile);
  const DepthwiseSequenceTensors& t = blocks.t;
  blocks.upload();
  depthwise_varlen(stream, t.in.device(), t.starts.device(), t.weights.device(),
                   t.given(c.bias, t.bias.device()), Activation::none, blocks.table.device(), t.out.device(),
                   blocks.varlen_options());
  reference::SequenceNumbers numbers = blocks.numbers();
  numbers.first_block = blocks.first.host();
  numbers.computed = blocks.computed.host();
  numbers.block_size = size;
  reference::depthwise_varlen(t.operands(), numbers, blocks.table.host(), t.out.host());
  blocks.check();
}

inline void check_update_blocks(const Stream& stream, const DepthwiseSequenceCase& c, bool hostile) {
  SCOPED_TRACE(::testing::Message() << c << (hostile ? " hostile" : ""));
  const BlockTensors blocks(stream, c, 8, hostile);
  const DepthwiseSequenceTensors& t = blocks.t;
  blocks.upload();
  depthwise_update(stream, blocks.table.device(), t.in.device(), t.weights.device(),
                   t.given(c.bias, t.bias.device()), Activation::none, t.out.device(),
                   blocks.update_options());
  reference::depthwise_indexed_update(t.operands(), blocks.numbers(), blocks.table.host(), t.out.host(),
                                      c.batch());
  blocks.check();
}

}  // namespace relayout::test
