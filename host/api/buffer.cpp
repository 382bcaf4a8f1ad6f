#include "relayout/buffer.hpp"

#include "platform/backend.hpp"

namespace relayout {

Buffer::Buffer(const Device& device, std::size_t bytes) {
  if (bytes == 0) return;
  Backend& backend = device.backend();
  const int index = device.index();
  memory_ = {std::shared_ptr<void>(backend.allocate(index, bytes),
                                   [&backend, index](void* memory) { backend.deallocate(index, memory); }),
             bytes};
}

PinnedBuffer::PinnedBuffer(const Device& device, std::size_t bytes) {
  if (bytes == 0) return;
  Backend& backend = device.backend();
  const int index = device.index();
  memory_ = {
      std::shared_ptr<void>(backend.allocate_pinned(index, bytes),
                            [&backend, index](void* memory) { backend.deallocate_pinned(index, memory); }),
      bytes};
}

}  // namespace relayout
