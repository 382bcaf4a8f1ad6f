// Vectors between global memory and registers. An operand's vector lies wherever the nest puts it: in one
// piece, aligned or not; at a stride; or one element is repeated.
#pragma once

#include "kernels/divide.hpp"
#include "kernels/elementwise/elementwise_words.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// A vector of a row. Elements [begin, end) of it are in the row; its first lies `first` elements behind the
/// row's start, before it where begin > 0.
struct Span {
  std::int64_t first;
  int begin, end;
  std::int64_t length;  // of the row
};

/// A vector on its way from memory: loads are started for several before the first is waited for.
/// kAligned: the operand is Access::repeated or aligned.
template <bool kAligned, int kWidth>
struct VectorLoad {
  std::conditional_t<kAligned, AlignedLoad, UnalignedLoad> loaded;

  /// row: of the operand, which it reads from once more for nothing outside the span.
  __device__ __forceinline__ void start(Access access, int bytes, std::int64_t stride,
                                        const unsigned char* row, const Span& span) {
    if constexpr (!kAligned) loaded.offset = 0;
    const int size = kWidth * bytes;
    if (access == Access::repeated) return fill(repeated_words(load_any(row, bytes), bytes));
    const unsigned char* address = row + span.first * stride * bytes;
    if (span.begin == 0 && span.end == kWidth) {
      if (access == Access::aligned) return start_whole(address, size);
      if constexpr (!kAligned) {
        // Not where the words around it reach beyond the row.
        const unsigned offset = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(address) & 15);
        const std::int64_t before = span.first * bytes - offset;
        if (access == Access::unaligned && size == 16 && before >= 0 && before + 32 <= span.length * bytes)
          return load_both(address, offset);
      }
    }
    Words words{};
#pragma unroll 1
    for (int i = span.begin; i < span.end; ++i)
      put_any(words, i, bytes, load_any(address + i * stride * bytes, bytes));
    in_place() = words;
  }

  /// `size` bytes, aligned to as many: a vector, or one element of it, in the lowest bits.
  __device__ __forceinline__ void start_whole(const unsigned char* address, int size) {
    if (size == 16) return load_global_16_bytes(&in_place(), address);
    const std::uint64_t bits = load_any(address, size);
    in_place().values[0] = static_cast<std::uint32_t>(bits);
    in_place().values[1] = static_cast<std::uint32_t>(bits >> 32);
  }

  __device__ __forceinline__ void fill(const Words& words) { in_place() = words; }

  /// kBytes: of which every address is a multiple.
  template <int kBytes = 1>
  __device__ __forceinline__ Words words() const {
    return loaded.template words<kBytes>();
  }

 private:
  __device__ __forceinline__ Words& in_place() {
    if constexpr (kAligned) {
      return loaded.pack;
    } else {
      return loaded.low;
    }
  }

  /// The two aligned words of 16 bytes around the address; no branch, behind which a load would be waited
  /// for.
  __device__ __forceinline__ void load_both(const unsigned char* address, unsigned offset) {
    loaded.offset = offset;
    load_global_16_bytes(&loaded.low, address - offset);
    load_global_16_bytes(&loaded.high, address - offset + 16);
  }
};

/// address: of the vector's first element, in the output or before it. A whole vector with unit stride is
/// aligned.
template <int kWidth>
__device__ __forceinline__ void store_vector(unsigned char* address, std::int64_t stride, int bytes,
                                             int begin, int end, const Words& words, bool streaming) {
  if (stride == 1 && begin == 0 && end == kWidth) {
    if (kWidth * bytes == 16) return store_global_16_bytes(address, &words, streaming);
    return store_any(address, kWidth * bytes,
                     words.values[0] | static_cast<std::uint64_t>(words.values[1]) << 32);
  }
#pragma unroll 1
  for (int i = begin; i < end; ++i)
    store_any(address + i * stride * bytes, bytes, any_element(words, i, bytes));
}

}  // namespace relayout::RELAYOUT_BACKEND
