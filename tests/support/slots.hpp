// Pointers in device memory, for copies that read theirs when they start.
#pragma once

#include <cstdint>

#include <relayout/relayout.hpp>

namespace relayout::test {

class Slots {
 public:
  explicit Slots(const Stream& stream) : stream_(stream), memory_(stream.device(), 2 * sizeof(void*)) {}
  /// Queued; done when it returns.
  void set(const void* in, void* out) const {
    const void* const pointers[] = {in, out};
    stream_.copy(memory_.data(), pointers, sizeof(pointers));
    stream_.synchronize();
  }
  const void* const* in() const { return static_cast<const void* const*>(memory_.data()); }
  void* const* out() const { return static_cast<void* const*>(memory_.data()) + 1; }

 private:
  Stream stream_;
  Buffer memory_;
};

/// The same view at an address that is as aligned, in memory that does not exist; `far` keeps views apart.
inline TensorView elsewhere(const TensorView& view, int far) {
  const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(view.data()) % 256;
  return TensorView(reinterpret_cast<void*>((static_cast<std::uintptr_t>(far) << 44) + address), view.dtype(),
                    view.shape(), view.strides());
}

}  // namespace relayout::test
