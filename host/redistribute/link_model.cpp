#include "host/redistribute/link_model.hpp"

#include <algorithm>
#include <string>

#include "host/plan/copy/tile_tuning.hpp"

namespace relayout::plan {
namespace {

/// P2P copies between two H200 of one host take 60 us for 16 MiB, 701 us for 256 MiB and 2740 us for 1 GiB:
/// 392 GB/s, and 17 us, of which a queued copy keeps the smaller part. Lost bytes are NOT measured: a packet
/// of NVLink carries 128 bytes behind a header of 16. NVSwitch gives all of a GPU's links to any pair.
constexpr LinkModel kNvlink{392e3, 392e3, 4.17e6, 5, 12, 16, 512};
/// NCCL's all-to-all between two H200: 40 us for 1 MiB a GPU in both directions, 325 GB/s at 1 GiB.
constexpr LinkModel kNcclOverNvlink{335e3, 335e3, 4.17e6, 20, 20, 16, 512};
/// NOT measured: 48 GB/s a link as users of MI300X report, one link to each of 7 others.
constexpr LinkModel kMi300x{48e3, 7 * 48e3, 3.5e6, 8, 15, 16, 512};
/// Ranks that share a processor's memory; a call returns when its work is done.
constexpr LinkModel kProcessor{10e3, 10e3, 10e3, 0.2, 0, 0, 64};

template <class Times>
double largest(const Times& times) {
  double most = 0;
  for (const auto& time : times) most = std::max(most, time.second);
  return most;
}

}  // namespace

const LinkModel& link_model(const DeviceProperties& device, bool one_process) {
  if (device.architecture.rfind("sm_", 0) == 0 || device.architecture == "emulated")
    return one_process ? kNvlink : kNcclOverNvlink;
  if (device.architecture.rfind("gfx", 0) == 0) return kMi300x;
  return kProcessor;
}

void RouteTime::add_kernel(int device, double microseconds, double bytes) {
  devices_[device] += microseconds > 0 ? microseconds : bytes / model_.memory;
}

void RouteTime::add_bytes(int from, int to, double bytes, double share) {
  if (from == to) return;  // the kernel's own time has them
  const double crossing = bytes / share;
  links_[{from, to}] += crossing / model_.link;
  out_ports_[from] += crossing / model_.port;
  in_ports_[to] += crossing / model_.port;
}

void RouteTime::add_copy(int from, int to, double bytes, double row_bytes) {
  const double share = run_share(row_bytes, row_bytes < bytes ? model_.lost_per_row : 0);
  if (from == to) {
    devices_[from] += model_.message + 2 * bytes / (model_.memory * share);
    return;
  }
  add_bytes(from, to, bytes, share);
  links_[{from, to}] += model_.message;
  out_ports_[from] += model_.message;
}

double RouteTime::microseconds() const {
  return model_.start + std::max(std::max(largest(devices_), largest(links_)),
                                 std::max(largest(out_ports_), largest(in_ports_)));
}

}  // namespace relayout::plan
