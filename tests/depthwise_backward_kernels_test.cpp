// The kernels of the depthwise backward pass for signals with one common fast axis: that they are taken, and
// their edges. What all kernels share is in depthwise_backward_test.cpp.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "tests/support/depthwise_backward_tensors.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/random.hpp"

namespace relayout::test {
namespace {

class DepthwiseBackwardKernelsTest : public DeviceTest {
 protected:
  std::string kernel_of(const DepthwiseBackwardCase& c) {
    const DepthwiseBackwardTensors tensors(stream(), c);
    const std::string text = plan_depthwise_conv1d_backward(device(), tensors.forward(), tensors.gradients(),
                                                            tensors.workspace.device())
                                 .explain();
    const std::size_t begin = text.find("Kernel ") + 7;
    return text.substr(begin, text.find(':', begin) - begin);
  }
  /// Checks integers, which are exact, and that `kernel` is taken.
  void check(const DepthwiseBackwardCase& c, const std::string& kernel) {
    if (device().kind() != DeviceKind::cpu) {
      EXPECT_EQ(kernel_of(c), kernel) << c;
    }
    check_integers(stream(), c);
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, DepthwiseBackwardKernelsTest, ::testing::ValuesIn(test_devices()),
                         device_test_name);

const std::string kChannels = "depthwise_backward_channels", kTime = "depthwise_backward_time",
                  kTile = "depthwise_backward_tile";

DepthwiseBackwardCase of_type(DepthwiseBackwardCase c, DType type) {
  c.type = c.weight_type = type;
  return c;
}
void give_states(DepthwiseBackwardCase& c, bool all) {
  c.initial_state = c.final_state = c.d_initial_state = all && c.taps > 1;
}

/// Signals shorter than a window, a step and a run, and a little longer; rows of threads without samples.
TEST_P(DepthwiseBackwardKernelsTest, ChannelsOfAnyLength) {
  for (const DType type : kTypes)
    for (const std::int64_t taps : {1, 2, 3, 4}) {
      int turn = 0;
      for (const std::int64_t length : {1, 2, 3, 4, 7, 8, 9, 10, 11, 15, 16, 17, 19, 64, 67, 131}) {
        DepthwiseBackwardCase c = of_type(make_backward(2, 16, length, taps, Layout::nlc), type);
        give_states(c, ++turn % 2 == 0);
        c.bias = turn % 3 != 0;
        check(c, kChannels);
      }
    }
}

TEST_P(DepthwiseBackwardKernelsTest, ChannelsOfAnyCount) {
  for (const DType type : kTypes)
    for (const std::int64_t channels : {16, 17, 31, 62, 63, 64, 65, 66, 130, 131})
      for (const std::int64_t taps : {2, 4}) {
        DepthwiseBackwardCase c = of_type(make_backward(1, channels, 21, taps, Layout::nlc), type);
        give_states(c, channels % 2 == 0);
        check(c, kChannels);
      }
}

/// Words where all rows lie on their boundary, else elements.
TEST_P(DepthwiseBackwardKernelsTest, ChannelsFromAnyAddress) {
  for (const DType type : kTypes)
    for (const std::int64_t off : {0, 1, 2})
      for (const std::int64_t gap : {0, 3, 4})
        for (const int which : {0, 1, 2}) {
          DepthwiseBackwardCase c = of_type(make_backward(2, 34, 37, 4, Layout::nlc), type);
          (which == 0 ? c.in_misaligned : which == 1 ? c.out_misaligned : c.d_in_misaligned) = off;
          (which == 1 ? c.out_gap : c.in_gap) = gap;
          if (which == 2) c.d_in_layout = Layout::nlc_gaps;
          check(c, kChannels);
        }
}

/// Rows shorter than a step, on its edges, of several steps and of several groups; ends that are taken sample
/// by sample, behind one group's steps and behind several groups', and longer ones.
TEST_P(DepthwiseBackwardKernelsTest, RowsOfAnyLength) {
  for (const DType type : kTypes) {
    const std::int64_t step = type == DType::f32 ? 128 : 256;
    for (const std::int64_t taps : {1, 2, 3, 4}) {
      int turn = 0;
      for (const std::int64_t length : std::vector<std::int64_t>{
               128,           129,           135,          143,           step - 1,      step,
               step + 1,      step + 2,      step + 9,     2 * step - 1,  2 * step,      2 * step + 1,
               2 * step + 2,  2 * step + 3,  2 * step + 6, 2 * step + 14, 2 * step + 15, 2 * step + 24,
               2 * step + 29, 2 * step + 30, 4 * step,     4 * step + 3,  4 * step + 23, 4 * step + 29,
               4 * step + 30, 5 * step + 11, 8 * step + 9}) {
        DepthwiseBackwardCase c = of_type(make_backward(2, 5, length, taps), type);
        give_states(c, ++turn % 2 == 0);
        c.bias = turn % 3 != 0;
        check(c, kTime);
      }
    }
  }
}

/// More rows than a block's, whose vectors begin at each place before them.
TEST_P(DepthwiseBackwardKernelsTest, RowsFromAnyAddress) {
  for (const DType type : kTypes)
    for (const std::int64_t off : {0, 1, 2, 4, 7})
      for (const int which : {0, 1, 2, 3, 4})
        for (const std::int64_t length : {512, 515, 531}) {
          DepthwiseBackwardCase c = of_type(make_backward(1, 9, length, 4), type);
          if (which == 0 || which == 3) c.in_misaligned = off;
          if (which == 1 || which == 3) c.out_misaligned = off;
          if (which == 2 || which == 3) c.d_in_misaligned = off;
          if (which == 0) c.in_gap = off;
          if (which == 1) c.out_gap = off;
          if (which == 4) {
            c.in_misaligned = 2 * off;
            c.out_misaligned = 3 * off;
          }
          if (which == 2) c.d_in_layout = length == 512 ? Layout::gaps : Layout::wide_rows;
          give_states(c, off > 1);
          check(c, kTime);
        }
}

/// Few items, whose rows one block has, and one more.
TEST_P(DepthwiseBackwardKernelsTest, RowsOfAFewItems) {
  for (const std::int64_t batch : {1, 2, 3, 4, 5})
    for (const std::int64_t channels : {1, 2, 3, 4, 5, 9})
      for (const std::int64_t length : {300, 513}) {
        DepthwiseBackwardCase c = make_backward(batch, channels, length, 4);
        c.bias = channels != 2;
        c.d_weights = channels != 3;
        check(c, kTime);
      }
}

TEST_P(DepthwiseBackwardKernelsTest, RealNumbersLieWithinTheBounds) {
  for (const DType type : kTypes)
    for (const Layout layout : kFast)
      for (const std::int64_t taps : {1, 2, 3, 4})
        for (const std::int64_t length : {300, 523}) {
          DepthwiseBackwardCase c = of_type(make_backward(2, 18, length, taps, layout), type);
          c.silu = taps != 3;
          c.d_in_misaligned = length % 2;
          give_states(c, taps % 2 == 0);
          check_reals(stream(), c);
        }
}

TEST_P(DepthwiseBackwardKernelsTest, WithoutTheSums) {
  for (const Layout layout : kFast) {
    DepthwiseBackwardCase c = make_backward(2, 18, 300, 4, layout);
    c.d_weights = c.d_bias = false;
    check(c, layout == Layout::ncl ? kTime : kChannels);
    c.d_bias = true;
    check(c, layout == Layout::ncl ? kTime : kChannels);
  }
}

/// Only gradients whose taps lie over the place may become NaN: at ends of rows, vectors, steps and groups,
/// whose vectors may hold samples of the next row.
TEST_P(DepthwiseBackwardKernelsTest, NansStayWhereTheyBelong) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const Layout layout : kFast)
    for (const std::int64_t length : {500, 523})
      for (const std::int64_t off : {0, 3})
        for (const std::int64_t at : std::vector<std::int64_t>{0, 1, 7, 8, 255, 256, length - 12, length - 11,
                                                               length - 3, length - 1})
          for (const bool in_signal : {false, true}) {
            DepthwiseBackwardCase c = make_backward(1, 17, length, 4, layout);
            c.in_misaligned = off;
            c.out_misaligned = off / 2;
            give_states(c, at % 2 == 0);
            SCOPED_TRACE(::testing::Message() << c << " poison at " << at << " " << in_signal);
            const DepthwiseBackwardTensors tensors(stream(), c);
            tensors.fill_integers();
            store_value((in_signal ? tensors.in : tensors.d_out).host(), {0, 3, at}, inf);
            if (c.initial_state && in_signal) store_value(tensors.initial.host(), {0, 5, 2}, inf);
            tensors.run();
            tensors.expect_exact();
          }
}

/// The workspace that was asked for with some strides does for all others.
TEST_P(DepthwiseBackwardKernelsTest, TheWorkspaceDependsOnShapesAlone) {
  for (const DType type : kTypes)
    for (const std::int64_t channels : {1, 16, 33})
      for (const std::int64_t length : {1, 64, 127, 128, 250, 256, 257, 1000, 5000}) {
        std::size_t first = 0;
        for (const Layout layout : {Layout::ncl, Layout::nlc, Layout::gaps, Layout::every_second}) {
          DepthwiseBackwardCase c = of_type(make_backward(2, channels, length, 4, layout), type);
          for (const Layout d_in : {Layout::ncl, layout}) {
            c.d_in_layout = d_in;
            const DepthwiseBackwardTensors tensors(stream(), c);
            const std::size_t bytes =
                depthwise_conv1d_backward_workspace_bytes(device(), tensors.forward(), tensors.gradients());
            if (first == 0) first = bytes;
            EXPECT_EQ(bytes, first) << c;
          }
        }
      }
}

/// What has no common fast axis, sequence ids, few channels, short rows or more taps stays with the tile.
TEST_P(DepthwiseBackwardKernelsTest, TheRestIsForTheTile) {
  DepthwiseBackwardCase c = make_backward(2, 18, 300, 4);
  c.d_in_layout = Layout::nlc;
  check(c, kTile);
  c = make_backward(2, 18, 300, 4, Layout::nlc);
  c.out_layout = Layout::ncl;
  check(c, kTile);
  for (const Layout layout : kFast) {
    c = make_backward(2, 18, 300, 4, layout);
    c.ids = true;
    check(c, kTile);
    check(make_backward(2, 18, 300, 5, layout), kTile);
  }
  check(make_backward(2, 15, 300, 4, Layout::nlc), kTile);
  check(make_backward(2, 18, 127, 4), kTile);
}

}  // namespace
}  // namespace relayout::test
