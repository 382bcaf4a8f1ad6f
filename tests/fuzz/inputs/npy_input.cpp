// .npy files: a file that is taken can be read through its view, and is the same after it was written again.
#include <cstdlib>
#include <sstream>
#include <vector>

#include "examples/input_error.hpp"
#include "examples/npy.hpp"
#include "tests/fuzz/inputs/input_file.hpp"

#include <relayout/relayout.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace relayout;
  constexpr std::size_t kMax = std::size_t{1} << 16;
  try {
    const std::string text(reinterpret_cast<const char*>(data), size);
    example::parse_npy_header("header", text);
  } catch (const example::InputError&) {
  }
  try {
    const fuzz::InputFile input(data, size);
    example::NpyFile file(input.path());
    if (file.data_bytes() > kMax) return 0;
    std::vector<char> bytes(file.data_bytes());
    file.read(bytes.data());
    const TensorView view = file.view(bytes.data());
    std::vector<float> numbers(static_cast<std::size_t>(view.elements()));
    const TensorView packed(numbers.data(), DType::f32, view.shape());
    copy(Stream(Device::cpu()), view, packed);
    std::ostringstream again;
    example::write_npy(again, packed);
    const std::string written = again.str();
    const fuzz::InputFile output(reinterpret_cast<const std::uint8_t*>(written.data()), written.size());
    const example::NpyFile second(output.path());
    if (second.shape() != view.shape() || second.dtype() != DType::f32) std::abort();
  } catch (const example::InputError&) {
  } catch (const Error&) {
  }
  return 0;
}
