// What the back ends of this machine's processor share, native code and emulator alike: host memory, streams
// that finish each call, events that are points in time.
#pragma once

#include "platform/backend.hpp"
#include "relayout/export.hpp"

namespace relayout {

/// The state behind a stream of cpu and emulated devices. Both are synchronous: a call returns when its work
/// is done.
struct ProcessorStream {
  /// workers 0: one per processor, at most 16, for every suspended GPU thread costs two memory mappings. One
  /// in AddressSanitizer builds (shared memory is a plain static there), 2 to 4 under ThreadSanitizer (8192
  /// fibers at most; races between blocks show between workers).
  EmulationOptions emulation;
};

class RELAYOUT_API ProcessorBackend : public Backend {
 public:
  int device_count() noexcept override { return 1; }
  DeviceProperties properties(int device) override;

  void* allocate(int device, std::size_t bytes) override;
  void deallocate(int device, void* memory) noexcept override;
  void* allocate_pinned(int device, std::size_t bytes) override { return allocate(device, bytes); }
  void deallocate_pinned(int device, void* memory) noexcept override { deallocate(device, memory); }

  bool enable_peer_access(int, int) override { return true; }

  bool share_memory(int device, const void* memory, SharedMemoryName& name) override;
  void* map_shared_memory(int device, const SharedMemoryName& name) override;
  void unmap_shared_memory(int, void*) noexcept override {}
  Allocation allocation_for_window(int device, const void* memory) override;

  void* create_stream(const Device& device) override;
  void destroy_stream(int device, void* stream) noexcept override;
  void synchronize_stream(const LaunchContext&) override {}
  void copy(const LaunchContext& context, void* destination, const void* source, std::size_t bytes) override;
  void copy_rows(const LaunchContext& context, void* destination, std::size_t destination_pitch,
                 const void* source, std::size_t source_pitch, std::size_t width, std::size_t rows) override;
  void fill(const LaunchContext& context, void* destination, unsigned char value, std::size_t bytes) override;

  void* create_event(int device, bool timed) override;
  void destroy_event(int device, void* event) noexcept override;
  void record_event(const LaunchContext& context, void* event) override;
  void wait_event(const LaunchContext&, void*) override {}
  void synchronize_event(int, void*) override {}
  bool event_is_done(int, void*) override { return true; }
  float milliseconds(int device, void* start, void* stop) override;

  const char* blas_name() const noexcept override { return nullptr; }
  bool blas_needs_workspace(bool, DType) const noexcept override { return false; }
  bool blas_takes_overlapping_rows() const noexcept override { return true; }
  bool blas_gemm(const LaunchContext&, const GemmParams&) override { return false; }
};

}  // namespace relayout
