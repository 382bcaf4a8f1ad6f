// The element-wise kernel for what is most common: one light operation on one or two tensors, or a tensor and
// constants, of types that the instance knows, whose vectors are aligned or repeated along the rows. What the
// other kernel (elementwise_kernel.hpp) decides for every vector is decided by the compiler here, but for the
// operation.
#pragma once

#include "kernels/elementwise_kernel.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// A, B: of the operands; R: of the result, as which it is stored. C: computed in.
template <class A, class B, class R, class C>
struct TypedElementwise {
  static constexpr int kLargest = sizeof(A) > sizeof(B) ? sizeof(A) : sizeof(B);
  static constexpr int kWidth =
      16 / (kLargest > static_cast<int>(sizeof(R)) ? kLargest : static_cast<int>(sizeof(R)));
  /// Vectors of a lane: 4, or as many as 32 numbers are.
  static constexpr int kVectors = 32 / kWidth < 4 ? 32 / kWidth : 4, kCount = kWidth * kVectors;
  static constexpr std::int64_t kPerBlock = std::int64_t{kElementwiseThreads} * kVectors;
};

template <class S, class C, int kWidth, int kVectors, int kCount>
__device__ __forceinline__ void read_typed(const ElementwiseParams& p, int operand,
                                           const VectorLoad<true, kWidth> (&loads)[kVectors],
                                           C (&numbers)[kCount]) {
  if (p.tensor[operand].access == Access::constant) {
    const C constant = constant_of<C>(p.argument[operand].bits);
#pragma unroll
    for (int i = 0; i < kCount; ++i) numbers[i] = constant;
    return;
  }
  Words vectors[kVectors];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) vectors[v] = loads[v].words();
  read_values<kWidth>(dtype_of<S>, false, vectors, numbers);
}

template <class A, class B, class R, class C>
__global__ RELAYOUT_LAUNCH_BOUNDS(kElementwiseThreads, 2) void typed_kernel(const ElementwiseParams p) {
  using Typed = TypedElementwise<A, B, R, C>;
  constexpr int kWidth = Typed::kWidth, kVectors = Typed::kVectors, kCount = Typed::kCount;
  const std::uint32_t first = static_cast<std::uint32_t>(blockIdx.x * Typed::kPerBlock) + threadIdx.x;
  VectorLoad<true, kWidth> a_loads[kVectors], b_loads[kVectors];
  OutputPlace places[kVectors];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const std::uint32_t vector = first + v * kElementwiseThreads;
    if (vector >= p.vectors) continue;
    std::int32_t a = 0, b = 0, out = 0;  // offsets of the rows
    const std::uint32_t column =
        split_vector(p, vector, p.row_divisor, p.divisors, [&](int axis, std::uint32_t index) {
          const std::int32_t i = static_cast<std::int32_t>(index);
          out += i * static_cast<std::int32_t>(p.out_strides[axis]);
          a += i * static_cast<std::int32_t>(p.tensor[0].strides[axis]);
          b += i * static_cast<std::int32_t>(p.tensor[1].strides[axis]);
        });
    R* const row = static_cast<R*>(p.out) + out;
    const Span span = span_of<kWidth>(p, sizeof(R), reinterpret_cast<const unsigned char*>(row), column);
    places[v] = {reinterpret_cast<unsigned char*>(row + span.first), span.begin, span.end};
    if (span.begin >= span.end) continue;
    if (p.tensor[0].access != Access::constant)
      a_loads[v].start(p.tensor[0].access, sizeof(A), 1,
                       reinterpret_cast<const unsigned char*>(static_cast<const A*>(p.tensor[0].data) + a),
                       span);
    if (p.tensor[1].access != Access::constant)
      b_loads[v].start(p.tensor[1].access, sizeof(B), 1,
                       reinterpret_cast<const unsigned char*>(static_cast<const B*>(p.tensor[1].data) + b),
                       span);
  }
  C x[kCount] = {}, y[kCount] = {}, z[kCount];
  const C third = constant_of<C>(p.argument[2].bits);
#pragma unroll
  for (int i = 0; i < kCount; ++i) z[i] = third;
  read_typed<A>(p, 0, a_loads, x);
  read_typed<B>(p, 1, b_loads, y);
  // Of bool, both kinds of operations have its type.
  if constexpr (!std::is_same_v<R, bool>) {
    light_value(p, p.step[0].operation, x, y, z);
  } else if constexpr (std::is_same_v<A, bool>) {
    light_operation(p, p.step[0].operation, x, y, z);
  } else {
    light_relation(p, p.step[0].operation, x, y);
  }
  Words results[kVectors];
  write_numbers<kWidth>(dtype_of<R>, sizeof(R), x, results);
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    if (places[v].begin < places[v].end)
      store_vector<kWidth>(places[v].address, 1, sizeof(R), places[v].begin, places[v].end, results[v],
                           p.streaming);
  }
}

template <class A, class B, class R, class C>
void launch_typed_of(const LaunchContext& context, const ElementwiseParams& p) {
  constexpr std::int64_t kPerBlock = TypedElementwise<A, B, R, C>::kPerBlock;
  LaunchShape shape;
  shape.blocks_x = (p.vectors + kPerBlock - 1) / kPerBlock;
  shape.threads_x = kElementwiseThreads;
  launch(name_of(p.step[0].operation), context, shape, typed_kernel<A, B, R, C>, p);
}

/// Operands of one type, to the same or to bool.
template <class T, class C>
void launch_typed_of(const LaunchContext& context, const ElementwiseParams& p) {
  if (p.result == DType::bool_) return launch_typed_of<T, T, bool, C>(context, p);
  launch_typed_of<T, T, T, C>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
