// The shape of a tile of the window kernel for any strides: how many channels it has, which lines of the
// output it writes, where these begin, its units, and how its samples lie in shared memory.
#pragma once

#include <cstdint>
#include <numeric>

#include "core/window_params.hpp"

namespace relayout::plan {

/// The least number of steps after which as many elements lie equally far from a multiple of `boundary`.
inline std::int64_t period_of(std::int64_t step, std::int64_t boundary) {
  return boundary / std::gcd(boundary, step % boundary);
}

/// A tile of `channels` channels, without its positions.
class TileShape {
 public:
  /// limit: bytes of shared memory, which bound the positions of a unit.
  TileShape(const WindowParams& p, std::int64_t channels, std::int64_t limit);

  /// Fills p's fields for so many times the least positions; false where they do not fit.
  bool make(std::int64_t multiple, std::int64_t limit, WindowParams& p) const;
  /// Fills the rest of p's fields, of which the predicted time needs none.
  void finish(WindowParams& p) const;

  /// Whether no two warps write parts of one sector: all words of a line begin as far behind one as its
  /// first.
  bool on_sectors() const;

  /// What lies side by side in the output, whether or not the kernel makes use of it.
  WindowLines layout() const { return layout_; }

 private:
  /// Units one behind the other: how many, their positions, and the words of one.
  struct Units {
    std::int64_t count, positions, words;
  };

  WindowLines find_layout() const;
  bool is_short() const;
  void choose_fill();
  /// The least pitch from this one on at which packs of the input, whose rows lie `step` apart, become packs
  /// of the tile.
  std::int64_t alike(std::int64_t pitch, std::int64_t step) const;
  /// Whether lanes along the taps of several channels hit different banks, two lanes the same one at most,
  /// where samples are rows of channels so many elements apart. They do where the rows of neighbouring taps
  /// begin about as far apart in the banks as the channels of a warp reach.
  bool spreads_taps(std::int64_t pitch) const;
  /// The least such pitch, of those that are alike if there is one.
  std::int64_t pitch_of_samples() const;
  /// Elements from channel to channel where samples lie side by side: so that lanes along channels, and along
  /// the taps of several channels, hit different banks.
  std::int64_t pitch_of_channels(std::int64_t samples) const;

  // window_tile_units.cpp
  /// Whether the output and all that leads to a line of it are multiples of so many elements.
  bool lines_begin_on(std::int64_t elements) const;
  /// Lines begin where sectors do, as far as the units stay alike: a warp's words then share none with the
  /// next warp's.
  void align_lines(std::int64_t most_positions);
  /// Words of the lines of a position that begin on such an alignment.
  std::int64_t words_of_position(std::int64_t alignment) const;
  /// Words of a line of so many elements.
  std::int64_t words_of(std::int64_t elements) const;
  void choose_positions(std::int64_t most_positions);
  /// The units of a tile of so many times the least positions.
  Units units_for(std::int64_t multiple) const;

  const WindowParams& p_;
  const std::int64_t channels_, pack_;  // pack_: elements that are loaded at once
  const bool whole_, tap_inner_;
  const WindowLines layout_, lines_;
  const std::int64_t word_;  // its elements; 1 of those that lie alone
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

}  // namespace relayout::plan
