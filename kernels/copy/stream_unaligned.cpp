// stream from any address: out[i] = cast(in[i]) for rows of elements of 1 and 2 bytes that follow each other
// on both sides, wherever the rows begin. A lane makes vectors of the output that lie on multiples of their
// size, each of the aligned words of the input around its elements. Neighbouring lanes read such a word
// twice, the second time from the first cache. Each element crosses global memory once on either side.
#include "core/bytes.hpp"
#include "kernels/backend_kernels.hpp"
#include "kernels/block_index.hpp"
#include "kernels/copy/quick_cast.hpp"
#include "kernels/copy/rows_piece.hpp"
#include "kernels/copy/stream_row.hpp"
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

/// kConvert: the types differ in more than their names. All loads of a lane are under way before the first is
/// waited for.
template <class T, class To, bool kConvert>
__global__ RELAYOUT_LAUNCH_BOUNDS(kStreamThreads, 6) void stream_unaligned_kernel(const StreamParams p) {
  constexpr int kVectors = kUnalignedVectors;
  constexpr int kCount =
      kStreamVectorBytes / static_cast<int>(sizeof(T) > sizeof(To) ? sizeof(T) : sizeof(To));
  if (is_spare(block_index(), p.blocks)) return;
  const StreamRow row = stream_row(p);
  // Elements of the row's first vector that lie in front of the row.
  const auto before =
      static_cast<int>(reinterpret_cast<std::uintptr_t>(row.out) % (kCount * sizeof(To)) / sizeof(To));
  const int step = static_cast<int>(blockDim.x) * kCount;
  // The lane's first element, negative in front of the row, and how many there are from it on, if few.
  const std::int64_t first = row.block * (std::int64_t{kVectors} * step) +
                             std::int64_t{threadIdx.x} * kCount - before,
                     rest = p.elements - first;
  const int elements = rest < kVectors * step ? static_cast<int>(rest) : kVectors * step;
  const unsigned char* const from = row.in + first * static_cast<std::int64_t>(sizeof(T));
  To* const to = reinterpret_cast<To*>(row.out) + first;
  const int begin = first < 0 ? before : 0;
  StreamPiece<T, kCount> pieces[kVectors];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int left = elements - v * step;
    if (left > 0)
      pieces[v].start(p, from + v * step * static_cast<int>(sizeof(T)), v == 0 ? begin : 0,
                      left < kCount ? left : kCount);
  }
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int left = elements - v * step;
    if (left <= 0) return;
    Vector<To, kCount> values;
    if constexpr (kConvert) {
      values = quick_vector<T, To>(p.cast, pieces[v].vector());
    } else {
      values = pieces[v].vector();
    }
    const int front = v == 0 ? begin : 0;
    if (front == 0 && left >= kCount) {
      store_vector(to + v * step, values, p.streaming);
      continue;
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (i >= front && i < left) to[v * step + i] = values.values[i];
    }
  }
}

template <class T, class To, bool kConvert = true>
void launch_of(const LaunchContext& context, const StreamParams& p) {
  launch("copy", context, numbered_blocks(p.blocks, p.threads), stream_unaligned_kernel<T, To, kConvert>, p);
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
