// depthwise_update: a few new samples, and the state moves on.
//
// The kernel of words: a thread takes the channels of 4 bytes, one of f32 or two of a 16-bit type. It loads
// the whole state of its channels, up to kMaxStateColumns columns, their weights and the first sample before
// it uses any; the state lives in registers while the samples pass. The state is a row of memory either for
// each channel or for each column; with rows of a table each item of the batch has its own. Global traffic:
// the state once in and once out, each sample and output once. One sample goes to depthwise_update_one.cpp
// where that takes it. The other kernel takes any strides, an element at a time.
#include "core/bytes.hpp"
#include "core/depthwise_sequence_params.hpp"
#include "core/integer_math.hpp"
#include "kernels/backend_kernels.hpp"
#include "kernels/block_index.hpp"
#include "kernels/depthwise/depthwise_common.hpp"
#include "kernels/depthwise/depthwise_span.hpp"
#include "kernels/depthwise/depthwise_update_words.hpp"
#include "kernels/vector.hpp"
#include "kernels/words.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kUpdateThreads = 128;

template <class T, int Columns>
__global__ __launch_bounds__(kUpdateThreads) void update_words_kernel(DepthwiseSequenceParams q,
                                                                      bool whole_state, Divisor by_blocks) {
  const DepthwiseParams& p = q.conv;
  constexpr int kPer = kPerWord<T>;
  std::uint32_t block = block_index();
  const std::int64_t batch = split(block, by_blocks);
  if (is_spare(batch, p.batch)) return;
  const std::int64_t channel = (std::int64_t{block} * kUpdateThreads + threadIdx.x) * kPer;
  if (channel >= p.channels) return;
  const std::int64_t row = slot_of(q, batch);
  const T* in = static_cast<const T*>(p.in) + batch * p.in_batch + channel * p.in_channel;
  T* out = static_cast<T*>(p.out) + batch * p.out_batch + channel * p.out_channel;
  if (row < 0) {
    for (std::int64_t time = 0; q.zero_null && time < p.length; ++time) {
#pragma unroll
      for (int j = 0; j < kPer; ++j) out[time * p.out_time + j * p.out_channel] = T{};
    }
    return;
  }
  T* const state = static_cast<T*>(p.state) + row * p.state_batch + channel * p.state_channel;
  StateWords<T, Columns> window;
  window.load(p.state_time, whole_state, state);
  // Channels side by side, on a boundary of 4 bytes at every time.
  const auto in_words_at = [](std::int64_t channel_stride, const T* first, std::int64_t time_stride) {
    return channel_stride == 1 && reinterpret_cast<std::uintptr_t>(first) % 4 == 0 && time_stride % kPer == 0;
  };
  const bool in_words = in_words_at(p.in_channel, in, p.in_time);
  const bool out_words = in_words_at(p.out_channel, out, p.out_time);
  const auto load_sample = [&]() -> std::uint32_t {
    if (kPer == 1 || in_words) return *reinterpret_cast<const std::uint32_t*>(in);
    return element_bits(in[0]) | element_bits(in[p.in_channel]) << 16;
  };
  std::uint32_t next = load_sample();
  // Weights by distance; those that the convolution does not have are never used.
  const int taps = static_cast<int>(p.taps);
  RawNumbers<Columns + 1> raw[kPer];
  RawNumbers<1> raw_bias[kPer];
#pragma unroll
  for (int j = 0; j < kPer; ++j) {
    raw[j].load(p.weights, p.weight_type, (channel + j) * p.weight_channel + (taps - 1) * p.weight_tap,
                -p.weight_tap, taps);
    raw_bias[j].bits[0] = 0;
    if (p.bias != nullptr) raw_bias[j].load(p.bias, p.bias_type, (channel + j) * p.bias_channel, 0);
  }
  window.sort(p.state_time);
  float weights[kPer][Columns + 1], bias[kPer][1];
#pragma unroll
  for (int j = 0; j < kPer; ++j) {
    raw[j].widen(p.weight_type, weights[j]);
    raw_bias[j].widen(p.bias_type, bias[j]);
  }
#pragma unroll 1
  for (std::int64_t time = 0; time < p.length; ++time) {
    const std::uint32_t sample = next;
    in += p.in_time;
    if (time + 1 < p.length) next = load_sample();
    float sums[kPer] = {};
#pragma unroll
    for (int distance = 0; distance <= Columns; ++distance) {
      if (distance >= taps) continue;
      float samples[kPer];
      widen_word<T>(distance == 0 ? sample : window.columns[Columns - distance], samples);
#pragma unroll
      for (int j = 0; j < kPer; ++j) sums[j] = fmaf(weights[j][distance], samples[j], sums[j]);
    }
#pragma unroll
    for (int j = 0; j < kPer; ++j) {
      sums[j] += bias[j][0];
      if (p.silu) sums[j] = silu(sums[j]);
    }
    const std::uint32_t result = narrow_word<T>(sums);
    if (kPer == 1 || out_words) {
      *reinterpret_cast<std::uint32_t*>(out) = result;
    } else {
#pragma unroll
      for (int j = 0; j < kPer; ++j) store_element(out + j * p.out_channel, result, j);
    }
    out += p.out_time;
    window.move_on(sample);
  }
  window.store(p.state_time, whole_state, state);
}

/// A thread takes a channel: its outputs first, then the state, moved on by the number of samples.
template <class T>
__global__ __launch_bounds__(kDepthwiseThreads) void update_kernel(DepthwiseParams p, std::int64_t rows) {
  const std::int64_t row = static_cast<std::int64_t>(block_index()) * kDepthwiseThreads + threadIdx.x;
  if (row >= rows) return;
  const std::int64_t batch = row / p.channels, channel = row - batch * p.channels;
  for (std::int64_t time = 0; time < p.length; ++time) store_output<T>(p, batch, channel, time);
  T* state = static_cast<T*>(p.state) + batch * p.state_batch + channel * p.state_channel;
  const SampleRow<T> samples(p, batch, channel);
  for (std::int64_t column = 0; column < p.state_length; ++column) {
    const std::int64_t source = column + p.length - p.state_length;
    state[column * p.state_time] =
        source >= 0 ? samples.at(p, source) : state[(column + p.length) * p.state_time];
  }
}

template <class T>
void launch_words(const LaunchContext& context, const DepthwiseSequenceParams& q) {
  if (takes_one_sample(q)) return launch_depthwise_one_sample(context, q);
  const DepthwiseParams& p = q.conv;
  const std::int64_t words = p.channels / kPerWord<T>, blocks = divide_up(words, kUpdateThreads);
  const Divisor by_blocks = make_grid_divisor(blocks);
  const NumberedBlocks shape = numbered_blocks(p.batch * blocks, kUpdateThreads);
  const auto start = [&](auto columns) {
    constexpr int kColumns = decltype(columns)::value;
    launch("depthwise_update", context, shape, update_words_kernel<T, kColumns>, q, has_whole_states(p),
           by_blocks);
  };
  visit_taps(p.state_length, start);
}

}  // namespace

bool takes_update_words(const DepthwiseSequenceParams& q) {
  const DepthwiseParams& p = q.conv;
  if (q.starts.is_given() || q.positions.is_given() || q.accepted.is_given() || q.blocks > 0) return false;
  if (p.state_length < 1 || p.state_length > kMaxStateColumns) return false;
  const std::int64_t bytes = bytes_of(p.type);
  if (bytes == 4) return true;
  const auto lies_on_words = [&](std::int64_t stride) {
    return (reinterpret_cast<std::uintptr_t>(p.state) | static_cast<std::uintptr_t>(p.state_batch * bytes) |
            static_cast<std::uintptr_t>(stride * bytes)) %
               4 ==
           0;
  };
  if (p.channels % 2 != 0) return false;
  if (p.state_time == 1) return p.state_channel == p.state_length && lies_on_words(0);
  return p.state_channel == 1 && lies_on_words(p.state_time);
}

void launch_depthwise_indexed_words(const LaunchContext& context, const DepthwiseSequenceParams& q) {
  visit_floats_up_to_f32(q.conv.type,
                         [&](auto type) { launch_words<typename decltype(type)::type>(context, q); });
}

void launch_depthwise_update(const LaunchContext& context, const DepthwiseParams& p) {
  visit_floats_up_to_f32(p.type, [&](auto type) {
    using T = typename decltype(type)::type;
    if (p.kernel == DepthwiseKernel::update_words) {
      DepthwiseSequenceParams q;  // an item's row is its own number
      q.conv = p;
      q.slots = p.batch;
      return launch_words<T>(context, q);
    }
    const std::int64_t rows = p.batch * p.channels;
    const NumberedBlocks shape = one_thread_each(rows, kDepthwiseThreads);
    launch("depthwise_update", context, shape, update_kernel<T>, p, rows);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
