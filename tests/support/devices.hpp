// The devices that a test runs on: each is one GoogleTest parameter with a readable name.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <relayout/relayout.hpp>

namespace relayout {

void PrintTo(const Device& device, std::ostream* out);

}  // namespace relayout

namespace relayout::test {

/// Plans differ by the number of multiprocessors, and tests pass for any. RELAYOUT_TEST_MULTIPROCESSORS names
/// another than the usual one.
EmulationOptions emulation_options(int warp_size);

/// A build may do without the emulated devices (RELAYOUT_EMULATOR=OFF), and tests what it has.
bool has_emulated_devices();

/// Devices whose memory is the host's, so that a view may be laid over any mapping.
std::vector<Device> host_memory_devices();

/// cpu, emulated with warps of 32 and of 64 lanes, and the first GPU: what there is.
std::vector<Device> test_devices();

/// The first GPU, or nothing.
std::vector<Device> gpu_devices();

/// Emulated devices that run a block's threads in unusual orders: a result that depends on the order is a
/// race. None where the build has no emulator, which GoogleTest must be told that a suite allows.
std::vector<Device> reordered_devices();

/// test_devices() that run kernels, which native code has none of. None where the build has neither the
/// emulator nor a GPU, which GoogleTest must be told likewise.
std::vector<Device> kernel_devices();
/// The same, and reordered_devices().
std::vector<Device> kernel_devices_in_any_order();

/// A device besides this one, to which a plan or a graph may not be taken. Nothing where the processor is all
/// that this program has.
std::optional<Device> another_device(const Device& device);

/// "cpu", "emulated32", "emulated64_reverse", "gpu0".
std::string test_name(const Device& device);

std::string device_test_name(const ::testing::TestParamInfo<Device>& info);

/// A fixture for tests of one operation on one device.
class DeviceTest : public ::testing::TestWithParam<Device> {
 protected:
  const Device& device() const { return GetParam(); }
  const Stream& stream() const { return stream_; }
  bool is_native() const { return device().kind() == DeviceKind::cpu; }

 private:
  Stream stream_{GetParam()};
};

}  // namespace relayout::test
