// Kernels of users, by the public headers alone, on the emulator.
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include <relayout/kernel.hpp>

#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"

namespace relayout::test {
namespace {

/// Every block turns its piece around: through static and through dynamic shared memory, in three dimensions.
__global__ void turn_pieces(const std::int32_t* in, std::int32_t* out, int static_half) {
  __shared__ std::int32_t half[64];
  RELAYOUT_DYNAMIC_SHARED(std::int32_t, other_half);
  const auto thread = static_cast<int>(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
  const auto block = static_cast<int>(blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));
  const std::int32_t value = in[block * 128 + thread];
  if (thread < static_half) {
    half[thread] = value;
  } else {
    other_half[thread - static_half] = value;
  }
  __syncthreads();
  const int mirrored = 127 - thread;
  out[block * 128 + thread] = mirrored < static_half ? half[mirrored] : other_half[mirrored - static_half];
}

__global__ void wait_apart(int) {
  if (threadIdx.x == 0) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

LaunchShape shape_of_turn() {
  LaunchShape shape;
  shape.blocks_x = 3;
  shape.blocks_y = 2;
  shape.blocks_z = 2;
  shape.threads_x = 16;
  shape.threads_y = 4;
  shape.threads_z = 2;
  shape.shared_bytes = 64 * sizeof(std::int32_t);
  return shape;
}

std::vector<Device> emulated_devices() {
  std::vector<Device> devices = reordered_devices();
  devices.push_back(Device::emulated(32));
  devices.push_back(Device::emulated(64));
  return devices;
}

class OwnKernelTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, OwnKernelTest, ::testing::ValuesIn(emulated_devices()), device_test_name);

TEST_P(OwnKernelTest, HasIndicesSharedMemoryAndBarriers) {
  std::vector<std::int32_t> in(12 * 128), out(in.size());
  std::iota(in.begin(), in.end(), 5);
  launch(stream(), shape_of_turn(), turn_pieces, in.data(), out.data(), std::int64_t{64});
  for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], in[i / 128 * 128 + 127 - i % 128]) << i;
}

TEST_P(OwnKernelTest, ThreadsThatWaitApartAreReported) {
  LaunchShape shape;
  shape.threads_x = 8;
  expect_error(ErrorCode::launch, {"launch", "own_kernel_test.cpp"},
               [&] { launch(stream(), shape, wait_apart, 0); });
}

TEST_P(OwnKernelTest, ShapesThatGpusRefuse) {
  const auto expect_refused = [&](const char* word, void (*change)(LaunchShape&)) {
    LaunchShape shape = shape_of_turn();
    change(shape);
    expect_error(ErrorCode::launch, {"launch", word}, [&] { launch(stream(), shape, wait_apart, 0); });
  };
  expect_refused("blocks along x", [](LaunchShape& s) { s.blocks_x = 0; });
  expect_refused("blocks along x", [](LaunchShape& s) { s.blocks_x = std::int64_t{1} << 40; });
  expect_refused("blocks along y", [](LaunchShape& s) { s.blocks_y = 65536; });
  expect_refused("blocks along z", [](LaunchShape& s) { s.blocks_z = -1; });
  expect_refused("threads along x", [](LaunchShape& s) { s.threads_x = 1025; });
  expect_refused("threads of a block", [](LaunchShape& s) { s.threads_y = 128; });
  expect_refused("shared memory", [](LaunchShape& s) { s.shared_bytes = 1 << 20; });
}

TEST(OwnKernel, NativeCodeHasNoKernels) {
  expect_error(ErrorCode::unsupported, {"launch", "cpu", "Device::emulated()"},
               [] { launch(Stream(Device::cpu()), LaunchShape(), wait_apart, 0); });
}

}  // namespace
}  // namespace relayout::test
