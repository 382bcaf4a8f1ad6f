// The element-wise kernel for one operation on tensors of types that an instance knows, to an output that is
// in one piece: what elementwise_typed.hpp computes, on vectors of the whole output, wherever its rows begin.
// Operands lie as the output does, at any address, or repeat one element along each row, as the scales of
// rows of 49 elements do. A vector meets two rows at most.
//
// A vector is stored by one access, and takes one place to be worked out, where lanes of strips
// (typed_strips.hpp) store and load each element by itself.
#pragma once

#include "kernels/elementwise/typed_strips.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// A lane's elements: [begin, end) of those from number `first` of the output on. From number `cross` on they
/// are the next row's.
template <int kElements>
struct FlatPlace {
  std::int32_t first, begin, end, cross;
  std::int32_t here[2] = {}, next[2] = {};  // offsets of both rows in the operands

  __device__ __forceinline__ FlatPlace(const ElementwiseParams& p, std::uint32_t lane) {
    first = static_cast<std::int32_t>(lane) * kElements - p.misaligned_elements;
    begin = first < 0 ? -first : 0;
    const std::int32_t left = static_cast<std::int32_t>(p.elements) - first;
    end = left < kElements ? left : kElements;
    std::uint32_t index = static_cast<std::uint32_t>(first + begin);  // in its row, once that is split off
    const std::uint32_t row = split(index, p.row_divisor);
    cross = begin + static_cast<std::int32_t>(p.row_divisor.value - index);
    find_row(p, row, here);
    if (cross < end) find_row(p, row + 1, next);
  }

  __device__ __forceinline__ bool is_whole() const { return begin == 0 && end == kElements; }
  __device__ __forceinline__ bool has(int i) const { return i >= begin && i < end; }

 private:
  static __device__ __forceinline__ void find_row(const ElementwiseParams& p, std::uint32_t row,
                                                  std::int32_t (&offsets)[2]) {
    std::uint32_t sums[2] = {};
    const auto take = [&](int axis) {
#pragma unroll
      for (int t = 0; t < 2; ++t) sums[t] += row * static_cast<std::uint32_t>(p.tensor[t].strides[axis]);
    };
    const auto divide = [&](int axis) {
      row = divided(row, p.strip_axes[axis].multiplier, p.strip_axes[axis].shift);
    };
    take_axes<kUnrolledStripAxes>(p.rank - 1, take, divide);
#pragma unroll
    for (int t = 0; t < 2; ++t) offsets[t] = static_cast<std::int32_t>(sums[t]);
  }
};

/// Starts the loads of an operand, or fills in a constant of its type.
template <class S, Steps kSteps, int kElements>
__device__ __forceinline__ void start_operand(const ElementwiseParams& p, int operand,
                                              const FlatPlace<kElements>& place, StripLoad<kElements>& load) {
  using Bits = BitsOf<S>;
  const TensorOperand& tensor = p.tensor[operand];
  if (tensor.access == Access::constant)
    return load.fill(element_of<Bits>(constant_words<S>(p.argument[operand].bits()), 0));
  const Bits* data = static_cast<const Bits*>(tensor.data);
  if (tensor.access == Access::repeated) {
    const Bits element = data[place.here[operand]],
               other = place.cross < place.end ? data[place.next[operand]] : element;
    return load.fill_each([&](int i) { return i < place.cross ? element : other; });
  }
  data += place.first;
  const Neighbours around{place.first, static_cast<std::int32_t>(p.elements) - place.first};
  if (place.is_whole() && load.start_vectors(data, around)) return;
  const Bits missing = kSteps != Steps::cheap ? bits_of_one<S>() : Bits{0};
  load.fill_each([&](int i) { return place.has(i) ? data[i] : missing; });
}

/// Stores vectors of kWidth elements each.
template <class Bits, int kElements, int kVectors>
__device__ __forceinline__ void store_flat(const ElementwiseParams& p, const FlatPlace<kElements>& place,
                                           const Words (&words)[kVectors]) {
  constexpr int kWidth = kElements / kVectors, kBytes = kWidth * static_cast<int>(sizeof(Bits));
  Bits* const data = static_cast<Bits*>(p.out) + place.first;
  if (!place.is_whole()) {
#pragma unroll
    for (int i = 0; i < kElements; ++i)
      if (place.has(i)) data[i] = element_of<Bits>(words[i / kWidth], i % kWidth);
    return;
  }
  auto* const address = reinterpret_cast<unsigned char*>(data);
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    if constexpr (kBytes == 16) {
      store_global_16_bytes(address + v * kBytes, &words[v], p.streaming);
    } else {
      store_any(address + v * kBytes, kBytes,
                words[v].values[0] | static_cast<std::uint64_t>(words[v].values[1]) << 32);
    }
  }
}

/// Blocks of a multiprocessor for which there are registers enough.
template <class A, class R, Steps kSteps>
constexpr int typed_flat_blocks() {
  if (sizeof(A) == 2) return kSteps == Steps::costly ? 5 : 4;
  return typed_strip_blocks<A, R, kSteps>();
}

template <class A, class B, class R, class C, Steps kSteps>
__global__ RELAYOUT_LAUNCH_BOUNDS(kStripThreads, (typed_flat_blocks<A, R, kSteps>())) void typed_flat_kernel(
    const ElementwiseParams p) {
  constexpr int kWidth = TypedElementwise<A, B, R, C, OperandRows::flat>::kWidth;
  constexpr int kElements = flat_elements(kWidth), kVectors = kElements / kWidth;
  const std::uint32_t lane = blockIdx.x * blockDim.x + threadIdx.x;
  if (lane >= p.lanes) return;
  const FlatPlace<kElements> place(p, lane);
  StripLoad<kElements> a_load, b_load;
  start_operand<A, kSteps>(p, 0, place, a_load);
  start_operand<B, kSteps>(p, 1, place, b_load);
  Words a[kVectors], b[kVectors], results[kVectors];
  a_load.template finish<BitsOf<A>>(a);
  b_load.template finish<BitsOf<B>>(b);
  compute_words<A, B, R, C, kSteps, kWidth>(p, a, b, results);
  store_flat<BitsOf<R>>(p, place, results);
}

}  // namespace relayout::RELAYOUT_BACKEND
