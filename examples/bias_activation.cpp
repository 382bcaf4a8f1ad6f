// Start here: y = relu(x + bias) on f16 images, channels last, in one pass over the memory. The same lines
// run on the processor and on a GPU, and give the same bits. The exit code is 0, or 1 where they do not.
#include <algorithm>
#include <cstdio>
#include <vector>

#include <relayout/relayout.hpp>

namespace {

using namespace relayout;

constexpr std::int64_t kImages = 2, kChannels = 64, kHeight = 28, kWidth = 28;
constexpr std::size_t kElements = kImages * kChannels * kHeight * kWidth;

std::vector<f16> bias_relu(const Device& device, const std::vector<f16>& x, const std::vector<f16>& bias) {
  const Stream stream(device);
  const Buffer x_memory(device, kElements * sizeof(f16)), bias_memory(device, kChannels * sizeof(f16)),
      y_memory(device, kElements * sizeof(f16));
  stream.copy(x_memory.data(), x.data(), x_memory.bytes());
  stream.copy(bias_memory.data(), bias.data(), bias_memory.bytes());

  // Shapes are (N, C, H, W) wherever the channels lie in memory, and a value for each channel is [C, 1, 1].
  const Dims shape{kImages, kChannels, kHeight, kWidth};
  const TensorView in = view_in(Layout::nhwc, x_memory.data(), DType::f16, shape);
  const TensorView out = view_in(Layout::nhwc, y_memory.data(), DType::f16, shape);
  const TensorView channels(bias_memory.data(), DType::f16, {kChannels, 1, 1});
  chain(stream, {Operation::add, Operation::relu}, {in, channels}, out);

  std::vector<f16> y(kElements);
  stream.copy(y.data(), y_memory.data(), y_memory.bytes());
  stream.synchronize();
  return y;
}

/// Whether every element is the sum, rounded to f16, or 0 where that is negative.
bool is_right(const std::vector<f16>& x, const std::vector<f16>& bias, const std::vector<f16>& y) {
  for (std::size_t i = 0; i < kElements; ++i) {
    const float sum = to_float(to_f16(to_float(x[i]) + to_float(bias[i % kChannels])));
    if (y[i].bits != to_f16(std::max(sum, 0.0f)).bits) return false;
  }
  return true;
}

}  // namespace

int main() {
  std::vector<f16> x(kElements), bias(kChannels);
  for (std::size_t i = 0; i < kElements; ++i) x[i] = to_f16(static_cast<float>(i % 997) / 100 - 5);
  for (std::size_t c = 0; c < kChannels; ++c) bias[c] = to_f16(static_cast<float>(c) / 16 - 2);

  std::vector<Device> devices{Device::cpu(), Device::emulated(32)};
  if (Device::gpu_count() > 0) devices.push_back(Device::gpu());
  bool right = true;
  for (const Device& device : devices) {
    const bool here = is_right(x, bias, bias_relu(device, x, bias));
    std::printf("%s, %s: %s\n", device.to_string().c_str(), device.properties().name.c_str(),
                here ? "every element is right" : "WRONG");
    right = right && here;
  }
  return right ? 0 : 1;
}
