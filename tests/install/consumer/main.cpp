// A user's first program: transposes with native code and with the GPU kernels, emulated, and runs a functor
// of its own.
#include <relayout/relayout.hpp>

#include <cstdio>
#include <vector>

struct Half {
  RELAYOUT_HOST_DEVICE float operator()(float x) const { return x / 2; }
};

int main() {
  const std::vector<float> in = {1, 2, 3, 4, 5, 6};
  const std::vector<float> expected = {1, 4, 2, 5, 3, 6}, halves = {0.5, 2, 1, 2.5, 1.5, 3};
  for (const relayout::Device& device : {relayout::Device::cpu(), relayout::Device::emulated(64)}) {
    std::vector<float> out(in.size());
    const relayout::Stream stream(device);
    relayout::transpose(stream, relayout::TensorView(in.data(), relayout::DType::f32, {2, 3}),
                        relayout::TensorView(out.data(), relayout::DType::f32, {3, 2}));
    stream.synchronize();
    if (out != expected) {
      std::printf("wrong transpose on %s\n", device.to_string().c_str());
      return 1;
    }
    const relayout::TensorView whole(out.data(), relayout::DType::f32, {6});
    relayout::map<float(float)>(stream, Half{}, {whole}, whole);
    stream.synchronize();
    if (out != halves) {
      std::printf("wrong halves on %s\n", device.to_string().c_str());
      return 1;
    }
  }
  return 0;
}
