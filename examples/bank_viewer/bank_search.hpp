// The parts of bank_layout.cpp: paddings and swizzles for one order of the digits in shared memory.
#pragma once

#include <cstdint>
#include <vector>

#include "bank_simulator.hpp"

namespace example {

using BankStrides = std::vector<std::int64_t>;  // bytes, per digit

/// A few accesses of both walks, to judge layouts by before all of them are counted.
class BankSamples {
 public:
  /// `digits`: innermost first, strides ignored.
  BankSamples(const BankTile& tile, const BankModel& model, std::vector<BankDigit> digits);

  const std::vector<BankDigit>& digits() const { return digits_; }
  /// Estimated passes of the tile. Digits of stride 0 cost nothing: with those that are not chosen yet at 0,
  /// no choice of them makes it less.
  double passes(const BankStrides& strides, const BankLayout& swizzle) const;
  double least() const;
  /// Whether a sampled lane is away from 0 along the digit.
  bool touches(std::size_t digit) const;

  /// How a walk's lanes move along a digit: by `step` for the first time at lane `lane`, counted through all
  /// warps, `count` places in all.
  struct LaneStep {
    std::size_t digit;
    std::int64_t lane, step, count;
  };
  /// The innermost digit first.
  const std::vector<LaneStep>& lane_steps(SharedAccess access) const {
    return access == SharedAccess::write ? fill_steps_ : drain_steps_;
  }

 private:
  struct Sample {
    SharedAccess access;
    int bytes;
    double weight;                                 // accesses it stands for
    std::vector<std::vector<std::int64_t>> index;  // [lane][digit]; empty: the lane takes no part
  };
  void add_walk(const BankTile& tile, const BankWalk& walk, SharedAccess access);
  void note_steps(const std::vector<std::int64_t>& index, std::int64_t lane,
                  std::vector<LaneStep>& steps) const;
  std::vector<std::int64_t> index_of(const BankTile& tile, const BankWalk& walk, std::int64_t element) const;

  BankModel model_;
  std::vector<BankDigit> digits_;
  std::vector<Sample> samples_;
  std::vector<LaneStep> fill_steps_, drain_steps_;
};

/// Digits one after the other.
BankStrides dense_strides(const std::vector<BankDigit>& digits, int element_bytes);

/// The rule of bank_layout.hpp for the lanes of walk `access`. `unit`: strides are padded to its multiples.
BankStrides rule_strides(const BankSamples& samples, const BankModel& model, SharedAccess access,
                         int element_bytes, int access_bytes, int unit);

/// The padding with the fewest estimated passes, then bytes, of those that fit; `best` is where to start.
BankStrides search_padding(const BankSamples& samples, const BankModel& model, int element_bytes, int unit,
                           std::int64_t shared_bytes, const BankStrides& best);

/// `access`: the walk that does not lead. The swizzle of the dense layout, in chunks of `unit` bytes, with
/// the fewest estimated passes.
BankLayout search_swizzle(const BankSamples& samples, const BankModel& model, SharedAccess access,
                          int element_bytes, int access_bytes, int unit);

BankLayout layout_of(const std::vector<BankDigit>& digits, const BankStrides& strides, int element_bytes);

}  // namespace example
