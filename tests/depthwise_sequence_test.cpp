// depthwise_update with states by index, rings, speculation and lengths of each sequence: exact against the
// oracle, and the bits of depthwise_conv1d.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/support/depthwise_sequences.hpp"
#include "tests/support/devices.hpp"

namespace relayout::test {
namespace {

using cases::Layout;

class DepthwiseSequenceTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, DepthwiseSequenceTest, ::testing::ValuesIn(test_devices()),
                         device_test_name);

const std::vector<DType> kSignalTypes{DType::f16, DType::bf16, DType::f32};
const std::vector<SequenceMode> kModes{SequenceMode::plain, SequenceMode::ring, SequenceMode::speculative};

DepthwiseSequenceCase equal_lengths(std::int64_t batch, std::int64_t channels, std::int64_t length,
                                    std::int64_t taps) {
  DepthwiseSequenceCase c;
  c.lengths.assign(static_cast<std::size_t>(batch), length);
  c.channels = channels;
  c.taps = taps;
  return c;
}

DepthwiseSequenceCase own_lengths(const std::vector<std::int64_t>& lengths, std::int64_t channels,
                                  std::int64_t taps) {
  DepthwiseSequenceCase c;
  c.lengths = lengths;
  c.channels = channels;
  c.taps = taps;
  c.starts = true;
  return c;
}

TEST_P(DepthwiseSequenceTest, UpdatesAreExact) {
  for (const SequenceMode mode : kModes)
    for (const DType type : kSignalTypes)
      for (const std::int64_t taps : {1, 2, 3, 4, 5, 8, 11})
        for (const std::int64_t length : {1, 3, 6})
          for (const std::int64_t more : {0, 3}) {
            DepthwiseSequenceCase c = equal_lengths(5, 7, length, taps);
            c.mode = mode;
            c.type = type;
            c.weight_type = more == 0 ? type : DType::f32;
            c.more_columns = more;
            c.zero_null = length != 3;
            c.stride = length == 6 ? 2 : 1;
            c.seed = static_cast<std::uint64_t>(taps + length);
            check_update_integers(stream(), c);
          }
}

TEST_P(DepthwiseSequenceTest, UpdatesHaveTheBitsOfAConvolution) {
  for (const SequenceMode mode : kModes)
    for (const DType type : kSignalTypes)
      for (const std::int64_t taps : {1, 4, 5, 11})
        for (const bool starts : {false, true}) {
          DepthwiseSequenceCase c =
              starts ? own_lengths({2, 0, 5, 1, 3, 4}, 16, taps) : equal_lengths(6, 16, 3, taps);
          c.mode = mode;
          c.type = type;
          c.weight_type = starts ? DType::f32 : type;
          c.silu = true;
          c.more_columns = taps == 4 ? 2 : 0;
          check_update_bits(stream(), c);
        }
}

TEST_P(DepthwiseSequenceTest, LayoutsOfSamplesAndStates) {
  for (const SequenceMode mode : kModes)
    for (const Layout layout :
         {Layout::nlc, Layout::lcn, Layout::gaps, Layout::nlc_gaps, Layout::wide_rows, Layout::reversed})
      for (const Layout states : {Layout::ncl, Layout::nlc, Layout::nlc_gaps, Layout::every_second})
        for (const bool in_place : {false, true})
          for (const bool starts : {false, true}) {
            DepthwiseSequenceCase c = starts ? own_lengths({3, 1, 0, 4, 2}, 8, 4) : equal_lengths(4, 8, 3, 4);
            c.mode = mode;
            c.in_layout = c.out_layout = layout;
            c.state_layout = states;
            c.in_place = in_place;
            c.more_columns = in_place ? 1 : 0;
            c.zero_null = !in_place;
            check_update_integers(stream(), c);
            c.taps = 10;
            check_update_integers(stream(), c);
          }
}

/// As many sequences as give every thread a pack of 16 bytes.
TEST_P(DepthwiseSequenceTest, PacksOfChannels) {
  for (const SequenceMode mode : kModes)
    for (const DType type : kSignalTypes) {
      DepthwiseSequenceCase c = equal_lengths(90, type == DType::f32 ? 128 : 256, 2, 4);
      c.mode = mode;
      c.type = type;
      c.weight_type = type;
      c.in_layout = c.out_layout = c.state_layout = Layout::nlc;
      check_update_integers(stream(), c);
      c.in_place = true;
      check_update_bits(stream(), c);
    }
}

/// One sample of each sequence, as servers decode: words of channels, of one item a thread and of two.
TEST_P(DepthwiseSequenceTest, OneSample) {
  for (const DType type : kSignalTypes)
    for (const std::int64_t taps : {2, 3, 4})
      for (const std::int64_t more : {0, 1})
        for (const Layout states : {Layout::ncl, Layout::nlc, Layout::gaps, Layout::wide_rows}) {
          DepthwiseSequenceCase c = equal_lengths(7, 6, 1, taps);
          c.type = type;
          c.weight_type = taps == 3 ? DType::f32 : type;
          c.bias = more == 0;
          c.more_columns = more;
          c.state_layout = states;
          c.weight_layout = states == Layout::gaps ? Layout::gaps : Layout::ncl;
          c.zero_null = states != Layout::nlc;
          check_update_integers(stream(), c);
          c.in_place = c.silu = true;
          check_update_bits(stream(), c);
        }
}
TEST_P(DepthwiseSequenceTest, OneSampleOfManySequences) {
  for (const DType type : kSignalTypes)
    for (const Layout states : {Layout::ncl, Layout::nlc}) {
      DepthwiseSequenceCase c = equal_lengths(2501, 2, 1, 4);
      c.type = c.weight_type = type;
      c.more_columns = states == Layout::ncl ? 1 : 0;
      c.state_layout = states;
      c.zero_null = states == Layout::nlc;
      check_update_integers(stream(), c);
    }
}

TEST_P(DepthwiseSequenceTest, NoSequencesAndNoSamples) {
  for (const SequenceMode mode : kModes)
    for (const bool starts : {false, true}) {
      DepthwiseSequenceCase c = starts ? own_lengths({}, 6, 4) : equal_lengths(0, 6, 2, 4);
      c.mode = mode;
      check_update_integers(stream(), c);
      c = starts ? own_lengths({0, 0, 0}, 6, 4) : equal_lengths(3, 6, 0, 4);
      c.mode = mode;
      check_update_integers(stream(), c);
    }
}

/// States without indices: the sequences' own.
TEST_P(DepthwiseSequenceTest, WithoutIndices) {
  for (const SequenceMode mode : kModes)
    for (const bool starts : {false, true}) {
      DepthwiseSequenceCase c = starts ? own_lengths({3, 1, 2, 0, 4, 2}, 6, 4) : equal_lengths(6, 6, 2, 4);
      c.mode = mode;
      c.indices = c.nulls = false;
      check_update_integers(stream(), c);
      c.in_place = true;
      check_update_integers(stream(), c);
    }
}

}  // namespace
}  // namespace relayout::test
