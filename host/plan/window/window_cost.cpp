#include "host/plan/window/window_cost.hpp"

#include <algorithm>

#include "core/integer_math.hpp"
#include "core/window_geometry.hpp"
#include "host/plan/device_rates.hpp"

namespace relayout::plan {
namespace {

/// By all kernels' times of 600 random problems and 144 aligned ones on an H200 (docs/notes/conv1d.md).
constexpr WindowTuning fitted_on_hopper() {
  WindowTuning tuning{};
  tuning.launch_microseconds = 1.8;
  tuning.wait_microseconds = 0.74;
  tuning.lost_per_read = 53;
  tuning.lost_per_write = 4.8;
  tuning.cached = 0.8;
  tuning.lost_per_partial_sector = 90;
  tuning.overlap = 0.267;
  tuning.threads_per_multiprocessor = 2048;
  return tuning;
}

/// NOT measured: the H200's numbers but for the L2 of CDNA, which moves lines of 128 bytes.
constexpr WindowTuning guessed_for_cdna() {
  WindowTuning tuning = fitted_on_hopper();
  tuning.lost_per_read = tuning.lost_per_write = 64;
  return tuning;
}

constexpr WindowTuning kOf32Lanes = fitted_on_hopper(), kOf64Lanes = guessed_for_cdna();

}  // namespace

const WindowTuning& window_tuning(const DeviceProperties& device) {
  return device.warp_size == 64 ? kOf64Lanes : kOf32Lanes;
}

double predicted_microseconds(const WindowTuning& tuning, const DeviceProperties& device,
                              const WindowWork& work) {
  const DeviceRates rates = device_rates(device);
  const double by_bytes = work.bytes * device.multiprocessors / rates.bytes_per_microsecond,
               by_accesses = work.accesses / rates.accesses_per_microsecond,
               by_instructions = work.instructions / rates.instructions_per_microsecond;
  const double most = std::max({by_bytes, by_accesses, by_instructions});
  const double block =
      (most + tuning.overlap * (by_bytes + by_accesses + by_instructions - most)) / work.share;
  const std::int64_t by_threads =
      std::min<std::int64_t>(work.resident, tuning.threads_per_multiprocessor / kWindowThreads);
  const std::int64_t by_memory =
      work.shared_bytes > 0 ? device.shared_memory_per_block / work.shared_bytes : by_threads;
  const std::int64_t resident = std::max<std::int64_t>(1, std::min(by_threads, by_memory));
  const std::int64_t turns = divide_up(work.blocks, std::int64_t{device.multiprocessors});
  const double warps = static_cast<double>(std::min(resident, turns) * (kWindowThreads / 32));
  const double busy = block * (static_cast<double>(turns) * std::max(1.0, work.warps / warps) +
                               static_cast<double>(std::min(resident, turns)) * work.alone),
               waits =
                   tuning.wait_microseconds * work.waits * static_cast<double>(divide_up(turns, resident));
  return tuning.launch_microseconds + std::max(busy, waits) + tuning.overlap * std::min(busy, waits);
}

}  // namespace relayout::plan
