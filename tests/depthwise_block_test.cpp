// States that are kept at the ends of blocks: depthwise_varlen and depthwise_update with indices [batch,
// blocks], exact against the oracle.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/support/depthwise_blocks.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"

namespace relayout::test {
namespace {

using cases::Layout;

class DepthwiseBlockTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, DepthwiseBlockTest, ::testing::ValuesIn(test_devices()), device_test_name);

DepthwiseSequenceCase varlen(std::int64_t taps, Layout layout, std::uint64_t seed) {
  DepthwiseSequenceCase c;
  c.lengths = {9, 0, 17, 3, 1, 26, 8};
  c.channels = 6;
  c.taps = taps;
  c.in_layout = c.out_layout = layout;
  c.state_layout = seed % 2 == 0 ? Layout::ncl : Layout::nlc;
  c.starts = true;
  c.seed = seed;
  return c;
}

TEST_P(DepthwiseBlockTest, StatesAtTheEndsOfBlocks) {
  for (const Layout layout : {Layout::ncl, Layout::nlc, Layout::gaps})
    for (const std::int64_t taps : {1, 2, 4, 5, 9})
      for (const std::int64_t size : {8, 9})
        for (const std::uint64_t seed : {1, 2, 3})
          for (const bool hostile : {false, true})
            check_varlen_blocks(stream(), varlen(taps, layout, seed), size, hostile);
}

/// Ends wherever they may lie among the stretches of time in which they are looked for.
TEST_P(DepthwiseBlockTest, OneSequenceOfAnyLength) {
  for (std::int64_t length = 17; length < 49; ++length)
    for (const bool hostile : {false, true}) {
      DepthwiseSequenceCase c =
          varlen(4, length % 2 == 0 ? Layout::ncl : Layout::nlc, static_cast<std::uint64_t>(length));
      c.lengths = {length};
      check_varlen_blocks(stream(), c, 8, hostile);
    }
}

TEST_P(DepthwiseBlockTest, UpdatesFromOneBlockToAnother) {
  for (const SequenceMode mode : {SequenceMode::plain, SequenceMode::speculative})
    for (const std::int64_t taps : {1, 4, 10})
      for (const std::int64_t more : {0, 2})
        for (const bool starts : {false, true})
          for (const std::uint64_t seed : {1, 2, 3, 4})
            for (const bool hostile : {false, true}) {
              DepthwiseSequenceCase c = varlen(taps, seed % 2 == 0 ? Layout::ncl : Layout::nlc, seed);
              c.lengths = starts ? std::vector<std::int64_t>{2, 0, 4, 1} : std::vector<std::int64_t>(5, 3);
              c.starts = starts;
              c.mode = mode;
              c.more_columns = more;
              check_update_blocks(stream(), c, hostile);
            }
}

TEST_P(DepthwiseBlockTest, WhatIsRefused) {
  const BlockTensors blocks(stream(), varlen(4, Layout::ncl, 1), 8, false);
  const DepthwiseSequenceTensors& t = blocks.t;
  blocks.upload();
  const auto refused = [&](ErrorCode code, const std::vector<std::string>& words,
                           const DepthwiseVarlenOptions& options) {
    expect_error(code, words, [&] {
      depthwise_varlen(stream(), t.in.device(), t.starts.device(), t.weights.device(), TensorView(),
                       Activation::none, blocks.table.device(), t.out.device(), options);
    });
  };
  DepthwiseVarlenOptions options = blocks.varlen_options();
  options.block_size = 2;
  refused(ErrorCode::invalid_argument, {"block size", "taps-1", "2"}, options);
  options.block_size = 0;
  refused(ErrorCode::invalid_argument, {"block size", "first_block"}, options);
  options = blocks.varlen_options();
  options.last_block = TensorView();
  refused(ErrorCode::invalid_argument, {"initial_block", "last_block"}, options);
  options = blocks.varlen_options();
  options.state_indices = blocks.initial.device();
  refused(ErrorCode::invalid_argument, {"initial_block", "[batch, blocks]"}, options);
  DepthwiseUpdateOptions update = blocks.update_options();
  update.query_start_loc = t.starts.device();
  update.cache_seqlens = blocks.initial.device();
  expect_error(ErrorCode::invalid_argument, {"cache_seqlens", "blocks"}, [&] {
    depthwise_update(stream(), blocks.table.device(), t.in.device(), t.weights.device(), TensorView(),
                     Activation::none, t.out.device(), update);
  });
  EXPECT_TRUE(t.out.check());
}

}  // namespace
}  // namespace relayout::test
