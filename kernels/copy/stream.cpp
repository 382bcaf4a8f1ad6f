// stream: out[i] = in[i] where both sides have rows of elements that follow each other, or are one. A block
// moves a part of one row. Neighbouring lanes move neighbouring words, as long as the alignment of both sides
// allows; the row's last lane moves the rest element by element. Each element crosses global memory once on
// either side. Casts are in stream_cast.cpp.
#include "kernels/backend_kernels.hpp"
#include "kernels/block_index.hpp"
#include "kernels/copy/stream_row.hpp"
#include "kernels/element_ops.hpp"
#include "kernels/vector.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

/// Blocks of a multiprocessor for which there are registers enough: as many as it holds, but for long lanes
/// of words, and of bytes, whose loads would wait for each other.
template <class T, int kAccess, int kBytes>
constexpr int stream_blocks = kBytes == kStreamVectorBytes || (kAccess == 16 && sizeof(T) > 1) ? 8 : 6;

/// T: the element. kAccess: bytes of a word. kBytes: of a lane.
template <class T, int kAccess, int kBytes>
__global__ RELAYOUT_LAUNCH_BOUNDS(kStreamThreads, (stream_blocks<T, kAccess, kBytes>)) void stream_kernel(
    const StreamParams p) {
  constexpr int kCount = kAccess / static_cast<int>(sizeof(T)), kSteps = kBytes / kAccess;
  using Word = Vector<std::conditional_t<kAccess == 8, std::uint64_t, std::uint32_t>, kAccess == 16 ? 4 : 1>;
  if (is_spare(block_index(), p.blocks)) return;
  const StreamRow row = stream_row(p);
  const std::int64_t stride = std::int64_t{blockDim.x} * kCount,
                     first = row.block * (kSteps * stride) + std::int64_t{threadIdx.x} * kCount;
  Word words[kSteps];  // all on their way before the first is stored
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    const std::int64_t element = first + step * stride;
    const unsigned char* const from = row.in + element * static_cast<std::int64_t>(sizeof(T));
    if (element + kCount > p.elements) continue;
    if constexpr (kAccess == 16) {
      load_global_16_bytes(&words[step], from);
    } else {
      words[step] = *reinterpret_cast<const Word*>(from);
    }
  }
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    const std::int64_t element = first + step * stride;
    if (element + kCount > p.elements) {
      // All under way before the first is stored, which each would wait for.
      const T* const from = reinterpret_cast<const T*>(row.in) + element;
      T* const to = reinterpret_cast<T*>(row.out) + element;
      const std::int64_t left = p.elements - element;
      T rest[kCount] = {};
#pragma unroll
      for (int i = 0; i + 1 < kCount; ++i) {
        if (i < left) rest[i] = from[i];
      }
#pragma unroll
      for (int i = 0; i + 1 < kCount; ++i) {
        if (i < left) to[i] = rest[i];
      }
      return;
    }
    unsigned char* const to = row.out + element * static_cast<std::int64_t>(sizeof(T));
    if constexpr (kAccess == 16) {
      store_global_16_bytes(to, &words[step], p.streaming);
    } else {
      *reinterpret_cast<Word*>(to) = words[step];
    }
  }
}

template <class T, int kAccess>
void launch_stream_of(const LaunchContext& context, const StreamParams& p) {
  if constexpr (sizeof(T) <= kAccess) {
    const NumberedBlocks shape = numbered_blocks(p.blocks, p.threads);
    if (p.bytes_per_thread == kStreamVectorBytes) {
      launch("copy", context, shape, stream_kernel<T, kAccess, kStreamVectorBytes>, p);
    } else {
      launch("copy", context, shape, stream_kernel<T, kAccess, kStreamBytesPerThread>, p);
    }
  }
}

}  // namespace

void launch_stream(const LaunchContext& context, const StreamParams& p) {
  if (p.unaligned) return launch_stream_unaligned(context, p);
  if (p.in_type != p.out_type) return launch_stream_cast(context, p);
  visit_element_sizes(p.in_type, [&](auto type) {
    using T = typename decltype(type)::type;
    switch (p.access) {
      case 4:
        return launch_stream_of<T, 4>(context, p);
      case 8:
        return launch_stream_of<T, 8>(context, p);
      default:
        return launch_stream_of<T, 16>(context, p);
    }
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
