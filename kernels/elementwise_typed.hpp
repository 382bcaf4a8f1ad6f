// The element-wise kernel for what is most common: one light operation on one or two tensors, or a tensor and
// constants, of types that the instance knows, in one piece or repeated along the rows. What the other kernel
// (elementwise_kernel.hpp) decides for every vector is decided by the compiler here, but for the operation.
#pragma once

#include "kernels/elementwise_kernel.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// A, B: of the operands; R: of the result, as which it is stored. C: computed in. kAligned: vectors that are
/// not repeated are aligned; those from any address take more registers on their way.
template <class A, class B, class R, class C, bool kAligned>
struct TypedElementwise {
  static constexpr int kLargest = sizeof(A) > sizeof(B) ? sizeof(A) : sizeof(B);
  static constexpr int kWidth =
      16 / (kLargest > static_cast<int>(sizeof(R)) ? kLargest : static_cast<int>(sizeof(R)));
  /// Vectors of a lane: so many that few registers are taken, as many lanes hide the loads of others.
  static constexpr int kMost = kAligned ? 4 : 2, kFitting = 16 / kWidth < 2 ? 2 : 16 / kWidth;
  static constexpr int kVectors = kFitting < kMost ? kFitting : kMost;
  static constexpr std::int64_t kPerBlock = std::int64_t{kElementwiseThreads} * kVectors;
};

/// A vector of the output, counted in elements: `out` from its data, `first` from its row's start. All 32
/// bits.
struct TypedPlace {
  std::int32_t out, first, length;  // of the row

  template <int kWidth>
  __device__ __forceinline__ bool is_whole() const {
    return first >= 0 && first <= length - kWidth;
  }
  __device__ __forceinline__ bool is_empty() const { return first >= length; }
  template <int kWidth>
  __device__ __forceinline__ Span span() const {
    const int left = length - first;
    return {first, first < 0 ? -first : 0, left < kWidth ? left : kWidth};
  }
};

/// Vector number `vector` of an output of R; rows: where its row begins in the first tensors, from their
/// data.
template <class R, int kWidth, int kTensors>
__device__ __forceinline__ TypedPlace typed_place(const ElementwiseParams& p, std::uint32_t vector,
                                                  std::int32_t (&rows)[kTensors]) {
  const std::int32_t length = static_cast<std::int32_t>(p.extents[p.rank - 1]);
  if (vector >= static_cast<std::uint32_t>(p.vectors)) return {0, length, length};
  std::int32_t out = 0;
#pragma unroll
  for (int t = 0; t < kTensors; ++t) rows[t] = 0;
  const std::uint32_t column =
      split_vector(p, vector, p.row_divisor, p.divisors, [&](int axis, std::uint32_t index) {
        const std::int32_t i = static_cast<std::int32_t>(index);
        out += i * static_cast<std::int32_t>(p.out_strides[axis]);
#pragma unroll
        for (int t = 0; t < kTensors; ++t)
          rows[t] += i * static_cast<std::int32_t>(p.tensor[t].strides[axis]);
      });
  int lead = p.lead;
  if (!p.rows_alike) {
    const auto row = reinterpret_cast<std::uintptr_t>(static_cast<R*>(p.out) + out);
    lead = static_cast<int>(row / sizeof(R)) & (kWidth - 1);
  }
  const std::int32_t first = static_cast<std::int32_t>(column * kWidth) - lead;
  return {out + first, first, length};
}

template <class R, int kWidth>
__device__ __forceinline__ void store_typed(const ElementwiseParams& p, const TypedPlace& place,
                                            const Words& words) {
  unsigned char* const address = reinterpret_cast<unsigned char*>(static_cast<R*>(p.out) + place.out);
  if (!place.template is_whole<kWidth>()) {
    const Span span = place.template span<kWidth>();
    return store_vector<kWidth>(address, 1, sizeof(R), span.begin, span.end, words, p.streaming);
  }
  if constexpr (kWidth * sizeof(R) == 16) {
    store_global_16_bytes(address, &words, p.streaming);
  } else {
    store_any(address, kWidth * sizeof(R),
              words.values[0] | static_cast<std::uint64_t>(words.values[1]) << 32);
  }
}

/// S: the operand's element; row: its offset from the operand's data.
template <class S, bool kAligned, int kWidth>
__device__ __forceinline__ void start_typed(VectorLoad<kAligned, kWidth>& load, const TensorOperand& tensor,
                                            std::int32_t row, const TypedPlace& place) {
  const S* const data = static_cast<const S*>(tensor.data) + row;
  if constexpr (kAligned && kWidth * sizeof(S) == 16) {
    if (tensor.access == Access::aligned && place.template is_whole<kWidth>())
      return load_global_16_bytes(&load.loaded.pack, data + place.first);
  }
  load.start(tensor.access, sizeof(S), 1, reinterpret_cast<const unsigned char*>(data),
             place.template span<kWidth>());
}

template <class S, int kWidth, class C, int kVectors, int kCount>
__device__ __forceinline__ void read_typed(const ElementwiseParams& p, int operand,
                                           const Words (&words)[kVectors], C (&numbers)[kCount]) {
  if (p.tensor[operand].access == Access::constant) {
    const C constant = constant_of<C>(p.argument[operand].bits);
#pragma unroll
    for (int i = 0; i < kCount; ++i) numbers[i] = constant;
    return;
  }
  read_values<kWidth>(dtype_of<S>, false, words, numbers);
}

/// The operands' numbers to the result's bits.
template <class A, class B, class R, class C, int kWidth, int kVectors>
__device__ __forceinline__ void compute_typed(const ElementwiseParams& p, const Words (&a)[kVectors],
                                              const Words (&b)[kVectors], Words (&results)[kVectors]) {
  constexpr int kCount = kWidth * kVectors;
  const Operation operation = p.step[0].operation;
  C x[kCount] = {}, y[kCount] = {}, z[kCount];
  const C third = constant_of<C>(p.argument[2].bits);
#pragma unroll
  for (int i = 0; i < kCount; ++i) z[i] = third;
  read_typed<A, kWidth>(p, 0, a, x);
  read_typed<B, kWidth>(p, 1, b, y);
  // Of bool, both kinds of operations have its type.
  if constexpr (!std::is_same_v<R, bool>) {
    light_value(p, operation, x, y, z);
  } else if constexpr (std::is_same_v<A, bool>) {
    light_operation(p, operation, x, y, z);
  } else {
    light_relation(p, operation, x, y);
  }
  write_numbers<kWidth>(dtype_of<R>, sizeof(R), x, results);
}

template <class A, class B, class R, class C, bool kAligned>
__global__ RELAYOUT_LAUNCH_BOUNDS(kElementwiseThreads, 3) void typed_kernel(const ElementwiseParams p) {
  using Typed = TypedElementwise<A, B, R, C, kAligned>;
  constexpr int kWidth = Typed::kWidth, kVectors = Typed::kVectors;
  const std::uint32_t first = static_cast<std::uint32_t>(blockIdx.x * Typed::kPerBlock) + threadIdx.x;
  const bool has_a = p.tensor[0].access != Access::constant, has_b = p.tensor[1].access != Access::constant;
  VectorLoad<kAligned, kWidth> a_loads[kVectors] = {}, b_loads[kVectors] = {};
  TypedPlace places[kVectors];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    std::int32_t rows[2];
    places[v] = typed_place<R, kWidth, 2>(p, first + v * kElementwiseThreads, rows);
    if (places[v].is_empty()) continue;
    if (has_a) start_typed<A>(a_loads[v], p.tensor[0], rows[0], places[v]);
    if (has_b) start_typed<B>(b_loads[v], p.tensor[1], rows[1], places[v]);
  }
  Words a_words[kVectors], b_words[kVectors], results[kVectors];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    a_words[v] = a_loads[v].template words<sizeof(A)>();
    b_words[v] = b_loads[v].template words<sizeof(B)>();
  }
  bool done = false;
  if constexpr (sizeof(A) == 1 && std::is_same_v<A, B> && std::is_same_v<A, R>) {
    if (has_a && (has_b || p.step[0].operands == 1))
      done = byte_operation<std::is_same_v<A, bool>>(p.step[0].operation, a_words, b_words);
  }
  if (done) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) results[v] = a_words[v];
  } else {
    compute_typed<A, B, R, C, kWidth>(p, a_words, b_words, results);
  }
#pragma unroll
  for (int v = 0; v < kVectors; ++v) store_typed<R, kWidth>(p, places[v], results[v]);
}

template <class A, class B, class R, class C, bool kAligned = true>
void launch_typed_of(const LaunchContext& context, const ElementwiseParams& p) {
  constexpr std::int64_t kPerBlock = TypedElementwise<A, B, R, C, kAligned>::kPerBlock;
  LaunchShape shape;
  shape.blocks_x = (p.vectors + kPerBlock - 1) / kPerBlock;
  shape.threads_x = kElementwiseThreads;
  launch(name_of(p.step[0].operation), context, shape, typed_kernel<A, B, R, C, kAligned>, p);
}

/// Operands of one type, to the same or to bool.
template <class T, class C>
void launch_typed_of(const LaunchContext& context, const ElementwiseParams& p) {
  if (p.result == DType::bool_) return launch_typed_of<T, T, bool, C>(context, p);
  launch_typed_of<T, T, T, C>(context, p);
}
/// The same from any addresses.
template <class T, class C>
void launch_unaligned_of(const LaunchContext& context, const ElementwiseParams& p) {
  if (p.result == DType::bool_) return launch_typed_of<T, T, bool, C, false>(context, p);
  launch_typed_of<T, T, T, C, false>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
