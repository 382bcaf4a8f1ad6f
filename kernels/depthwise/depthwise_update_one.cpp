// depthwise_update by one sample, what a server does for each token.
//
// A thread takes the channels of 4 bytes of kItems neighbouring items of the batch. It widens their weights
// once, and all its indices, states and samples are on their way before it uses the first: what waits for
// memory is one chain of loads, whatever the number of items. The state is a row of memory either for each
// channel or for each column. Global traffic: the state once in and once out, each sample and output once.
#include "core/integer_math.hpp"
#include "kernels/backend_kernels.hpp"
#include "kernels/block_index.hpp"
#include "kernels/depthwise/depthwise_common.hpp"
#include "kernels/depthwise/depthwise_packs.hpp"
#include "kernels/depthwise/depthwise_update_words.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kOneThreads = 128;
/// Weights, and the states of all items, lie in registers.
constexpr std::int64_t kLeastTaps = 2, kMaxTaps = 4;
/// With about as many blocks as a device has room for, a thread takes two items. An H200 has room for 1320 of
/// one item, and for 1584 of two.
constexpr std::int64_t kManyBlocks = 1400;
/// The blocks with two items ask for the states of those that come so many blocks later: those that begin
/// when they end.
constexpr std::int64_t kBlocksAhead = 1000;

/// What one access of 16 bytes moves: rows of channels of the state, and four taps of a word's channels.
struct WholeWords {
  bool state, weights;

  explicit WholeWords(const DepthwiseParams& p)
      : state(has_whole_states(p)),
        weights(p.taps == 4 && p.weight_tap == 1 && p.weight_channel == 4 &&
                size_of(p.weight_type) == size_of(p.type) &&
                reinterpret_cast<std::uintptr_t>(p.weights) % 16 == 0) {}
};

/// The weights of a word's channels by distance, and their biases.
template <class T, int Taps>
struct WordNumbers {
  static constexpr int kPer = kPerWord<T>;
  RawNumbers<Taps> weights[kPer];
  RawNumbers<1> biases[kPer];

  __device__ __forceinline__ void load(const DepthwiseParams& p, bool whole, std::int64_t channel) {
    if (Taps == 4 && whole) {
      std::uint32_t words[4];
      load_words<4>(words, static_cast<const T*>(p.weights) + channel * 4);
#pragma unroll
      for (int i = 0; i < 4 * kPer; ++i)
        weights[i / 4].bits[Taps - 1 - i % 4] = kPer == 1    ? words[i]
                                                : i % 2 == 0 ? words[i / 2] & 0xffffu
                                                             : words[i / 2] >> 16;
    } else {
#pragma unroll
      for (int j = 0; j < kPer; ++j)
        weights[j].load(p.weights, p.weight_type,
                        (channel + j) * p.weight_channel + (Taps - 1) * p.weight_tap, -p.weight_tap);
    }
    if (p.bias == nullptr) return;
#pragma unroll
    for (int j = 0; j < kPer; ++j) biases[j].load(p.bias, p.bias_type, (channel + j) * p.bias_channel, 0);
  }
};

/// Asks for the lines of an item's state that a block reads, each thread for one. block: its number among
/// those of the item.
template <class T, int Columns>
__device__ __forceinline__ void prefetch_state(const DepthwiseSequenceParams& q, std::int64_t item,
                                               std::uint32_t block) {
  constexpr int kLine = 32;  // words
  int word = static_cast<int>(threadIdx.x) * kLine, column = 0;
  if (word >= kOneThreads * Columns) return;
  const DepthwiseParams& p = q.conv;
  const bool by_channel = p.state_time == 1;
  // Words of a row of memory that the block reads, and the first one of the thread's line.
  const std::int64_t first = std::int64_t{block} * kOneThreads;
  std::int64_t words = p.channels / kPerWord<T> - first;
  if (words > kOneThreads) words = kOneThreads;
  if (by_channel) {
    words *= Columns;
  } else {
    column = word / kOneThreads;
    word %= kOneThreads;
  }
  if (column >= Columns || word >= words) return;
  const std::int64_t row = slot_of(q, item);
  if (row < 0) return;
  prefetch_line(static_cast<const T*>(p.state) + row * p.state_batch + column * p.state_time +
                first * kPerWord<T> * p.state_channel + word * kPerWord<T>);
}

/// Registers for the loads of one item, or of two: more than the compiler would take.
template <class T, int Columns, int Taps, int kItems>
__global__ RELAYOUT_LAUNCH_BOUNDS(kOneThreads, kItems == 1 ? 10 : 12) void update_one_kernel(
    DepthwiseSequenceParams q, WholeWords whole, Divisor by_blocks, int items_ahead) {
  const DepthwiseParams& p = q.conv;
  constexpr int kPer = kPerWord<T>;
  std::uint32_t block = block_index();
  const std::int64_t first = std::int64_t{split(block, by_blocks)} * kItems;
  if (is_spare(first, p.batch)) return;
  const std::int64_t channel = (std::int64_t{block} * kOneThreads + threadIdx.x) * kPer;
  if (channel >= p.channels) return;
  // Loads have no conditions: those of items behind the batch's end repeat the last one's, and an item
  // without a row reads row 0.
  std::int64_t rows[kItems], items[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    items[i] = first + i < p.batch ? first + i : p.batch - 1;
    rows[i] = slot_of(q, items[i]);
  }
  WordNumbers<T, Taps> raw;
  raw.load(p, whole.weights, channel);
  const T* const in = static_cast<const T*>(p.in) + channel * p.in_channel;
  std::uint32_t samples[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i)
    samples[i] = *reinterpret_cast<const std::uint32_t*>(in + items[i] * p.in_batch);
  T* const state = static_cast<T*>(p.state) + channel * p.state_channel;
  StateWords<T, Columns> windows[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i)
    windows[i].load(p.state_time, whole.state, state + (rows[i] < 0 ? 0 : rows[i]) * p.state_batch);
  if constexpr (kHasPrefetch && kItems > 1) {
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const std::int64_t later = first + items_ahead + i;
      if (later < p.batch) prefetch_state<T, Columns>(q, later, block);
    }
  }
  float weights[kPer][Taps], bias[kPer][1];
#pragma unroll
  for (int j = 0; j < kPer; ++j) {
    raw.weights[j].widen(p.weight_type, weights[j]);
    raw.biases[j].widen(p.bias_type, bias[j]);
  }
  T* const out = static_cast<T*>(p.out) + channel * p.out_channel;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if (first + i >= p.batch || (rows[i] < 0 && !q.zero_null)) continue;
    auto* const output = reinterpret_cast<std::uint32_t*>(out + items[i] * p.out_batch);
    if (rows[i] < 0) {
      *output = 0;
      continue;
    }
    windows[i].sort(p.state_time);
    float sums[kPer] = {};
#pragma unroll
    for (int distance = 0; distance < Taps; ++distance) {
      float values[kPer];
      widen_word<T>(distance == 0 ? samples[i] : windows[i].columns[Columns - distance], values);
#pragma unroll
      for (int j = 0; j < kPer; ++j) sums[j] = fmaf(weights[j][distance], values[j], sums[j]);
    }
#pragma unroll
    for (int j = 0; j < kPer; ++j) {
      sums[j] += bias[j][0];
      if (p.silu) sums[j] = silu(sums[j]);
    }
    *output = narrow_word<T>(sums);
    windows[i].move_on(samples[i]);
    windows[i].store(p.state_time, whole.state, state + rows[i] * p.state_batch);
  }
}

/// Whether a signal's words of channels lie on their boundary at every item.
template <class T>
bool has_words(const void* base, std::int64_t batch_stride, std::int64_t channel_stride) {
  return kPerWord<T> == 1 || are_whole(base, sizeof(T), 4, channel_stride, batch_stride, 0);
}

template <class T, int Columns, int Taps>
void launch_one(const LaunchContext& context, const DepthwiseSequenceParams& q) {
  const DepthwiseParams& p = q.conv;
  const std::int64_t words = p.channels / kPerWord<T>, blocks = divide_up(words, kOneThreads);
  const auto start = [&](auto constant) {
    constexpr int kItems = decltype(constant)::value;
    const NumberedBlocks shape = numbered_blocks(blocks * divide_up(p.batch, kItems), kOneThreads);
    launch("depthwise_update", context, shape, update_one_kernel<T, Columns, Taps, kItems>, q, WholeWords(p),
           make_grid_divisor(blocks), static_cast<int>(divide_up(kBlocksAhead, blocks) * kItems));
  };
  if (blocks * p.batch >= kManyBlocks) return start(std::integral_constant<int, 2>{});
  start(std::integral_constant<int, 1>{});
}

}  // namespace

bool takes_one_sample(const DepthwiseSequenceParams& q) {
  const DepthwiseParams& p = q.conv;
  if (p.length != 1 || q.slots < 1 || p.taps < kLeastTaps || p.taps > kMaxTaps) return false;
  if (p.state_length != p.taps && p.state_length != p.taps - 1) return false;
  bool takes = false;
  visit_floats_up_to_f32(p.type, [&](auto type) {
    using T = typename decltype(type)::type;
    takes = has_words<T>(p.in, p.in_batch, p.in_channel) && has_words<T>(p.out, p.out_batch, p.out_channel);
  });
  return takes;
}

void launch_depthwise_one_sample(const LaunchContext& context, const DepthwiseSequenceParams& q) {
  visit_floats_up_to_f32(q.conv.type, [&](auto type) {
    using T = typename decltype(type)::type;
    visit_taps(q.conv.taps, [&](auto taps) {
      constexpr int kTaps = decltype(taps)::value;
      if constexpr (kTaps >= kLeastTaps && kTaps <= kMaxTaps) {
        if (q.conv.state_length == kTaps) return launch_one<T, kTaps, kTaps>(context, q);
        launch_one<T, kTaps - 1, kTaps>(context, q);
      }
    });
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
