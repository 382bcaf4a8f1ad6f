// Start here: y = relu(x + bias) on images, channels last, of f16 and of quantised int8. The same lines run
// on the processor and on a GPU, and give the same bits. The exit code is 0, or 1 where they do not.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "devices.hpp"

#include <relayout/relayout.hpp>

namespace {

using namespace relayout;

constexpr std::int64_t kImages = 2, kChannels = 64, kHeight = 28, kWidth = 28;
constexpr std::size_t kElements = kImages * kChannels * kHeight * kWidth;

// The codes of x, bias and y stand for scale * (code - zero point).
constexpr float kXScale = 1.0f / 16, kBiasScale = 1.0f / 64, kScale = 1.0f / 8;
constexpr int kXZero = 5, kBiasZero = 0, kZero = -100;

template <class T>
Buffer upload(const Stream& stream, const std::vector<T>& values) {
  Buffer memory(stream.device(), values.size() * sizeof(T));
  stream.copy(memory.data(), values.data(), memory.bytes());
  return memory;
}

template <class T>
std::vector<T> download(const Stream& stream, const Buffer& memory) {
  std::vector<T> values(memory.bytes() / sizeof(T));
  stream.copy(values.data(), memory.data(), memory.bytes());
  stream.synchronize();
  return values;
}

// Shapes are (N, C, H, W) wherever the channels lie in memory, and a value for each channel is [C, 1, 1].
TensorView images(const Buffer& memory, DType type) {
  return view_in(Layout::nhwc, memory.data(), type, {kImages, kChannels, kHeight, kWidth});
}
TensorView channels(const Buffer& memory, DType type) { return {memory.data(), type, {kChannels, 1, 1}}; }

std::vector<f16> bias_relu(const Stream& stream, const std::vector<f16>& x, const std::vector<f16>& bias) {
  const Buffer x_memory = upload(stream, x), bias_memory = upload(stream, bias);
  const Buffer y_memory(stream.device(), x_memory.bytes());
  chain(stream, {Operation::add, Operation::relu},
        {images(x_memory, DType::f16), channels(bias_memory, DType::f16)}, images(y_memory, DType::f16));
  return download<f16>(stream, y_memory);
}

std::vector<std::int8_t> bias_relu(const Stream& stream, const std::vector<std::int8_t>& x,
                                   const std::vector<std::int8_t>& bias) {
  const Buffer x_memory = upload(stream, x), bias_memory = upload(stream, bias);
  const Buffer y_memory(stream.device(), x_memory.bytes());
  const QuantizedTensor in{images(x_memory, DType::i8), kXScale, kXZero};
  const QuantizedTensor values{channels(bias_memory, DType::i8), kBiasScale, kBiasZero};
  const QuantizedTensor out{images(y_memory, DType::i8), kScale, kZero};
  quantized(stream, Operation::add, {in, values}, out);
  quantized(stream, Operation::relu, {out},
            out);  // in place; with the zero point -128 add alone would be enough
  return download<std::int8_t>(stream, y_memory);
}

/// The sum is rounded to f16.
f16 expected(f16 x, f16 bias) {
  return to_f16(std::max(to_float(to_f16(to_float(x) + to_float(bias))), 0.0f));
}
/// The sum is rounded to a code, the nearest one.
std::int8_t expected(std::int8_t x, std::int8_t bias) {
  const float sum =
      kXScale * static_cast<float>(x - kXZero) + kBiasScale * static_cast<float>(bias - kBiasZero);
  const int code = static_cast<int>(std::nearbyint(sum / kScale)) + kZero;
  return static_cast<std::int8_t>(std::clamp(code, kZero, 127));
}

template <class T>
bool runs_right(const Device& device, const char* type, const std::vector<T>& x, const std::vector<T>& bias) {
  const std::vector<T> y = bias_relu(Stream(device), x, bias);
  bool right = true;
  for (std::size_t i = 0; i < kElements; ++i) {
    const T wanted = expected(x[i], bias[i % kChannels]);
    right = right && std::memcmp(&y[i], &wanted, sizeof(T)) == 0;
  }
  std::printf("%s on %s, %s: %s\n", type, device.to_string().c_str(), device.properties().name.c_str(),
              right ? "every element is right" : "WRONG");
  return right;
}

}  // namespace

int main() {
  std::vector<f16> x(kElements), bias(kChannels);
  std::vector<std::int8_t> x_codes(kElements), bias_codes(kChannels);
  for (std::size_t i = 0; i < kElements; ++i) {
    x[i] = to_f16(static_cast<float>(i % 997) / 100 - 5);
    x_codes[i] = static_cast<std::int8_t>(static_cast<int>(i % 251) - 125);
  }
  for (std::size_t c = 0; c < kChannels; ++c) {
    bias[c] = to_f16(static_cast<float>(c) / 16 - 2);
    bias_codes[c] = static_cast<std::int8_t>(4 * static_cast<int>(c) - 128);
  }

  bool right = true;
  for (const Device& device : example::devices()) {
    right = runs_right(device, "f16", x, bias) && right;
    right = runs_right(device, "int8", x_codes, bias_codes) && right;
  }
  return right ? 0 : 1;
}
