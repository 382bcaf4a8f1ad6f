// What a back end offers: devices, memory, streams, copies, its kernels and its BLAS. Implemented once for
// GPUs (platform/gpu), once for emulated ones (platform/emulator) and once for native code
// (host/cpu/cpu_backend.cpp); platform/registry.cpp finds them. Vendor errors leave as relayout::Error that
// names the operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/gemm_params.hpp"
#include "core/kernel_table.hpp"
#include "core/launch_context.hpp"
#include "relayout/device.hpp"

namespace relayout {

/// What another process needs to map memory of a device: its own runtime's name of the whole allocation.
struct SharedMemoryName {
  unsigned char allocation[64] = {};
  std::uint64_t offset = 0;  // of the memory in it, in bytes
};

/// A whole allocation.
struct Allocation {
  char* begin = nullptr;
  std::size_t bytes = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  /// "cpu", "emulator", "cuda" or "hip"
  virtual const char* name() const noexcept = 0;
  /// 0 where no device is present; never throws for want of a driver.
  virtual int device_count() noexcept = 0;
  /// Error{no_device} for a device that has no code here.
  virtual DeviceProperties properties(int device) = 0;
  /// What must be there for a device to be present, and what is missing; for errors.
  virtual std::string why_no_device() { return {}; }

  virtual void* allocate(int device, std::size_t bytes) = 0;
  virtual void deallocate(int device, void* memory) noexcept = 0;
  /// Memory that kernels of other devices write while those of this one read it (core/signal_params.hpp);
  /// given back by deallocate().
  virtual void* allocate_signals(int device, std::size_t bytes) { return allocate(device, bytes); }
  virtual void* allocate_pinned(int device, std::size_t bytes) = 0;
  virtual void deallocate_pinned(int device, void* memory) noexcept = 0;

  /// Lets kernels of `device` read and write the memory of `peer`, another one, from now on. False where the
  /// hardware has no way for it; copies between the two work in any case.
  virtual bool enable_peer_access(int device, int peer) = 0;

  /// Names memory of a device for other processes. False where it has no name: of a pool, say.
  virtual bool share_memory(int device, const void* memory, SharedMemoryName& name) = 0;
  /// Maps the allocation that another process has named, so that kernels of `device` reach it: its first
  /// byte. Error{vendor}, {unsupported}.
  virtual void* map_shared_memory(int device, const SharedMemoryName& name) = 0;
  virtual void unmap_shared_memory(int device, void* allocation) noexcept = 0;
  /// The allocation that the memory lies in, if a communicator's window can hold it: it has a handle, as what
  /// ncclMemAlloc gives. Else 0 bytes.
  virtual Allocation allocation_for_window(int device, const void* memory) = 0;

  /// Makes a device current for the calling thread, and returns the one that was. Every function here makes
  /// its own device current and the caller's again; two calls on one device do so more cheaply in between.
  virtual int make_current(int device) { return device; }

  virtual void* create_stream(const Device& device) = 0;
  /// A stream of the multiprocessors of half the device, number 0 or 1; an ordinary one where these cannot be
  /// divided.
  virtual void* create_half_stream(const Device& device, int /*half*/) { return create_stream(device); }
  virtual void destroy_stream(int device, void* stream) noexcept = 0;
  virtual void synchronize_stream(const LaunchContext& context) = 0;
  virtual void copy(const LaunchContext& context, void* destination, const void* source,
                    std::size_t bytes) = 0;
  virtual void copy_rows(const LaunchContext& context, void* destination, std::size_t destination_pitch,
                         const void* source, std::size_t source_pitch, std::size_t width,
                         std::size_t rows) = 0;
  virtual void fill(const LaunchContext& context, void* destination, unsigned char value,
                    std::size_t bytes) = 0;

  /// timed: with a time stamp, which milliseconds() needs.
  virtual void* create_event(int device, bool timed) = 0;
  virtual void destroy_event(int device, void* event) noexcept = 0;
  virtual void record_event(const LaunchContext& context, void* event) = 0;
  virtual void wait_event(const LaunchContext& context, void* event) = 0;
  virtual void synchronize_event(int device, void* event) = 0;
  /// Whether the recorded point is reached, as it is without a recording; throws the error of work before it.
  virtual bool event_is_done(int device, void* event) = 0;
  virtual float milliseconds(int device, void* start, void* stop) = 0;

  /// Recording of what a stream queues, from this thread. False, the answer of a back end whose streams
  /// finish each call: there is nothing to record, and none of the four that follow is_capturing is called.
  virtual bool begin_capture(const LaunchContext&) { return false; }
  /// Whether what the stream queues is recorded now, by whomever.
  virtual bool is_capturing(const LaunchContext&) { return false; }
  /// Ends the recording: the graph, ready to be launched.
  virtual void* end_capture(const LaunchContext&) { return nullptr; }
  /// Ends a recording that failed; the stream can be used on.
  virtual void abandon_capture(const LaunchContext&) noexcept {}
  virtual void launch_graph(const LaunchContext&, void* /*graph*/) {}
  virtual void destroy_graph(int /*device*/, void* /*graph*/) noexcept {}

  virtual const KernelTable& kernels() = 0;
  /// The rate of the clock that kernels read (device_ticks).
  virtual double ticks_per_second(int /*device*/) { return 1e9; }

  /// The BLAS that was built in, or nullptr.
  virtual const char* blas_name() const noexcept = 0;
  /// Whether the BLAS needs GemmParams::workspace for this problem.
  virtual bool blas_needs_workspace(bool with_bias, DType out_type) const noexcept = 0;
  /// Whether the BLAS takes an `a` with lda < k, whose rows overlap.
  virtual bool blas_takes_overlapping_rows() const noexcept = 0;
  /// Makes what the BLAS keeps for a stream, so that no later GEMM on it allocates.
  virtual void prepare_blas(const LaunchContext&) {}
  /// Queues the GEMM with the BLAS; k, m, n > 0. False when the library does not take the problem.
  virtual bool blas_gemm(const LaunchContext& context, const GemmParams& params) = 0;
};

/// By name; nullptr when it is not in this program.
Backend* find_backend(const char* name) noexcept;
/// The CUDA or the HIP back end, nullptr when neither was built in.
Backend* gpu_backend() noexcept;

}  // namespace relayout
