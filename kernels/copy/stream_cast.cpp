// stream with a conversion between any two element types, with one instance for each pair of element sizes,
// and with a table of bytes. A lane moves 16 bytes of the larger type and as many elements of the other at
// once; the last lane moves the rest element by element. Each element crosses global memory once on either
// side.
#include "kernels/backend_kernels.hpp"
#include "kernels/block_index.hpp"
#include "kernels/copy/cast_table.hpp"
#include "kernels/copy/operand_pointers.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

template <class T, class To>
struct StreamShape {
  static constexpr int kCount = piece_count<T, To>, kSteps = kStreamBytesPerThread / 16;
  static constexpr std::int64_t kElementsPerBlock = std::int64_t{kStreamThreads} * kSteps * kCount;
};

template <class T, int kCount>
__device__ __forceinline__ void load_global(Vector<T, kCount>& vector, const T* address) {
  if constexpr (sizeof(vector) == 16) {
    load_global_16_bytes(&vector, address);
  } else {
    vector = *reinterpret_cast<const Vector<T, kCount>*>(address);
  }
}

/// The piece in front of `in`, of whose elements `left` exist.
template <class T, int kCount>
__device__ __forceinline__ void load_piece(Vector<T, kCount>& piece, const T* in, std::int64_t left) {
  if (left >= kCount) return load_global(piece, in);
#pragma unroll
  for (int i = 0; i < kCount; ++i) piece.values[i] = i < left ? in[i] : T{0};
}
template <class To, int kCount>
__device__ __forceinline__ void store_piece(To* out, const Vector<To, kCount>& piece, std::int64_t left,
                                            bool streaming) {
  if (left >= kCount) return store_vector(out, piece, streaming);
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    if (i < left) out[i] = piece.values[i];
  }
}

/// The lane's whole pieces of a block where the cast is quick. Its conversions are too short to hide loads,
/// so all loads are under way before the first store. kWhole: all of the block's elements exist.
template <bool kWhole, class T, class To>
__device__ __forceinline__ void stream_quickly(const StreamParams& p, const T* in, To* out,
                                               const unsigned char* table, std::int64_t first) {
  using Shape = StreamShape<T, To>;
  constexpr int kCount = Shape::kCount;
  constexpr std::int64_t kStride = std::int64_t{kStreamThreads} * kCount;
  const auto left = [&](int step) { return p.elements - (first + step * kStride); };
  Vector<T, kCount> pieces[Shape::kSteps] = {};
#pragma unroll
  for (int step = 0; step < Shape::kSteps; ++step) {
    if (kWhole || left(step) >= kCount) load_global(pieces[step], in + (first + step * kStride));
  }
#pragma unroll
  for (int step = 0; step < Shape::kSteps; ++step) {
    if (!kWhole && left(step) < kCount) continue;
    store_vector(out + (first + step * kStride), quick_vector_by<T, To>(table, p, pieces[step]), p.streaming);
  }
}

template <class T, class To, class Params>
__global__ __launch_bounds__(kStreamThreads) void stream_kernel(const Params p) {
  using Shape = StreamShape<T, To>;
  constexpr int kCount = Shape::kCount;
  const T* in = static_cast<const T*>(input_of(p));
  To* out = static_cast<To*>(output_of(p));
  const std::int64_t first =
      block_index() * Shape::kElementsPerBlock + static_cast<std::int64_t>(threadIdx.x) * kCount;
  const std::int64_t end = (std::int64_t{block_index()} + 1) * Shape::kElementsPerBlock;
  RELAYOUT_DYNAMIC_SHARED(unsigned char, table);
  if constexpr (has_cast_table<T, To>) {
    fill_cast_table(p, table);
    __syncthreads();
  }
  if ((has_cast_table<T, To> || p.cast.quick) && end <= p.elements)
    return stream_quickly<true>(p, in, out, table, first);
  // The last block's whole pieces are quick, too. A table needs no such path: with it every piece is quick.
  const bool whole_are_done = !has_cast_table<T, To> && p.cast.quick;
  if (whole_are_done) stream_quickly<false>(p, in, out, table, first);
    // One piece follows the other: general conversions are long enough to hide the loads of a full
    // multiprocessor. The conversion stands once in the code, also for a last piece that is short.
#pragma unroll 1
  for (int step = 0; step < Shape::kSteps; ++step) {
    const std::int64_t element = first + std::int64_t{step} * kStreamThreads * kCount;
    const std::int64_t left = p.elements - element;
    if (left <= 0) return;
    if (whole_are_done && left >= kCount) continue;
    Vector<T, kCount> piece;
    load_piece(piece, in + element, left);
    if constexpr (has_cast_table<T, To>) {
      store_piece(out + element, look_up(table, piece), left, p.streaming);
    } else {
      store_piece(out + element, convert_vector<T, To>(p, piece), left, p.streaming);
    }
  }
}

template <class T, class To, class Params>
void launch_stream_of(const LaunchContext& context, const Params& p) {
  const NumberedBlocks shape = numbered_blocks(p.blocks, p.threads, cast_table_bytes<T, To>);
  launch("copy", context, shape, stream_kernel<T, To, Params>, p);
}

}  // namespace

void launch_stream_cast(const LaunchContext& context, const StreamParams& p) {
  visit_both_sizes(p.in_type, p.out_type, [&](auto from, auto to) {
    launch_stream_of<typename decltype(from)::type, typename decltype(to)::type>(context, p);
  });
}

void launch_stream_table(const LaunchContext& context, const WithTable<StreamParams>& p) {
  launch_stream_of<std::uint8_t, std::uint8_t>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
