// A user's first program: transposes on the devices named as arguments, cpu and emulator, and runs a functor
// of its own. It uses relayout before main() and after it, too.
#include <relayout/relayout.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

struct Half {
  RELAYOUT_HOST_DEVICE float operator()(float x) const { return x / 2; }
};

bool is_right_on(const relayout::Device& device) {
  const std::vector<float> in = {1, 2, 3, 4, 5, 6};
  const std::vector<float> expected = {1, 4, 2, 5, 3, 6}, halves = {0.5, 2, 1, 2.5, 1.5, 3};
  std::vector<float> out(in.size());
  const relayout::Stream stream(device);
  relayout::transpose(stream, relayout::TensorView(in.data(), relayout::DType::f32, {2, 3}),
                      relayout::TensorView(out.data(), relayout::DType::f32, {3, 2}));
  stream.synchronize();
  bool right = out == expected;
  const relayout::TensorView whole(out.data(), relayout::DType::f32, {6});
  relayout::map<float(float)>(stream, Half{}, {whole}, whole);
  stream.synchronize();
  right = right && out == halves;
  std::printf("%s on %s\n", right ? "right" : "WRONG", device.to_string().c_str());
  return right;
}

/// Errors cross the border of a shared library.
bool catches_an_error() {
  try {
    relayout::transpose(relayout::Stream(relayout::Device::cpu()), relayout::TensorView(),
                        relayout::TensorView());
  } catch (const relayout::Error& error) {
    return std::strlen(error.what()) > 0;
  }
  return false;
}

struct BeforeAndAfterMain {
  const relayout::Device device = relayout::Device::cpu();
  const bool right = is_right_on(device);
  ~BeforeAndAfterMain() {
    if (!is_right_on(device)) std::_Exit(4);
  }
} const before_and_after_main;

int main(int count, char** arguments) {
  if (!before_and_after_main.right || !catches_an_error()) return 2;
  for (int i = 1; i < count; ++i) {
    const bool emulated = std::string(arguments[i]) == "emulator";
    try {
      if (!is_right_on(emulated ? relayout::Device::emulated(64) : relayout::Device::cpu())) return 3;
    } catch (const relayout::Error& error) {
      std::printf("%s\n", error.what());
      return 1;
    }
  }
  return 0;
}
