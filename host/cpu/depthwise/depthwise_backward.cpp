// The depthwise backward pass on the processor. A block of time of one channel, or of some channels where
// these are the fast axis, is widened to lines of f32 along time in the cache; all sums run along them. Each
// element of the input and of both gradients moves once, but for the taps-1 samples around a block. The sums
// of each block for weights and bias go to the workspace and are then added in the blocks' order, so that
// the number of threads changes no bit.
#include <algorithm>
#include <new>

#include "core/depthwise_backward_params.hpp"
#include "core/integer_math.hpp"
#include "host/cpu/convert.hpp"
#include "host/cpu/copy/micro_transpose.hpp"
#include "host/cpu/depthwise/depthwise_row.hpp"
#include "host/cpu/depthwise/depthwise_sums.hpp"
#include "host/cpu/native_table.hpp"
#include "host/cpu/parallel.hpp"
#include "host/cpu/scratch.hpp"

namespace relayout::native {
namespace {

/// Channels whose lines are made together where channels are the fast axis, but with so many taps that the
/// lines would not fit the cache.
constexpr std::int64_t kWidth = 16, kManyTaps = 48;
/// Times whose rows of channels are transposed at once.
constexpr std::int64_t kTimes = 64;
/// Sums of blocks that are added beside each other.
constexpr std::int64_t kNumbers = 256;

/// Strides of a signal of elements T.
template <class T>
struct Signal {
  T* data;
  std::int64_t batch, channel, time;
  T* at(std::int64_t b, std::int64_t c, std::int64_t t) const {
    return data + b * batch + c * channel + t * time;
  }
};

/// Room for one block: three lines for each channel, the weights by distance and from the oldest on.
struct ChannelLines {
  std::int64_t width, pitch, taps;
  float *samples, *gradients, *sums, *weights, *oldest_first;

  static std::int64_t numbers(std::int64_t width, std::int64_t pitch, std::int64_t taps) {
    return 3 * width * pitch + round_up(2 * taps, 16);
  }
  ChannelLines(float* room, std::int64_t width_, std::int64_t pitch_, std::int64_t taps_)
      : width(width_),
        pitch(pitch_),
        taps(taps_),
        samples(room),
        gradients(samples + width * pitch),
        sums(gradients + width * pitch),
        weights(sums + width * pitch),
        oldest_first(weights + taps) {}
};

/// sums[i] = (sum over d < taps of weights[d] * newest[i - d]) + bias.
void sum_taps(float* sums, const float* newest, const float* weights, std::int64_t taps, float bias,
              std::int64_t count) {
  for (std::int64_t d = 0; d < taps; d += kTapsAtOnce) {
    const int part = static_cast<int>(std::min<std::int64_t>(kTapsAtOnce, taps - d));
    depthwise_sums().along_time(sums, newest - d, weights + d, part, bias, {d == 0, d + part == taps}, count);
  }
}

template <class T>
class BackwardBlock {
 public:
  /// Block `block` of all: channels first, then blocks of time.
  BackwardBlock(const DepthwiseBackwardParams& p, const ChannelLines& lines, std::int64_t block)
      : p_(p), f_(p.forward), lines_(lines), older_(p.forward.taps - 1) {
    const std::int64_t groups = divide_up(f_.channels, lines.width);
    const std::int64_t blocks = std::max<std::int64_t>(p.time_blocks(), 1);
    channel_ = block % groups * lines.width;
    count_ = std::min(lines.width, f_.channels - channel_);
    block_ = block / groups;
    batch_ = block_ / blocks;
    begin_ = block_ % blocks * p.tile_times;
    end_ = std::min(f_.length, begin_ + p.tile_times);
    reach_ = std::min(f_.length, end_ + older_);
    if (f_.ids != nullptr) ids_ = f_.ids + batch_ * f_.id_batch;
  }

  void run() const {
    load({static_cast<const T*>(f_.in), f_.in_batch, f_.in_channel, f_.in_time}, begin_ - older_,
         lines_.samples);
    load({static_cast<const T*>(p_.d_out), p_.d_out_batch, p_.d_out_channel, p_.d_out_time}, begin_,
         lines_.gradients);
    for (std::int64_t i = 0; i < count_; ++i) {
      const std::int64_t channel = channel_ + i;
      for (std::int64_t d = 0; d <= older_; ++d) {
        lines_.weights[d] = weight(f_, channel, d);
        lines_.oldest_first[older_ - d] = lines_.weights[d];
      }
      float* const samples = lines_.samples + i * lines_.pitch;
      float* const g = lines_.gradients + i * lines_.pitch;
      float* const sums = lines_.sums + i * lines_.pitch;
      for (std::int64_t time = begin_ - older_; time < std::min<std::int64_t>(0, reach_); ++time)
        samples[time - (begin_ - older_)] = to_float(Row<T>(f_, batch_, channel).at(f_, time));
      make_g(channel, samples, sums, g);
      store_sums(channel, samples, g);
      sum_d_samples(g, sums);
      if (p_.d_final != nullptr) add_final(channel, begin_, end_, sums);
      if (p_.d_initial != nullptr && begin_ == 0) store_d_initial(channel, g);
    }
    store();
  }

 private:
  std::int64_t line_bytes() const { return lines_.pitch * static_cast<std::int64_t>(sizeof(float)); }
  std::int32_t id(std::int64_t time) const { return ids_[time * f_.id_time]; }
  /// Padding, whose ids are negative, is no sequence.
  bool counts(std::int64_t time, std::int64_t source) const {
    return source >= 0 && id(time) >= 0 && id(source) == id(time);
  }

  /// Widens times [first, reach) that the signal has.
  void load(const Signal<const T>& signal, std::int64_t first, float* lines) const {
    const std::int64_t from = std::max<std::int64_t>(first, 0);
    if (lines_.width == 1)
      return convert_strided(signal.at(batch_, channel_, from), signal.time, lines + (from - first), 1,
                             std::max<std::int64_t>(reach_ - from, 0));
    const TransposeBlock transpose = transpose_block(sizeof(float));
    for (std::int64_t time = from; time < reach_; time += kTimes) {
      float rows[kTimes][kWidth];
      const std::int64_t times = std::min(kTimes, reach_ - time);
      for (std::int64_t t = 0; t < times; ++t)
        convert_row(signal.at(batch_, channel_, time + t), rows[t], count_);
      transpose({reinterpret_cast<const char*>(rows), sizeof rows[0]},
                {reinterpret_cast<char*>(lines + (time - first)), line_bytes()}, count_, times);
    }
  }

  /// Turns the gradients of the outputs into g; zeros behind the signal's end.
  void make_g(std::int64_t channel, const float* samples, float* sums, float* g) const {
    const std::int64_t count = reach_ - begin_;
    if (f_.silu) {
      if (ids_ == nullptr) {
        sum_taps(sums, samples + older_, lines_.weights, f_.taps, bias(f_, channel), count);
      } else {
        for (std::int64_t t = 0; t < count; ++t) {
          sums[t] = 0.0f;
          for (std::int64_t d = 0; d <= older_; ++d)
            if (counts(begin_ + t, begin_ + t - d)) sums[t] += lines_.weights[d] * samples[older_ + t - d];
          sums[t] += bias(f_, channel);
        }
      }
      depthwise_sums().silu_gradient(g, sums, count);
    }
    if (ids_ != nullptr)
      for (std::int64_t t = 0; t < count; ++t)
        if (id(begin_ + t) < 0) g[t] = 0.0f;
    std::fill(g + count, g + (end_ - begin_) + older_, 0.0f);
  }

  void store_sums(std::int64_t channel, const float* samples, const float* g) const {
    if (p_.sums == nullptr) return;
    const std::int64_t count = end_ - begin_;
    float* const out = p_.sums + block_ * (f_.taps + 1) * f_.channels + channel;
    for (std::int64_t d = 0; d <= older_; ++d) {
      float sum = 0.0f;
      if (ids_ == nullptr) {
        sum = depthwise_sums().dot(g, samples + older_ - d, count);
      } else {
        // A sample that does not count is 0, and multiplied as one: where g is infinite, kernels and native
        // code give the same NaN.
        for (std::int64_t t = 0; t < count; ++t)
          sum += g[t] * (counts(begin_ + t, begin_ + t - d) ? samples[older_ + t - d] : 0.0f);
      }
      out[d * f_.channels] = sum;
    }
    out[f_.taps * f_.channels] = depthwise_sums().dot(g, nullptr, count);
  }

  void sum_d_samples(const float* g, float* sums) const {
    const std::int64_t count = end_ - begin_;
    if (ids_ == nullptr) return sum_taps(sums, g + older_, lines_.oldest_first, f_.taps, 0.0f, count);
    for (std::int64_t t = 0; t < count; ++t) {
      sums[t] = 0.0f;
      for (std::int64_t d = 0; d <= older_ && begin_ + t + d < reach_; ++d)
        if (counts(begin_ + t + d, begin_ + t)) sums[t] += lines_.weights[d] * g[t + d];
    }
  }

  /// Adds the gradients of the final state to those of the samples [from, to), the first of which is sums[0].
  void add_final(std::int64_t channel, std::int64_t from, std::int64_t to, float* sums) const {
    const Signal<const T> state{static_cast<const T*>(p_.d_final), p_.d_final_batch, p_.d_final_channel,
                                p_.d_final_time};
    for (std::int64_t time = std::max(from, f_.length - older_); time < to; ++time)
      sums[time - from] += to_float(*state.at(batch_, channel, time - (f_.length - older_)));
  }

  void store_d_initial(std::int64_t channel, const float* g) const {
    const Signal<T> state{static_cast<T*>(p_.d_initial), p_.d_initial_batch, p_.d_initial_channel,
                          p_.d_initial_time};
    for (std::int64_t time = -older_; time < 0; ++time) {
      float sum = 0.0f;
      for (std::int64_t d = -time; d <= older_ && time + d < f_.length; ++d)
        sum += lines_.weights[d] * g[time + d];
      if (p_.d_final != nullptr) add_final(channel, time, time + 1, &sum);
      *state.at(batch_, channel, time + older_) = convert<T>(sum);
    }
  }

  /// Rounds the sums into d_in.
  void store() const {
    const Signal<T> d_in{static_cast<T*>(p_.d_in), p_.d_in_batch, p_.d_in_channel, p_.d_in_time};
    if (lines_.width == 1)
      return convert_strided(static_cast<const float*>(lines_.sums), 1, d_in.at(batch_, channel_, begin_),
                             d_in.time, end_ - begin_);
    const TransposeBlock transpose = transpose_block(sizeof(float));
    for (std::int64_t time = begin_; time < end_; time += kTimes) {
      float rows[kTimes][kWidth];
      const std::int64_t times = std::min(kTimes, end_ - time);
      transpose({reinterpret_cast<const char*>(lines_.sums + (time - begin_)), line_bytes()},
                {reinterpret_cast<char*>(rows), sizeof rows[0]}, times, count_);
      for (std::int64_t t = 0; t < times; ++t)
        convert_row(static_cast<const float*>(rows[t]), d_in.at(batch_, channel_, time + t), count_);
    }
  }

  const DepthwiseBackwardParams& p_;
  const DepthwiseParams& f_;
  const ChannelLines& lines_;
  std::int64_t older_, channel_ = 0, count_ = 0, block_ = 0, batch_ = 0, begin_ = 0, end_ = 0, reach_ = 0;
  const std::int32_t* ids_ = nullptr;
};

template <class T>
void run_blocks(const DepthwiseBackwardParams& p) {
  const DepthwiseParams& f = p.forward;
  const bool channels_fast = f.in_channel == 1 && p.d_out_channel == 1 && p.d_in_channel == 1 &&
                             f.in_time != 1 && f.channels >= kWidth && f.taps <= kManyTaps;
  const std::int64_t width = channels_fast ? kWidth : 1;
  // ChannelLines a power of two apart would fall on the same lines of the cache, hence 16 more.
  const std::int64_t pitch = round_up(std::min(p.tile_times, f.length) + 2 * (f.taps - 1), 16) + 16;
  const std::int64_t room = ChannelLines::numbers(width, pitch, f.taps);
  const std::int64_t blocks =
      f.batch * std::max<std::int64_t>(p.time_blocks(), 1) * divide_up(f.channels, width);
  const std::int64_t elements = f.batch * f.channels * f.length;
  const std::int64_t threads = std::max<std::int64_t>(threads_for(blocks, elements), 1);
  constexpr std::int64_t kMax = std::int64_t{1} << 48;  // beyond, sizes might not fit 64 bits
  if (room > kMax / threads) throw std::bad_alloc();
  const Scratch rooms(static_cast<std::size_t>(threads * room) * sizeof(float));
  parallel_parts(blocks, elements, [&](std::int64_t part, std::int64_t begin, std::int64_t end) {
    const ChannelLines lines(reinterpret_cast<float*>(rooms.data()) + part * room, width, pitch, f.taps);
    for (std::int64_t block = begin; block < end; ++block) BackwardBlock<T>(p, lines, block).run();
  });
}

void store_number(void* base, DType type, std::int64_t offset, float value) {
  if (type == DType::f16) {
    static_cast<f16*>(base)[offset] = convert<f16>(value);
  } else if (type == DType::bf16) {
    static_cast<bf16*>(base)[offset] = convert<bf16>(value);
  } else {
    static_cast<float*>(base)[offset] = value;
  }
}

/// Adds the sums of all blocks in their order.
void add_blocks(const DepthwiseBackwardParams& p) {
  const DepthwiseParams& f = p.forward;
  const std::int64_t numbers = (f.taps + 1) * f.channels;
  const std::int64_t blocks = p.sums == nullptr ? 0 : p.sum_blocks();
  parallel_ranges(divide_up(numbers, kNumbers), numbers * std::max<std::int64_t>(blocks, 1),
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t first = begin * kNumbers; first < std::min(end * kNumbers, numbers);
                         first += kNumbers) {
                      const std::int64_t count = std::min(kNumbers, numbers - first);
                      float sums[kNumbers] = {};
                      for (std::int64_t block = 0; block < blocks; ++block)
                        for (std::int64_t i = 0; i < count; ++i)
                          sums[i] += p.sums[block * numbers + first + i];
                      for (std::int64_t i = 0; i < count; ++i) {
                        const std::int64_t row = (first + i) / f.channels, channel = (first + i) % f.channels;
                        if (row == f.taps) {
                          if (p.d_bias != nullptr)
                            store_number(p.d_bias, p.d_bias_type, channel * p.d_bias_channel, sums[i]);
                        } else if (p.d_weights != nullptr) {
                          store_number(p.d_weights, p.d_weights_type,
                                       channel * p.d_weight_channel + (f.taps - 1 - row) * p.d_weight_tap,
                                       sums[i]);
                        }
                      }
                    }
                  });
}

}  // namespace

void depthwise_backward(const LaunchContext& /*context*/, const DepthwiseBackwardParams& p) {
  if (p.kernel == DepthwiseBackwardKernel::nothing) return;
  if (p.forward.batch > 0 && p.forward.channels > 0 && (p.forward.length > 0 || p.wants_initial))
    with_signal_type(p.forward.type, [&](auto element) { run_blocks<decltype(element)>(p); });
  if (p.wants_sums) add_blocks(p);
}

}  // namespace relayout::native
