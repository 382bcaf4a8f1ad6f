// Owned memory: of a device, or of the host pinned for fast copies.
#pragma once

#include <cstddef>
#include <memory>

#include <relayout/device.hpp>

namespace relayout {

/// Device memory, aligned to 256 bytes (64 on cpu and emulated devices), contents undefined. A size of 0 is
/// legal and has a null pointer. Error{out_of_memory} with the size asked for. The caller keeps it alive
/// until queued work that uses it has finished.
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Device& device, std::size_t bytes);
  void* data() const noexcept { return data_.get(); }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::shared_ptr<void> data_;
  std::size_t bytes_ = 0;
};

/// Host memory that the device copies from and to at full speed and without a hidden wait.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  PinnedBuffer(const Device& device, std::size_t bytes);
  void* data() const noexcept { return data_.get(); }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::shared_ptr<void> data_;
  std::size_t bytes_ = 0;
};

}  // namespace relayout
