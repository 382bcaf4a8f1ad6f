// A lane's strip: a few elements along one axis of the nest, wherever tensors lie. Neighbouring lanes have
// neighbouring elements of the output, so that whole sectors are moved at any address. A lane splits its
// number into indices once for all elements of its strip, and needs nobody else for it: no shared memory, no
// barrier. Where an operand is fastest along the strip, the strip is a vector of it
// (host/plan/elementwise/elementwise_strips.cpp).
#pragma once

#include "kernels/divide.hpp"
#include "kernels/elementwise/elementwise_words.hpp"
#include "launch.hpp"

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

/// The elements of a strip on their way from memory, so that those of all operands are under way before the
/// first is waited for: one by one, or as the words of 16 bytes around those of a vector.
template <class Bits, int kElements>
class StripLoad {
  static constexpr int kSize = static_cast<int>(sizeof(Bits)), kBytes = kElements * kSize;
  /// Vectors of 16 bytes, or less than one.
  static constexpr int kWhole = kBytes / 16;

 public:
  __device__ __forceinline__ void fill(Bits element) {
    Bits elements[kElements];
#pragma unroll
    for (Bits& each : elements) each = element;
    set(elements);
  }
  __device__ __forceinline__ void set(const Bits (&elements)[kElements]) {
#pragma unroll
    for (int i = 0; i < kElements; ++i) {
      if constexpr (kSize == 8) {
        raw_[2 * i] = static_cast<std::uint32_t>(elements[i]);
        raw_[2 * i + 1] = static_cast<std::uint32_t>(elements[i] >> 32);
      } else {
        raw_[i] = elements[i];
      }
    }
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
    constexpr int kWidth = kElements / kVectors;
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
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      words[v] = {};
#pragma unroll
      for (int i = 0; i < kWidth; ++i) put_element(words[v], i, element(v * kWidth + i));
    }
  }

 private:
  __device__ __forceinline__ void load_word(int v, const unsigned char* words) {
    Words word;
    load_global_16_bytes(&word, words + 16 * v);
#pragma unroll
    for (int k = 0; k < 4; ++k) raw_[4 * v + k] = word.values[k];
  }
  __device__ __forceinline__ Words word(int v) const {
    return {{raw_[4 * v], raw_[4 * v + 1], raw_[4 * v + 2], raw_[4 * v + 3]}};
  }
  __device__ __forceinline__ Bits element(int i) const {
    if constexpr (kSize == 8) {
      return raw_[2 * i] | static_cast<std::uint64_t>(raw_[2 * i + 1]) << 32;
    } else {
      return static_cast<Bits>(raw_[i]);
    }
  }

  static constexpr int kElementWords = kElements * (kSize == 8 ? 2 : 1), kVectorWords = 4 * (kWhole + 1);
  /// Elements, a register or two each; or words.
  std::uint32_t raw_[kElementWords > kVectorWords ? kElementWords : kVectorWords] = {};
  std::int32_t offset_ = -1;  // of the elements behind the words; below 0: they are elements
};

/// A lane's strip: which of its elements exist.
template <int kElements>
struct Strip {
  std::int32_t first;  // the number of the first element, as Strips counts them
  bool is_there;       // false for lanes behind the end of an axis that is divided into chunks
  bool is_whole;       // all elements exist

  /// Calls visit(i, exists) for the elements, without a look at the extent where all exist.
  template <class Visit>
  __device__ __forceinline__ void each(const ElementwiseParams& p, Visit&& visit) const {
    if (is_whole) {
#pragma unroll
      for (int i = 0; i < kElements; ++i) visit(i, true);
    } else {
      const auto extent = static_cast<std::uint32_t>(p.strips.extent);
#pragma unroll
      for (int i = 0; i < kElements; ++i)
        visit(i, static_cast<std::uint32_t>(first + i * p.strips.step) < extent);
    }
  }
};

/// Splits a lane's number into indices: calls add(axis, index) for the axes that count lanes.
template <int kElements, class Add>
__device__ __forceinline__ Strip<kElements> find_strip(const ElementwiseParams& p, std::uint32_t lane,
                                                       Add&& add) {
  const Strips& strips = p.strips;
  std::int32_t first = -strips.lead, chunked = 0;
#pragma unroll 1
  for (int axis = p.rank - 2; axis >= 0; --axis) {
    std::uint32_t number = lane;
    lane = split(number, p.divisors[axis]);
    const auto index = static_cast<std::int32_t>(number);
    add(axis, index);
    if (axis == strips.axis) first += index * strips.scale;
    if (axis == strips.outer_axis) chunked += index * strips.chunk;
    if (axis == strips.inner_axis) chunked += index;
  }
  return {first, chunked < strips.chunked_extent,
          strips.whole || (first >= 0 && first + (kElements - 1) * strips.step < strips.extent)};
}

/// Where the elements of a lane's strip lie, of kTensors tensors.
template <int kElements, int kTensors>
struct StripPlace {
  std::int32_t out, tensors[kTensors];  // offsets of the first element
  Strip<kElements> strip;

  __device__ __forceinline__ StripPlace(const ElementwiseParams& p, std::uint32_t lane) {
    out = before(p, p.out_strides);
#pragma unroll
    for (int t = 0; t < kTensors; ++t) tensors[t] = before(p, p.tensor[t].strides);
    strip = find_strip<kElements>(p, lane, [&](int axis, std::int32_t index) {
      out += index * static_cast<std::int32_t>(p.out_strides[axis]);
#pragma unroll
      for (int t = 0; t < kTensors; ++t)
        tensors[t] += index * static_cast<std::int32_t>(p.tensor[t].strides[axis]);
    });
  }

  /// Starts the loads of tensor t's elements.
  template <class Bits>
  __device__ __forceinline__ void start(const ElementwiseParams& p, int t,
                                        StripLoad<Bits, kElements>& load) const {
    const auto step = static_cast<std::int32_t>(p.tensor[t].strides[p.rank - 1]);
    const Bits* const data = static_cast<const Bits*>(p.tensor[t].data) + tensors[t];
    if (step == 0) return load.fill(*data);
    if (step == 1 && strip.is_whole && load.start_vectors(data, neighbours(p, t, tensors[t], strip.first)))
      return;
    Bits elements[kElements];
    strip.each(p, [&](int i, bool exists) { elements[i] = exists ? data[i * step] : Bits{0}; });
    load.set(elements);
  }

  /// The output's elements, packed in vectors.
  template <class Bits, int kVectors>
  __device__ __forceinline__ void store(const ElementwiseParams& p, const Words (&words)[kVectors]) const {
    constexpr int kWidth = kElements / kVectors;
    const auto step = static_cast<std::int32_t>(p.out_strides[p.rank - 1]);
    Bits* const data = static_cast<Bits*>(p.out) + out;
    strip.each(p, [&](int i, bool exists) {
      if (exists) data[i * step] = element_of<Bits>(words[i / kWidth], i % kWidth);
    });
  }

  /// The offset of element 0 of the axis of strips, with which lane 0 begins `lead` elements before it.
  static __device__ __forceinline__ std::int32_t before(const ElementwiseParams& p,
                                                        const std::int64_t* strides) {
    return -p.strips.lead * static_cast<std::int32_t>(strides[p.rank - 1]);
  }
};

/// The same of as many tensors as the launch has: their offsets lie in shared memory, a column for each lane.
template <int kElements>
struct AnyStripPlace {
  Strip<kElements> strip;

  /// offsets: strip_offsets_bytes() of shared memory. A lane reads what it wrote, so that none waits.
  __device__ __forceinline__ AnyStripPlace(const ElementwiseParams& p, std::uint32_t lane,
                                           std::int32_t* offsets)
      : offsets_(offsets + threadIdx.x) {
    constexpr int kTogether = 3;  // in registers: most launches have no more
    int begin = 0;
#pragma unroll 1
    do {
      std::int32_t out = 0, sums[kTogether] = {};
      strip = find_strip<kElements>(p, lane, [&](int axis, std::int32_t index) {
        out += index * static_cast<std::int32_t>(p.out_strides[axis]);
#pragma unroll
        for (int i = 0; i < kTogether; ++i) sums[i] += index * stride(p, begin + i, axis);
      });
      const int last = p.rank - 1;
      *offsets_ = out - p.strips.lead * static_cast<std::int32_t>(p.out_strides[last]);
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        if (begin + i < p.tensors)
          offsets_[(begin + i + 1) * kStripThreads] = sums[i] - p.strips.lead * stride(p, begin + i, last);
      }
      begin += kTogether;
    } while (begin < p.tensors);
  }

  /// The elements of a tensor.
  template <class Bits>
  __device__ __forceinline__ void load(const ElementwiseParams& p, int tensor,
                                       Bits (&elements)[kElements]) const {
    const auto step = static_cast<std::int32_t>(p.tensor[tensor].strides[p.rank - 1]);
    const Bits* const data = this->data<Bits>(p, tensor);
    if (step == 1 && strip.is_whole && load_vector(p, tensor, data, elements)) return;
    strip.each(p, [&](int i, bool exists) { elements[i] = exists ? data[i * step] : Bits{0}; });
  }
  template <class Bits>
  __device__ __forceinline__ Bits* out(const ElementwiseParams& p) const {
    return static_cast<Bits*>(p.out) + *offsets_;
  }
  template <class Bits>
  __device__ __forceinline__ const Bits* data(const ElementwiseParams& p, int tensor) const {
    return static_cast<const Bits*>(p.tensor[tensor].data) + offsets_[(tensor + 1) * kStripThreads];
  }

 private:
  /// 0 behind the last tensor. The output is no tensor here: where clang chose between the addresses of
  /// strides, it copied all parameters to the stack.
  static __device__ __forceinline__ std::int32_t stride(const ElementwiseParams& p, int tensor, int axis) {
    return tensor < p.tensors ? static_cast<std::int32_t>(p.tensor[tensor].strides[axis]) : 0;
  }

  /// Elements that follow each other, by one access or by the two aligned words around them; false where
  /// these would reach too far, and for more than 16 bytes.
  template <class Bits>
  __device__ __forceinline__ bool load_vector(const ElementwiseParams& p, int tensor, const Bits* data,
                                              Bits (&elements)[kElements]) const {
    constexpr int kSize = static_cast<int>(sizeof(Bits)), kBytes = kElements * kSize;
    if constexpr (kBytes > 16) {
      return false;
    } else {
      const auto* const address = reinterpret_cast<const unsigned char*>(data);
      const auto before = static_cast<std::int32_t>(reinterpret_cast<std::uintptr_t>(data) & (kBytes - 1));
      const Neighbours around = neighbours(p, tensor, offsets_[(tensor + 1) * kStripThreads], strip.first);
      if (before != 0 && !around.contain(before / kSize, 2 * kElements)) return false;
      Words words{};
      if constexpr (kBytes == 16) {
        UnalignedLoad load = {};
        load.start(address);
        words = load.template words<kSize>();
      } else {
        std::uint64_t bits = load_any(address - before, kBytes);
        if (before != 0)
          bits = bits >> (8 * before) | load_any(address - before + kBytes, kBytes)
                                            << (8 * (kBytes - before));
        words = {{static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32), 0, 0}};
      }
#pragma unroll
      for (int i = 0; i < kElements; ++i) elements[i] = element_of<Bits>(words, i);
      return true;
    }
  }

  std::int32_t* offsets_;
};
inline std::size_t strip_offsets_bytes(const ElementwiseParams& p) {
  return (static_cast<std::size_t>(p.tensors) + 1) * kStripThreads * sizeof(std::int32_t);
}

/// The launch of a kernel whose lanes have a strip each.
template <class Kernel>
void launch_strips(const LaunchContext& context, const ElementwiseParams& p, const char* name, Kernel kernel,
                   std::size_t shared_bytes = 0) {
  LaunchShape shape;
  shape.blocks_x = p.blocks;
  shape.threads_x = kStripThreads;
  shape.shared_bytes = shared_bytes;
  launch(name, context, shape, kernel, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
