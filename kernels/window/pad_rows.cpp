// pad_rows: padding where time is the fast axis of both sides and elements move as they are:
//   out[b, g * channels + c, i] = padded in[b, g * channels + c, i - pad_left]
//
// Rows of input and output start anywhere, so their 16-byte boundaries fall differently. A thread writes
// whole packs of the output; the bytes of each come from the two aligned packs of the input that hold them,
// joined by a shift that is the same for a whole row. Only packs that touch a row's ends or the padding go
// element by element.
//
// Global traffic: each input element once (its second reader hits the L1), each output element once, 16 bytes
// a lane.
#include <cstring>

#include "core/integer_math.hpp"
#include "core/pad_index.hpp"
#include "core/window_geometry.hpp"
#include "kernels/backend_kernels.hpp"
#include "kernels/divide.hpp"
#include "kernels/element_ops.hpp"
#include "kernels/vector.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kThreads = kWindowThreads, kPacksPerThread = kRowPacksPerThread;

/// low[i] = the 16 bytes that begin `offset` bytes, First words and `bits` / 8 more, into low[i] and high[i].
template <int First>
__device__ __forceinline__ void join(Words (&low)[kPacksPerThread], const Words (&high)[kPacksPerThread],
                                     unsigned bits) {
#pragma unroll
  for (int pack = 0; pack < kPacksPerThread; ++pack) {
    const Words first = low[pack], second = high[pack];
    const auto word = [&](int i) { return i < 4 ? first.values[i] : second.values[i - 4]; };
#pragma unroll
    for (int i = 0; i < 4; ++i)
      low[pack].values[i] = __funnelshift_r(word(First + i), word(First + i + 1), bits);
  }
}

/// One branch for all packs of a thread: the offset is the row's.
__device__ __forceinline__ void join_packs(Words (&low)[kPacksPerThread],
                                           const Words (&high)[kPacksPerThread], int offset) {
  const unsigned bits = static_cast<unsigned>(offset) % 4 * 8;
  switch (offset / 4) {
    case 0:
      return join<0>(low, high, bits);
    case 1:
      return join<1>(low, high, bits);
    case 2:
      return join<2>(low, high, bits);
    default:
      return join<3>(low, high, bits);
  }
}

struct RowGrid {
  std::int64_t rows;
  Divisor by_row_blocks;
};

/// The whole packs of a row, begin..end, that are copied as they are; pack k starts at position k * kCount -
/// lead.
struct CopiedPacks {
  std::int64_t begin, end;
};

template <class T>
__device__ __forceinline__ CopiedPacks copied_packs(const WindowParams& p, int lead) {
  constexpr int kCount = Vector<T>::kCount;
  // One pack's room on both sides, because the aligned packs around the source are read whole.
  const std::int64_t first = p.pad_left + kCount > 0 ? p.pad_left + kCount : 0;
  const std::int64_t source_end = p.pad_left + p.length - kCount;
  const std::int64_t end = source_end < p.positions ? source_end : p.positions;
  CopiedPacks packs{(first + lead + kCount - 1) / kCount, end + lead > 0 ? (end + lead) / kCount : 0};
  if (packs.end < packs.begin) packs = {0, 0};
  return packs;
}

template <class T>
__global__ __launch_bounds__(kThreads) void pad_rows_kernel(WindowParams p, T padding, RowGrid grid) {
  constexpr int kCount = Vector<T>::kCount;
  std::uint32_t block = blockIdx.x;
  const std::uint32_t tile = split(block, grid.by_row_blocks);
  const int thread = static_cast<int>(threadIdx.x) % p.row_threads;
  const std::int64_t row = static_cast<std::int64_t>(tile) * (kThreads / p.row_threads) +
                           static_cast<int>(threadIdx.x) / p.row_threads;
  if (row >= grid.rows) return;
  const std::int64_t all_channels = p.groups * p.channels;
  const std::int64_t batch = row / all_channels, channel = row - batch * all_channels;
  const std::int64_t group = channel / p.channels;
  const T* in = static_cast<const T*>(p.in) + batch * p.in_batch + channel * p.in_channel;
  T* out = static_cast<T*>(p.out) + batch * p.out_batch + group * p.out_group +
           (channel - group * p.channels) * p.out_channel;
  // Pack 0 ends at the row's first 16-byte boundary past its start.
  const int lead = static_cast<int>(reinterpret_cast<std::uintptr_t>(out) % 16 / sizeof(T));
  const CopiedPacks packs = copied_packs<T>(p, lead);
  const std::int64_t first = packs.begin + block * p.block_packs + thread;
  const std::int64_t block_end = packs.begin + (block + 1) * p.block_packs;
  const std::int64_t end = block_end < packs.end ? block_end : packs.end;
  const auto begin_of = [&](int step) { return (first + step * p.row_threads) * kCount - lead; };
  const auto is_copied = [&](int step) { return first + step * p.row_threads < end; };
  // Loads the two aligned packs that hold the bytes of each pack; all loads come before the first store.
  // Without any, an input of no samples may be a null pointer.
  const std::int64_t start = packs.begin < packs.end ? begin_of(0) - p.pad_left : 0;
  const auto* source = reinterpret_cast<const unsigned char*>(in + start);
  const int offset = static_cast<int>(reinterpret_cast<std::uintptr_t>(source) % 16);
  const auto* aligned = reinterpret_cast<const std::uint32_t*>(source - offset);
  Words words[kPacksPerThread] = {}, high[kPacksPerThread] = {};
#pragma unroll
  for (int step = 0; step < kPacksPerThread; ++step) {
    if (!is_copied(step)) continue;
    words[step] = load_vector(aligned + step * p.row_threads * 4);
    if (offset != 0) high[step] = load_vector(aligned + step * p.row_threads * 4 + 4);
  }
  // The elements before and behind the copied packs, one a thread.
  const std::int64_t before = packs.begin < packs.end ? packs.begin * kCount - lead : 0;
  const std::int64_t skipped = (packs.end - packs.begin) * kCount;
  const std::int64_t threads = static_cast<std::int64_t>(p.row_blocks) * p.row_threads;
#pragma unroll 1
  for (std::int64_t i = static_cast<std::int64_t>(block) * p.row_threads + thread; i < p.positions - skipped;
       i += threads) {
    const std::int64_t position = i < before ? i : i + skipped;
    const std::int64_t source = pad_index(p.mode, position - p.pad_left, p.length, p.reflect_length);
    out[position] = source >= 0 ? in[source] : padding;
  }
  if (offset != 0) join_packs(words, high, offset);
#pragma unroll
  for (int step = 0; step < kPacksPerThread; ++step) {
    if (is_copied(step)) store_global_16_bytes(out + begin_of(step), &words[step], p.streaming);
  }
}

}  // namespace

void launch_pad_rows(const LaunchContext& context, const WindowParams& p) {
  const RowGrid grid{p.batch * p.groups * p.channels, make_divisor(static_cast<std::uint32_t>(p.row_blocks))};
  const std::int64_t block_rows = kThreads / p.row_threads;
  const LaunchShape shape = launch_shape(divide_up(grid.rows, block_rows) * p.row_blocks, kThreads);
  visit_element_types(p.in_type, p.in_type, [&](auto tag, auto) {
    using T = typename decltype(tag)::type;
    T padding;
    std::memcpy(&padding, &p.pad_bits, sizeof(T));
    launch("pad", context, shape, pad_rows_kernel<T>, p, padding, grid);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
