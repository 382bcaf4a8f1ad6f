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
  /// Comparisons take a scalar register of AMD's for an element.
  static constexpr int kMost = kAligned ? 4 : 2, kFitting = 16 / kWidth < 2 ? 2 : 16 / kWidth;
  static constexpr bool kComparesBytes = kWidth == 16 && std::is_same_v<R, bool> && !std::is_same_v<A, bool>;
  static constexpr int kVectors = kComparesBytes ? 1 : kFitting < kMost ? kFitting : kMost;
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
    return {first, first < 0 ? -first : 0, left < kWidth ? left : kWidth, length};
  }
};

/// Where a row begins in the output and in the tensors, in elements from their data.
struct alignas(16) RowOffsets {
  std::int32_t out = 0, tensors[kMostTensors] = {};

  __device__ __forceinline__ void add(const ElementwiseParams& p, int axis, std::int32_t index) {
    out += index * static_cast<std::int32_t>(p.out_strides[axis]);
#pragma unroll
    for (int t = 0; t < kMostTensors; ++t)
      tensors[t] += index * static_cast<std::int32_t>(p.tensor[t].strides[axis]);
  }
};

/// The rows of a block's vectors. Of more than two axes a row's number is split by one lane, for all vectors
/// in it: a division for each axis, which many short rows would take more time for than for their elements.
class BlockRows {
 public:
  /// All lanes of the block take part. vector: the block's first; table: p.block_rows in shared memory.
  __device__ __forceinline__ BlockRows(const ElementwiseParams& p, std::uint32_t vector, RowOffsets* table)
      : table_(table) {
    if (p.rank <= 2) return;
    first_ = split(vector, p.row_divisor);
    for (int i = static_cast<int>(threadIdx.x); i < p.block_rows; i += kElementwiseThreads) {
      std::uint32_t row = first_ + static_cast<std::uint32_t>(i);
      RowOffsets offsets;
#pragma unroll 1
      for (int axis = p.rank - 2; axis > 0; --axis) {
        std::uint32_t index = row;
        row = split(index, p.divisors[axis]);
        offsets.add(p, axis, static_cast<std::int32_t>(index));
      }
      offsets.add(p, 0, static_cast<std::int32_t>(row));
      table_[i] = offsets;
    }
    __syncthreads();
  }

  /// `vector` becomes its place in the row.
  __device__ __forceinline__ RowOffsets of(const ElementwiseParams& p, std::uint32_t& vector) const {
    RowOffsets offsets;
    if (p.rank == 1) return offsets;
    const std::uint32_t row = split(vector, p.row_divisor);
    if (p.rank == 2) {
      offsets.add(p, 0, static_cast<std::int32_t>(row));
    } else {  // number by number: a choice between two of them would put both into memory
      const RowOffsets& found = table_[row - first_];
      offsets.out = found.out;
#pragma unroll
      for (int t = 0; t < kMostTensors; ++t) offsets.tensors[t] = found.tensors[t];
    }
    return offsets;
  }

 private:
  RowOffsets* table_;
  std::uint32_t first_ = 0;
};

/// With what BlockRows needs, for blocks of so many vectors.
inline ElementwiseParams with_block_rows(const ElementwiseParams& p, std::int64_t vectors) {
  ElementwiseParams result = p;
  result.block_rows = p.rank > 2 ? static_cast<std::int32_t>((vectors - 1) / p.row_vectors + 2) : 0;
  return result;
}

/// Vector number `vector` of an output of R; rows: where its row begins.
template <class R, int kWidth>
__device__ __forceinline__ TypedPlace typed_place(const ElementwiseParams& p, const BlockRows& block,
                                                  std::uint32_t vector, RowOffsets& rows) {
  const std::int32_t length = static_cast<std::int32_t>(p.extents[p.rank - 1]);
  if (vector >= static_cast<std::uint32_t>(p.vectors)) return {0, length, length};
  rows = block.of(p, vector);
  int lead = p.lead;
  if (!p.rows_alike) {
    const auto row = reinterpret_cast<std::uintptr_t>(static_cast<R*>(p.out) + rows.out);
    lead = static_cast<int>(row / sizeof(R)) & (kWidth - 1);
  }
  const std::int32_t first = static_cast<std::int32_t>(vector * kWidth) - lead;
  return {rows.out + first, first, length};
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
  if constexpr (std::is_same_v<R, bool>) {
    light_relation(p, operation, x, y);
  } else {
    light_value(p, operation, x, y, z);
  }
  write_numbers<kWidth>(dtype_of<R>, sizeof(R), x, results);
}

/// Of one byte, where there is a way without unpacking them; of bool there always is.
template <class A, class B, class R, int kVectors>
__device__ __forceinline__ bool compute_bytes(const ElementwiseParams& p, const Words (&a)[kVectors],
                                              const Words (&b)[kVectors], Words (&results)[kVectors]) {
  if constexpr (sizeof(A) == 1 && std::is_same_v<A, B> && std::is_same_v<A, R>) {
    Words second[kVectors];
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const auto constant = [&](int i) {
          return static_cast<std::uint32_t>(p.argument[i].bits & 0xff) * 0x01010101u;
        };
        const std::uint32_t first = a[v].values[k], other = b[v].values[k];
        results[v].values[k] = p.tensor[0].access == Access::constant ? constant(0) : first;
        second[v].values[k] = p.tensor[1].access == Access::constant ? constant(1) : other;
      }
    }
    return byte_operation<std::is_same_v<A, bool>>(p.step[0].operation, results, second);
  } else {
    return false;
  }
}

template <class A, class B, class R, class C, bool kAligned>
__global__ RELAYOUT_LAUNCH_BOUNDS(kElementwiseThreads, 3) void typed_kernel(const ElementwiseParams p) {
  using Typed = TypedElementwise<A, B, R, C, kAligned>;
  constexpr int kWidth = Typed::kWidth, kVectors = Typed::kVectors;
  const std::uint32_t block = static_cast<std::uint32_t>(blockIdx.x * Typed::kPerBlock);
  RELAYOUT_DYNAMIC_SHARED(RowOffsets, table);
  const BlockRows block_rows(p, block, table);
  const bool has_a = p.tensor[0].access != Access::constant, has_b = p.tensor[1].access != Access::constant;
  VectorLoad<kAligned, kWidth> a_loads[kVectors] = {}, b_loads[kVectors] = {};
  TypedPlace places[kVectors];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    RowOffsets rows;
    places[v] = typed_place<R, kWidth>(p, block_rows, block + threadIdx.x + v * kElementwiseThreads, rows);
    if (places[v].is_empty()) continue;
    if (has_a) start_typed<A>(a_loads[v], p.tensor[0], rows.tensors[0], places[v]);
    if (has_b) start_typed<B>(b_loads[v], p.tensor[1], rows.tensors[1], places[v]);
  }
  Words a_words[kVectors], b_words[kVectors], results[kVectors];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    a_words[v] = a_loads[v].template words<sizeof(A)>();
    b_words[v] = b_loads[v].template words<sizeof(B)>();
  }
  const bool done = compute_bytes<A, B, R>(p, a_words, b_words, results);
  if constexpr (!std::is_same_v<A, bool>) {
    if (!done) compute_typed<A, B, R, C, kWidth>(p, a_words, b_words, results);
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
  const ElementwiseParams placed = with_block_rows(p, kPerBlock);
  shape.shared_bytes = static_cast<std::size_t>(placed.block_rows) * sizeof(RowOffsets);
  launch(name_of(p.step[0].operation), context, shape, typed_kernel<A, B, R, C, kAligned>, placed);
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
