// A lane's strip, a few elements along one axis, and how they come from memory: all loads of a lane are under
// way before the first is waited for.
#pragma once

#include "kernels/elementwise/elementwise_words.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// What may be read beside a strip: elements of the tensor from `begin` of them before the strip's first one
/// to `end` behind it.
struct Neighbours {
  std::int32_t begin, end;

  __device__ __forceinline__ bool contain(std::int32_t before, std::int32_t count) const {
    return before <= begin && count - before <= end;
  }
};
/// offset: of the strip in the tensor; first: its number along the axis of strips. No element of another
/// tensor is read, which may lie between the rows of this one.
__device__ __forceinline__ Neighbours neighbours(const ElementwiseParams& p, int t, std::int32_t offset,
                                                 std::int32_t first) {
  const std::int32_t dense = p.tensor[t].dense;
  return dense > 0 ? Neighbours{offset, dense - offset} : Neighbours{first, p.strips.extent - first};
}

/// A lane's strip: which of its elements exist.
template <int kElements>
struct Strip {
  std::int32_t first;     // the number of the first element, as Strips counts them
  std::uint32_t present;  // bit i: element i exists
  bool is_there;          // false for lanes behind the end of an axis that is divided into chunks

  __device__ __forceinline__ bool is_whole() const { return present == (1u << kElements) - 1; }

  /// Calls visit(i, element i) for those that exist of the elements `step` apart. Each address is a product
  /// of its own: a sum of the one before and the step would wait for that.
  template <class T, class Visit>
  __device__ __forceinline__ void each(T* data, std::int32_t step, Visit&& visit) const {
    if (is_whole()) {
#pragma unroll
      for (int i = 0; i < kElements; ++i) visit(i, data[std::int64_t{step} * i]);
    } else {
#pragma unroll
      for (int i = 0; i < kElements; ++i) {
        if ((present & 1u << i) != 0) visit(i, data[std::int64_t{step} * i]);
      }
    }
  }
};

/// kCount elements of 1 or 2 bytes, each the low bits of a number with zeros above them, as a word.
template <class Bits, int kCount>
__device__ __forceinline__ std::uint32_t pack_word(const std::uint32_t* numbers) {
  constexpr unsigned kPair = sizeof(Bits) == 1 ? 0x7740 : 0x5410;
  if constexpr (kCount == 4) {
    return permute_bytes<0x5410>(permute_bytes<kPair>(numbers[0], numbers[1]),
                                 permute_bytes<kPair>(numbers[2], numbers[3]));
  } else if constexpr (kCount == 2) {
    return permute_bytes<kPair>(numbers[0], numbers[1]);
  } else {
    return numbers[0];
  }
}

/// The elements of a strip on their way from memory, so that those of all operands are under way before the
/// first is waited for: one by one, or as the words of 16 bytes around those of a vector.
template <class Bits, int kElements>
class StripLoad {
  static constexpr int kSize = static_cast<int>(sizeof(Bits)), kBytes = kElements * kSize;
  /// Vectors of 16 bytes, or less than one.
  static constexpr int kWhole = kBytes / 16;

 public:
  __device__ __forceinline__ void fill(Bits element) {
#pragma unroll
    for (int i = 0; i < kElements; ++i) set(i, element);
  }
  /// Elements `step` apart.
  __device__ __forceinline__ void start_elements(const Bits* data, std::int32_t step,
                                                 const Strip<kElements>& strip) {
    strip.each(data, step, [&](int i, const Bits& element) { set(i, element); });
  }

  /// For elements that follow each other. around: neighbours of the first one that may be read, too. False:
  /// they have to be loaded one by one.
  __device__ __forceinline__ bool start_vectors(const Bits* data, const Neighbours& around) {
    if constexpr (kWhole == 0) {
      return false;
    } else {
      const auto before = static_cast<std::int32_t>(reinterpret_cast<std::uintptr_t>(data) & 15);
      if (before != 0 && !around.contain(before / kSize, (kWhole + 1) * (16 / kSize))) return false;
      const auto* const words = reinterpret_cast<const unsigned char*>(data) - before;
#pragma unroll
      for (int v = 0; v < kWhole; ++v) load_word(v, words);
      if (before != 0) load_word(kWhole, words);
      offset_ = before;
      return true;
    }
  }

  /// The elements, packed in vectors.
  template <int kVectors>
  __device__ __forceinline__ void finish(Words (&words)[kVectors]) const {
    if constexpr (kWhole > 0) {
      if (offset_ >= 0) {
        constexpr int kParts = kVectors / kWhole;  // vectors of 16 bytes
#pragma unroll
        for (int v = 0; v < kVectors; ++v) {
          const int whole = v / kParts;
          const UnalignedLoad load = {word(whole), word(whole + 1), static_cast<unsigned>(offset_)};
          const Words joined = load.template words<kSize>();
          words[v] = {};
#pragma unroll
          for (int k = 0; k < 4 / kParts; ++k)
            words[v].values[k] = joined.values[v % kParts * (4 / kParts) + k];
        }
        return;
      }
    }
    constexpr int kWidth = kElements / kVectors;                  // elements of a vector
    constexpr int kRegisters = kSize == 8 ? 2 * kWidth : kWidth;  // of these
    constexpr int kPerWord = kSize >= 4 ? 1 : kWidth < 4 / kSize ? kWidth : 4 / kSize;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      words[v] = {};
#pragma unroll
      for (int k = 0; k < kRegisters / kPerWord; ++k)
        words[v].values[k] = pack_word<Bits, kPerWord>(raw_ + v * kRegisters + k * kPerWord);
    }
  }

 private:
  __device__ __forceinline__ void set(int i, Bits element) {
    if constexpr (kSize == 8) {
      raw_[2 * i] = static_cast<std::uint32_t>(element);
      raw_[2 * i + 1] = static_cast<std::uint32_t>(element >> 32);
    } else {
      raw_[i] = element;
    }
  }
  __device__ __forceinline__ void load_word(int v, const unsigned char* words) {
    Words word;
    load_global_16_bytes(&word, words + 16 * v);
#pragma unroll
    for (int k = 0; k < 4; ++k) raw_[4 * v + k] = word.values[k];
  }
  __device__ __forceinline__ Words word(int v) const {
    return {{raw_[4 * v], raw_[4 * v + 1], raw_[4 * v + 2], raw_[4 * v + 3]}};
  }

  static constexpr int kElementWords = kElements * (kSize == 8 ? 2 : 1), kVectorWords = 4 * (kWhole + 1);
  /// Elements, a register or two each; or words.
  std::uint32_t raw_[kElementWords > kVectorWords ? kElementWords : kVectorWords] = {};
  std::int32_t offset_ = -1;  // of the elements behind the words; below 0: they are elements
};

}  // namespace relayout::RELAYOUT_BACKEND
