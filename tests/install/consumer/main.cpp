// A user's first program: transposes with native code and with the GPU kernels, emulated.
#include <relayout/relayout.hpp>

#include <cstdio>
#include <vector>

int main() {
  const std::vector<float> in = {1, 2, 3, 4, 5, 6};
  const std::vector<float> expected = {1, 4, 2, 5, 3, 6};
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
  }
  return 0;
}
