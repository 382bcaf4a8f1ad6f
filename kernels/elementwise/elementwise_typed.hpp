// The element-wise kernel for what is most common: one operation on one or two tensors, or a tensor and
// constants, of types that the instance knows, in one piece or repeated along the rows. What the other kernel
// (elementwise_kernel.hpp) decides for every vector is decided by the compiler here, but for the operation,
// which is one of many or one of few instructions by instances.
#pragma once

#include "kernels/elementwise/half_operations.hpp"
#include "kernels/elementwise/lane_vectors.hpp"
#include "kernels/elementwise/word_turns.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Where an instance's operands lie, beside repeated: in vectors that are aligned, or whose halves or
/// quarters are; at any address as well, which takes more registers; or anywhere, which other kernels are for
/// (typed_chunks.hpp, typed_flat.hpp and typed_strips.hpp).
enum class OperandRows { aligned, unaligned, chunks, strips, flat };

/// A, B: of the operands; R: of the result, as which it is stored. C: computed in.
template <class A, class B, class R, class C, OperandRows kRows>
struct TypedElementwise {
  static constexpr int kLargest = sizeof(A) > sizeof(B) ? sizeof(A) : sizeof(B);
  static constexpr int kWidth =
      16 / (kLargest > static_cast<int>(sizeof(R)) ? kLargest : static_cast<int>(sizeof(R)));
  /// Blocks that write 4 KiB each: copies of 1 GiB by 128 lanes of 2 vectors take 256 us on an H200, by more
  /// lanes or of more vectors 262 and more.
  static constexpr int kThreads = 128;
  static constexpr int kVectors = 2;
  static constexpr std::int64_t kPerBlock = std::int64_t{kThreads} * kVectors;
};

template <class T>
constexpr bool kIsHalf = std::is_same_v<T, f16> || std::is_same_v<T, bf16>;

/// Elements of which a word has several that are computed with together.
template <class T>
constexpr bool kPacked = sizeof(T) == 1 || (kHasHalfArithmetic<T> && kIsHalf<T>);

/// A constant in the class computed in as an element of T, which holds it.
template <class T>
__device__ __forceinline__ Words constant_words(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, f16> || std::is_same_v<T, bf16>) {
    const float pair[2] = {constant_of<float>(bits), 0};
    bits = floats_to_word(T{}, pair);
  }
  return repeated_words(bits & (~std::uint64_t{0} >> (64 - 8 * sizeof(T))), sizeof(T));
}

/// The bits of 1 in S, which stand for elements that a lane does not have: no operation is slow for 1, as
/// some are for 0.
template <class S>
__device__ __forceinline__ BitsOf<S> bits_of_one() {
  if constexpr (std::is_same_v<S, f16>) return 0x3c00;
  if constexpr (std::is_same_v<S, bf16>) return 0x3f80;
  if constexpr (std::is_same_v<S, float>) return 0x3f800000;
  if constexpr (std::is_same_v<S, double>) return std::uint64_t{0x3ff00000} << 32;
  return 1;
}

/// Starts the loads of whole vectors of an operand of S, or of an element that is repeated; false where there
/// is neither.
template <class S, bool kAligned, class R, int kWidth, int kVectors>
__device__ __forceinline__ bool start_vectors(const ElementwiseParams& p, int t,
                                              const LaneVectors<R, kWidth, kVectors>& lane,
                                              VectorLoad<kAligned, kWidth> (&loads)[kVectors]) {
  const TensorOperand& tensor = p.tensor[t];
  const auto address_of = [&](std::int32_t offset) {
    return reinterpret_cast<const unsigned char*>(static_cast<const S*>(tensor.data) + offset);
  };
  if (tensor.access == Access::repeated) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) loads[v].start_whole(address_of(lane.rows[v].tensors[t]), sizeof(S));
    return true;
  }
  if (!lane.whole) return false;
  if (tensor.access == Access::aligned) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v)
      loads[v].start_whole(address_of(lane.rows[v].tensors[t] + lane.first[v]), kWidth * sizeof(S));
    return true;
  }
  if constexpr (kAligned && kWidth * sizeof(S) == 16) {
    const auto start_parts = [&](auto part) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v)
        loads[v].template start_parts<decltype(part)>(address_of(lane.rows[v].tensors[t] + lane.first[v]));
      return true;
    };
    if (tensor.access == Access::halves) return start_parts(std::uint64_t{});
    if (sizeof(S) <= 4 && tensor.access == Access::quarters) return start_parts(std::uint32_t{});
  }
  if constexpr (!kAligned && kWidth * sizeof(S) == 16) {
    // All at once, with no branch between the loads, behind which the first would be waited for.
    if (is_misaligned(tensor.access)) {
      const unsigned char* addresses[kVectors];
      bool inside = true;
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        addresses[v] = address_of(lane.rows[v].tensors[t] + lane.first[v]);
        inside = inside &&
                 loads[v].has_whole_words(addresses[v], lane.first[v] * static_cast<std::int64_t>(sizeof(S)),
                                          lane.length * static_cast<std::int64_t>(sizeof(S)));
      }
      if (inside) {
#pragma unroll
        for (int v = 0; v < kVectors; ++v) loads[v].loaded.start(addresses[v]);
        return true;
      }
    }
  }
  return false;
}

/// Loads the elements of an operand of S that lie in the lane's rows one by one, and waits for them. Those of
/// 2 bytes, which have to be packed, are waited for once for all vectors; of bytes there are too many
/// registers.
template <class S, bool kAligned, class R, int kWidth, int kVectors>
__device__ __forceinline__ void load_elements(const ElementwiseParams& p, int t,
                                              const LaneVectors<R, kWidth, kVectors>& lane,
                                              VectorLoad<kAligned, kWidth> (&loads)[kVectors]) {
  using Bits = BitsOf<S>;
  const auto* const data = static_cast<const Bits*>(p.tensor[t].data);
  if constexpr (sizeof(S) == 2) {
    Bits elements[kVectors * kWidth] = {};
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const Bits* const vector = data + lane.rows[v].tensors[t] + lane.first[v];
#pragma unroll
      for (int i = 0; i < kWidth; ++i)
        if (lane.has(v, i)) elements[v * kWidth + i] = vector[i];
    }
    Words words[kVectors];
    pack_elements(elements, words);
#pragma unroll
    for (int v = 0; v < kVectors; ++v) loads[v].start_packed(words[v]);
  } else {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const auto* const row = reinterpret_cast<const unsigned char*>(data + lane.rows[v].tensors[t]);
      if (lane.first[v] < lane.length) loads[v].start(p.tensor[t].access, sizeof(S), 1, row, lane.span(v));
    }
  }
}

/// What was loaded.
template <class S, bool kAligned, int kWidth, int kVectors>
__device__ __forceinline__ void finish_loads(const TensorOperand& tensor,
                                             const VectorLoad<kAligned, kWidth> (&loads)[kVectors],
                                             Words (&words)[kVectors]) {
#pragma unroll
  for (int v = 0; v < kVectors; ++v) words[v] = loads[v].template words<sizeof(S)>();
  if (tensor.access == Access::repeated) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v)
      words[v] = repeated_words(words[v].values[0] | std::uint64_t{words[v].values[1]} << 32, sizeof(S));
  }
}

/// The operands' numbers to the result's bits.
template <class A, class B, class R, class C, int kWidth, int kVectors>
__device__ __forceinline__ void compute_typed(const ElementwiseParams& p, const Words (&a)[kVectors],
                                              const Words (&b)[kVectors], Words (&results)[kVectors]) {
  constexpr int kCount = kWidth * kVectors;
  const Operation operation = p.step[0].operation;
  C x[kCount] = {}, y[kCount] = {}, z[kCount];
  const C third = constant_of<C>(p.argument[2].bits());
#pragma unroll
  for (int i = 0; i < kCount; ++i) z[i] = third;
  read_values<kWidth>(dtype_of<A>, false, a, x);
  read_values<kWidth>(dtype_of<B>, false, b, y);
  if constexpr (std::is_same_v<R, bool>) {
    cheap_relation(p, operation, x, y);
  } else {
    cheap_value(p, operation, x, y, z);
  }
  write_numbers<kWidth>(dtype_of<R>, sizeof(R), x, results);
}

/// Operations on words of several elements, where there is a way without unpacking them; on bool there always
/// is.
template <class A, class B, class R, int kVectors>
__device__ __forceinline__ bool compute_packed(const ElementwiseParams& p, const Words (&a)[kVectors],
                                               const Words (&b)[kVectors], Words (&results)[kVectors]) {
  if constexpr (kPacked<A> && std::is_same_v<A, B> && std::is_same_v<A, R>) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) results[v] = a[v];
    const Operation operation = p.step[0].operation;
    if constexpr (sizeof(A) == 2) {
      Words c[kVectors];
#pragma unroll
      for (int v = 0; v < kVectors; ++v) c[v] = constant_words<A>(p.argument[2].bits());
      return half_operation<A>(operation, results, b, c);
    } else {
      return byte_operation<std::is_same_v<A, bool>, std::is_signed_v<A>>(operation, results, b);
    }
  } else if constexpr (kPacked<A> && kIsHalf<A> && std::is_same_v<A, B> && std::is_same_v<R, bool>) {
    return half_relation<A>(p.step[0].operation, a, b, results);
  } else if constexpr (sizeof(A) == 1 && std::is_same_v<A, B> && std::is_same_v<R, bool>) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) results[v] = a[v];
    return byte_relation<std::is_signed_v<A>>(p.step[0].operation, results, b);
  } else {
    return false;
  }
}

/// Makes the result's words of the operands', as they are or as numbers. Bytes go vector by vector, so that
/// registers do not run out. Costly operations are computed for the first `count` elements
/// at least.
template <class A, class B, class R, class C, Steps kSteps, int kWidth, int kVectors>
__device__ __forceinline__ void compute_words(const ElementwiseParams& p, const Words (&a)[kVectors],
                                              const Words (&b)[kVectors], Words (&results)[kVectors],
                                              int count = kWidth * kVectors) {
  if constexpr (kSteps != Steps::cheap) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) results[v] = a[v];
    return costly_words < A, C, kSteps == Steps::function ? 1 : 2 > (p.step[0].operation, results, b, count);
  }
  if (compute_packed<A, B, R>(p, a, b, results)) return;
  if constexpr (std::is_same_v<A, bool>) {
    return;
  } else if constexpr (sizeof(A) == 1 && std::is_same_v<R, bool>) {
    return;
  } else if constexpr (kWidth < 16) {
    compute_typed<A, B, R, C, kWidth>(p, a, b, results);
  } else {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const Words first[1] = {a[v]}, second[1] = {b[v]};
      Words result[1];
      compute_typed<A, B, R, C, kWidth>(p, first, second, result);
      results[v] = result[0];
    }
  }
}

/// Starts the loads of an operand, or fills in a constant of its type; false where its elements are to be
/// loaded one by one.
template <class S, bool kAligned, class R, int kWidth, int kVectors>
__device__ __forceinline__ bool start_operand(const ElementwiseParams& p, int operand,
                                              const LaneVectors<R, kWidth, kVectors>& lane,
                                              VectorLoad<kAligned, kWidth> (&loads)[kVectors]) {
  if (p.tensor[operand].access != Access::constant) return start_vectors<S>(p, operand, lane, loads);
#pragma unroll
  for (int v = 0; v < kVectors; ++v) loads[v].fill(constant_words<S>(p.argument[operand].bits()));
  return true;
}

/// Blocks of a multiprocessor for which there are registers enough.
template <class A, class R, OperandRows kRows, Steps kSteps>
constexpr int typed_blocks() {
  if (kSteps == Steps::function) return std::is_same_v<A, double> ? 10 : 12;
  if (kSteps == Steps::costly)
    return std::is_same_v<A, double> || sizeof(A) == 1 || kRows == OperandRows::unaligned ? 8 : 10;
  if (kRows == OperandRows::aligned && kIsHalf<A> && kIsHalf<R>) return 10;
  return std::is_same_v<A, std::int8_t> ? 7 : 8;
}

template <class A, class B, class R, class C, OperandRows kRows, Steps kSteps>
__global__ RELAYOUT_LAUNCH_BOUNDS(
    (TypedElementwise<A, B, R, C, kRows>::kThreads),
    (typed_blocks<A, R, kRows, kSteps>())) void typed_kernel(const ElementwiseParams p) {
  using Typed = TypedElementwise<A, B, R, C, kRows>;
  constexpr int kWidth = Typed::kWidth, kVectors = Typed::kVectors;
  const std::uint32_t block = static_cast<std::uint32_t>(blockIdx.x * Typed::kPerBlock);
  RELAYOUT_DYNAMIC_SHARED(RowOffsets, table);
  const BlockRows block_rows(p, block, table);
  const LaneVectors<R, kWidth, kVectors> lane(p, block_rows, block + threadIdx.x);
  constexpr bool kAligned = kRows == OperandRows::aligned;
  VectorLoad<kAligned, kWidth> a_loads[kVectors] = {}, b_loads[kVectors] = {};
  bool started = start_operand<A>(p, 0, lane, a_loads);
  if constexpr (sizeof(A) == 2 && sizeof(B) == 2) {
    // The lanes at the ends of rows wait when all other loads are under way. Others have few elements there,
    // or no registers for it.
    const bool other_started = start_operand<B>(p, 1, lane, b_loads);
    if (!started) load_elements<A>(p, 0, lane, a_loads);
    started = other_started;
  } else {
    if (!started) load_elements<A>(p, 0, lane, a_loads);
    started = start_operand<B>(p, 1, lane, b_loads);
  }
  if (!started) load_elements<B>(p, 1, lane, b_loads);
  Words a[kVectors], b[kVectors], results[kVectors];
  finish_loads<A>(p.tensor[0], a_loads, a);
  finish_loads<B>(p.tensor[1], b_loads, b);
  compute_words<A, B, R, C, kSteps, kWidth>(p, a, b, results);
  store_vectors(p, lane, results);
}

}  // namespace relayout::RELAYOUT_BACKEND
