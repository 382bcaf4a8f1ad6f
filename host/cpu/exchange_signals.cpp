// The same as kernels/exchange_signals.cpp, for ranks that are threads.
#include <chrono>
#include <thread>

#include "host/cpu/native_table.hpp"

namespace relayout::native {
namespace {

std::uint64_t nanoseconds() {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

std::uint32_t load(const std::uint32_t* count) { return __atomic_load_n(count, __ATOMIC_ACQUIRE); }

void wait_for_count(const SignalParams& p, const std::uint32_t* count, std::uint32_t awaited) {
  const std::uint64_t start = nanoseconds();
  while (static_cast<std::int32_t>(load(count) - awaited) < 0) {
    if (nanoseconds() - start > p.limit_ticks)
      return __atomic_store_n(p.outcome, SignalParams::kTimedOut, __ATOMIC_RELEASE);
    if (load(p.outcome) != SignalParams::kNone) return;
    std::this_thread::yield();
  }
}

}  // namespace

void exchange_signals(const LaunchContext&, const SignalParams& p) {
  constexpr int kMaxRanks = SignalParams::kMaxRanks;
  std::uint32_t *const told = p.own + kMaxRanks, *const awaited = told + kMaxRanks;
  for (int rank = 0; rank < kMaxRanks; ++rank)
    if ((p.tell >> rank & 1) != 0) __atomic_store_n(p.places[rank], ++told[rank], __ATOMIC_RELEASE);
  for (int rank = 0; rank < kMaxRanks; ++rank)
    if ((p.await >> rank & 1) != 0) wait_for_count(p, p.own + rank, ++awaited[rank]);
}

}  // namespace relayout::native
