// Formulas of several operations in one pass over the memory each: batch norm on five tensors, a division by
// (std + eps), a comparison that chooses, int8 bias and activation with one rounding, and RGB to grey. The
// exit code is 0, or 1 where a result is wrong.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "devices.hpp"

#include <relayout/relayout.hpp>

namespace {

using namespace relayout;

constexpr std::int64_t kImages = 2, kChannels = 24, kPixels = 28 * 28;
constexpr std::size_t kElements = kImages * kChannels * kPixels;
const Dims kShape{kImages, kChannels, kPixels}, kEach{kChannels, 1};

template <class T>
Buffer upload(const Stream& stream, const std::vector<T>& values) {
  Buffer memory(stream.device(), values.size() * sizeof(T));
  stream.copy(memory.data(), values.data(), memory.bytes());
  return memory;
}

template <class T>
bool holds(const Stream& stream, const Buffer& memory, const std::vector<T>& wanted) {
  std::vector<T> values(wanted.size());
  stream.copy(values.data(), memory.data(), memory.bytes());
  stream.synchronize();
  return std::memcmp(values.data(), wanted.data(), memory.bytes()) == 0;
}

std::vector<float> numbers(std::size_t count, int period, float low, float step) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = low + step * static_cast<float>(i % static_cast<std::size_t>(period));
  return values;
}

std::size_t channel_of(std::size_t element) { return element / kPixels % kChannels; }

const std::vector<float> kX = numbers(kElements, 997, -5, 0.01f), kMean = numbers(kChannels, 7, -1, 0.3f),
                         kStd = numbers(kChannels, 5, 0.5f, 0.25f),
                         kGamma = numbers(kChannels, 9, 0.5f, 0.1f), kBeta = numbers(kChannels, 11, -1, 0.2f);

/// Every result of `formula` of an element's number, on a stream that writes f32.
template <class Run, class Formula>
bool runs_right(const Stream& stream, const Run& run, const Formula& formula) {
  const Buffer y(stream.device(), kElements * sizeof(float));
  run(TensorView(y.data(), DType::f32, kShape));
  std::vector<float> wanted(kElements);
  for (std::size_t i = 0; i < kElements; ++i) wanted[i] = formula(i);
  return holds(stream, y, wanted);
}

bool batch_norm(const Stream& stream) {  // (x - mean) / std * gamma + beta
  const Buffer x = upload(stream, kX), mean = upload(stream, kMean), std = upload(stream, kStd),
               gamma = upload(stream, kGamma), beta = upload(stream, kBeta);
  const auto each = [](const Buffer& memory) { return TensorView(memory.data(), DType::f32, kEach); };
  const auto run = [&](const TensorView& y) {
    chain(stream, {Operation::sub, Operation::truediv, Operation::mul, Operation::add},
          {TensorView(x.data(), DType::f32, kShape), each(mean), each(std), each(gamma), each(beta)}, y);
  };
  return runs_right(stream, run, [](std::size_t i) {
    const std::size_t c = channel_of(i);
    const float normal = (kX[i] - kMean[c]) / kStd[c], scaled = normal * kGamma[c];
    return scaled + kBeta[c];
  });
}

bool normalise(const Stream& stream) {  // x / (std + eps): what was added is the second operand
  const Buffer x = upload(stream, kX), std = upload(stream, kStd);
  const auto run = [&](const TensorView& y) {
    chain(stream, {Operation::add, {Operation::truediv, 1}},
          {TensorView(std.data(), DType::f32, kEach), 1e-3, TensorView(x.data(), DType::f32, kShape)}, y);
  };
  return runs_right(stream, run, [](std::size_t i) { return kX[i] / (kStd[channel_of(i)] + 1e-3f); });
}

bool choose(const Stream& stream) {  // x > mean ? x : beta
  const Buffer x = upload(stream, kX), mean = upload(stream, kMean), beta = upload(stream, kBeta);
  const TensorView whole(x.data(), DType::f32, kShape);
  const auto run = [&](const TensorView& y) {
    chain(stream, {Operation::greater, Operation::where},
          {whole, TensorView(mean.data(), DType::f32, kEach), whole,
           TensorView(beta.data(), DType::f32, kEach)},
          y);
  };
  return runs_right(stream, run, [](std::size_t i) {
    const std::size_t c = channel_of(i);
    return kX[i] > kMean[c] ? kX[i] : kBeta[c];
  });
}

bool bias_activation(const Stream& stream) {  // relu(x + bias) on codes: nothing is rounded to a code between
  constexpr float kScale = 1.0f / 16, kOutScale = 1.0f / 8;
  constexpr int kZero = 5, kOutZero = -100;
  std::vector<std::int8_t> x(kElements), wanted(kElements);
  for (std::size_t i = 0; i < kElements; ++i) {
    x[i] = static_cast<std::int8_t>(static_cast<int>(i % 251) - 125);
    const float sum = static_cast<float>(x[i] - kZero) * kScale + kBeta[channel_of(i)];
    const int code = static_cast<int>(std::nearbyint(std::max(sum, 0.0f) / kOutScale)) + kOutZero;
    wanted[i] = static_cast<std::int8_t>(std::min(code, 127));
  }
  const Buffer codes = upload(stream, x), bias = upload(stream, kBeta), y(stream.device(), kElements);
  chain(stream, {Operation::add, Operation::relu},
        {QuantizedTensor{TensorView(codes.data(), DType::i8, kShape), kScale, kZero},
         TensorView(bias.data(), DType::f32, kEach)},
        QuantizedTensor{TensorView(y.data(), DType::i8, kShape), kOutScale, kOutZero});
  return holds(stream, y, wanted);
}

bool grey(const Stream& stream) {  // 0.299 r + 0.587 g + 0.114 b by Horner's rule, on bytes
  constexpr std::int64_t kCount = kPixels;
  constexpr float kRed = 0.299f / 0.587f, kGreen = 0.587f / 0.114f, kBlue = 0.114f;
  std::vector<std::uint8_t> rgb(3 * kCount), wanted(kCount);
  for (std::size_t i = 0; i < rgb.size(); ++i) rgb[i] = static_cast<std::uint8_t>(i * 37 % 256);
  for (std::size_t i = 0; i < kCount; ++i) {
    const float red = rgb[3 * i] * kRed, more = (red + rgb[3 * i + 1]) * kGreen;
    wanted[i] = static_cast<std::uint8_t>(std::nearbyint((more + rgb[3 * i + 2]) * kBlue));
  }
  const Buffer pixels = upload(stream, rgb), y(stream.device(), kCount);
  const auto channel = [&](int c) {
    return TensorView(static_cast<unsigned char*>(pixels.data()) + c, DType::u8, {kCount}, {3});
  };
  ElementwiseOptions options;
  options.cast_out = true;
  options.cast.rounding = Rounding::nearest_even;
  chain(stream, {Operation::mul, Operation::add, Operation::mul, Operation::add, Operation::mul},
        {channel(0), kRed, channel(1), kGreen, channel(2), kBlue}, TensorView(y.data(), DType::u8, {kCount}),
        options);
  return holds(stream, y, wanted);
}

}  // namespace

int main() {
  bool right = true;
  for (const Device& device : example::devices()) {
    const Stream stream(device);
    const auto report = [&](const char* name, bool is_right) {
      std::printf("%s, %s: %s\n", device.to_string().c_str(), name, is_right ? "right" : "WRONG");
      right = right && is_right;
    };
    report("batch norm", batch_norm(stream));
    report("x / (std + eps)", normalise(stream));
    report("compare, then where", choose(stream));
    report("int8 bias and activation", bias_activation(stream));
    report("RGB to grey", grey(stream));
  }
  return right ? 0 : 1;
}
