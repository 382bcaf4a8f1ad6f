// Depthwise conv1d on the processor: lines of samples are widened to f32 in the cache, summed, activated and
// rounded from there. Each input element is read once (plus the samples before a line, from the cache) and
// each output element written once.
#include <algorithm>
#include <type_traits>

#include "core/integer_math.hpp"
#include "host/cpu/convert.hpp"
#include "host/cpu/depthwise/depthwise_row.hpp"
#include "host/cpu/depthwise/depthwise_sums.hpp"
#include "host/cpu/native_table.hpp"
#include "host/cpu/parallel.hpp"
#include "host/cpu/scratch.hpp"
#include "host/cpu/streaming.hpp"

namespace relayout::native {
namespace {

/// How many outputs of a line along time are computed at a time, and how many taps.
constexpr std::int64_t kLine = 1024, kTapBlock = 256;
/// The f32 numbers of a ring of rows (and of the weights for it), and the times that one item of work covers.
constexpr std::int64_t kRing = 7168, kWalk = 1024;
/// How many channels walk together, so that the ring and the weights stay in the first-level cache, and how
/// far ahead of them samples are prefetched.
constexpr std::int64_t kWidth = 256, kTimesAhead = 8;
constexpr std::int64_t kMaxRingTaps = kRing / 16 - (kTimesAtOnce - 1);

/// Rounds a contiguous row of sums into the output.
template <class T>
void store_row(const float* sums, T* out, std::int64_t count, bool streamed) {
  if (!streamed) return convert_row(sums, out, count);
  T rounded[kRing / kTimesAtOnce];
  static_assert(kRing / kTimesAtOnce >= kLine);
  convert_row(sums, rounded, count);
  stream_row(out, rounded, count * static_cast<std::int64_t>(sizeof(T)));
}

/// Outputs [begin, begin + count) of a row, count <= kLine.
template <class T>
void convolve_line(const DepthwiseParams& p, std::int64_t batch, std::int64_t channel, std::int64_t begin,
                   std::int64_t count) {
  const DepthwiseSums& add = depthwise_sums();
  const Row<T> row(p, batch, channel);
  float samples[kTapBlock - 1 + kLine], sums[kLine], weights[kTapBlock];
  for (std::int64_t first = 0; first < p.taps; first += kTapBlock) {
    const std::int64_t taps = std::min(kTapBlock, p.taps - first), oldest = begin - first - (taps - 1);
    row.widen(p, oldest, begin - first + count, samples);
    for (std::int64_t d = 0; d < taps; ++d) weights[d] = weight(p, channel, first + d);
    if constexpr (std::is_same_v<T, f16>) {
      if (p.taps <= kTapsAtOnce && !p.silu && p.out_time == 1 && add.along_time_to_f16 != nullptr)
        return add.along_time_to_f16(row.out + begin, samples + (taps - 1), weights, static_cast<int>(taps),
                                     bias(p, channel), is_streamed<T>(p), count);
    }
    for (std::int64_t d = 0; d < taps; d += kTapsAtOnce) {
      const int part = static_cast<int>(std::min<std::int64_t>(kTapsAtOnce, taps - d));
      add.along_time(sums, samples + (taps - 1 - d), weights + d, part, bias(p, channel),
                     {first + d == 0, first + d + part == p.taps}, count);
    }
  }
  if (p.silu) add.silu(sums, count);
  if (p.out_time == 1) {
    store_row(sums, row.out + begin, count, is_streamed<T>(p));
  } else {
    convert_strided(sums, 1, row.out + begin * p.out_time, p.out_time, count);
  }
}

template <class T>
void convolve_along_time(const DepthwiseParams& p) {
  const std::int64_t lines = divide_up(p.length, kLine);
  parallel_ranges(p.batch * p.channels * lines, p.batch * p.channels * p.length,
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t item = begin; item < end; ++item) {
                      const std::int64_t row = item / lines, first = item % lines * kLine;
                      convolve_line<T>(p, row / p.channels, row % p.channels, first,
                                       std::min(kLine, p.length - first));
                    }
                    finish_streams();
                  });
}

/// The f32 numbers of a walk, and where their rows begin.
struct WalkRoom {
  alignas(64) float ring[2 * kRing], weights[2 * kRing], biases[kRing], sums[2 * kRing];
  const float *rows[kRing / 16], *weight_rows[kRing / 16];
};

/// Channels are the fast axis. `count` channels from `channel` on walk through time, kTimesAtOnce times at
/// once; a ring of rows holds the samples that their taps reach.
template <class T>
class ChannelWalk {
 public:
  ChannelWalk(const DepthwiseParams& p, std::int64_t batch, std::int64_t channel, std::int64_t count,
              WalkRoom& room)
      : p_(p),
        room_(room),
        batch_(batch),
        channel_(channel),
        count_(count),
        pitch_(count + 16),
        slots_(p.taps + kTimesAtOnce - 1),
        first_(p, batch, channel),
        streamed_(is_streamed<T>(p)) {
    for (std::int64_t d = 0; d < p.taps; ++d) {
      room_.weight_rows[d] = room_.weights + d * pitch_;
      for (std::int64_t i = 0; i < count; ++i) room_.weights[d * pitch_ + i] = weight(p, channel + i, d);
    }
    for (std::int64_t i = 0; i < count; ++i) room_.biases[i] = bias(p, channel + i);
  }

  void run(std::int64_t begin, std::int64_t end) {
    for (std::int64_t time = begin - (p_.taps - 1); time < begin; ++time) push(time);
    std::int64_t time = begin;
    for (; time + kTimesAtOnce <= end; time += kTimesAtOnce) step(time, kTimesAtOnce);
    for (; time < end; ++time) step(time, 1);
  }

 private:
  /// Widens the samples of a time into the slot of the oldest time.
  void push(std::int64_t time) {
    newest_ = newest_ + 1 == slots_ ? 0 : newest_ + 1;
    float* row = room_.ring + newest_ * pitch_;
    if (time >= 0) {
      if (time + kTimesAhead < p_.length) {
        const auto* next = reinterpret_cast<const char*>(first_.in + (time + kTimesAhead) * p_.in_time);
        for (std::int64_t at = 0; at < count_ * static_cast<std::int64_t>(sizeof(T)); at += kLineBytes)
          __builtin_prefetch(next + at, 0, 2);
      }
      return convert_row(first_.in + time * p_.in_time, row, count_);
    }
    for (std::int64_t i = 0; i < count_; ++i)
      row[i] = to_float(Row<T>(p_, batch_, channel_ + i).at(p_, time));
  }
  void step(std::int64_t time, int times) {
    const DepthwiseSums& add = depthwise_sums();
    for (int j = 0; j < times; ++j) push(time + j);
    for (std::int64_t m = 0, slot = newest_; m < p_.taps + times - 1; ++m) {
      room_.rows[m] = room_.ring + slot * pitch_;
      slot = slot == 0 ? slots_ - 1 : slot - 1;
    }
    if constexpr (std::is_same_v<T, f16>) {
      if (p_.taps <= kTapsAtOnce && !p_.silu && add.rows_to_f16 != nullptr) return sum_to_f16(time, times);
    }
    for (std::int64_t d = 0; d < p_.taps; d += kTapsAtOnce) {
      const int part = static_cast<int>(std::min<std::int64_t>(kTapsAtOnce, p_.taps - d));
      add.rows(room_.sums, pitch_, times, room_.rows + d, room_.weight_rows + d, part, room_.biases,
               {d == 0, d + part == p_.taps}, count_);
    }
    for (int j = 0; j < times; ++j) {
      float* sums = room_.sums + j * pitch_;
      if (p_.silu) add.silu(sums, count_);
      store_row(sums, first_.out + (time + j) * p_.out_time, count_, streamed_);
    }
  }

  /// Sums all taps at once, then rounds and stores from registers.
  void sum_to_f16(std::int64_t time, int times) {
    T* out[kTimesAtOnce];
    bool streamed = streamed_;
    for (int j = 0; j < times; ++j) {
      out[j] = first_.out + (time + j) * p_.out_time;
      streamed &= reinterpret_cast<std::uintptr_t>(out[j]) % 16 == 0;
    }
    depthwise_sums().rows_to_f16(out, times, room_.rows, room_.weight_rows, static_cast<int>(p_.taps),
                                 room_.biases, streamed, count_);
  }

  const DepthwiseParams& p_;
  WalkRoom& room_;
  // Rows a power of two apart would fall on the same lines of the cache, hence count + 16.
  std::int64_t batch_, channel_, count_, pitch_, slots_, newest_ = 0;
  Row<T> first_;
  bool streamed_;
};

template <class T>
void convolve_along_channels(const DepthwiseParams& p) {
  const std::int64_t width = std::min({p.channels, kWidth, kRing / (p.taps + kTimesAtOnce - 1) / 16 * 16});
  const std::int64_t blocks = divide_up(p.channels, width), walks = divide_up(p.length, kWalk);
  parallel_ranges_in<WalkRoom>(p.batch * walks * blocks, p.batch * p.channels * p.length,
                               [&](std::int64_t begin, std::int64_t end, WalkRoom& room) {
                                 for (std::int64_t item = begin; item < end; ++item) {
                                   const std::int64_t channel = item % blocks * width, walk = item / blocks;
                                   const std::int64_t time = walk % walks * kWalk;
                                   ChannelWalk<T> channels(p, walk / walks, channel,
                                                           std::min(width, p.channels - channel), room);
                                   channels.run(time, std::min(p.length, time + kWalk));
                                 }
                                 finish_streams();
                               });
}

/// With sequence ids, one output is computed at a time.
template <class T>
void convolve_sequences(const DepthwiseParams& p) {
  const DepthwiseSums& add = depthwise_sums();
  parallel_rows(p, p.batch * p.channels * p.length, [&](std::int64_t batch, std::int64_t channel) {
    const Row<T> row(p, batch, channel);
    const std::int32_t* ids = p.ids + batch * p.id_batch;
    for (std::int64_t time = 0; time < p.length; ++time) {
      const std::int32_t id = ids[time * p.id_time];
      float sum = 0.0f;
      for (std::int64_t d = 0; d < p.taps; ++d) {
        const std::int64_t source = time - d;
        const bool counts = source >= 0 && ids[source * p.id_time] == id;
        const float sample = counts ? to_float(row.in[source * p.in_time]) : 0.0f, w = weight(p, channel, d);
        add.along_time(&sum, &sample, &w, 1, bias(p, channel), {d == 0, d + 1 == p.taps}, 1);
      }
      if (p.silu) add.silu(&sum, 1);
      row.out[time * p.out_time] = id < 0 ? T{} : convert<T>(sum);
    }
  });
}

template <class T>
void store_final_state(const DepthwiseParams& p) {
  const std::int64_t columns = p.taps - 1;
  parallel_rows(p, p.batch * p.channels * columns, [&](std::int64_t batch, std::int64_t channel) {
    const Row<T> row(p, batch, channel);
    T* state = state_of<T>(p, batch, channel);
    for (std::int64_t s = 0; s < columns; ++s) state[s * p.state_time] = row.at(p, p.length - columns + s);
  });
}

template <class T>
void run_depthwise(const DepthwiseParams& p) {
  const bool channels_fast = p.in_channel == 1 && p.out_channel == 1 && p.channels >= 16 && p.in_time != 1;
  if (p.ids != nullptr) {
    convolve_sequences<T>(p);
  } else if (channels_fast && p.taps <= kMaxRingTaps) {
    convolve_along_channels<T>(p);
  } else {
    convolve_along_time<T>(p);
  }
  if (p.state != nullptr) store_final_state<T>(p);
}

template <class T>
void run_update(const DepthwiseParams& p) {
  const std::int64_t elements = p.batch * p.channels * p.length * std::min(p.taps, kSerialElements);
  const auto update = [&](std::int64_t batch, std::int64_t channel) {
    for (std::int64_t time = 0; time < p.length; time += kLine)
      convolve_line<T>(p, batch, channel, time, std::min(kLine, p.length - time));
    const Row<T> row(p, batch, channel);
    T* state = state_of<T>(p, batch, channel);
    for (std::int64_t s = 0; s < p.state_length; ++s) {
      const std::int64_t sample = s + p.length - p.state_length;
      state[s * p.state_time] = sample >= 0 ? row.at(p, sample) : state[(s + p.length) * p.state_time];
    }
  };
  parallel_ranges(p.batch * p.channels, elements, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) update(row / p.channels, row % p.channels);
    finish_streams();
  });
}

}  // namespace

void depthwise(const LaunchContext& /*context*/, const DepthwiseParams& params) {
  with_signal_type(params.type, [&](auto element) {
    using T = decltype(element);
    return params.update ? run_update<T>(params) : run_depthwise<T>(params);
  });
}

}  // namespace relayout::native
