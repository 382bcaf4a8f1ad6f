// Owned memory: on a device, or on the host and pinned for fast copies.
#pragma once

#include <cstddef>
#include <memory>

#include <relayout/device.hpp>
#include <relayout/export.hpp>

namespace relayout {

/// Device memory, aligned to 256 bytes (64 on cpu and emulated devices). Its contents start undefined. Copies
/// of a Buffer share the memory, which is freed with the last of them. The caller keeps one alive until
/// queued work that uses the memory has finished.
class RELAYOUT_API Buffer {
 public:
  /// No memory: data() is null, bytes() is 0.
  Buffer() = default;
  /// A copy.
  Buffer(const Buffer&) = default;
  /// A copy.
  Buffer& operator=(const Buffer&) = default;
  /// Leaves a buffer without memory behind.
  Buffer(Buffer&& other) noexcept;
  /// Leaves a default one behind.
  Buffer& operator=(Buffer&& other) noexcept;
  /// Allocates `bytes` on the device; 0 is legal and gives a null pointer. Throws Error{out_of_memory}, which
  /// names the size.
  Buffer(const Device& device, std::size_t bytes);
  /// The first byte.
  void* data() const noexcept { return data_.get(); }
  /// The size that was asked for.
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::shared_ptr<void> data_;
  std::size_t bytes_ = 0;
};

/// Host memory that the device copies from and to at full speed and without a hidden wait. Otherwise as
/// Buffer.
class RELAYOUT_API PinnedBuffer {
 public:
  /// No memory: data() is null, bytes() is 0.
  PinnedBuffer() = default;
  /// A copy.
  PinnedBuffer(const PinnedBuffer&) = default;
  /// A copy.
  PinnedBuffer& operator=(const PinnedBuffer&) = default;
  /// Leaves a buffer without memory behind.
  PinnedBuffer(PinnedBuffer&& other) noexcept;
  /// Leaves a default one behind.
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept;
  /// Allocates `bytes` of host memory, pinned for the device. Throws Error{out_of_memory}.
  PinnedBuffer(const Device& device, std::size_t bytes);
  /// The first byte.
  void* data() const noexcept { return data_.get(); }
  /// The size that was asked for.
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::shared_ptr<void> data_;
  std::size_t bytes_ = 0;
};

}  // namespace relayout
