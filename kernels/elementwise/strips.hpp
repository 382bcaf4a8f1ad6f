// Where lanes' strips lie: a few elements along one axis of the nest, wherever tensors lie. Neighbouring
// lanes have neighbouring elements of the output, so that whole sectors are moved at any address. A lane
// divides its number once for all elements of its strip, and needs nobody else for it: no shared memory,
// no barrier. Where an operand is fastest along the strip, the strip is a vector of it
// (host/plan/elementwise/elementwise_strips.cpp).
#pragma once

#include "core/integer_math.hpp"
#include "kernels/divide.hpp"
#include "kernels/elementwise/strip_load.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Axes whose divisors and strides are operands of the instructions, where the compiler knows the tensors. A
/// number that the loop computes the place of takes an instruction more, and there are six and more of them
/// to an axis. Where it does not know the tensors, clang copies all parameters to the stack if it unrolls.
constexpr int kUnrolledStripAxes = 8;

/// Takes kAxis and the axes behind it that come before kEnd, up to the last one. By recursion, since clang
/// does not unroll a loop with a second exit.
template <int kAxis, int kEnd, class Take, class Divide>
__device__ __forceinline__ void take_unrolled_axes(int last, const Take& take, const Divide& divide) {
  if constexpr (kAxis < kEnd) {
    take(kAxis);
    if (kAxis >= last) return;
    divide(kAxis);
    take_unrolled_axes<kAxis + 1, kEnd>(last, take, divide);
  }
}

/// Takes the axes from 1 to `last`, the first kUnrolled of them unrolled.
template <int kUnrolled, class Take, class Divide>
__device__ __forceinline__ void take_axes(int last, const Take& take, const Divide& divide) {
  take_unrolled_axes<1, 1 + kUnrolled>(last, take, divide);
#pragma unroll 1
  for (int axis = 1 + kUnrolled; axis <= last; ++axis) {
    take(axis);
    divide(axis);
  }
}

/// Bit i: element i exists of a strip whose first one is number `first` along its axis.
template <int kElements>
__device__ __forceinline__ std::uint32_t present_elements(const Strips& strips, std::int32_t first) {
  if (strips.step == 1) {
    const std::int32_t left = strips.extent - first, begin = first < 0 ? -first : 0,
                       end = left < 0 ? 0 : (left < strips.count ? left : strips.count);
    return begin < end ? ((1u << end) - 1) & ~((1u << begin) - 1) : 0;
  }
  std::uint32_t present = 0;
#pragma unroll
  for (int i = 0; i < kElements; ++i) {
    const auto number = static_cast<std::uint32_t>(first + i * strips.step);
    present |= (number < static_cast<std::uint32_t>(strips.extent) ? 1u : 0u) << i;
  }
  // Behind a strip of half as many elements those of other lanes may follow.
  return present & ((1u << strips.count) - 1);
}

/// Divides a lane's number by the extents of the axes that count lanes: calls add(axis, number) for each, the
/// first kUnrolled of which are unrolled.
template <int kElements, int kUnrolled, class Add>
__device__ __forceinline__ Strip<kElements> find_strip(const ElementwiseParams& p, std::uint32_t lane,
                                                       Add&& add) {
  const Strips& strips = p.strips;
  std::uint32_t first_bits = 0, chunked = 0;
  const auto take = [&](int axis) {
    add(axis, lane);
    first_bits += lane * p.strip_axes[axis].scale;
    chunked += lane * p.strip_axes[axis].chunk;
  };
  const auto divide = [&](int axis) {
    lane = divided(lane, p.strip_axes[axis].multiplier, p.strip_axes[axis].shift);
  };
  take_axes<kUnrolled>(p.rank - 1, take, divide);
  const std::int32_t first = static_cast<std::int32_t>(first_bits) - strips.lead;
  std::uint32_t present = (1u << kElements) - 1;
  bool all_whole = true;
  if (!strips.whole) {
    const bool is_cut =
        strips.count < kElements || first < 0 || first + (kElements - 1) * strips.step >= strips.extent;
    all_whole = !any_beside(is_cut);
    if (is_cut) present = present_elements<kElements>(strips, first);
  }
  return {first, present, static_cast<std::int32_t>(chunked) < strips.chunked_extent, 0, all_whole};
}

/// Where the elements of a lane's strip lie, of kTensors tensors. kJoins: strips may lie along two axes.
template <int kElements, int kTensors, bool kJoins = true>
struct StripPlace {
  std::int32_t out, tensors[kTensors];  // offsets of the first element
  Strip<kElements> strip;

  __device__ __forceinline__ StripPlace(const ElementwiseParams& p, std::uint32_t lane) {
    std::uint32_t out_offset = 0, offsets[kTensors] = {};
    strip = find_strip<kElements, kUnrolledStripAxes>(p, lane, [&](int axis, std::uint32_t number) {
      out_offset += number * static_cast<std::uint32_t>(p.out_strides[axis]);
#pragma unroll
      for (int t = 0; t < kTensors; ++t)
        offsets[t] += number * static_cast<std::uint32_t>(p.tensor[t].strides[axis]);
    });
    if (kJoins && p.strip_axes[0].wraps() != 0) {
      const auto first = static_cast<std::uint32_t>(strip.first);
      const std::uint32_t outer = divided(first, p.strip_axes[0].multiplier, p.strip_axes[0].shift);
      out_offset += outer * static_cast<std::uint32_t>(p.out_strides[kJumpAxis]);
      constexpr int kOperands =
          kTensors <= kMaxTypedTensors ? kTensors : kScaleTensors;  // scales are the same
#pragma unroll
      for (int t = 0; t < kOperands; ++t)
        offsets[t] += outer * static_cast<std::uint32_t>(p.tensor[t].strides[kJumpAxis]);
      const std::uint32_t inner = p.strip_axes[0].inner();
      strip.wraps = p.strip_axes[0].wraps() << (inner - (first - outer * inner));
    }
    out = first_offset(p, out_offset, p.out_strides);
#pragma unroll
    for (int t = 0; t < kTensors; ++t) tensors[t] = first_offset(p, offsets[t], p.tensor[t].strides);
  }

  /// Starts the loads of tensor t's elements.
  template <class Bits>
  __device__ __forceinline__ void start(const ElementwiseParams& p, int t, StripLoad<kElements>& load) const {
    const auto step = static_cast<std::int32_t>(p.tensor[t].strides[0]);
    const Bits* const data = static_cast<const Bits*>(p.tensor[t].data) + tensors[t];
    const auto jump = static_cast<std::int32_t>(p.tensor[t].strides[kJumpAxis]);
    if (step == 0 && jump == 0) return load.fill(*data);
    if (step == 1 && jump == 0 &&
        load.start_vectors(data, neighbours(p, t, tensors[t], strip.first), strip.is_whole()))
      return;
    load.start_elements(data, step, jump, strip);
  }

  /// The output's elements, packed in vectors.
  template <class Bits, int kVectors>
  __device__ __forceinline__ void store(const ElementwiseParams& p, const Words (&words)[kVectors]) const {
    constexpr int kWidth = kElements / kVectors;
    const auto step = static_cast<std::int32_t>(p.out_strides[0]);
    Bits* const data = static_cast<Bits*>(p.out) + out;
    strip.each(data, step, static_cast<std::int32_t>(p.out_strides[kJumpAxis]),
               [&](int i, Bits& element) { element = element_of<Bits>(words[i / kWidth], i % kWidth); });
  }

  /// The offset of a strip's first element, from that of a lane whose strips begin with element 0.
  static __device__ __forceinline__ std::int32_t first_offset(const ElementwiseParams& p,
                                                              std::uint32_t offset,
                                                              const std::int64_t* strides) {
    return static_cast<std::int32_t>(offset) - p.strips.lead * static_cast<std::int32_t>(strides[0]);
  }
};

/// Elements that follow each other, by vectors of 16 bytes or one of fewer, or by the aligned ones around
/// them; false where these would reach too far. offset: of the first in the tensor; strip: its number along
/// the axis of strips. What lies around is asked for in here: as an argument, clang copies all parameters of
/// costly programs to the stack.
template <class Bits, class Number, int kElements>
__device__ __forceinline__ bool load_vector(const ElementwiseParams& p, int t, std::int32_t offset,
                                            const Strip<kElements>& strip, const Bits* data,
                                            Number (&elements)[kElements]) {
  constexpr int kSize = static_cast<int>(sizeof(Bits)), kBytes = kElements * kSize;
  constexpr int kVector = kBytes < 16 ? kBytes : 16, kWidth = kVector / kSize;
  const auto* const address = reinterpret_cast<const unsigned char*>(data);
  const auto before = static_cast<std::int32_t>(reinterpret_cast<std::uintptr_t>(data) & (kVector - 1));
  const Neighbours around = neighbours(p, t, offset, strip.first);
  if ((before != 0 || !strip.is_whole()) &&
      !around.contain(before / kSize, kElements + (before != 0 ? kWidth : 0)))
    return false;
#pragma unroll
  for (int first = 0; first < kElements; first += kWidth) {
    Words words{};
    if constexpr (kVector == 16) {
      UnalignedLoad load = {};
      load.start(address + first * kSize);
      words = load.template words<kSize>();
    } else {
      std::uint64_t bits = load_any(address - before, kVector);
      if (before != 0)
        bits = bits >> (8 * before) | load_any(address - before + kVector, kVector)
                                          << (8 * (kVector - before));
      words = {{static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32), 0, 0}};
    }
#pragma unroll
    for (int i = 0; i < kWidth; ++i) elements[first + i] = element_of<Bits>(words, i);
  }
  return true;
}

/// The bits of a tensor's elements of a strip, whose first is element `offset`: each in a number with zeros
/// above them. `elements` are 0 before, and stay so where an element does not exist.
/// jump: strides[kJumpAxis]; kShort: as Strip::each() says.
template <class Bits, bool kShort, class Number, int kElements>
__device__ __forceinline__ void load_numbers(const ElementwiseParams& p, int t, std::int32_t offset,
                                             std::int32_t jump, const Strip<kElements>& strip,
                                             Number (&elements)[kElements]) {
  const auto step = static_cast<std::int32_t>(p.tensor[t].strides[0]);
  const Bits* const data = static_cast<const Bits*>(p.tensor[t].data) + offset;
  if (step == 0 && jump == 0) {
    const Bits element = *data;
#pragma unroll
    for (Number& number : elements) number = element;
    return;
  }
  if (step == 1 && jump == 0 && load_vector(p, t, offset, strip, data, elements)) return;
  strip.template each<kShort>(data, step, jump, [&](int i, const Bits& element) { elements[i] = element; });
}

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
      std::uint32_t out = 0, sums[kTogether] = {};
      strip = find_strip<kElements, 0>(p, lane, [&](int axis, std::uint32_t number) {
        out += number * static_cast<std::uint32_t>(p.out_strides[axis]);
#pragma unroll
        for (int i = 0; i < kTogether; ++i) sums[i] += number * stride(p, begin + i, axis);
      });
      const auto lead = static_cast<std::uint32_t>(p.strips.lead);
      *offsets_ = static_cast<std::int32_t>(out - lead * static_cast<std::uint32_t>(p.out_strides[0]));
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        if (begin + i < p.tensors)
          offsets_[(begin + i + 1) * kStripThreads] =
              static_cast<std::int32_t>(sums[i] - lead * stride(p, begin + i, 0));
      }
      begin += kTogether;
    } while (begin < p.tensors);
  }

  /// As load_numbers(), which is not called: with it, clang copies all parameters of costly programs to the
  /// stack.
  template <class Bits, class Number>
  __device__ __forceinline__ void load(const ElementwiseParams& p, int tensor,
                                       Number (&elements)[kElements]) const {
    const auto step = static_cast<std::int32_t>(p.tensor[tensor].strides[0]);
    const Bits* const data = this->data<Bits>(p, tensor);
    if (step == 1 && load_vector(p, tensor, offsets_[(tensor + 1) * kStripThreads], strip, data, elements))
      return;
    strip.each(data, step, 0, [&](int i, const Bits& element) { elements[i] = element; });
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
  static __device__ __forceinline__ std::uint32_t stride(const ElementwiseParams& p, int tensor, int axis) {
    return tensor < p.tensors ? static_cast<std::uint32_t>(p.tensor[tensor].strides[axis]) : 0;
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
  const std::int64_t blocks = divide_up<std::int64_t>(p.lanes, p.block_threads);
  launch(name, context, launch_shape(blocks, p.block_threads, shared_bytes), kernel, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
