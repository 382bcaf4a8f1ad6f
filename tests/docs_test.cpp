// The program of README.md: tests/tools/docs_test.py fails when the two differ.
// README begins
#include <relayout/relayout.hpp>

int main() {
  using namespace relayout;
  const Device device = Device::best();  // a GPU, or this machine's processor
  const Stream stream(device);           // or Stream::from_native(device, your_stream)
  const Buffer x_memory(device, 8 * 64 * 2048 * 4), a_memory(device, 8 * 2048 * 4 * 64 * 2);
  const TensorView x(x_memory.data(), DType::f32, {8, 64, 2048});       // [batch, channels, time]
  const TensorView a(a_memory.data(), DType::f16, {8 * 2048, 4 * 64});  // the GEMM's operand
  fill(stream, 0.5, x);
  const Window window{/*taps=*/4};  // stride 1, dilation 1, one group
  // Cast, transpose, pad and unfold, in one kernel:
  img2col(stream, x, window, causal_padding(Causal::sample, 2048, window), a);
  stream.synchronize();
}
// README ends
