#include "relayout/device.hpp"

#include "host/api/checks.hpp"
#include "platform/backend.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// A linker leaves out a library that nothing refers to; find_package(relayout) tells it not to, and this is
/// how to do so by hand.
std::string hint_of_linking(const std::string& backend) {
#if defined(RELAYOUT_SHARED)
  const std::string option = "-Wl,--no-as-needed";
#else
  const std::string option = "-Wl,-u,relayout_backend_" + backend;
#endif
  return joined(Device::built_with()) + " (linked by hand, -lrelayout_" + backend + " needs " + option +
         " before it)";
}

Backend& backend_of_processor(const char* name) {
  if (Backend* backend = find_backend(name)) return *backend;
  throw Error(ErrorCode::not_built,
              "the back end '" + std::string(name) +
                  "' is not in this program; relayout was built with: " + hint_of_linking(name));
}

/// What the emulator offers: the smaller of the two vendors' limits, so that what runs here fits both.
DeviceProperties emulated_properties(const EmulationOptions& options) {
  DeviceProperties properties;
  properties.name = "emulated GPU, " + std::to_string(options.warp_size) + " lanes";
  properties.architecture = "emulated";
  properties.warp_size = options.warp_size;
  properties.multiprocessors = options.multiprocessors;
  properties.shared_memory_per_block = 64 * 1024;
  return properties;
}

}  // namespace

DeviceProperties DeviceProperties::h200() {
  DeviceProperties properties;
  properties.name = "NVIDIA H200";
  properties.architecture = "sm_90";
  properties.multiprocessors = 132;
  properties.shared_memory_per_block = 227 * 1024;
  properties.l2_bytes = std::size_t{60} << 20;
  properties.memory_bytes = std::size_t{141} * 1000 * 1000 * 1000;
  properties.memory_bytes_per_second = 4'800'000'000'000;
  properties.clock_hertz = 1'980'000'000;
  return properties;
}

DeviceProperties DeviceProperties::mi300x() {
  DeviceProperties properties;
  properties.name = "AMD Instinct MI300X";
  properties.architecture = "gfx942";
  properties.warp_size = 64;
  properties.multiprocessors = 304;
  properties.shared_memory_per_block = 64 * 1024;
  properties.l2_bytes = std::size_t{4} << 20;  // per XCD
  properties.memory_bytes = std::size_t{192} * 1000 * 1000 * 1000;
  properties.memory_bytes_per_second = 5'300'000'000'000;
  properties.clock_hertz = 2'100'000'000;
  return properties;
}

Device::Device(DeviceKind kind, int index, Backend& backend, const EmulationOptions& emulation)
    : kind_(kind),
      index_(index),
      backend_(&backend),
      emulation_(emulation),
      properties_(kind == DeviceKind::emulated ? emulated_properties(emulation) : backend.properties(index)) {
}

Device Device::cpu() { return Device(DeviceKind::cpu, 0, backend_of_processor("cpu"), {}); }

Device Device::emulated(int warp_size) {
  EmulationOptions options;
  options.warp_size = warp_size;
  return emulated(options);
}

Device Device::emulated(const EmulationOptions& options) {
  if (options.warp_size != 32 && options.warp_size != 64) {
    throw Error(ErrorCode::invalid_argument,
                "an emulated warp has 32 or 64 lanes, not " + std::to_string(options.warp_size));
  }
  if (options.workers < 0) {
    throw Error(ErrorCode::invalid_argument, "the emulator's workers cannot be " +
                                                 std::to_string(options.workers) +
                                                 "; 0 means one per processor");
  }
  if (options.multiprocessors < 1) {
    throw Error(ErrorCode::invalid_argument, "an emulated GPU has at least 1 multiprocessor, not " +
                                                 std::to_string(options.multiprocessors));
  }
  check_enumerator("emulated", "the order of threads", options.order, ThreadOrder::shuffled);
  return Device(DeviceKind::emulated, 0, backend_of_processor("emulator"), options);
}

Device Device::gpu(int index) {
  Backend* backend = gpu_backend();
  if (backend == nullptr) {
    throw Error(ErrorCode::not_built,
                "no GPU back end in this program; relayout was built with: " + hint_of_linking("cuda"));
  }
  const int count = backend->device_count();
  if (index < 0 || index >= count) {
    throw Error(ErrorCode::no_device, "there is no GPU " + std::to_string(index) + ": the " +
                                          std::string(backend->name()) + " back end sees " +
                                          std::to_string(count) +
                                          (count == 0 ? "; " + backend->why_no_device() : ""));
  }
  return Device(DeviceKind::gpu, index, *backend, {});
}

Device Device::best() {
  if (gpu_count() == 0) return cpu();
  try {
    return gpu(0);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::no_device) throw;
    return cpu();
  }
}

int Device::gpu_count() {
  Backend* backend = gpu_backend();
  return backend == nullptr ? 0 : backend->device_count();
}

std::string Device::to_string() const {
  switch (kind_) {
    case DeviceKind::cpu:
      return "cpu";
    case DeviceKind::emulated:
      return "emulated(" + std::to_string(emulation_.warp_size) + ")";
    default:
      return "gpu(" + std::to_string(index_) + ")";
  }
}

}  // namespace relayout
