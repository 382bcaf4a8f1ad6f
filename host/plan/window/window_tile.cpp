#include "host/plan/window/window_tile.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "core/integer_math.hpp"
#include "core/window_geometry.hpp"
#include "host/plan/window/window_cost.hpp"
#include "host/plan/window/window_tile_work.hpp"

namespace relayout::plan {
namespace {

/// More would leave too few blocks on a multiprocessor to hide each other's waits.
constexpr std::int64_t kMaxSharedBytes = 48 * 1024;
/// Words that the lanes of a block write at once.
constexpr std::int64_t kThreads = kWindowThreads;
/// Words of a line of positions beside others: two whole sectors.
constexpr std::int64_t kLineWords = 16;
constexpr std::int64_t kBankBytes = 128;  // of all banks together
constexpr std::int64_t kMaxUnitWords = 1024;
/// A tile begins up to a pack's width behind a boundary.
constexpr std::int64_t kPackBytes = 16;
/// Lines of no more elements are written one by one: most of their words would be cut.
constexpr std::int64_t kShortLine = 16;
/// So few rows of shared memory may lie a few elements off the pitch at which lanes meet in no bank.
constexpr std::int64_t kFewChannels = 4;
std::int64_t bytes_of(DType type) { return static_cast<std::int64_t>(size_of(type)); }
/// Elements of a word of 4 bytes, 1 of larger elements.
std::int64_t word_elements(DType type) { return std::max<std::int64_t>(1, 4 / bytes_of(type)); }

/// A tile of `channels` channels, without its positions.
class TileShape {
 public:
  /// limit: bytes of shared memory, which bound the positions of a unit.
  TileShape(const WindowParams& p, std::int64_t channels, std::int64_t limit)
      : p_(p),
        channels_(channels),
        pack_(
            window_fill_pack(static_cast<int>(bytes_of(p.in_type)), static_cast<int>(bytes_of(p.out_type)))),
        whole_(channels == p.channels),
        tap_inner_(p.order == WriteOrder::tap),
        layout_(find_layout()),
        lines_(is_short() ? WindowLines::elements : layout_),
        word_(lines_ == WindowLines::elements ? 1 : word_elements(p.out_type)) {
    const std::int64_t samples = limit / (bytes_of(p.out_type) * channels);
    choose_unit(samples > p.span() ? (samples - p.span()) / p.stride + 1 : 1);
    choose_fill();
  }

  /// Fills p's fields for so many units; false where they do not fit.
  bool make(std::int64_t units, std::int64_t limit, WindowParams& p) const {
    WindowTile& t = p.tile;
    const std::int64_t bytes = bytes_of(p_.out_type), most = limit / bytes;
    const std::int64_t span = p_.span(), before = before_;
    const std::int64_t positions = unit_ * units;
    // Asked without a product that could overflow.
    if (span > most || (positions + before > 1 && p_.stride > (most - span) / (positions + before - 1)))
      return false;
    const std::int64_t samples = (positions + before - 1) * p_.stride + span;
    const std::int64_t time_pitch = along_time_ ? 1 : row_pitch_;
    const std::int64_t channel_pitch = along_time_ ? pitch_of_channels(samples) : 1;
    const std::int64_t elements =
        along_time_ ? (channels_ - 1) * channel_pitch + samples : (samples - 1) * time_pitch + channels_;
    if (elements > most) return false;
    t.lines = lines_;
    t.fill = fill_;
    t.positions_before = static_cast<std::int32_t>(before);
    t.unit_positions = static_cast<std::int32_t>(unit_);
    t.units = static_cast<std::int32_t>(units);
    t.unit_words = static_cast<std::int32_t>(unit_words_);
    t.parallel_units = static_cast<std::int32_t>(std::max<std::int64_t>(1, kThreads / unit_words_));
    t.time_pitch = static_cast<std::int32_t>(time_pitch);
    t.channel_pitch = static_cast<std::int32_t>(channel_pitch);
    // To a unit that is not there no step is taken, and its product might overflow.
    t.unit_samples = units > 1 ? static_cast<std::int32_t>(unit_ * p_.stride * time_pitch) : 0;
    t.unit_out = units > 1 ? unit_ * p_.out_position : 0;
    const bool rows_along_time = channel_pitch != 1;
    t.row_step = rows_along_time ? p_.in_channel : p_.in_time;
    t.column_step = rows_along_time ? p_.in_time : p_.in_channel;
    t.tile_row_step = rows_along_time ? t.channel_pitch : t.time_pitch;
    t.tile_column_step = rows_along_time ? t.time_pitch : t.channel_pitch;
    p.tile_positions = static_cast<std::int32_t>(positions);
    p.tile_channels = static_cast<std::int32_t>(channels_);
    p.tile_samples = static_cast<std::int32_t>(samples);
    p.shared_bytes = elements * bytes + kPackBytes;
    return true;
  }

  /// What lies side by side in the output, whether or not the kernel makes use of it.
  WindowLines layout() const { return layout_; }

  void finish(WindowParams& p) const {
    WindowTile& t = p.tile;
    const auto divisor = [](std::int64_t value) {
      return make_divisor(static_cast<std::uint32_t>(std::max<std::int64_t>(1, value)));
    };
    const std::int64_t columns = channels_ * p.taps;
    t.by_unit_words = divisor(unit_words_);
    t.by_line_words = divisor(line_words_);
    t.by_unit = divisor(unit_);
    const std::int64_t of_elements = p.order == WriteOrder::position ? unit_ : columns;
    t.by_inner = divisor(lines_ == WindowLines::elements                                   ? of_elements
                         : lines_ == WindowLines::taps || lines_ == WindowLines::positions ? p.taps
                                                                                           : 1);
    t.by_row = divisor(columns);
    t.by_fastest = divisor(tap_inner_ ? p.taps : channels_);
  }

 private:
  WindowLines find_layout() const {
    const bool one_tap = p_.taps == 1;
    if (p_.order == WriteOrder::position && p_.out_position == 1) return WindowLines::positions;
    const std::int64_t columns = channels_ * p_.taps;
    bool row;  // the columns of the tile lie side by side
    if (tap_inner_) {
      row = p_.out_tap == 1 && (channels_ == 1 || p_.out_channel == p_.taps);
    } else {
      row = (p_.out_channel == 1 || channels_ == 1) && (one_tap || (whole_ && p_.out_tap == channels_));
    }
    if (row && whole_ && p_.out_position == columns) return WindowLines::stream;
    if (row && columns > 1) return WindowLines::rows;
    if (!tap_inner_ && p_.out_channel == 1 && channels_ > 1) return WindowLines::taps;
    return WindowLines::elements;
  }

  bool is_short() const {
    if (word_elements(p_.out_type) == 1 || !whole_) return false;
    return (layout_ == WindowLines::rows && channels_ * p_.taps <= kShortLine) ||
           (layout_ == WindowLines::taps && channels_ <= kShortLine);
  }

  /// The least positions after which the output's rows lie equally far from a word's boundary.
  std::int64_t period() const { return word_ / std::gcd(word_, std::abs(p_.out_position % word_)); }

  void choose_unit(std::int64_t most_positions) {
    const std::int64_t columns = channels_ * p_.taps;
    before_ = 0;
    if (lines_ == WindowLines::positions) {
      before_ = word_ - 1;
      const std::int64_t room = std::max(word_, (most_positions - before_) / word_ * word_);
      const std::int64_t line = columns < 8 ? kThreads / columns : kLineWords;
      unit_ = std::min({line * word_, room, round_up(p_.positions + before_, word_)});
      line_words_ = unit_ / word_;
      unit_words_ = columns * line_words_;
      return;
    }
    const bool alone = lines_ == WindowLines::elements;
    const std::int64_t least = alone ? 1 : period();
    std::int64_t words;  // of the least unit
    if (lines_ == WindowLines::stream) {
      before_ = divide_up(word_ - 1, columns);
      words = least * columns / word_;
    } else {
      const std::int64_t line = lines_ == WindowLines::taps ? channels_ : columns;
      line_words_ = alone ? 1 : word_ > 1 ? (line + word_ - 2) / word_ + 1 : line;
      words = least * line_words_ * (alone ? columns : lines_ == WindowLines::taps ? p_.taps : 1);
    }
    // As many as leave the fewest threads without a word.
    const std::int64_t most = std::max<std::int64_t>(
        1, std::min(divide_up(p_.positions + before_, least), (most_positions - before_) / least));
    std::int64_t chosen = 1;
    double best = 0;
    for (std::int64_t wanted = kThreads; wanted <= kMaxUnitWords; wanted *= 2) {
      const std::int64_t count = std::clamp<std::int64_t>(wanted / words, 1, most), all = count * words;
      const double share = all <= kThreads
                               ? static_cast<double>(kThreads / all * all) / kThreads
                               : static_cast<double>(all) / static_cast<double>(round_up(all, kThreads));
      if (share > best + 0.05) {
        best = share;
        chosen = count;
      }
    }
    unit_ = chosen * least;
    unit_words_ = chosen * words;
    if (lines_ == WindowLines::stream) line_words_ = unit_words_;
  }

  void choose_fill() {
    const std::int64_t in_bytes = bytes_of(p_.in_type);
    // Lanes that do not run along the rows of shared memory want these to be an odd number of banks apart.
    const bool odd = tap_inner_ || lines_ == WindowLines::positions;
    along_time_ = false;
    row_pitch_ = odd ? channels_ | 1 : channels_;
    if (p_.in_time == 1 && (channels_ == 1 || p_.in_channel != 1)) {
      along_time_ = true;
      fill_ = WindowFill::time;
    } else if (p_.in_channel == 1 || channels_ == 1) {
      const bool narrow = channels_ * in_bytes < 16;
      const bool dense = p_.in_channel == 1 && p_.in_time >= channels_ && 3 * p_.in_time <= 4 * channels_;
      if (whole_ && dense && (!odd || narrow || p_.in_time % 2 != 0)) {
        fill_ = WindowFill::flat;
        row_pitch_ = p_.in_time;
      } else {
        fill_ = narrow ? WindowFill::elements : WindowFill::channels;
        if (!odd) row_pitch_ += ((p_.in_time - channels_) % pack_ + pack_) % pack_;
        along_time_ = narrow && channels_ == 1;
      }
    } else {
      fill_ = WindowFill::elements;
      along_time_ = std::abs(p_.in_time) <= std::abs(p_.in_channel);
    }
  }

  /// Elements from channel to channel where samples lie side by side: so that lanes along channels, and along
  /// the taps of several channels, hit different banks.
  std::int64_t pitch_of_channels(std::int64_t samples) const {
    // So that packs of the input become packs of the tile.
    const auto alike = [&](std::int64_t pitch) {
      return pitch + ((p_.in_channel - pitch) % pack_ + pack_) % pack_;
    };
    if (channels_ == 1 || lines_ == WindowLines::positions) return alike(samples);
    const std::int64_t banks = kBankBytes / std::min<std::int64_t>(4, bytes_of(p_.out_type));
    std::int64_t wanted;
    if (tap_inner_) {
      wanted = p_.taps * p_.dilation;
      if (p_.dilation % 2 == 0) ++wanted;
    } else {
      wanted = std::max<std::int64_t>(1, banks / channels_ * (p_.taps > 1 ? p_.dilation : 1)) | 1;
    }
    wanted %= banks;
    const std::int64_t pitch = samples + (wanted - samples % banks + banks) % banks;
    const bool stays_odd = !tap_inner_ && p_.in_channel % 2 != 0;
    return channels_ <= kFewChannels || stays_odd ? alike(pitch) : pitch;
  }

  const WindowParams& p_;
  const std::int64_t channels_, pack_;
  const bool whole_, tap_inner_;
  const WindowLines layout_, lines_;
  const std::int64_t word_;
  WindowFill fill_ = WindowFill::elements;
  bool along_time_ = false;
  std::int64_t before_ = 0, unit_ = 1, line_words_ = 1, unit_words_ = 1, row_pitch_ = 1;
};

std::int64_t shared_limit(const DeviceProperties& device) {
  return std::min(kMaxSharedBytes, device.shared_memory_per_block) - kPackBytes;
}

/// Calls consider(choice) for each tile that fits.
template <class Consider>
void for_each_tile(const DeviceProperties& device, const WindowParams& p, Consider&& consider) {
  const WindowTuning& tuning = window_tuning(device);
  const std::int64_t limit = shared_limit(device);
  WindowParams trial = p;
  bool found = false;
  const auto try_channels = [&](std::int64_t channels) {
    const TileShape shape(p, channels, limit);
    for (std::int64_t units = 1; shape.make(units, limit, trial); units *= 2) {
      const WindowWork work = window_tile_work(tuning, trial, shape.layout());
      consider(WindowTileChoice{channels, units, predicted_microseconds(tuning, device, work)});
      found = true;
      if (trial.tile_positions >= p.positions + trial.tile.positions_before) break;
    }
  };
  try_channels(p.channels);
  for (std::int64_t channels = 256; channels >= 1; channels /= 2) {
    if (channels < p.channels && (channels >= 16 || !found)) try_channels(channels);
  }
}

}  // namespace

double choose_window_tile(const DeviceProperties& device, WindowParams& p) {
  WindowTileChoice best;
  best.microseconds = -1;
  for_each_tile(device, p, [&](const WindowTileChoice& choice) {
    if (best.microseconds < 0 || choice.microseconds < best.microseconds) best = choice;
  });
  if (best.microseconds >= 0) set_window_tile(device, best, p);
  return best.microseconds;
}

std::vector<WindowTileChoice> window_tiles(const DeviceProperties& device, const WindowParams& p) {
  std::vector<WindowTileChoice> choices;
  for_each_tile(device, p, [&](const WindowTileChoice& choice) { choices.push_back(choice); });
  std::stable_sort(choices.begin(), choices.end(), [](const WindowTileChoice& a, const WindowTileChoice& b) {
    return a.microseconds < b.microseconds;
  });
  return choices;
}

void set_window_tile(const DeviceProperties& device, const WindowTileChoice& choice, WindowParams& p) {
  const std::int64_t limit = shared_limit(device);
  const TileShape shape(p, choice.channels, limit);
  shape.make(choice.units, limit, p);
  shape.finish(p);
}

}  // namespace relayout::plan
