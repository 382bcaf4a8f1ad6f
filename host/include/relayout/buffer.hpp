// Owned memory: on a device, or on the host and pinned for fast copies.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include <relayout/device.hpp>
#include <relayout/export.hpp>

namespace relayout {

namespace detail {

/// Memory that its copies share; one that was moved from has none.
struct SharedMemory {
  std::shared_ptr<void> data;
  std::size_t bytes = 0;

  SharedMemory() = default;
  SharedMemory(std::shared_ptr<void> memory, std::size_t size) : data(std::move(memory)), bytes(size) {}
  SharedMemory(const SharedMemory&) = default;
  SharedMemory(SharedMemory&& other) noexcept
      : data(std::move(other.data)), bytes(std::exchange(other.bytes, 0)) {}
  SharedMemory& operator=(SharedMemory other) noexcept {
    data.swap(other.data);
    bytes = other.bytes;
    return *this;
  }
};

}  // namespace detail

/// Device memory, aligned to 256 bytes (64 on cpu and emulated devices). Its contents start undefined. Copies
/// of a Buffer share the memory, which is freed with the last of them; one that was moved from has none. The
/// caller keeps one alive until queued work that uses the memory has finished.
class RELAYOUT_API Buffer {
 public:
  /// No memory: data() is null, bytes() is 0.
  Buffer() = default;
  /// Allocates `bytes` on the device; 0 is legal and gives a null pointer. Throws Error{out_of_memory}, which
  /// names the size.
  Buffer(const Device& device, std::size_t bytes);
  /// The first byte.
  void* data() const noexcept { return memory_.data.get(); }
  /// The size that was asked for.
  std::size_t bytes() const noexcept { return memory_.bytes; }

 private:
  detail::SharedMemory memory_;
};

/// Host memory that the device copies from and to at full speed and without a hidden wait. Otherwise as
/// Buffer.
class RELAYOUT_API PinnedBuffer {
 public:
  /// No memory: data() is null, bytes() is 0.
  PinnedBuffer() = default;
  /// Allocates `bytes` of host memory, pinned for the device. Throws Error{out_of_memory}.
  PinnedBuffer(const Device& device, std::size_t bytes);
  /// The first byte.
  void* data() const noexcept { return memory_.data.get(); }
  /// The size that was asked for.
  std::size_t bytes() const noexcept { return memory_.bytes; }

 private:
  detail::SharedMemory memory_;
};

}  // namespace relayout
