// Where the lines of a tile begin, and which units it has.
#include <algorithm>

#include "core/bytes.hpp"
#include "core/integer_math.hpp"
#include "core/sector.hpp"
#include "core/window_geometry.hpp"
#include "host/plan/window/window_problem.hpp"
#include "host/plan/window/window_tile_shape.hpp"
#include "host/plan/window/window_tile_work.hpp"

namespace relayout::plan {
namespace {

/// Words that the lanes of a block write at once.
constexpr std::int64_t kThreads = kWindowThreads;
/// Words of a line of positions beside others: two whole sectors.
constexpr std::int64_t kLineWords = 16;
/// And where units lie one behind the other along channels.
constexpr std::int64_t kLongLineWords = 32;
/// Words of a unit that lines on sectors may make necessary, of which a thread then finds four.
constexpr std::int64_t kMaxLeastWords = 4 * kThreads;

}  // namespace

bool TileShape::on_sectors() const {
  const std::int64_t sector = std::max(word_, kSectorBytes / bytes_of(p_.out_type));
  return exact_ ? lines_begin_on(sector) : alignment_ == sector;
}

bool TileShape::lines_begin_on(std::int64_t elements) const {
  const auto on = [&](std::int64_t extent, std::int64_t stride) {
    return step_along(extent, stride) % elements == 0;
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

void TileShape::align_lines(std::int64_t most_positions) {
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
  const std::int64_t pack = std::max(word_, kVectorBytes / bytes_of(p_.out_type));
  exact_ = lines_begin_on(std::min(alignment_, pack));
  if (exact_) alignment_ = std::min(alignment_, pack);
}

std::int64_t TileShape::words_of_position(std::int64_t alignment) const {
  const std::int64_t columns = channels_ * p_.taps;
  if (lines_ == WindowLines::stream) return divide_up(columns, word_);
  return lines_ == WindowLines::taps ? p_.taps * divide_up(channels_ + alignment - 1, word_)
                                     : divide_up(columns + alignment - 1, word_);
}

std::int64_t TileShape::words_of(std::int64_t elements) const {
  const std::int64_t room = exact_ ? 0 : alignment_ - 1, words = divide_up(elements + room, word_);
  const std::int64_t sectors = round_up(words, alignment_ / word_);
  return 8 * sectors <= 9 * words ? sectors : words;
}

void TileShape::choose_positions(std::int64_t most_positions) {
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
  multiple_ = std::clamp<std::int64_t>(std::min(divide_up(p_.positions + before_, least_), fitting / least_),
                                       1, std::max<std::int64_t>(1, kThreads / least_words_));
}

TileShape::Units TileShape::units_for(std::int64_t multiple) const {
  if (lines_ == WindowLines::positions) {
    if (unit_channels_ == 0) return {multiple, least_, channels_ * p_.taps * least_ / word_};
    const std::int64_t positions = std::min(least_ * multiple, round_up(p_.positions + before_, alignment_));
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

}  // namespace relayout::plan
