// A kernel of your own, in one source: the largest element of every tile of a matrix with any strides. nvcc
// and hipcc compile this file for GPUs; any other compiler makes it a program that runs the same kernel on
// the emulator, where a debugger and sanitizers can look at it. The exit code is 0, or 1 where a result is
// wrong.
#include <algorithm>
#include <cstdio>
#include <vector>

#include <relayout/kernel.hpp>
#include <relayout/relayout.hpp>

namespace {

using namespace relayout;

constexpr int kTile = 32, kThreads = 256;
constexpr std::int64_t kRows = 200, kColumns = 310;

/// A block takes one tile. Places beyond the matrix are minus infinity, which no maximum is.
__global__ void largest_of_tiles(TileSpace<2> space, const float* matrix, float* largest) {
  __shared__ float tile[kTile * kTile];
  const int thread = static_cast<int>(threadIdx.x);
  load_tile(space, space.tile_at(blockIdx.x), matrix, tile, TilePadding::negative_infinity, thread, kThreads);
  __syncthreads();
  for (int left = kTile * kTile / 2; left > 0; left /= 2) {
    for (int i = thread; i < left; i += kThreads)
      tile[i] = tile[i] < tile[i + left] ? tile[i + left] : tile[i];
    __syncthreads();
  }
  if (thread == 0) largest[blockIdx.x] = tile[0];
}

/// One number for each tile of the matrix, in C order.
std::vector<float> largest_of(const Stream& stream, const TensorView& matrix) {
  const TileSpace<2> space = tile_space<2>(matrix, {kTile, kTile});
  std::vector<float> largest(static_cast<std::size_t>(space.tile_count()));
  const Buffer memory(stream.device(), largest.size() * sizeof(float));
  LaunchShape shape;
  shape.blocks_x = space.tile_count();
  shape.threads_x = kThreads;
  launch(stream, shape, largest_of_tiles, space, static_cast<const float*>(matrix.data()),
         static_cast<float*>(memory.data()));
  stream.copy(largest.data(), memory.data(), memory.bytes());
  stream.synchronize();
  return largest;
}

/// The devices that this file has kernels for.
std::vector<Device> devices() {
#if defined(RELAYOUT_GPU)
  return Device::gpu_count() > 0 ? std::vector<Device>{Device::gpu()} : std::vector<Device>{};
#else
  return {Device::emulated(32), Device::emulated(64)};
#endif
}

}  // namespace

int main() {
  // Samples lie column after column: the matrix is a view with strides.
  std::vector<float> samples(kRows * kColumns);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = -1 - static_cast<float>(i * 7919 % 10007);
  constexpr std::int64_t kDown = (kRows + kTile - 1) / kTile, kAcross = (kColumns + kTile - 1) / kTile;
  std::vector<float> expected(kDown * kAcross, -1e9f);
  for (std::int64_t row = 0; row < kRows; ++row) {
    for (std::int64_t column = 0; column < kColumns; ++column) {
      float& place = expected[static_cast<std::size_t>(row / kTile * kAcross + column / kTile)];
      place = std::max(place, samples[static_cast<std::size_t>(column * kRows + row)]);
    }
  }

  bool right = true;
  for (const Device& device : devices()) {
    const Stream stream(device);
    const Buffer memory(device, samples.size() * sizeof(float));
    stream.copy(memory.data(), samples.data(), memory.bytes());
    const TensorView matrix(memory.data(), DType::f32, {kRows, kColumns}, {1, kRows});
    const bool here = largest_of(stream, matrix) == expected;
    std::printf("%s, %s: %s\n", device.to_string().c_str(), device.properties().name.c_str(),
                here ? "every tile is right" : "WRONG");
    right = right && here;
  }
  return right ? 0 : 1;
}
