#include "host/plan/window/window_tile.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "core/integer_math.hpp"
#include "core/sector.hpp"
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
/// A tile begins up to a pack's width behind a boundary.
constexpr std::int64_t kPackBytes = 16;
/// Lines of no more elements are written one by one: most of their words would be cut.
constexpr std::int64_t kShortLine = 16;
/// Words of a unit that lines on sectors may make necessary, of which a thread then finds four.
constexpr std::int64_t kMaxLeastWords = 4 * kWindowThreads;
/// Words of a line of positions where units lie one behind the other along channels.
constexpr std::int64_t kLongLineWords = 32;
/// So few rows of shared memory may lie a few elements off the pitch at which lanes meet in no bank.
constexpr std::int64_t kFewChannels = 4;
std::int64_t bytes_of(DType type) { return static_cast<std::int64_t>(size_of(type)); }
/// Elements of a word of 4 bytes, 1 of larger elements.
std::int64_t word_elements(DType type) { return std::max<std::int64_t>(1, 4 / bytes_of(type)); }

/// The least number of steps after which as many elements lie equally far from a multiple of `boundary`.
std::int64_t period_of(std::int64_t step, std::int64_t boundary) {
  return boundary / std::gcd(boundary, std::abs(step % boundary));
}

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
    if (lines_ == WindowLines::positions) {
      const std::int64_t period = period_of(p.out_channel, word_);
      if (channels >= 4 * period) unit_channels_ = period;
    }
    const std::int64_t samples = limit / (bytes_of(p.out_type) * channels);
    const std::int64_t most_positions = samples > p.span() ? (samples - p.span()) / p.stride + 1 : 1;
    align_lines(most_positions);
    choose_positions(most_positions);
    choose_fill();
  }

  /// Fills p's fields for so many times the least positions; false where they do not fit.
  bool make(std::int64_t multiple, std::int64_t limit, WindowParams& p) const {
    WindowTile& t = p.tile;
    const std::int64_t bytes = bytes_of(p_.out_type), most = limit / bytes;
    const std::int64_t span = p_.span(), before = before_;
    const Units units = units_for(multiple);
    const std::int64_t positions = unit_channels_ > 0 ? units.positions : units.positions * units.count;
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
    t.unit_positions = static_cast<std::int32_t>(units.positions);
    t.unit_channels = static_cast<std::int32_t>(unit_channels_);
    t.units = static_cast<std::int32_t>(units.count);
    t.unit_words = static_cast<std::int32_t>(units.words);
    t.parallel_units = static_cast<std::int32_t>(parallel(units.words));
    t.line_alignment = static_cast<std::int32_t>(alignment_);
    t.out_alignment = static_cast<std::int32_t>(exact_ && alignment_ > 1 ? alignment_ * bytes : 1);
    t.time_pitch = static_cast<std::int32_t>(time_pitch);
    t.channel_pitch = static_cast<std::int32_t>(channel_pitch);
    // To a unit that is not there no step is taken, and its product might overflow.
    t.unit_samples = 0;
    t.unit_out = 0;
    if (units.count > 1) {
      t.unit_samples = static_cast<std::int32_t>(
          unit_channels_ > 0 ? unit_channels_ * channel_pitch : units.positions * p_.stride * time_pitch);
      t.unit_out = unit_channels_ > 0 ? unit_channels_ * p_.out_channel : units.positions * p_.out_position;
    }
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

  /// Whether no two warps write parts of one sector: all words of a line begin as far behind one as its
  /// first.
  bool on_sectors() const {
    const std::int64_t sector = std::max(word_, kSectorBytes / bytes_of(p_.out_type));
    return exact_ ? lines_begin_on(sector) : alignment_ == sector;
  }

  /// What lies side by side in the output, whether or not the kernel makes use of it.
  WindowLines layout() const { return layout_; }

  void finish(WindowParams& p) const {
    WindowTile& t = p.tile;
    const auto divisor = [](std::int64_t value) {
      return make_divisor(static_cast<std::uint32_t>(std::max<std::int64_t>(1, value)));
    };
    const std::int64_t columns = channels_ * p.taps;
    t.by_unit_words = divisor(t.unit_words);
    t.by_line_words = divisor(lines_ == WindowLines::stream      ? t.unit_words
                              : lines_ == WindowLines::positions ? t.unit_positions / word_
                                                                 : line_words_);
    t.by_unit = divisor(unit_channels_ > 0 ? unit_channels_ : t.unit_positions);
    const std::int64_t of_elements = p.order == WriteOrder::position ? t.unit_positions : columns;
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

  /// Units one behind the other: how many, their positions, and the words of one.
  struct Units {
    std::int64_t count, positions, words;
  };

  /// Units that the threads of a block write at a time.
  static std::int64_t parallel(std::int64_t words) { return std::max<std::int64_t>(1, kThreads / words); }

  /// Whether the output and all that leads to a line of it are multiples of so many elements.
  bool lines_begin_on(std::int64_t elements) const {
    const auto on = [&](std::int64_t extent, std::int64_t stride) {
      return extent <= 1 || stride % elements == 0;
    };
    const bool by_position = lines_ == WindowLines::rows || lines_ == WindowLines::taps,
               by_tap = lines_ == WindowLines::positions || lines_ == WindowLines::taps;
    return reinterpret_cast<std::uintptr_t>(p_.out) %
                   static_cast<std::uintptr_t>(elements * bytes_of(p_.out_type)) ==
               0 &&
           on(p_.batch, p_.out_batch) && on(p_.groups, p_.out_group) &&
           (whole_ || on(2, channels_ % elements * (p_.out_channel % elements))) &&
           (!by_position || on(p_.positions, p_.out_position)) && (!by_tap || on(p_.taps, p_.out_tap)) &&
           (lines_ != WindowLines::positions || on(channels_, p_.out_channel));
  }

  /// Lines begin where sectors do, as far as the units stay alike: a warp's words then share none with the
  /// next warp's.
  void align_lines(std::int64_t most_positions) {
    alignment_ = word_;
    if (lines_ == WindowLines::elements) return;
    const std::int64_t sector = std::max(word_, kSectorBytes / bytes_of(p_.out_type));
    // Along positions each of these would read more samples before its tile, and gain nothing.
    if (lines_ == WindowLines::positions && unit_channels_ == 0) {
      exact_ = lines_begin_on(word_);
      return;
    }
    const std::int64_t step = unit_channels_ > 0 ? p_.out_channel : p_.out_position;
    const std::int64_t period = period_of(step, word_), of_sectors = period_of(step, sector);
    if (of_sectors == period ||
        (unit_channels_ == 0 && 4 * of_sectors <= std::min(most_positions, p_.positions) &&
         of_sectors * words_of_position(sector) <= kMaxLeastWords)) {
      alignment_ = sector;
    } else {
      while (period_of(step, 2 * alignment_) == period) alignment_ *= 2;
    }
    // No more is asked of the output's address than by kernels with accesses of 16 bytes.
    const std::int64_t pack = std::max(word_, kPackBytes / bytes_of(p_.out_type));
    exact_ = lines_begin_on(std::min(alignment_, pack));
    if (exact_) alignment_ = std::min(alignment_, pack);
  }

  /// Words of the lines of a position that begin on such an alignment.
  std::int64_t words_of_position(std::int64_t alignment) const {
    const std::int64_t columns = channels_ * p_.taps;
    if (lines_ == WindowLines::stream) return divide_up(columns, word_);
    return lines_ == WindowLines::taps ? p_.taps * divide_up(channels_ + alignment - 1, word_)
                                       : divide_up(columns + alignment - 1, word_);
  }

  /// Words of a line of so many elements.
  std::int64_t words_of(std::int64_t elements) const {
    const std::int64_t room = exact_ ? 0 : alignment_ - 1, words = divide_up(elements + room, word_);
    const std::int64_t sectors = round_up(words, alignment_ / word_);
    return 8 * sectors <= 9 * words ? sectors : words;
  }

  void choose_positions(std::int64_t most_positions) {
    const std::int64_t columns = channels_ * p_.taps, room = exact_ ? 0 : alignment_ - 1;
    before_ = lines_ == WindowLines::positions ? room
              : lines_ == WindowLines::stream  ? divide_up(room, columns)
                                               : 0;
    const std::int64_t fitting = most_positions - before_;
    if (lines_ == WindowLines::positions) {
      const std::int64_t line = unit_channels_ > 0 ? kLongLineWords
                                : columns < 8      ? kThreads / columns
                                                   : kLineWords;
      const std::int64_t most = std::min({line * word_, fitting, p_.positions + before_});
      least_ = round_up(std::max<std::int64_t>(1, most), alignment_);
      if (least_ > fitting) least_ = std::max(alignment_, fitting / alignment_ * alignment_);
      return;
    }
    least_ = lines_ == WindowLines::elements ? 1 : period_of(p_.out_position, alignment_);
    if (lines_ == WindowLines::stream) {
      least_words_ = least_ * columns / word_;
    } else {
      const bool alone = lines_ == WindowLines::elements;
      line_words_ = alone ? 1 : words_of(lines_ == WindowLines::taps ? channels_ : columns);
      least_words_ = least_ * line_words_ * (alone ? columns : lines_ == WindowLines::taps ? p_.taps : 1);
    }
    // So many that all threads have a word.
    multiple_ =
        std::clamp<std::int64_t>(std::min(divide_up(p_.positions + before_, least_), fitting / least_), 1,
                                 std::max<std::int64_t>(1, kThreads / least_words_));
  }

  /// The units of a tile of so many times the least positions.
  Units units_for(std::int64_t multiple) const {
    if (lines_ == WindowLines::positions) {
      if (unit_channels_ == 0) return {multiple, least_, channels_ * p_.taps * least_ / word_};
      const std::int64_t positions =
          std::min(least_ * multiple, round_up(p_.positions + before_, alignment_));
      return {divide_up(channels_, unit_channels_), positions, unit_channels_ * p_.taps * positions / word_};
    }
    // Those of the fewest instructions: a thread first finds the elements of its words of a unit.
    const std::int64_t all = multiple_ * multiple;
    Units best{};
    double least = 0;
    for (std::int64_t wanted = kThreads; wanted <= 4 * kThreads; wanted += kThreads) {
      const std::int64_t part = std::clamp<std::int64_t>(wanted / least_words_, 1, all);
      for (const std::int64_t parts : {part, std::int64_t{1}}) {
        const Units units{divide_up(all, parts), parts * least_, parts * least_words_};
        const double cost = writes_of(units.words, units.count).instructions(static_cast<double>(word_));
        if (best.count == 0 || cost < least) {
          best = units;
          least = cost;
        }
      }
    }
    return best;
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
  std::int64_t unit_channels_ = 0;  // 0: units lie along positions
  std::int64_t alignment_ = 1;      // of lines, in elements
  bool exact_ = false;              // all lines of the output lie on it
  std::int64_t before_ = 0, row_pitch_ = 1;
  // A tile has a multiple of so many positions, and units of so many words or more; the smallest tile has
  // multiple_ times as many.
  std::int64_t least_ = 1, least_words_ = 1, multiple_ = 1;
  std::int64_t line_words_ = 1;
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
    for (std::int64_t multiple = 1; shape.make(multiple, limit, trial); multiple *= 2) {
      const WindowWork work = window_tile_work(tuning, trial, shape.layout(), shape.on_sectors());
      consider(WindowTileChoice{channels, multiple, predicted_microseconds(tuning, device, work)});
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
  shape.make(choice.multiple, limit, p);
  shape.finish(p);
}

}  // namespace relayout::plan
