// Devices before main(), in static destructors, and in handlers of atexit(), on native code and on the
// emulator: each transposes. The exit code is 0 when all of them were right; GoogleTest would end before the
// last of them.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <relayout/relayout.hpp>

namespace {

using namespace relayout;

constexpr std::int64_t kRows = 96, kColumns = 160;  // several blocks
std::atomic<int> turns{0};
int transposed = 0;  // devices that were right so far

/// Ends the program where one is wrong: the exit code cannot be changed any more while the program exits.
void transpose_everywhere(const std::vector<Device>& devices) {
  for (const Device& device : devices) {
    std::vector<std::int32_t> in(kRows * kColumns), out(in.size());
    std::iota(in.begin(), in.end(), 0);
    transpose(Stream(device), TensorView(in.data(), DType::i32, {kRows, kColumns}),
              TensorView(out.data(), DType::i32, {kColumns, kRows}));
    for (std::int64_t i = 0; i < kRows * kColumns; ++i) {
      if (out[static_cast<std::size_t>(i % kColumns * kRows + i / kColumns)] != i) std::_Exit(1);
    }
    ++transposed;
  }
}

std::vector<Device> all_devices() {
  std::vector<Device> devices{Device::cpu()};
  const std::vector<std::string> built = Device::built_with();
  if (std::find(built.begin(), built.end(), "emulator") != built.end())
    devices.push_back(Device::emulated(32));
  return devices;
}

/// Its destructor runs after everything that main() made static, and after the handlers.
struct UserOfDevices {
  const std::vector<Device> devices = all_devices();

  UserOfDevices() { transpose_everywhere(devices); }
  ~UserOfDevices() {
    transpose_everywhere(devices);
    const std::size_t expected = 4 * devices.size();
    if (transposed != static_cast<int>(expected)) std::_Exit(2);
    std::puts("before main, in main, at exit and in a static destructor");
  }
} const user_of_devices;

}  // namespace

/// Works until the process has ended, whatever has been destroyed by then.
void work_for_ever(const Device& device) {
  const std::int64_t side = device.kind() == DeviceKind::cpu ? 500 : 40;
  const Stream stream(device);
  const std::vector<f16> a(side * side, to_f16(1.0)), bt(a.size(), to_f16(2.0));
  std::vector<f16> y(a.size());
  const Dims square{side, side};
  for (;;) {
    gemm(stream, TensorView(a.data(), DType::f16, square), TensorView(bt.data(), DType::f16, square),
         TensorView(), TensorView(y.data(), DType::f16, square));
    ++turns;
  }
}

/// exit_test [TURNS]: with TURNS, other threads work on while the program exits, from that many calls of
/// theirs on: at 0 they may make their first one then.
int main(int argc, char** argv) {
  if (argc > 1) {
    alarm(120);  // where an exit waits for ever
    for (const Device& device : user_of_devices.devices)
      std::thread([device] { work_for_ever(device); }).detach();
    while (turns < std::atoi(argv[1])) std::this_thread::yield();
  }
  if (std::atexit([] { transpose_everywhere(user_of_devices.devices); }) != 0) return 3;
  transpose_everywhere(user_of_devices.devices);
  return 0;
}
