// pad_rows: padding where time is the fast axis of both sides and elements move as they are:
//   out[b, g * channels + c, i] = padded in[b, g * channels + c, i - pad_left]
//
// Rows of input and output start anywhere, so their 16-byte boundaries fall differently. A thread writes
// whole packs of the output; the bytes of each come from the two aligned packs of the input that hold them,
// joined by a shift that is the same for a whole row. Packs that touch a row's ends or the padding go element
// by element. With long padding only those do that lie where the samples begin and end: the others of the
// padding are runs of samples, forwards or backwards, or one element again and again.
//
// Global traffic: each input element once (its second reader hits the L1), once more where the padding has
// it, and each output element once, 16 bytes a lane.
#include <cstring>

#include "core/integer_math.hpp"
#include "core/pad_index.hpp"
#include "core/window_geometry.hpp"
#include "kernels/backend_kernels.hpp"
#include "kernels/block_index.hpp"
#include "kernels/copy/unaligned.hpp"
#include "kernels/divide.hpp"
#include "kernels/element_ops.hpp"
#include "kernels/vector.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

/// kTogether: packs of padding that a thread has under way.
constexpr int kThreads = kWindowThreads, kPacksPerThread = kRowPacksPerThread, kTogether = 2;

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

/// Packs begin..end of a row; pack k starts at position k * kCount - lead.
struct PackRange {
  std::int64_t begin, end;

  __device__ __forceinline__ std::int64_t count() const { return end - begin; }
};

/// The whole packs of a row that are copied as they are.
template <class T>
__device__ __forceinline__ PackRange copied_packs(const WindowParams& p, int lead) {
  constexpr int kCount = Vector<T>::kCount;
  // One pack's room on both sides, because the aligned packs around the source are read whole.
  const std::int64_t first = p.pad_left + kCount > 0 ? p.pad_left + kCount : 0;
  const std::int64_t source_end = p.pad_left + p.length - kCount;
  const std::int64_t end = source_end < p.positions ? source_end : p.positions;
  PackRange packs{(first + lead + kCount - 1) / kCount, end + lead > 0 ? (end + lead) / kCount : 0};
  if (packs.end < packs.begin) packs = {0, 0};
  return packs;
}

/// A row that a thread has a part in.
template <class T>
struct PaddedRow {
  const T* in;
  T* out;
  int lead;          // elements from a boundary of 16 bytes to the row's first
  PackRange copied;  // as they are
};

/// Elements one by one: those of the row that are in no pack of these ranges, which follow each other. A
/// thread has each `threads`-th of them from number `first` on.
template <class T, int kRanges>
__device__ __forceinline__ void make_elements(const WindowParams& p, const PaddedRow<T>& row,
                                              const PackRange (&made)[kRanges], std::int64_t first,
                                              std::int64_t threads, T padding) {
  constexpr int kCount = Vector<T>::kCount;
  std::int64_t elements = p.positions;
#pragma unroll
  for (const PackRange& packs : made) elements -= packs.count() * kCount;
#pragma unroll 1
  for (std::int64_t i = first; i < elements; i += threads) {
    std::int64_t position = i;
#pragma unroll
    for (const PackRange& packs : made)
      if (packs.count() > 0 && position >= packs.begin * kCount - row.lead)
        position += packs.count() * kCount;
    const std::int64_t source = pad_index(p.mode, position - p.pad_left, p.length, p.reflect_length);
    row.out[position] = source >= 0 ? row.in[source] : padding;
  }
}

/// The elements of 16 bytes in reverse order.
template <class T>
__device__ __forceinline__ Words reversed(const Words& words) {
  constexpr int kSwapped = sizeof(T) == 8 ? 2 : 3;  // word i goes to i ^ kSwapped
  Words result;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t word = words.values[i ^ kSwapped];
    result.values[i] = sizeof(T) == 1   ? permute_bytes<0x0123>(word, word)
                       : sizeof(T) == 2 ? permute_bytes<0x1032>(word, word)
                                        : word;
  }
  return result;
}

/// A pack of the padding on its way: what is loaded, and whether it comes in reverse order.
template <class T>
struct PaddingPack {
  UnalignedLoad load;
  bool backwards = false;

  /// Element i will be that of index `time` + i of the padded signal.
  __device__ __forceinline__ void start(const WindowParams& p, const T* in, std::int64_t time, T padding) {
    constexpr int kCount = Vector<T>::kCount;
    const PadRun run = pad_run(p.mode, time, p.length, p.reflect_length, kCount);
    const std::int64_t lowest = run.step < 0 ? run.source - (kCount - 1) : run.source;
    load.low = {};
    load.offset = 0;
    if (run.count == kCount && run.step == 0) {
      const T element = run.source < 0 ? padding : in[run.source];
#pragma unroll
      for (int i = 0; i < kCount; ++i) set_element(load.low, i, element);
    } else if (run.count == kCount && lowest >= kCount && lowest + 2 * kCount <= p.length) {
      load.start(in + lowest);
      backwards = run.step < 0;
    } else {
      // Where a signal's repetition begins, and where the aligned packs around a source are not all its own.
#pragma unroll 1
      for (int i = kCount; i-- > 0;) {
        const std::int64_t source = pad_index(p.mode, time + i, p.length, p.reflect_length);
        push_front(source >= 0 ? in[source] : padding);
      }
    }
  }
  __device__ __forceinline__ Words words() const {
    const Words loaded = load.template words<static_cast<int>(sizeof(T))>();
    return backwards ? reversed<T>(loaded) : loaded;
  }

 private:
  /// Moves all elements on by one place, and puts one in front.
  __device__ __forceinline__ void push_front(T element) {
    constexpr int kBits = 8 * static_cast<int>(sizeof(T));
    std::uint32_t(&words)[4] = load.low.values;
    if constexpr (kBits < 32) {
#pragma unroll
      for (int i = 3; i > 0; --i) words[i] = words[i] << kBits | words[i - 1] >> (32 - kBits);
      words[0] = words[0] << kBits | small_bits(element);
    } else {
#pragma unroll
      for (int i = 3; i >= kBits / 32; --i) words[i] = words[i - kBits / 32];
      memcpy(words, &element, sizeof element);
    }
  }
};

/// What is not copied of a row with long padding: the whole packs of the padding that lie a pack or more away
/// from where the samples begin and end, and the elements that are in no pack. `number`: of the thread among
/// those that make it.
template <class T>
__device__ __forceinline__ void make_padding(const WindowParams& p, const PaddedRow<T>& row,
                                             std::int64_t number, T padding) {
  constexpr int kCount = Vector<T>::kCount;
  const int lead = row.lead;
  const std::int64_t begin = p.pad_left, end = p.pad_left + p.length, last = (p.positions + lead) / kCount;
  PackRange left{lead == 0 ? 0 : 1, begin > 0 ? (begin + lead) / kCount - 1 : 0},
      right{end > 0 ? (end + lead) / kCount + 2 : left.begin, last};
  if (left.end > last) left.end = last;
  if (left.end < left.begin) left = {0, 0};
  if (right.begin < left.end) right.begin = left.end;
  if (right.end < right.begin) right = {0, 0};
  const std::int64_t threads = static_cast<std::int64_t>(p.row_blocks - p.copy_blocks) * p.row_threads;
  const PackRange made[3] = {left, row.copied, right};
  make_elements(p, row, made, number, threads, padding);
  const auto position_of = [&](std::int64_t pack) {
    return (pack < left.count() ? left.begin + pack : right.begin + (pack - left.count())) * kCount - lead;
  };
  const std::int64_t packs = left.count() + right.count();
#pragma unroll 1
  for (std::int64_t pack = number; pack < packs; pack += kTogether * threads) {
    PaddingPack<T> loads[kTogether];
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      if (pack + i * threads < packs)
        loads[i].start(p, row.in, position_of(pack + i * threads) - p.pad_left, padding);
    }
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      if (pack + i * threads >= packs) continue;
      const Words words = loads[i].words();
      store_global_16_bytes(row.out + position_of(pack + i * threads), &words, p.streaming);
    }
  }
}

/// The packs that a block copies of a row; `alone`: and the elements that are in none of them.
template <class T, bool kAlone>
__device__ __forceinline__ void copy_packs(const WindowParams& p, const PaddedRow<T>& row,
                                           std::uint32_t block, int thread, T padding) {
  constexpr int kCount = Vector<T>::kCount;
  const PackRange& packs = row.copied;
  const std::int64_t first = packs.begin + block * p.block_packs + thread;
  const std::int64_t block_end = packs.begin + (block + 1) * p.block_packs;
  const std::int64_t end = block_end < packs.end ? block_end : packs.end;
  const auto begin_of = [&](int step) { return (first + step * p.row_threads) * kCount - row.lead; };
  const auto is_copied = [&](int step) { return first + step * p.row_threads < end; };
  // Loads the two aligned packs that hold the bytes of each pack; all loads come before the first store.
  // Without any, an input of no samples may be a null pointer.
  const std::int64_t start = packs.begin < packs.end ? begin_of(0) - p.pad_left : 0;
  const auto* source = reinterpret_cast<const unsigned char*>(row.in + start);
  const int offset = static_cast<int>(reinterpret_cast<std::uintptr_t>(source) % 16);
  const auto* aligned = reinterpret_cast<const std::uint32_t*>(source - offset);
  Words words[kPacksPerThread] = {}, high[kPacksPerThread] = {};
#pragma unroll
  for (int step = 0; step < kPacksPerThread; ++step) {
    if (!is_copied(step)) continue;
    words[step] = load_vector(aligned + step * p.row_threads * 4);
    if (offset != 0) high[step] = load_vector(aligned + step * p.row_threads * 4 + 4);
  }
  if constexpr (kAlone) {
    const PackRange made[1] = {packs};
    make_elements(p, row, made, static_cast<std::int64_t>(block) * p.row_threads + thread,
                  static_cast<std::int64_t>(p.row_blocks) * p.row_threads, padding);
  }
  if (offset != 0) join_packs(words, high, offset);
#pragma unroll
  for (int step = 0; step < kPacksPerThread; ++step) {
    if (is_copied(step)) store_global_16_bytes(row.out + begin_of(step), &words[step], p.streaming);
  }
}

template <class T, bool kLongPadding>
__global__ __launch_bounds__(kThreads) void pad_rows_kernel(WindowParams p, T padding, RowGrid grid) {
  std::uint32_t block = block_index();
  const std::uint32_t tile = split(block, grid.by_row_blocks);
  const int thread = static_cast<int>(threadIdx.x) % p.row_threads;
  const std::int64_t number = static_cast<std::int64_t>(tile) * (kThreads / p.row_threads) +
                              static_cast<int>(threadIdx.x) / p.row_threads;
  if (number >= grid.rows) return;
  const std::int64_t all_channels = p.groups * p.channels;
  const std::int64_t batch = number / all_channels, channel = number - batch * all_channels;
  const std::int64_t group = channel / p.channels;
  PaddedRow<T> row;
  row.in = static_cast<const T*>(p.in) + batch * p.in_batch + channel * p.in_channel;
  row.out = static_cast<T*>(p.out) + batch * p.out_batch + group * p.out_group +
            (channel - group * p.channels) * p.out_channel;
  // Pack 0 ends at the row's first 16-byte boundary past its start.
  row.lead = static_cast<int>(reinterpret_cast<std::uintptr_t>(row.out) % 16 / sizeof(T));
  row.copied = copied_packs<T>(p, row.lead);
  const auto copy_blocks = static_cast<std::uint32_t>(p.copy_blocks);
  if (!kLongPadding || block < copy_blocks) {
    copy_packs<T, !kLongPadding>(p, row, block, thread, padding);
  } else {
    make_padding(p, row, static_cast<std::int64_t>(block - copy_blocks) * p.row_threads + thread, padding);
  }
}

}  // namespace

void launch_pad_rows(const LaunchContext& context, const WindowParams& p) {
  const RowGrid grid{p.batch * p.groups * p.channels, make_divisor(static_cast<std::uint32_t>(p.row_blocks))};
  const std::int64_t block_rows = kThreads / p.row_threads;
  const NumberedBlocks shape = numbered_blocks(divide_up(grid.rows, block_rows) * p.row_blocks, kThreads);
  visit_element_sizes(p.in_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T padding;
    std::memcpy(&padding, &p.pad_bits, sizeof(T));
    const auto run = [&](auto kernel) { launch("pad", context, shape, kernel, p, padding, grid); };
    p.copy_blocks < p.row_blocks ? run(pad_rows_kernel<T, true>) : run(pad_rows_kernel<T, false>);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
