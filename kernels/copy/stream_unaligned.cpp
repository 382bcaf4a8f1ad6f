// stream from any address: out[i] = cast(in[i]) for rows of elements of 1 and 2 bytes that follow each other
// on both sides, wherever the rows begin. A lane makes vectors of the output that lie on multiples of their
// size, each of the aligned words of the input around its elements. Neighbouring lanes read such a word
// twice, the second time from the first cache. Each element crosses global memory once on either side.
#include "kernels/backend_kernels.hpp"
#include "kernels/copy/generic_cast.hpp"
#include "kernels/copy/quick_cast.hpp"
#include "kernels/copy/rows_piece.hpp"
#include "kernels/copy/stream_row.hpp"
#include "kernels/element_ops.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

/// kCount elements of the input that make a vector of the output.
template <class T, int kCount>
struct StreamPiece {
  static constexpr int kSize = static_cast<int>(sizeof(T)), kBytes = kCount * kSize;
  using Piece = RowsPiece<kBytes, kSize>;
  Piece piece;

  /// `address`: of the vector's first place. Elements [begin, end) exist.
  __device__ __forceinline__ void start(const StreamParams& p, const unsigned char* address, int begin,
                                        int end) {
    const auto* const in = static_cast<const unsigned char*>(input_of(p));
    if (Piece::is_inside(address, in + p.in_begin, in + p.in_end))
      return piece.start(address, begin * kSize, end * kSize);
    // Near the ends of the input: by elements, in their places.
    std::uint32_t words[Piece::kWords] = {};
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (i >= begin && i < end) put_bits<T>(words, i, *reinterpret_cast<const T*>(address + i * kSize));
    }
    piece.set(words);
  }

  __device__ __forceinline__ Vector<T, kCount> vector() const {
    std::uint32_t words[Piece::kWords];
    piece.words(words);
    Vector<T, kCount> result;
    memcpy(&result, words, kBytes);
    return result;
  }
};

/// kConvert: the types differ in more than their names. kVectors: of a lane, all of whose loads are under way
/// before the first is waited for. Of one vector as many lanes fit as a multiprocessor has.
template <class T, class To, bool kConvert, int kVectors>
__global__ RELAYOUT_LAUNCH_BOUNDS(kStreamThreads,
                                  (kVectors == 1 ? 8
                                                 : 5)) void stream_unaligned_kernel(const StreamParams p) {
  constexpr int kCount =
      kStreamVectorBytes / static_cast<int>(sizeof(T) > sizeof(To) ? sizeof(T) : sizeof(To));
  const StreamRow row = stream_row(p);
  // Elements of the row's first vector that lie in front of the row.
  const auto before =
      static_cast<int>(reinterpret_cast<std::uintptr_t>(row.out) % (kCount * sizeof(To)) / sizeof(To));
  const std::int64_t step = std::int64_t{blockDim.x} * kCount,
                     first = row.block * (kVectors * step) + std::int64_t{threadIdx.x} * kCount - before;
  StreamPiece<T, kCount> pieces[kVectors];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const std::int64_t element = first + v * step, left = p.elements - element;
    if (left <= 0) continue;
    pieces[v].start(p, row.in + element * static_cast<std::int64_t>(sizeof(T)), element < 0 ? before : 0,
                    left < kCount ? static_cast<int>(left) : kCount);
  }
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const std::int64_t element = first + v * step, left = p.elements - element;
    if (left <= 0) return;
    To* const to = reinterpret_cast<To*>(row.out) + element;
    Vector<To, kCount> values;
    if constexpr (kConvert) {
      values = quick_vector<T, To>(p.cast, pieces[v].vector());
    } else {
      values = pieces[v].vector();
    }
    if (element >= 0 && left >= kCount) {
      store_vector(to, values, p.streaming);
      continue;
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (element + i >= 0 && i < left) to[i] = values.values[i];
    }
  }
}

template <class T, class To, bool kConvert = true>
void launch_of(const LaunchContext& context, const StreamParams& p) {
  const LaunchShape shape = launch_shape(p.blocks, p.threads);
  if (p.bytes_per_thread == kStreamVectorBytes)
    return launch("copy", context, shape, stream_unaligned_kernel<T, To, kConvert, 1>, p);
  launch("copy", context, shape, stream_unaligned_kernel<T, To, kConvert, 2>, p);
}

}  // namespace

void launch_stream_unaligned(const LaunchContext& context, const StreamParams& p) {
  const bool from_bytes = bytes_of(p.in_type) == 1, to_bytes = bytes_of(p.out_type) == 1;
  if (p.in_type == p.out_type) {
    if (from_bytes) return launch_of<std::uint8_t, std::uint8_t, false>(context, p);
    return launch_of<std::uint16_t, std::uint16_t, false>(context, p);
  }
  if (from_bytes) return launch_of<std::uint8_t, std::uint16_t>(context, p);
  if (to_bytes) return launch_of<std::uint16_t, std::uint8_t>(context, p);
  launch_of<std::uint16_t, std::uint16_t>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
