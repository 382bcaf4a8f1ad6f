#include "tests/support/devices.hpp"

#include <algorithm>
#include <cstdlib>

namespace relayout {

void PrintTo(const Device& device, std::ostream* out) { *out << device.to_string(); }

namespace test {

EmulationOptions emulation_options(int warp_size) {
  EmulationOptions options;
  options.warp_size = warp_size;
  if (const char* count = std::getenv("RELAYOUT_TEST_MULTIPROCESSORS"))
    options.multiprocessors = std::atoi(count);
  return options;
}

bool has_emulated_devices() {
  const std::vector<std::string> built = Device::built_with();
  return std::find(built.begin(), built.end(), "emulator") != built.end();
}

std::vector<Device> host_memory_devices() {
  std::vector<Device> devices = {Device::cpu()};
  if (!has_emulated_devices()) return devices;
  for (const int warp_size : {32, 64}) devices.push_back(Device::emulated(emulation_options(warp_size)));
  return devices;
}

std::vector<Device> test_devices() {
  std::vector<Device> devices = host_memory_devices();
  if (Device::gpu_count() > 0) devices.push_back(Device::gpu(0));
  return devices;
}

std::vector<Device> gpu_devices() {
  std::vector<Device> devices;
  if (Device::gpu_count() > 0) devices.push_back(Device::gpu(0));
  return devices;
}

std::vector<Device> reordered_devices() {
  std::vector<Device> devices;
  if (!has_emulated_devices()) return devices;
  for (const int warp_size : {32, 64}) {
    EmulationOptions options = emulation_options(warp_size);
    options.order = ThreadOrder::reverse;
    devices.push_back(Device::emulated(options));
    options.order = ThreadOrder::shuffled;
    options.seed = 20240229;
    devices.push_back(Device::emulated(options));
  }
  return devices;
}

std::vector<Device> kernel_devices() {
  std::vector<Device> devices;
  for (const Device& device : test_devices()) {
    if (device.kind() != DeviceKind::cpu) devices.push_back(device);
  }
  return devices;
}

std::vector<Device> kernel_devices_in_any_order() {
  std::vector<Device> devices = reordered_devices();
  for (const Device& device : kernel_devices()) devices.push_back(device);
  return devices;
}

std::optional<Device> another_device(const Device& device) {
  if (device.kind() != DeviceKind::cpu) return Device::cpu();
  const std::vector<Device> others = kernel_devices();
  if (others.empty()) return {};
  return others.front();
}

std::string test_name(const Device& device) {
  switch (device.kind()) {
    case DeviceKind::cpu:
      return "cpu";
    case DeviceKind::gpu:
      return "gpu" + std::to_string(device.index());
    case DeviceKind::emulated:
      break;
  }
  std::string name = "emulated" + std::to_string(device.emulation().warp_size);
  if (device.emulation().order == ThreadOrder::reverse) name += "_reverse";
  if (device.emulation().order == ThreadOrder::shuffled) name += "_shuffled";
  return name;
}

std::string device_test_name(const ::testing::TestParamInfo<Device>& info) { return test_name(info.param); }

}  // namespace test
}  // namespace relayout
