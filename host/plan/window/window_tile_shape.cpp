#include "host/plan/window/window_tile_shape.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/bytes.hpp"
#include "core/integer_math.hpp"
#include "core/sector.hpp"
#include "core/window_geometry.hpp"
#include "host/plan/window/window_problem.hpp"

namespace relayout::plan {
namespace {

constexpr std::int64_t kBankBytes = 128;  // of all banks together
constexpr std::int64_t kBankLanes = 32;   // that meet in them
/// Lines of no more elements are written one by one: most of their words would be cut.
constexpr std::int64_t kShortLine = 16;
/// So few rows of shared memory may lie a few elements off the pitch at which lanes meet in no bank.
constexpr std::int64_t kFewChannels = 4;

/// Elements of a word of 4 bytes, 1 of larger elements.
std::int64_t word_elements(DType type) { return std::max<std::int64_t>(1, 4 / bytes_of(type)); }

}  // namespace

TileShape::TileShape(const WindowParams& p, std::int64_t channels, std::int64_t limit)
    : p_(p),
      channels_(channels),
      pack_(window_fill_pack(static_cast<int>(bytes_of(p.in_type)), static_cast<int>(bytes_of(p.out_type)))),
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

bool TileShape::make(std::int64_t multiple, std::int64_t limit, WindowParams& p) const {
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
  t.parallel_units = static_cast<std::int32_t>(std::max<std::int64_t>(1, kWindowThreads / units.words));
  t.line_alignment = static_cast<std::int32_t>(alignment_);
  t.out_alignment = static_cast<std::int32_t>(exact_ && alignment_ > 1 ? alignment_ * bytes : 1);
  t.time_pitch = static_cast<std::int32_t>(time_pitch);
  t.channel_pitch = static_cast<std::int32_t>(channel_pitch);
  // To a unit that is not there no step is taken, and its product might overflow.
  t.unit_samples = 0;
  t.unit_out = 0;
  if (units.count > 1) {
    t.unit_samples = static_cast<std::int32_t>(unit_channels_ > 0 ? unit_channels_ * channel_pitch
                                                                  : units.positions * p_.stride * time_pitch);
    t.unit_out = unit_channels_ > 0 ? unit_channels_ * p_.out_channel : units.positions * p_.out_position;
  }
  const bool rows_along_time = channel_pitch != 1;
  const auto in_bytes = [&](std::int64_t step) {
    return static_cast<std::int32_t>(step * bytes_of(p_.in_type));
  };
  const std::int32_t channel_step = in_bytes(step_along(p_.channels, p_.in_channel)),
                     time_step = in_bytes(step_along(p_.length, p_.in_time));
  t.row_step = rows_along_time ? channel_step : time_step;
  t.column_step = rows_along_time ? time_step : channel_step;
  t.tile_row_step = rows_along_time ? t.channel_pitch : t.time_pitch;
  t.tile_column_step = rows_along_time ? t.time_pitch : t.channel_pitch;
  p.tile_positions = static_cast<std::int32_t>(positions);
  p.tile_channels = static_cast<std::int32_t>(channels_);
  p.tile_samples = static_cast<std::int32_t>(samples);
  p.shared_bytes = elements * bytes + kVectorBytes;
  return true;
}

void TileShape::finish(WindowParams& p) const {
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

WindowLines TileShape::find_layout() const {
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

bool TileShape::is_short() const {
  if (word_elements(p_.out_type) == 1 || !whole_) return false;
  return (layout_ == WindowLines::rows && channels_ * p_.taps <= kShortLine) ||
         (layout_ == WindowLines::taps && channels_ <= kShortLine);
}

void TileShape::choose_fill() {
  const std::int64_t in_bytes = bytes_of(p_.in_type);
  // Lanes that run along samples want the rows of shared memory to be an odd number of banks apart.
  const bool across = lines_ == WindowLines::positions;
  const auto meets_few = [&](std::int64_t pitch) { return across ? pitch % 2 != 0 : spreads_taps(pitch); };
  along_time_ = false;
  row_pitch_ = across ? channels_ | 1 : channels_;
  if (p_.in_time == 1 && (channels_ == 1 || p_.in_channel != 1)) {
    along_time_ = true;
    fill_ = WindowFill::time;
  } else if (p_.in_channel == 1 || channels_ == 1) {
    const bool narrow = channels_ * in_bytes < 16;
    const bool dense = p_.in_channel == 1 && p_.in_time >= channels_ && 3 * p_.in_time <= 4 * channels_;
    if (whole_ && dense && (narrow || meets_few(p_.in_time))) {
      fill_ = WindowFill::flat;
      row_pitch_ = p_.in_time;
    } else {
      fill_ = narrow ? WindowFill::elements : WindowFill::channels;
      if (!across) row_pitch_ = pitch_of_samples();
      along_time_ = narrow && channels_ == 1;
    }
  } else {
    fill_ = WindowFill::elements;
    along_time_ = std::abs(p_.in_time) <= std::abs(p_.in_channel);
    if (!across) row_pitch_ = pitch_of_samples();
  }
}

std::int64_t TileShape::alike(std::int64_t pitch, std::int64_t step) const {
  return pitch + ((step - pitch) % pack_ + pack_) % pack_;
}

bool TileShape::spreads_taps(std::int64_t pitch) const {
  // Words of the same taps of neighbouring channels lie side by side.
  if (!tap_inner_ || word_ % p_.taps == 0) return true;
  const std::int64_t bytes = bytes_of(p_.out_type),
                     apart = pitch % kBankBytes * p_.dilation * bytes % kBankBytes,
                     between = std::min(kBankBytes, kBankLanes * word_ * bytes);
  return 3 * apart * p_.taps >= 2 * between && 2 * apart * p_.taps <= 3 * between;
}

std::int64_t TileShape::pitch_of_samples() const {
  const std::int64_t most = channels_ + kBankBytes / bytes_of(p_.out_type);
  std::int64_t pitch = alike(channels_, p_.in_time);
  while (pitch < most && !spreads_taps(pitch)) pitch += pack_;
  if (spreads_taps(pitch)) return pitch;
  for (pitch = channels_ + 1; pitch < most && !spreads_taps(pitch);) ++pitch;
  return spreads_taps(pitch) ? pitch : channels_ | 1;
}

std::int64_t TileShape::pitch_of_channels(std::int64_t samples) const {
  if (channels_ == 1 || lines_ == WindowLines::positions) return alike(samples, p_.in_channel);
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
  return channels_ <= kFewChannels || stays_odd ? alike(pitch, p_.in_channel) : pitch;
}

}  // namespace relayout::plan
