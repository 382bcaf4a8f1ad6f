// Devices: where work runs. cpu() is native code, emulated() the GPU kernels on the CPU, gpu() a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace relayout {

class Backend;
struct KernelTable;

/// What planning needs to know of a device: plain data, also makeable by hand for a device that is not here.
struct DeviceProperties {
  std::string name;          // as the vendor prints it
  std::string architecture;  // "sm_90", "gfx942", "x86_64", "emulated"
  int warp_size = 32;        // lanes of a warp (AMD: wavefront)
  int multiprocessors = 1;   // SMs or CUs
  int max_threads_per_block = 1024;
  std::int64_t shared_memory_per_block = 49152;  // bytes a block may use, the largest opt-in
  int shared_memory_banks = 32;
  int bank_bytes = 4;
  std::int64_t max_grid_x = 2147483647, max_grid_y = 65535, max_grid_z = 65535;
  std::size_t l2_bytes = 0;
  std::size_t memory_bytes = 0;
  std::string driver;  // versions of the vendor's driver and runtime; empty for processors

  static DeviceProperties h200();
  static DeviceProperties mi300x();
};

enum class DeviceKind { cpu, emulated, gpu };
/// The order in which the emulator runs the threads of a block up to their next barrier.
enum class ThreadOrder { forward, reverse, shuffled };

struct EmulationOptions {
  int warp_size = 32;  // 32 or 64
  ThreadOrder order = ThreadOrder::forward;
  std::uint64_t seed = 0;  // of ThreadOrder::shuffled
  int workers = 0;         // OS threads that run blocks; 0: one per processor
};

class Device {
 public:
  /// Native code on this machine's processor.
  static Device cpu();
  /// The GPU kernels themselves, run on the processor with warps of 32 or 64 lanes: for tests, not for speed.
  static Device emulated(int warp_size);
  static Device emulated(const EmulationOptions& options);
  /// GPU number `index` of the GPU back end that was built. Error{not_built} without one, Error{no_device}
  /// when there is no such GPU.
  static Device gpu(int index = 0);
  /// gpu(0) where there is one, else cpu().
  static Device best();
  /// GPUs that gpu() accepts; 0 when no GPU back end was built or no GPU is present.
  static int gpu_count();
  /// The back ends in this program, as "cpu", "cuda", "hip".
  static std::vector<std::string> built_with();

  DeviceKind kind() const noexcept { return kind_; }
  int index() const noexcept { return index_; }
  const DeviceProperties& properties() const noexcept { return properties_; }
  const EmulationOptions& emulation() const noexcept { return emulation_; }
  /// "cpu", "emulated(64)", "gpu(0)".
  std::string to_string() const;

  Backend& backend() const noexcept { return *backend_; }

 private:
  Device(DeviceKind kind, int index, Backend& backend, const EmulationOptions& emulation);
  DeviceKind kind_;
  int index_;
  Backend* backend_;
  EmulationOptions emulation_;
  DeviceProperties properties_;
};

}  // namespace relayout
