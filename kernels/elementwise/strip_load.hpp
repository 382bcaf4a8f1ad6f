// A lane's strip, a few elements along one axis, and how they come from memory: all loads of a lane are under
// way before the first is waited for.
#pragma once

#include "kernels/elementwise/code_numbers.hpp"
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
  std::int32_t first;       // the number of the first element, as Strips counts them
  std::uint32_t present;    // bit i: element i exists
  bool is_there;            // false for lanes behind the end of an axis that is divided into chunks
  std::uint32_t wraps = 0;  // bit i: element i is the first of an inner axis (Strips)
  bool all_whole = false;   // the strips of all lanes that run beside this one are whole

  __device__ __forceinline__ bool is_whole() const { return present == (1u << kElements) - 1; }

  /// Calls visit(i, element i) for those that exist of the elements `step` apart, with `jump` more before
  /// each first one of an inner axis. Lanes that run together go the same way: one after the other, both ways
  /// take twice as long. kShort: where elements are missing, it is the way of those with jumps, for kernels
  /// without registers for the third.
  template <bool kShort = false, class T, class Visit>
  __device__ __forceinline__ void each(T* data, std::int32_t step, std::int32_t jump, Visit&& visit) const {
    if (jump == 0 && all_whole) {
#pragma unroll
      for (int i = 0; i < kElements; ++i) visit(i, data[std::int64_t{step} * i]);
    } else if (!kShort && jump == 0) {
      each_present([&](int) { return step; }, data, visit);
    } else {
      each_present([&](int i) { return (wraps & 1u << i) != 0 ? step + jump : step; }, data, visit);
    }
  }

 private:
  /// before(i): from element i - 1 to element i. Addresses are made for elements that are missing, too: else
  /// each is made under a condition of its own, from the start, by twice as many instructions.
  template <class Before, class T, class Visit>
  __device__ __forceinline__ void each_present(const Before& before, T* data, Visit&& visit) const {
#pragma unroll
    for (int i = 0; i < kElements; ++i) {
      if (i > 0) data = as_own_address(data + before(i));
      if ((present & 1u << i) != 0) visit(i, *data);
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
/// first is waited for: one by one, or as the words around those of a vector. Bits is what holds an element,
/// the same from the start of a load to its end; a strip has 32 bytes of them at most. kZeros: elements are 0
/// before they are loaded, and stay so where one does not exist; else they are anything, for kernels that
/// have no instructions left for it.
template <int kElements, bool kZeros = true>
class StripLoad {
  template <class Bits>
  static constexpr int kBytes = kElements* static_cast<int>(sizeof(Bits));
  /// A word has 16 bytes; a strip of less than 16 bytes is one word.
  template <class Bits>
  static constexpr int kWordBytes = kBytes<Bits> < 16 ? kBytes<Bits> : 16;
  template <class Bits>
  static constexpr int kWords = kBytes<Bits> / kWordBytes<Bits>;

 public:
  __device__ __forceinline__ StripLoad() {
    if constexpr (kZeros) {
#pragma unroll
      for (std::uint32_t& word : raw_) word = 0;
    }
  }

  template <class Bits>
  __device__ __forceinline__ void fill(Bits element) {
#pragma unroll
    for (int i = 0; i < kElements; ++i) set(i, element);
  }
  /// Element i is value(i).
  template <class Value>
  __device__ __forceinline__ void fill_each(const Value& value) {
#pragma unroll
    for (int i = 0; i < kElements; ++i) set(i, value(i));
  }
  /// Elements as Strip::each() has them.
  template <bool kShort = false, class Bits>
  __device__ __forceinline__ void start_elements(const Bits* data, std::int32_t step, std::int32_t jump,
                                                 const Strip<kElements>& strip) {
    strip.template each<kShort>(data, step, jump, [&](int i, const Bits& element) { set(i, element); });
  }

  /// For elements that follow each other. around: neighbours of the first one that may be read, too; whole:
  /// all elements exist. False: they have to be loaded one by one.
  template <class Bits>
  __device__ __forceinline__ bool start_vectors(const Bits* data, const Neighbours& around,
                                                bool whole = true) {
    constexpr int kSize = static_cast<int>(sizeof(Bits)), kWord = kWordBytes<Bits>;
    static_assert(kBytes<Bits> <= 32, "registers hold two words and the one behind them");
    if constexpr (kWord <= kSize) {
      return false;
    } else {
      const auto before = static_cast<std::int32_t>(reinterpret_cast<std::uintptr_t>(data) & (kWord - 1));
      const int words = kWords<Bits> + (before != 0 ? 1 : 0);
      if ((before != 0 || !whole) && !around.contain(before / kSize, words * (kWord / kSize))) return false;
      const auto* const first = reinterpret_cast<const unsigned char*>(data) - before;
#pragma unroll
      for (int v = 0; v < kWords<Bits>; ++v) load_word<kWord>(v, first);
      if (before != 0) load_word<kWord>(kWords<Bits>, first);
      offset_ = before;
      return true;
    }
  }

  /// One element for all, which is not waited for, as fill() does; for code_floats().
  template <class Bits>
  __device__ __forceinline__ void start_repeated(const Bits* element) {
    raw_[0] = *element;
    offset_ = kRepeated;
  }

  /// Calls take(i, bits) with the codes, whose highest bits are flipped with `flip`, as the low bits of
  /// floats between 2^23 and 2^24.
  template <class Take>
  __device__ __forceinline__ void code_floats(std::uint32_t flip, Take&& take) const {
    if (offset_ == kApart) {
#pragma unroll
      for (int i = 0; i < kElements; ++i) take(i, (raw_[i] ^ flip) | kCodeExponent);
      return;
    }
    Words words[1] = {repeated_words(static_cast<std::uint8_t>(raw_[0]), 1)};
    if (offset_ != kRepeated) finish_words<std::uint8_t>(words);
#pragma unroll
    for (int k = 0; k < kElements / 4; ++k)
      take_code_floats(words[0].values[k] ^ flip * 0x01010101u, 4 * k, take);
  }

  /// The elements, packed in vectors.
  template <class Bits, int kVectors>
  __device__ __forceinline__ void finish(Words (&words)[kVectors]) const {
    if (offset_ >= 0) return finish_words<Bits>(words);
    constexpr int kSize = static_cast<int>(sizeof(Bits));
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
  template <class Bits, int kVectors>
  __device__ __forceinline__ void finish_words(Words (&words)[kVectors]) const {
    constexpr int kPart = kBytes<Bits> / kVectors;  // bytes of a vector
    if constexpr (kWordBytes<Bits> == 16) {
      constexpr int kParts = 16 / kPart;  // vectors of 16 bytes
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const int whole = v / kParts;
        const UnalignedLoad load = {word(whole), word(whole + 1), static_cast<unsigned>(offset_)};
        const Words joined = load.template words<sizeof(Bits)>();
        words[v] = {};
#pragma unroll
        for (int k = 0; k < 4 / kParts; ++k)
          words[v].values[k] = joined.values[v % kParts * (4 / kParts) + k];
      }
    } else {
      std::uint64_t bits = raw_[0] | static_cast<std::uint64_t>(raw_[1]) << 32;
      if (offset_ > 0)
        bits = bits >> (8 * offset_) | (raw_[4] | static_cast<std::uint64_t>(raw_[5]) << 32)
                                           << (8 * (kWordBytes<Bits> - offset_));
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const std::uint64_t part = bits >> (8 * kPart * v);
        words[v] = {};
        words[v].values[0] =
            static_cast<std::uint32_t>(kPart < 4 ? part & ((1u << 8 * (kPart & 3)) - 1) : part);
        if constexpr (kPart > 4) words[v].values[1] = static_cast<std::uint32_t>(part >> 32);
      }
    }
  }

  template <class Bits>
  __device__ __forceinline__ void set(int i, Bits element) {
    if constexpr (sizeof(Bits) == 8) {
      raw_[2 * i] = static_cast<std::uint32_t>(element);
      raw_[2 * i + 1] = static_cast<std::uint32_t>(element >> 32);
    } else {
      raw_[i] = element;
    }
  }
  template <int kWord>
  __device__ __forceinline__ void load_word(int v, const unsigned char* words) {
    if constexpr (kWord == 16) {
      Words word;
      load_global_16_bytes(&word, words + 16 * v);
#pragma unroll
      for (int k = 0; k < 4; ++k) raw_[4 * v + k] = word.values[k];
    } else {
      const std::uint64_t bits = load_any(words + kWord * v, kWord);
      raw_[4 * v] = static_cast<std::uint32_t>(bits);
      raw_[4 * v + 1] = static_cast<std::uint32_t>(bits >> 32);
    }
  }
  __device__ __forceinline__ Words word(int v) const {
    return {{raw_[4 * v], raw_[4 * v + 1], raw_[4 * v + 2], raw_[4 * v + 3]}};
  }

  static constexpr std::int32_t kApart = -1, kRepeated = -2;
  static constexpr int kTwoWords = 4 * (2 + 1);  // and the one behind them
  /// Elements, a register or two each; or words of 4 registers each.
  std::uint32_t raw_[kElements > kTwoWords ? kElements : kTwoWords];
  std::int32_t offset_ = kApart;  // of the elements behind the words, or how they were started
};

}  // namespace relayout::RELAYOUT_BACKEND
