// Memory that processors treat as what ncclMemAlloc gives on a GPU: it has no name for other processes, but a
// window holds it. So tests go the way of GPUs' virtual memory without one.
#pragma once

#include <cstddef>

#include "platform/backend.hpp"
#include "relayout/export.hpp"

namespace relayout {

/// An allocation has no name as long as this stands for it.
class RELAYOUT_API UnnamedMemory {
 public:
  UnnamedMemory(void* memory, std::size_t bytes);
  UnnamedMemory(const UnnamedMemory&) = delete;
  UnnamedMemory& operator=(const UnnamedMemory&) = delete;
  ~UnnamedMemory();

  /// The one that the memory lies in; 0 bytes: it has a name.
  static Allocation around(const void* memory);

 private:
  char* begin_;
};

}  // namespace relayout
