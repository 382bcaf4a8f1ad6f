#pragma once

#include <cstdint>
#include <ostream>
#include <vector>

#include "tests/cases/layout.hpp"

namespace relayout::cases {

/// Which numbers an operation on sequences gets besides the state indices.
enum class SequenceMode { plain, ring, speculative };

inline const char* name_of(SequenceMode mode) {
  return mode == SequenceMode::plain ? "plain" : mode == SequenceMode::ring ? "ring" : "speculative";
}

/// depthwise_update with options; depthwise_varlen, with starts.
struct DepthwiseSequenceCase {
  std::vector<std::int64_t> lengths{1, 1, 1};  // samples of each sequence; without starts all are equal
  std::int64_t channels = 1, taps = 4;
  std::int64_t more_columns = 0;  // of the state, beyond those that are needed
  DType type = DType::f16, weight_type = DType::f16, bias_type = DType::f32;
  Layout in_layout = Layout::ncl, out_layout = Layout::ncl, state_layout = Layout::ncl,
         weight_layout = Layout::ncl;
  SequenceMode mode = SequenceMode::plain;
  bool starts = false, indices = true, nulls = true, zero_null = true, in_place = false, bias = true,
       silu = false;
  bool states = true, initial = true;  // of depthwise_varlen
  std::int64_t stride = 1;             // of the numbers of the sequences
  std::int64_t padded_starts = 0;      // of the last sequences, which are empty: 0 in the place of their ends
  std::uint64_t seed = 1;

  std::int64_t batch() const { return static_cast<std::int64_t>(lengths.size()); }
  std::int64_t longest() const {
    std::int64_t most = 0;
    for (const std::int64_t length : lengths) most = length > most ? length : most;
    return most;
  }
  /// Samples that no sequence has stand before the first sequence and behind the last one.
  static constexpr std::int64_t kFree = 3;
  std::int64_t total() const {
    std::int64_t sum = 2 * kFree;
    for (const std::int64_t length : lengths) sum += length;
    return sum;
  }
  Dims shape() const {
    if (starts) return {channels, total()};
    return {batch(), channels, lengths.empty() ? 2 : lengths[0]};
  }
  std::int64_t slots() const { return indices ? batch() + 3 : batch(); }
  std::int64_t columns() const {
    const std::int64_t drafts = mode == SequenceMode::speculative && longest() > 1 ? longest() - 1 : 0;
    return taps - 1 + drafts + more_columns;
  }
  Dims state_shape() const { return {slots(), channels, columns()}; }
  Dims weight_shape() const { return {channels, taps}; }
};

inline std::ostream& operator<<(std::ostream& out, const DepthwiseSequenceCase& c) {
  out << "depthwise sequences " << relayout::name_of(c.type) << " lengths " << to_string(c.lengths)
      << (c.starts ? " by starts" : "") << (c.padded_starts > 0 ? ", zeros behind" : "") << " channels "
      << c.channels << " taps " << c.taps << " " << name_of(c.mode) << " state columns " << c.columns() << " "
      << c.state_layout << " weights " << relayout::name_of(c.weight_type) << " " << c.weight_layout << " in "
      << c.in_layout << " out " << c.out_layout << (c.bias ? " bias " : " no bias ")
      << (c.bias ? relayout::name_of(c.bias_type) : "") << (c.silu ? " silu" : "")
      << (c.indices ? " indices" : "") << (c.nulls ? " nulls" : "")
      << (c.zero_null ? " zeroed" : " untouched") << (c.in_place ? " in place" : "")
      << (c.states ? "" : " no states") << (c.initial ? "" : " no initial");
  return out << " stride " << c.stride << " seed " << c.seed;
}

}  // namespace relayout::cases
