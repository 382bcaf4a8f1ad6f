// Room for the buffers of native code. On the stack they would need more than a small thread has; from the
// heap every call would wait for the allocator. So each thread keeps what its calls have needed once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include "host/cpu/parallel.hpp"

namespace relayout::native {

/// Bytes on a cache line's boundary, of any contents. Those of one thread end in the reverse order of their
/// begin. Throws std::bad_alloc.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  char* data() const noexcept { return data_; }

 private:
  char* data_;
  std::size_t bytes_;
  bool kept_;  // whether it lies in what the thread keeps
};

/// As parallel_ranges, where body(begin, end, room) has a Room of its own: a struct of buffers that lies
/// outside the stack. The memory is had before any body runs.
template <class Room, class Body>
void parallel_ranges_in(std::int64_t count, std::int64_t elements, const Body& body) {
  static_assert(std::is_trivially_destructible_v<Room> && alignof(Room) <= 64);
  if (count <= 0) return;
  constexpr std::size_t kPitch = (sizeof(Room) + 63) / 64 * 64;
  const Scratch rooms(static_cast<std::size_t>(threads_for(count, elements)) * kPitch);
  parallel_parts(count, elements, [&](std::int64_t part, std::int64_t begin, std::int64_t end) {
    body(begin, end, *new (rooms.data() + static_cast<std::size_t>(part) * kPitch) Room);
  });
}

}  // namespace relayout::native
