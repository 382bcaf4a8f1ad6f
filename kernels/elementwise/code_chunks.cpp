// One operation on codes, or a conversion to or from them, in chunks of rows from any address.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/bounded_codes.hpp"
#include "kernels/elementwise/row_chunks.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kChunks = kChunkThreads / kChunkLanes;  // of a block

/// Elements of a lane: fewer where each code may have a scale of its own, which takes registers.
template <bool kEach>
constexpr int kCount = kChunkVectors*(kEach ? kCodeChunkWidth / 2 : kCodeChunkWidth);

/// Sets a column of a table, `step` numbers from one tensor to the next, the output being the first, to the
/// offsets of a row. As many tensors as one operation has are counted together, in registers: most launches
/// have no more.
__device__ __forceinline__ void set_offsets(const ElementwiseParams& p, std::uint32_t* column,
                                            std::int32_t step, std::uint32_t row) {
  constexpr int kTogether = 3;
#pragma unroll 1
  for (int first = 0; first <= p.tensors; first += kTogether) {
    std::uint32_t offsets[kTogether] = {}, rest = row;
#pragma unroll 1
    for (int axis = p.rank - 2; axis >= 0; --axis) {
      std::uint32_t along = rest;
      rest = split(along, p.axes[axis].extent);
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        const int number = first + i;
        if (number <= p.tensors)
          offsets[i] += along * static_cast<std::uint32_t>(number == 0 ? p.out_strides[axis]
                                                                       : p.tensor[number - 1].strides[axis]);
      }
    }
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      if (first + i <= p.tensors) column[(first + i) * step] = offsets[i];
    }
  }
}

/// Codes on their way from memory.
template <int kElements>
struct ChunkLoad {
  std::uint32_t bits[kElements] = {};

  /// As StripLoad::code_floats().
  template <class Take>
  __device__ __forceinline__ void code_floats(std::uint32_t flip, Take&& take) const {
#pragma unroll
    for (int i = 0; i < kElements; ++i) take(i, (bits[i] ^ flip) | kCodeExponent);
  }
};

/// Where a lane's elements of a chunk lie.
template <int kElements, int kCodeTensors>
struct ChunkPlace {
  static constexpr int kTensors = kCodeTensors;
  using Load = ChunkLoad<kElements>;
  ChunkSpan<kElements> span;
  const std::uint32_t* offsets;  // of its row, `step` apart from one tensor to the next, the output first
  std::int32_t step;

  template <class Bits>
  __device__ __forceinline__ const Bits* row(const ElementwiseParams& p, int tensor) const {
    return static_cast<const Bits*>(p.tensor[tensor].data) +
           static_cast<std::int32_t>(offsets[(tensor + 1) * step]);
  }
  template <class Bits>
  __device__ __forceinline__ Bits first(const ElementwiseParams& p, int tensor) const {
    return *row<Bits>(p, tensor);
  }
  template <class Bits>
  __device__ __forceinline__ void elements(const ElementwiseParams& p, int tensor,
                                           std::uint32_t (&elements)[kElements]) const {
    const auto stride = static_cast<std::int32_t>(p.tensor[tensor].strides[p.rank - 1]);
    if (stride != 0) return span.load(row<Bits>(p, tensor), stride, elements);
    const Bits repeated = first<Bits>(p, tensor);
#pragma unroll
    for (std::uint32_t& element : elements) element = repeated;
  }
  __device__ __forceinline__ void start(const ElementwiseParams& p, int operand, Load& load) const {
    elements<std::uint8_t>(p, operand, load.bits);
  }
  template <class Bits>
  __device__ __forceinline__ void store(const ElementwiseParams& p, const Bits (&elements)[kElements]) const {
    span.each(static_cast<Bits*>(p.out) + static_cast<std::int32_t>(*offsets),
              [&](int i, Bits& element) { element = elements[i]; });
  }
};

/// With kEach, each code of a row may have a scale of its own. kBounded: p.bounded_codes.
template <int kTensors, bool kEach, bool kBounded>
__global__ RELAYOUT_LAUNCH_BOUNDS(kChunkThreads,
                                  kEach ? 6 : 8) void code_chunks_kernel(const ElementwiseParams p) {
  RELAYOUT_DYNAMIC_SHARED(std::uint32_t, memory);
  std::uint32_t* const table = as_shared_address(memory);
  const std::uint32_t block = static_cast<std::uint32_t>(blockIdx.x) * kChunks;
  std::uint32_t column = block;
  const std::uint32_t first_row = split(column, p.row_divisor);
  for (auto i = static_cast<std::int32_t>(threadIdx.x); i < p.block_rows; i += kChunkThreads)
    set_offsets(p, table + i, p.block_rows, first_row + static_cast<std::uint32_t>(i));
  __syncthreads();
  column = block + threadIdx.x / kChunkLanes;
  if (column >= static_cast<std::uint32_t>(p.vectors)) return;
  const std::uint32_t row = split(column, p.row_divisor) - first_row;
  ChunkPlace<kCount<kEach>, kTensors> place{{}, table + row, p.block_rows};
  place.span.set(p, column);
  if (place.span.left <= 0) return;
  if constexpr (kBounded) {
    make_bounded_codes<kCount<kEach>>(p, place);
  } else {
    make_codes<kEach, kCount<kEach>>(p, place);
  }
}

}  // namespace

void launch_code_chunks(const LaunchContext& context, const ElementwiseParams& params) {
  ElementwiseParams p = params;
  p.block_rows = static_cast<std::int32_t>((kChunks - 1) / p.row_vectors + 2);
  const LaunchShape shape = launch_shape(divide_up(p.vectors, kChunks), kChunkThreads,
                                         (p.tensors + 1) * p.block_rows * sizeof(std::uint32_t));
  const auto run = [&](auto kernel) { launch("quantized", context, shape, kernel, p); };
  if (p.own_scales) return run(code_chunks_kernel<kMaxTensors, true, false>);
  if (!p.bounded_codes) return run(code_chunks_kernel<kMaxTensors, false, false>);
  p.tensors > kScaleTensors ? run(code_chunks_kernel<kZeroTensors, false, true>)
                            : run(code_chunks_kernel<kScaleTensors, false, true>);
}

}  // namespace relayout::RELAYOUT_BACKEND
