#include "relayout/buffer.hpp"

#include <utility>

#include "platform/backend.hpp"

namespace relayout {

Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::move(other.data_)), bytes_(std::exchange(other.bytes_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  const std::size_t bytes = std::exchange(other.bytes_, 0);
  data_ = std::exchange(other.data_, nullptr);
  bytes_ = bytes;
  return *this;
}

Buffer::Buffer(const Device& device, std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  Backend& backend = device.backend();
  const int index = device.index();
  data_ = std::shared_ptr<void>(backend.allocate(index, bytes),
                                [&backend, index](void* memory) { backend.deallocate(index, memory); });
}

PinnedBuffer::PinnedBuffer(PinnedBuffer&& other) noexcept
    : data_(std::move(other.data_)), bytes_(std::exchange(other.bytes_, 0)) {}

PinnedBuffer& PinnedBuffer::operator=(PinnedBuffer&& other) noexcept {
  const std::size_t bytes = std::exchange(other.bytes_, 0);
  data_ = std::exchange(other.data_, nullptr);
  bytes_ = bytes;
  return *this;
}

PinnedBuffer::PinnedBuffer(const Device& device, std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  Backend& backend = device.backend();
  const int index = device.index();
  data_ = std::shared_ptr<void>(backend.allocate_pinned(index, bytes), [&backend, index](void* memory) {
    backend.deallocate_pinned(index, memory);
  });
}

}  // namespace relayout
