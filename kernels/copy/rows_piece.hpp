// A part of a vector's elements which follow each other in the input, from any address: the aligned words
// around them, of which only those are read that hold some.
#pragma once

namespace relayout::RELAYOUT_BACKEND {

/// kBytes: 4, 8 or 16, of the whole vector and of an access. kAlignment: addresses are multiples of this.
template <int kBytes, int kAlignment>
struct RowsPiece {
  static constexpr int kWords = kBytes / 4;

  /// Bytes [begin, end) from `address` on are wanted; none where both are equal.
  __device__ __forceinline__ void start(const unsigned char* address, int begin, int end) {
    offset = static_cast<int>(reinterpret_cast<std::uintptr_t>(address) % kBytes);
    const unsigned char* aligned = address - offset;
    low = {};
    high = {};
    if (begin < end && offset + begin < kBytes) low = read(aligned);
    if (begin < end && offset + end > kBytes) high = read(aligned + kBytes);
  }
  /// The piece is these words.
  __device__ __forceinline__ void set(const std::uint32_t (&words)[kWords]) {
    memcpy(&low, words, kBytes);
    high = {};
    offset = 0;
  }
  /// Whether start() stays within the bytes that may be read.
  static __device__ __forceinline__ bool is_inside(const unsigned char* address, const unsigned char* begin,
                                                   const unsigned char* end) {
    return address - begin >= kBytes && end - address >= 2 * kBytes;
  }
  __device__ __forceinline__ void words(std::uint32_t (&result)[kWords]) const {
    std::uint32_t both[2 * kWords];
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      both[i] = low.words[i];
      both[i + kWords] = high.words[i];
    }
    // Shifts by half of a piece, then by a quarter, then by the rest: no branch, and no index that the
    // compiler does not know. These are values, since a choice between two elements of an array would put the
    // array into memory.
    int left = 2 * kWords;
#pragma unroll
    for (int by = kWords / 2; by > 0; by /= 2) {
      if (4 * by < kAlignment) break;
      left -= by;
#pragma unroll
      for (int i = 0; i < left; ++i) {
        const std::uint32_t here = both[i], there = both[i + by];
        both[i] = (offset & 4 * by) != 0 ? there : here;
      }
    }
#pragma unroll
    for (int i = 0; i < kWords; ++i)
      result[i] = kAlignment < 4
                      ? __funnelshift_r(both[i], both[i + 1], static_cast<std::uint32_t>(offset) % 4 * 8)
                      : both[i];
  }

 private:
  struct alignas(kBytes) Pack {
    std::uint32_t words[kWords];
  };
  static __device__ __forceinline__ Pack read(const unsigned char* address) {
    if constexpr (kBytes == 16) {
      Pack pack;
      load_global_16_bytes(&pack, address);
      return pack;
    } else {
      return *reinterpret_cast<const Pack*>(address);
    }
  }

  Pack low, high;
  int offset;  // bytes behind the first one's start
};

}  // namespace relayout::RELAYOUT_BACKEND
