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

#include "kernels/backend_kernels.hpp"
#include "kernels/element_ops.hpp"
#include "kernels/pack.hpp"
#include "kernels/pad_index.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kThreads = 256;
constexpr int kPacksPerThread = 4;

/// Words first..first+3 of the eight in `low` and `high`, shifted down by `bits` (0, 8, 16 or 24).
template <int First>
__device__ __forceinline__ void joined(const Pack<std::uint32_t>& low, const Pack<std::uint32_t>& high,
                                       unsigned bits, Pack<std::uint32_t>& result) {
  const auto word = [&](int i) { return i < 4 ? low.values[i] : high.values[i - 4]; };
#pragma unroll
  for (int i = 0; i < 4; ++i) result.values[i] = __funnelshift_r(word(First + i), word(First + i + 1), bits);
}

/// The 16 bytes at `address`, of any alignment; both aligned packs that hold them may be read.
__device__ __forceinline__ Pack<std::uint32_t> load_unaligned(const unsigned char* address) {
  const int offset = static_cast<int>(reinterpret_cast<std::uintptr_t>(address) & 15);
  const auto* aligned = reinterpret_cast<const std::uint32_t*>(address - offset);
  const Pack<std::uint32_t> low = load_pack(aligned);
  if (offset == 0) return low;
  const Pack<std::uint32_t> high = load_pack(aligned + 4);
  const unsigned bits = static_cast<unsigned>(offset) % 4 * 8;
  Pack<std::uint32_t> result;
  switch (offset / 4) {
    case 0:
      joined<0>(low, high, bits, result);
      break;
    case 1:
      joined<1>(low, high, bits, result);
      break;
    case 2:
      joined<2>(low, high, bits, result);
      break;
    default:
      joined<3>(low, high, bits, result);
      break;
  }
  return result;
}

template <class T>
__global__ __launch_bounds__(kThreads) void pad_rows_kernel(WindowParams p, T padding,
                                                            std::int64_t row_blocks, int rows_per_block) {
  constexpr int kCount = Pack<T>::kCount;
  const int threads_per_row = kThreads / rows_per_block;
  const std::int64_t row =
      blockIdx.x / row_blocks * rows_per_block + static_cast<int>(threadIdx.x) / threads_per_row;
  const std::int64_t all_channels = p.groups * p.channels;
  if (row >= p.batch * all_channels) return;
  const std::int64_t batch = row / all_channels, channel = row - batch * all_channels;
  const std::int64_t group = channel / p.channels;
  const T* in = static_cast<const T*>(p.in) + batch * p.in_batch + channel * p.in_channel;
  T* out = static_cast<T*>(p.out) + batch * p.out_batch + group * p.out_group +
           (channel - group * p.channels) * p.out_channel;
  // Pack 0 ends at the row's first 16-byte boundary past its start; it and the last may be short.
  const int lead = static_cast<int>(reinterpret_cast<std::uintptr_t>(out) % 16 / sizeof(T));
  const std::int64_t first = blockIdx.x % row_blocks * (threads_per_row * kPacksPerThread) +
                             static_cast<int>(threadIdx.x) % threads_per_row;
  // One pack's room on both sides, because the aligned packs around the source are read whole.
  const auto inside = [&](std::int64_t begin) {
    const std::int64_t time = begin - p.pad_left;
    return begin >= 0 && begin + kCount <= p.positions && time >= kCount && time + 2 * kCount <= p.length;
  };
  const auto source_of = [&](std::int64_t begin) {
    return reinterpret_cast<const unsigned char*>(in + (begin - p.pad_left));
  };
  const auto begin_of = [&](int step) { return (first + step * threads_per_row) * kCount - lead; };
  if (inside(begin_of(0)) && inside(begin_of(kPacksPerThread - 1))) {
    Pack<std::uint32_t> words[kPacksPerThread];  // all loads before the first store
#pragma unroll
    for (int step = 0; step < kPacksPerThread; ++step)
      words[step] = load_unaligned(source_of(begin_of(step)));
#pragma unroll
    for (int step = 0; step < kPacksPerThread; ++step) {
      store_global_16_bytes(out + begin_of(step), &words[step], p.streaming);
    }
    return;
  }
  for (int step = 0; step < kPacksPerThread; ++step) {
    const std::int64_t begin = begin_of(step);
    if (begin >= p.positions) return;
    if (inside(begin)) {
      const Pack<std::uint32_t> words = load_unaligned(source_of(begin));
      store_global_16_bytes(out + begin, &words, p.streaming);
      continue;
    }
    for (int i = 0; i < kCount; ++i) {
      if (begin + i < 0 || begin + i >= p.positions) continue;
      const std::int64_t source = pad_index(p.mode, begin + i - p.pad_left, p.length, p.reflect_length);
      out[begin + i] = source >= 0 ? in[source] : padding;
    }
  }
}

}  // namespace

void launch_pad_rows(const LaunchContext& context, const WindowParams& p) {
  const std::int64_t rows = p.batch * p.groups * p.channels;
  visit_element_types(p.in_type, p.in_type, [&](auto tag, auto) {
    using T = typename decltype(tag)::type;
    T padding;
    std::memcpy(&padding, &p.pad_bits, sizeof(T));
    const std::int64_t row_packs = p.positions / Pack<T>::kCount + 2;  // whatever the row's first boundary is
    int rows_per_block = 1;
    while (rows_per_block < 32 && row_packs * rows_per_block * 2 <= kThreads * kPacksPerThread)
      rows_per_block *= 2;
    const std::int64_t packs_per_block = kThreads / rows_per_block * kPacksPerThread;
    const std::int64_t row_blocks = (row_packs + packs_per_block - 1) / packs_per_block;
    LaunchShape shape;
    shape.blocks_x = (rows + rows_per_block - 1) / rows_per_block * row_blocks;
    shape.threads_x = kThreads;
    launch("pad", context, shape, pad_rows_kernel<T>, p, padding, row_blocks, rows_per_block);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
