// Devices: where work runs. cpu() is native code, emulated() the GPU kernels on the CPU, gpu() a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <relayout/export.hpp>

namespace relayout {

class Backend;
struct KernelTable;

/// What planning needs to know about a device: plain data, which can also be filled in for a device that is
/// not present.
struct RELAYOUT_API DeviceProperties {
  std::string name;                              ///< as the vendor prints it
  std::string architecture;                      ///< "sm_90", "gfx942", "x86_64", "emulated"
  int warp_size = 32;                            ///< lanes of a warp (AMD: wavefront)
  int multiprocessors = 1;                       ///< SMs or CUs
  int max_threads_per_block = 1024;              ///< the most threads that a block may have
  std::int64_t shared_memory_per_block = 49152;  ///< the most bytes that a block may use, opt-in included
  int shared_memory_banks = 32;                  ///< banks of shared memory
  int bank_bytes = 4;                            ///< bytes that a bank delivers per pass
  std::int64_t max_grid_x = 2147483647;          ///< the most blocks along x
  std::int64_t max_grid_y = 65535;               ///< the most blocks along y
  std::int64_t max_grid_z = 65535;               ///< the most blocks along z
  std::size_t l2_bytes = 0;                      ///< bytes of the L2, as the vendor's runtime gives them
  std::size_t memory_bytes = 0;                  ///< bytes of the device's memory
  std::int64_t memory_bytes_per_second = 0;      ///< the memory's peak rate; 0: not known
  std::int64_t clock_hertz = 0;                  ///< the multiprocessors' highest clock; 0: not known
  std::string driver;                            ///< versions of driver and runtime; empty for processors

  static DeviceProperties h200();    ///< an NVIDIA H200
  static DeviceProperties mi300x();  ///< an AMD Instinct MI300X
};

/// What kind of device it is.
enum class DeviceKind {
  cpu,       ///< native code on the processor
  emulated,  ///< the GPU kernels on the processor
  gpu,       ///< a GPU
};
/// The order in which the emulator runs the threads of a block up to their next barrier, and the blocks of a
/// grid.
enum class ThreadOrder {
  forward,   ///< thread 0 and block 0 first
  reverse,   ///< thread 0 and block 0 last
  shuffled,  ///< a random order, by EmulationOptions::seed
};

/// How Device::emulated() runs the kernels.
struct EmulationOptions {
  int warp_size = 32;                        ///< lanes of a warp: 32 or 64
  ThreadOrder order = ThreadOrder::forward;  ///< the order of threads and of blocks
  std::uint64_t seed = 0;                    ///< the seed of ThreadOrder::shuffled
  int workers = 0;                           ///< OS threads that run blocks; 0: one per processor
  int multiprocessors = 4;                   ///< of the GPU that plans are made for; kernels run on `workers`
};

/// A place where work runs. Cheap to copy.
class RELAYOUT_API Device {
 public:
  /// Native code on this machine's processor.
  static Device cpu();
  /// The GPU kernels themselves, run on the processor with warps of 32 or 64 lanes: for tests, not for speed.
  static Device emulated(int warp_size);
  /// The same with a thread order, a seed and numbers of workers and multiprocessors. Throws
  /// Error{invalid_argument} for other warps and for numbers below these.
  static Device emulated(const EmulationOptions& options);
  /// GPU number `index` of the GPU back end that was built. Error{not_built} without one, Error{no_device}
  /// when there is no such GPU, or none that the build has code for; it names the driver and the
  /// architectures.
  static Device gpu(int index = 0);
  /// gpu(0) where there is one that can be used, else cpu().
  static Device best();
  /// GPUs that the back end sees; 0 when none was built or no GPU is present.
  static int gpu_count();
  /// The back ends in this program, as "cpu", "cuda", "hip".
  static std::vector<std::string> built_with();

  /// The kind of device.
  DeviceKind kind() const noexcept { return kind_; }
  /// The number of the GPU; 0 for other devices.
  int index() const noexcept { return index_; }
  /// What planning knows about it.
  const DeviceProperties& properties() const noexcept { return properties_; }
  /// The options of an emulated device.
  const EmulationOptions& emulation() const noexcept { return emulation_; }
  /// A short name: "cpu", "emulated(64)", "gpu(0)".
  std::string to_string() const;

  /// For the library: the back end that runs its work.
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
