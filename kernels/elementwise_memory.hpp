// Vectors between global memory and registers. An operand's vector lies wherever the nest puts it: in one
// piece, aligned or not; at a stride; or one element is repeated.
#pragma once

#include "kernels/elementwise_words.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Elements [begin, end) of a vector are in the row; its first lies `first` elements behind the row's start,
/// before it where begin > 0.
struct Span {
  std::int64_t first;
  int begin, end;
};

/// A vector on its way from memory: loads are started for several before the first is waited for.
template <int kWidth>
struct VectorLoad {
  UnalignedLoad loaded;

  /// row: of the operand.
  __device__ __forceinline__ void start(const unsigned char* row, std::int64_t stride, int bytes,
                                        const Span& span) {
    loaded.offset = 0;
    if (stride == 0) return repeat(load_any(row, bytes), bytes);
    const unsigned char* address = row + span.first * stride * bytes;
    if (stride == 1 && span.begin == 0 && span.end == kWidth && start_whole(address, kWidth * bytes)) return;
    loaded.low = Words{};
#pragma unroll 1
    for (int i = span.begin; i < span.end; ++i)
      put_any(loaded.low, i, bytes, load_any(address + i * stride * bytes, bytes));
  }
  __device__ __forceinline__ Words words() const {
    // A shift by 0 bytes where they lie in place.
    return loaded.template words<1>();
  }

 private:
  __device__ __forceinline__ void repeat(std::uint64_t bits, int bytes) {
    std::uint32_t low = static_cast<std::uint32_t>(bits), high = static_cast<std::uint32_t>(bits >> 32);
    if (bytes == 1) low *= 0x01010101u;
    if (bytes == 2) low *= 0x00010001u;
    if (bytes != 8) high = low;
#pragma unroll
    for (int k = 0; k < 4; k += 2) {
      loaded.low.values[k] = low;
      loaded.low.values[k + 1] = high;
    }
  }

  /// False where it takes more than one load, or two of 16 bytes.
  __device__ __forceinline__ bool start_whole(const unsigned char* address, int size) {
    if (size == 16) {
      loaded.start(address);
      return true;
    }
    if ((reinterpret_cast<std::uintptr_t>(address) & static_cast<unsigned>(size - 1)) != 0) return false;
    const std::uint64_t bits = load_any(address, size);
    loaded.low.values[0] = static_cast<std::uint32_t>(bits);
    loaded.low.values[1] = static_cast<std::uint32_t>(bits >> 32);
    return true;
  }
};

/// row: of the output. A whole vector of a row with unit stride is aligned.
template <int kWidth>
__device__ __forceinline__ void store_vector(unsigned char* row, std::int64_t stride, int bytes,
                                             const Span& span, const Words& words, bool streaming) {
  unsigned char* address = row + span.first * stride * bytes;
  if (stride == 1 && span.begin == 0 && span.end == kWidth) {
    if (kWidth * bytes == 16) return store_global_16_bytes(address, &words, streaming);
    return store_any(address, kWidth * bytes,
                     words.values[0] | static_cast<std::uint64_t>(words.values[1]) << 32);
  }
#pragma unroll 1
  for (int i = span.begin; i < span.end; ++i)
    store_any(address + i * stride * bytes, bytes, any_element(words, i, bytes));
}

}  // namespace relayout::RELAYOUT_BACKEND
