// The devices that a test runs on: each is one GoogleTest parameter with a readable name.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <string>
#include <vector>

#include <relayout/relayout.hpp>

namespace relayout {

inline void PrintTo(const Device& device, std::ostream* out) { *out << device.to_string(); }

}  // namespace relayout

namespace relayout::test {

/// Plans differ by the number of multiprocessors, and tests pass for any. RELAYOUT_TEST_MULTIPROCESSORS names
/// another than the usual one.
inline EmulationOptions emulation_options(int warp_size) {
  EmulationOptions options;
  options.warp_size = warp_size;
  if (const char* count = std::getenv("RELAYOUT_TEST_MULTIPROCESSORS"))
    options.multiprocessors = std::atoi(count);
  return options;
}

/// A build for a GPU may do without the emulated devices, and tests what it has.
inline bool has_emulated_devices() {
  const std::vector<std::string> built = Device::built_with();
  return std::find(built.begin(), built.end(), "emulator") != built.end();
}

/// Devices whose memory is the host's, so that a view may be laid over any mapping.
inline std::vector<Device> host_memory_devices() {
  std::vector<Device> devices = {Device::cpu()};
  if (!has_emulated_devices()) return devices;
  for (const int warp_size : {32, 64}) devices.push_back(Device::emulated(emulation_options(warp_size)));
  return devices;
}

/// cpu, emulated with warps of 32 and of 64 lanes, and the first GPU: what there is.
inline std::vector<Device> test_devices() {
  std::vector<Device> devices = host_memory_devices();
  if (Device::gpu_count() > 0) devices.push_back(Device::gpu(0));
  return devices;
}

/// The first GPU, or nothing.
inline std::vector<Device> gpu_devices() {
  std::vector<Device> devices;
  if (Device::gpu_count() > 0) devices.push_back(Device::gpu(0));
  return devices;
}

/// Emulated devices that run a block's threads in unusual orders: a result that depends on the order is a
/// race.
inline std::vector<Device> reordered_devices() {
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

/// "cpu", "emulated32", "emulated64_reverse", "gpu0".
inline std::string test_name(const Device& device) {
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

inline std::string device_test_name(const ::testing::TestParamInfo<Device>& info) {
  return test_name(info.param);
}

/// A fixture for tests of one operation on one device.
class DeviceTest : public ::testing::TestWithParam<Device> {
 protected:
  const Device& device() const { return GetParam(); }
  const Stream& stream() const { return stream_; }

 private:
  Stream stream_{GetParam()};
};

}  // namespace relayout::test
