#include "host/cpu/scratch.hpp"

#include <utility>

namespace relayout::native {
namespace {

constexpr std::align_val_t kLine{64};

char* allocate(std::size_t bytes) { return static_cast<char*>(::operator new(bytes, kLine)); }
void release(char* memory) noexcept { ::operator delete(memory, kLine); }

/// What a thread keeps. It has no destructor, since calls from static destructors come after those of
/// thread_local objects.
struct Kept {
  char* memory;
  std::size_t bytes, used;
  std::size_t wanted;  // what all rooms of a call needed together
  bool ended;          // the thread, nearly: nothing is kept any more
};
thread_local Kept kept;

struct AtThreadEnd {
  ~AtThreadEnd() {
    release(std::exchange(kept.memory, nullptr));
    kept.bytes = 0;
    kept.ended = true;
  }
};

/// The rooms of a call that did not fit come from the heap; the next call finds enough.
void grow() {
  if (kept.used > 0 || kept.ended || kept.wanted <= kept.bytes) return;
  thread_local AtThreadEnd at_end;
  static_cast<void>(at_end);
  release(std::exchange(kept.memory, nullptr));
  kept.bytes = 0;
  kept.memory = allocate(kept.wanted);
  kept.bytes = kept.wanted;
}

}  // namespace

Scratch::Scratch(std::size_t bytes) : data_(nullptr), bytes_((bytes + 63) / 64 * 64), kept_(false) {
  if (kept.used == 0 && bytes_ > kept.wanted) kept.wanted = bytes_;
  grow();
  if (kept.used + bytes_ <= kept.bytes) {
    kept_ = true;
    data_ = kept.memory + kept.used;
  } else {
    data_ = allocate(bytes_);
  }
  // Rooms on the heap count as well: the thread will keep as much as all of them need.
  kept.used += bytes_;
  if (kept.used > kept.wanted) kept.wanted = kept.used;
}

Scratch::~Scratch() {
  kept.used -= bytes_;
  if (!kept_) release(data_);
}

}  // namespace relayout::native
