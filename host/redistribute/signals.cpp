#include "host/redistribute/signals.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "host/api/checks.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

constexpr std::size_t kSignalBytes = std::size_t{3} * SignalParams::kMaxRanks * sizeof(std::uint32_t);
constexpr double kLookSeconds = 1e-4, kMaxTicks = 9e18;

/// Memory for the signals of a device. It is never given back, because another process may have it mapped
/// still, with a group that ends later; the device's next group takes it.
class KeptMemory {
 public:
  static KeptMemory& instance() {
    static KeptMemory& kept = *new KeptMemory;
    return kept;
  }
  void* take(const Device& device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto free = std::find_if(free_.begin(), free_.end(),
                                   [&](const auto& one) { return same_device(one.first, device); });
    if (free == free_.end()) return device.backend().allocate_signals(device.index(), kSignalBytes);
    void* const memory = free->second;
    free_.erase(free);
    return memory;
  }
  /// is_quiet: no rank counts there any more.
  void give_back(const Device& device, void* memory, bool is_quiet) {
    const std::lock_guard<std::mutex> lock(mutex_);
    (is_quiet ? free_ : given_up_).emplace_back(device, memory);
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<Device, void*>> free_, given_up_;
};

}  // namespace

std::shared_ptr<char> map_shared(const Device& device, const SharedMemoryName& name) {
  const std::shared_ptr<void> allocation(
      device.backend().map_shared_memory(device.index(), name),
      [device](void* mapped) { device.backend().unmap_shared_memory(device.index(), mapped); });
  return {allocation, static_cast<char*>(allocation.get()) + name.offset};
}

Signals::Signals(const Device& device, int rank, int ranks)
    : device_(device), rank_(rank), ranks_(ranks), outcome_(device, sizeof(std::uint32_t)) {
  const Stream stream(device);
  params_.own = static_cast<std::uint32_t*>(KeptMemory::instance().take(device));
  stream.fill(params_.own, 0, kSignalBytes);
  stream.synchronize();
  params_.outcome = static_cast<std::uint32_t*>(outcome_.data());
  *params_.outcome = SignalParams::kNone;
  params_.look_ticks =
      static_cast<std::uint64_t>(kLookSeconds * device.backend().ticks_per_second(device.index()));
}

/// After a wait that was given up its rank may come yet, and count in this memory.
Signals::~Signals() {
  KeptMemory::instance().give_back(device_, params_.own, outcome() == SignalParams::kNone);
}

bool Signals::share(SharedMemoryName& name) const {
  return device_.backend().share_memory(device_.index(), params_.own, name);
}

void Signals::map(const std::vector<SharedMemoryName>& names) {
  is_mapped_ = true;
  mappings_.resize(names.size());
  if (ranks_ > SignalParams::kMaxRanks)
    reason_ = "signals go between " + std::to_string(SignalParams::kMaxRanks) + " ranks at most";
  if (static_cast<int>(names.size()) < ranks_)
    reason_ =
        "the signals of rank " + std::to_string(names.size()) + " cannot be shared with other processes";
  for (std::size_t rank = 0; rank < names.size() && reason_.empty(); ++rank) {
    if (static_cast<int>(rank) == rank_) continue;
    try {
      mappings_[rank] = map_shared(device_, names[rank]);
      params_.places[rank] = reinterpret_cast<std::uint32_t*>(mappings_[rank].get()) + rank_;
    } catch (const Error& error) {
      reason_ = "the signals of rank " + std::to_string(rank) + " are not reached: " + error.what();
    }
  }
}

void Signals::exchange(const Stream& stream, const RankSignals& ranks, double limit) const {
  SignalParams params = params_;
  params.tell = ranks.tell;
  params.await = ranks.await;
  params.limit_ticks = static_cast<std::uint64_t>(
      std::min(limit * device_.backend().ticks_per_second(device_.index()), kMaxTicks));
  device_.backend().kernels().exchange_signals({device_.index(), stream.native()}, params);
}

std::uint32_t Signals::outcome() const noexcept { return __atomic_load_n(params_.outcome, __ATOMIC_ACQUIRE); }

void Signals::stop() const noexcept {
  std::uint32_t none = SignalParams::kNone;
  __atomic_compare_exchange_n(params_.outcome, &none, SignalParams::kStopped, false, __ATOMIC_ACQ_REL,
                              __ATOMIC_ACQUIRE);
}

}  // namespace relayout
