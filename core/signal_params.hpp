// Signals: numbers by which streams of several processes wait for each other. Each rank counts what it has
// told another one, writes the count into that rank's memory, and waits there for the counts that it awaits.
// Counts only grow, and are compared as numbers of 32 bits that wrap, so nothing has to be put back, and a
// recorded graph may be launched again and again.
#pragma once

#include <cstdint>

namespace relayout {

struct SignalParams {
  static constexpr int kMaxRanks = 64;  // one bit each
  /// What outcome says: nothing happened, a wait was given up at its limit, or the host ends all waits.
  static constexpr std::uint32_t kNone = 0, kTimedOut = 1, kStopped = 2;

  std::uint64_t tell = 0, await = 0;  // bit r: rank r gets a signal, and one of rank r is awaited
  /// This rank's counts, 3 x kMaxRanks: what each rank has told it (they write that), what it has told each
  /// rank, and what it has awaited.
  std::uint32_t* own = nullptr;
  std::uint32_t* places[kMaxRanks] = {};  // where rank r's memory has this rank's count
  std::uint32_t* outcome = nullptr;       // on the host, pinned
  /// Ticks of the device's clock (Backend::ticks_per_second). A wait lasts limit_ticks at most. Every
  /// look_ticks it looks whether the host has stopped it.
  std::uint64_t limit_ticks = 0, look_ticks = 0;
};

}  // namespace relayout
