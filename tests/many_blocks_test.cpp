// More blocks than a grid's y and z hold, which are 65535: a kernel that puts a user's size there fails.
#include <gtest/gtest.h>

#include <vector>

#include "tests/cases/permute_shorthand.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/copy_by.hpp"
#include "tests/support/depthwise_backward_tensors.hpp"
#include "tests/support/devices.hpp"

namespace relayout::test {
namespace {

using cases::Img2colCase;
using cases::move_of;
using cases::PadCase;
using cases::PermuteCase;

class ManyBlocksTest : public DeviceTest {};
std::vector<Device> devices_with_grids() {
  std::vector<Device> devices = gpu_devices();
  if (has_emulated_devices()) devices.push_back(Device::emulated(32));
  return devices;
}
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ManyBlocksTest);
INSTANTIATE_TEST_SUITE_P(Devices, ManyBlocksTest, ::testing::ValuesIn(devices_with_grids()),
                         device_test_name);

/// Runs of 3 and 5 elements between gaps: on a small device a tile holds 15 elements, and there are 66001.
TEST_P(ManyBlocksTest, Permute) {
  const PermuteCase c = move_of(DType::u8, {66001, 3, 5}, {0, 2, 1}, {20, 6, 1}, {21, 4, 1});
  check_copy(stream(), c, [&](const TensorView& in, const TensorView& out) {
    DeviceProperties small = device().properties();
    small.multiprocessors = 8;
    const plan::CopyCandidate taken =
        copy_by(stream(), CopyKernel::tile, in.permuted(c.axes), out, {}, &small);
    EXPECT_EQ(taken.tile.extent[0], 1);
  });
  check(stream(), c);
}

TEST_P(ManyBlocksTest, Pad) {
  PadCase c;
  c.out_type = DType::f16;
  c.out_layout = Layout::nlc;
  c.pad.left = 2;
  c.pad.right = 1;
  c.pad.mode = PadMode::replicate;
  c.batch = 66001;
  c.channels = 3;
  c.length = 4;
  check(stream(), c);
  c.batch = 2;
  c.channels = 66001;
  check(stream(), c);
}

TEST_P(ManyBlocksTest, Img2col) {
  Img2colCase c;
  c.window.taps = 2;
  c.pad.left = 1;
  c.batch = 66001;
  c.channels = 3;
  c.length = 4;
  check(stream(), c);
  c.batch = 1;
  c.channels = c.window.groups = 66001;
  check(stream(), c);
}

/// A block takes no more than one item of the batch, and up to 256 channels.
TEST_P(ManyBlocksTest, Depthwise) {
  for (DepthwiseCase c : {make(1, 66000, 4, 2), make(66000, 4, 1, 2, Layout::nlc), make(66000, 1, 3, 2)}) {
    c.type = c.weight_type = DType::f32;
    check_integers(stream(), c);
  }
}

TEST_P(ManyBlocksTest, DepthwiseBackward) {
  for (DepthwiseBackwardCase c :
       {make_backward(66000, 4, 1, 2, Layout::nlc), make_backward(66000, 1, 3, 9)}) {
    c.type = c.weight_type = DType::f32;
    check_integers(stream(), c);
  }
}

}  // namespace
}  // namespace relayout::test
