// Tells other ranks how far this one's stream is, and waits until they have told the same
// (core/signal_params.hpp).
#include "core/signal_params.hpp"
#include "kernel_language.hpp"
#include "kernels/backend_kernels.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kMaxRanks = SignalParams::kMaxRanks;

/// Until the rank's count has come this far, the limit is over or the host says stop.
__device__ void wait_for_count(const SignalParams& p, const std::uint32_t* count, std::uint32_t awaited) {
  const std::uint64_t start = device_ticks();
  std::uint64_t next_look = p.look_ticks;
  while (static_cast<std::int32_t>(load_of_other_device(count) - awaited) < 0) {
    const std::uint64_t waited = device_ticks() - start;
    if (waited > p.limit_ticks) return store_for_other_devices(p.outcome, SignalParams::kTimedOut);
    if (waited > next_look) {
      if (load_of_other_device(p.outcome) != SignalParams::kNone) return;
      next_look = waited + p.look_ticks;
    }
    wait_a_little();
  }
}

/// One thread a rank. All are told before anyone waits.
__global__ void exchange(SignalParams p) {
  const unsigned rank = threadIdx.x;
  std::uint32_t *const told = p.own + kMaxRanks, *const awaited = told + kMaxRanks;
  if ((p.tell >> rank & 1) != 0) store_for_other_devices(p.places[rank], ++told[rank]);
  __syncthreads();
  if ((p.await >> rank & 1) != 0) wait_for_count(p, p.own + rank, ++awaited[rank]);
}

}  // namespace

void launch_exchange_signals(const LaunchContext& context, const SignalParams& p) {
  LaunchShape shape;
  while (shape.threads_x < kMaxRanks && (p.tell | p.await) >> shape.threads_x != 0) ++shape.threads_x;
  launch_beside("waiting for other ranks", context, shape, exchange, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
