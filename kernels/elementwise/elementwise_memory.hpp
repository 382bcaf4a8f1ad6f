// Vectors between global memory and registers. An operand's vector lies wherever the nest puts it: in one
// piece, aligned or not; at a stride; or one element is repeated.
#pragma once

#include "kernels/elementwise/elementwise_words.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// A vector of a row. Its elements [begin, end) are in the row. Element 0 lies `first` elements behind the
/// row's start; `first` is negative where begin > 0.
struct Span {
  std::int64_t first;
  int begin, end;
  std::int64_t length;  // of the row
};

/// A vector on its way from memory: a lane starts the loads of several before it waits for the first. With
/// kAligned, the operand is Access::repeated, aligned, or comes by start_parts().
template <bool kAligned, int kWidth>
struct VectorLoad {
  std::conditional_t<kAligned, AlignedLoad, ShiftedLoad> loaded;

  /// `row` is where the operand's row begins. Nothing outside this row is read.
  __device__ __forceinline__ void start(Access access, int bytes, std::int64_t stride,
                                        const unsigned char* row, const Span& span) {
    if constexpr (!kAligned) loaded.offset = 0;
    const int size = kWidth * bytes;
    if (access == Access::repeated) return fill(repeated_words(load_any(row, bytes), bytes));
    const unsigned char* address = row + span.first * stride * bytes;
    if (span.begin == 0 && span.end == kWidth) {
      if (access == Access::aligned) return start_whole(address, size);
      if constexpr (!kAligned) {
        if (access == Access::halves) return start_parts<std::uint64_t>(address);
        if (access == Access::quarters) return start_parts<std::uint32_t>(address);
        if (access == Access::unaligned && size == 16 &&
            has_whole_words(address, span.first * bytes, span.length * bytes))
          return loaded.start(address);
      }
    }
    visit_fitting_sizes<kWidth>(
        bytes, [&](auto tag) { start_elements<typename decltype(tag)::type>(address, stride, span); });
  }

  /// Loads `size` bytes, aligned to as many, into the lowest bits: a vector, or one element of it.
  __device__ __forceinline__ void start_whole(const unsigned char* address, int size) {
    if (size == 16) return load_global_16_bytes(&in_place(), address);
    const std::uint64_t bits = load_any(address, size);
    in_place().values[0] = static_cast<std::uint32_t>(bits);
    in_place().values[1] = static_cast<std::uint32_t>(bits >> 32);
  }

  /// Loads 16 bytes whose parts are aligned, with nothing to be shifted.
  template <class Part>
  __device__ __forceinline__ void start_parts(const unsigned char* address) {
    load_parts(in_place(), reinterpret_cast<const Part*>(address));
  }

  __device__ __forceinline__ void fill(const Words& words) { in_place() = words; }
  /// The same where no other load was started.
  __device__ __forceinline__ void start_packed(const Words& words) {
    if constexpr (!kAligned) loaded.offset = 0;
    fill(words);
  }

  /// Every address is a multiple of kBytes.
  template <int kBytes = 1>
  __device__ __forceinline__ Words words() const {
    return loaded.template words<kBytes>();
  }

  /// Whether the aligned words of 4 bytes around a vector lie in its row of `length` bytes, `first` bytes
  /// behind whose start the vector begins.
  static __device__ __forceinline__ bool has_whole_words(const unsigned char* address, std::int64_t first,
                                                         std::int64_t length) {
    const std::int64_t offset = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address) & 3);
    return first >= offset && first - offset + (offset == 0 ? 16 : 20) <= length;
  }

 private:
  /// Loads the span's elements one by one. All loads are started before the first is waited for: otherwise
  /// the end of a row, and the block with it, would take as many round trips to memory.
  template <class Bits>
  __device__ __forceinline__ void start_elements(const unsigned char* address, std::int64_t stride,
                                                 const Span& span) {
    const auto* const data = reinterpret_cast<const Bits*>(address);
    Bits elements[kWidth];
#pragma unroll
    for (int i = 0; i < kWidth; ++i)
      elements[i] = i >= span.begin && i < span.end ? data[i * stride] : Bits{0};
    Words words{};
#pragma unroll
    for (int i = 0; i < kWidth; ++i) put_element(words, i, elements[i]);
    in_place() = words;
  }

  __device__ __forceinline__ Words& in_place() {
    if constexpr (kAligned) {
      return loaded.pack;
    } else {
      return loaded.parts;
    }
  }
};

/// `address` is that of the vector's first element, which may lie before the output. A whole vector with unit
/// stride is aligned.
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
