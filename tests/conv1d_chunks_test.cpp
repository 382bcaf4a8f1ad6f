// How the input of an overlapped conv1d is cut: every position of every channel once, with its samples.
#include "host/plan/conv/conv1d_chunks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "tests/cases/overlap_cases.hpp"

namespace relayout::test {
namespace {

using cases::Conv1dCase;
using cases::overlap_cases;

plan::ChunkRequest request_of(const Conv1dCase& c, std::int64_t chunk_bytes, bool split_channels = false,
                              bool split_borders = false) {
  const Conv1d& p = c.problem;
  plan::ChunkRequest request;
  request.batch = p.batch;
  request.channels = p.in_channels;
  request.length = p.length;
  request.positions = sizes_of(p).positions;
  request.window = p.window;
  request.pad = p.pad;
  request.element_bytes = 2;
  request.chunk_bytes = chunk_bytes;
  request.split_channels = split_channels;
  request.split_borders = split_borders;
  return request;
}

/// The chunk's groups are groups of the input, as the window kernel needs them.
void expect_whole_groups_or_part_of_one(const plan::ChunkRequest& r, const plan::Conv1dChunk& chunk) {
  const std::int64_t of_group = r.channels / r.window.groups;
  if (chunk.channel % of_group == 0 && chunk.channels % of_group == 0) {
    EXPECT_EQ(chunk.groups, chunk.channels / of_group);
  } else {
    EXPECT_EQ(chunk.groups, 1);
    EXPECT_EQ(chunk.channel / of_group, (chunk.channel + chunk.channels - 1) / of_group);
    EXPECT_EQ(chunk.channel % of_group % plan::kChannelUnit, 0);
  }
  if (chunk.channels < r.channels) {
    EXPECT_TRUE(r.split_channels);
    EXPECT_EQ(chunk.items, 1);
  }
}

TEST(Conv1dChunksTest, CoverEveryPositionOnceWithItsSamples) {
  std::int64_t checked = 0;
  for (const Conv1dCase& c : overlap_cases()) {
    for (const int split : {0, 1, 2, 3}) {
      // Small chunks; and, for many channels, chunks that hold whole signals of some channels.
      const std::int64_t step = c.problem.in_channels > 64 ? 997 : 13;
      for (std::int64_t bytes = 1; bytes < 31 * step; bytes += step) {
        SCOPED_TRACE(::testing::Message() << c << " chunk bytes " << bytes << " split " << split);
        const plan::ChunkRequest r = request_of(c, bytes, split % 2 == 1, split / 2 == 1);
        const Window& w = r.window;
        std::int64_t item = 0, channel = 0, position = 0;
        for (const plan::Conv1dChunk& chunk : plan::cut_into_chunks(r)) {
          ASSERT_EQ(chunk.item, item);
          ASSERT_EQ(chunk.channel, channel);
          ASSERT_EQ(chunk.position, position);
          ASSERT_GT(chunk.channels, 0);
          ASSERT_GT(chunk.positions, 0);
          expect_whole_groups_or_part_of_one(r, chunk);
          position += chunk.positions;
          if (position == r.positions) position = 0, channel += chunk.channels;
          if (channel == r.channels) channel = 0, item += chunk.items;
          const std::int64_t first = chunk.position * w.stride - r.pad.left;
          const std::int64_t end = first + (chunk.positions - 1) * w.stride + w.span();
          EXPECT_EQ(chunk.inside, chunk.sample >= 0 && chunk.sample + chunk.samples <= r.length);
          EXPECT_EQ(chunk.pad_left(r), chunk.sample - first);
          if (r.pad.mode == PadMode::constant || chunk.whole) {
            // The chunk has every sample that exists and is needed.
            EXPECT_TRUE(chunk.inside);
            EXPECT_LE(chunk.sample, std::max<std::int64_t>(first, 0));
            EXPECT_GE(chunk.sample + chunk.samples, std::min(end, r.length));
          } else {
            EXPECT_EQ(chunk.sample, first);
            EXPECT_EQ(chunk.sample + chunk.samples, end);
          }
          ++checked;
        }
        EXPECT_EQ(item, r.channels == 0 ? 0 : r.batch);
        EXPECT_EQ(channel, 0);
        EXPECT_EQ(position, 0);
      }
    }
  }
  EXPECT_GT(checked, 1000);
}

TEST(Conv1dChunksTest, HoldTheBytesAimedAt) {
  Conv1dCase c{cases::small_overlap_problem()};
  c.problem.length = 1000;
  c.problem.in_channels = 64;
  for (const std::int64_t samples : {5, 6, 64, 999}) {
    for (const plan::Conv1dChunk& chunk : plan::cut_into_chunks(request_of(c, samples * 128))) {
      EXPECT_LE(chunk.samples * chunk.items, samples);
    }
  }
  EXPECT_EQ(plan::cut_into_chunks(request_of(c, 1000 * 128)).size(), 2u);
  EXPECT_EQ(plan::cut_into_chunks(request_of(c, 2 * 1000 * 128)).size(), 1u);
}

TEST(Conv1dChunksTest, CutChannelsBeforeTime) {
  Conv1dCase c{cases::small_overlap_problem()};
  c.problem.length = 1000;
  c.problem.in_channels = 512;
  const auto cut = [&](std::int64_t channels, std::int64_t groups = 1) {
    c.problem.window.groups = groups;
    return plan::cut_into_chunks(request_of(c, channels * 1000 * 2, true));
  };
  for (const plan::Conv1dChunk& chunk : cut(200)) {  // three equal parts would be 171: 192, 192, 128
    EXPECT_TRUE(chunk.whole);
    EXPECT_EQ(chunk.channels, chunk.channel < 384 ? 192 : 128);
  }
  EXPECT_EQ(cut(200).size(), 2u * 3);
  EXPECT_EQ(cut(200, 8).size(), 2u * 3);  // groups of 64: 3, 3 and 2 of them
  EXPECT_EQ(cut(200, 8).front().groups, 3);
  EXPECT_EQ(cut(200, 2).size(), 2u * 4);  // groups of 256: two parts each
  for (const plan::Conv1dChunk& chunk :
       cut(20)) {  // too few channels to write rows of: the time is cut as well
    EXPECT_FALSE(chunk.whole);
    EXPECT_EQ(chunk.channels, 64);
    EXPECT_LE(chunk.samples * chunk.channels, 20 * 1000);
  }
}

TEST(Conv1dChunksTest, DefaultIsAShareOfTheInputWithinLimits) {
  Conv1dCase c{cases::small_overlap_problem()};
  c.problem.in_channels = 64;
  const auto bytes = [&](std::int64_t batch, std::int64_t length) {
    c.problem.batch = batch;
    c.problem.length = length;
    return plan::default_chunk_bytes(request_of(c, 0), 4 << 20);
  };
  EXPECT_EQ(bytes(1, 2048), 1 << 20);
  EXPECT_EQ(bytes(16, 16384), 2 << 20);
  EXPECT_EQ(bytes(16, 1 << 20), 4 << 20);
  c.problem.window.dilation = 8192;  // spans of 16385 samples
  c.problem.pad.left = 16384;
  EXPECT_EQ(bytes(16, 1 << 20), 16385LL * 128 * 8);
  c.problem.in_channels = 640;  // of which 64 go together
  plan::ChunkRequest request = request_of(c, 0, true);
  EXPECT_EQ(plan::default_chunk_bytes(request, 4 << 20), 16385LL * 128 * 8);
  request.split_channels = false;
  EXPECT_EQ(plan::default_chunk_bytes(request, 4 << 20), 16385LL * 1280 * 8);
}

}  // namespace
}  // namespace relayout::test
