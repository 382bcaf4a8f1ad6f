// An operation of your own in one pass: y = clip(x * scale + shift, 0, 6) on f16 images, channels last, with
// a scale and a shift for each channel. The functor is compiled with this file, by nvcc or hipcc where
// relayout was built for such GPUs; the same lines run on the processor. The exit code is 0, or 1 where y is
// wrong.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "devices.hpp"

#include <relayout/relayout.hpp>

namespace {

using namespace relayout;

constexpr std::int64_t kImages = 2, kChannels = 64, kHeight = 28, kWidth = 28;
constexpr std::size_t kElements = kImages * kChannels * kHeight * kWidth;

/// Given f16 as float; constants are members.
struct ScaleAddClip {
  float low, high;

  RELAYOUT_HOST_DEVICE float operator()(float x, float scale, float shift) const {
    const float y = x * scale + shift;
    return y < low ? low : y > high ? high : y;
  }
};

template <class T>
Buffer upload(const Stream& stream, const std::vector<T>& values) {
  Buffer memory(stream.device(), values.size() * sizeof(T));
  stream.copy(memory.data(), values.data(), memory.bytes());
  return memory;
}

template <class Functor>
std::vector<f16> run(const Stream& stream, const Functor& functor, const std::vector<f16>& x,
                     const std::vector<float>& scale, const std::vector<float>& shift) {
  const Buffer x_memory = upload(stream, x), scale_memory = upload(stream, scale),
               shift_memory = upload(stream, shift), y_memory(stream.device(), kElements * sizeof(f16));
  const Dims shape{kImages, kChannels, kHeight, kWidth}, channels{kChannels, 1, 1};
  map<f16(f16, float, float)>(stream, functor,
                              {view_in(Layout::nhwc, x_memory.data(), DType::f16, shape),
                               TensorView(scale_memory.data(), DType::f32, channels),
                               TensorView(shift_memory.data(), DType::f32, channels)},
                              view_in(Layout::nhwc, y_memory.data(), DType::f16, shape));
  std::vector<f16> y(kElements);
  stream.copy(y.data(), y_memory.data(), y_memory.bytes());
  stream.synchronize();
  return y;
}

bool same(f16 a, f16 b) { return to_float(a) == to_float(b); }

}  // namespace

int main() {
  std::vector<f16> x(kElements), expected(kElements);
  std::vector<float> scale(kChannels), shift(kChannels);
  for (std::size_t c = 0; c < kChannels; ++c) {
    scale[c] = 0.1f * static_cast<float>(c % 13);
    shift[c] = static_cast<float>(c) / 16 - 2;
  }
  for (std::size_t i = 0; i < kElements; ++i) {
    const std::size_t c = i % kChannels;
    x[i] = to_f16(static_cast<float>(i % 997) / 100 - 5);
    expected[i] = to_f16(std::clamp(to_float(x[i]) * scale[c] + shift[c], 0.0f, 6.0f));
  }

  using namespace functors;
  const auto chained = chain_of(Multiply(), Add(), Clip{0, 6});  // the same of ready parts
  bool right = true;
  for (const Device& device : example::devices()) {
    const Stream stream(device);
    const std::vector<f16> own = run(stream, ScaleAddClip{0, 6}, x, scale, shift);
    const std::vector<f16> ready = run(stream, chained, x, scale, shift);
    const bool here = std::equal(own.begin(), own.end(), expected.begin(), same) &&
                      std::equal(ready.begin(), ready.end(), expected.begin(), same);
    std::printf("%s, %s: %s\n", device.to_string().c_str(), device.properties().name.c_str(),
                here ? "every element is right" : "WRONG");
    right = right && here;
  }
  return right ? 0 : 1;
}
