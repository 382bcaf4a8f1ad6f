#include "host/redistribute/link_model.hpp"

#include <algorithm>
#include <cmath>

#include "host/plan/copy/tile_tuning.hpp"
#include "host/plan/device_rates.hpp"

namespace relayout::plan {
namespace {

/// Measured between two H200 of one host. Plain copies in both directions reach 390 GB/s beyond 6 us. Kernels
/// that write into the other GPU reach 371 to 395 in runs of 256 bytes and more on boundaries of 16; fitted
/// off them to 16 random exchanges, those between tiles to 5, and for single elements to 5. The fixed part is
/// 20 us, and 26 between processes. NVSwitch gives all of a GPU's links to any pair.
constexpr LinkModel kNvlink{390e3, 390e3, 220e3, 4.17e6, 5,   20,   10, 0.55,
                            512,   46,    190,   0.85,   1.8, 24e6, 3,  false};
/// NCCL 2.28 on the same GPUs, with the packing and unpacking beside it: 32 exchanges of 1 to 537 MB.
constexpr LinkModel kNcclOverNvlink{270e3, 270e3, 270e3, 4.17e6, 20,  4,    10, 0.55,
                                    512,   46,    190,   0.85,   1.8, 24e6, 3,  true};
/// NOT measured: 48 GB/s a link as users of MI300X report, one link to each of 7 others.
constexpr LinkModel kMi300x{48e3, 7 * 48e3, 48e3, 3.5e6, 8,   15,   10, 0.55,
                            512,  46,       190,  0.85,  1.8, 24e6, 8,  false};
/// Ranks that share a processor's memory; a call returns when its work is done.
constexpr LinkModel kProcessor{10e3, 10e3, 10e3, 10e3, 0.2, 0, 0, 1, 64, 0, 0, 1, 0, 1e6, 0.2, false};

constexpr int kVector = 16, kPacket = 64;  // bytes

}  // namespace

const LinkModel& link_model(const DeviceProperties& device, bool by_messages) {
  if (is_of_family(device, "sm_") || device.architecture == "emulated")
    return by_messages ? kNcclOverNvlink : kNvlink;
  if (is_of_family(device, "gfx")) return kMi300x;
  return kProcessor;
}

double share_of_link(const CopyDetails& details, bool reads, const LinkModel& model) {
  const CopySide& crossing = reads ? details.in : details.out;
  const double sectors = crossing.sectors_needed > 0 ? static_cast<double>(crossing.sectors_needed) /
                                                           static_cast<double>(crossing.sectors_touched)
                                                     : 1;
  const auto run = static_cast<double>(std::max<std::int64_t>(crossing.run_bytes, 32));
  const auto unbroken = static_cast<double>(std::max<std::int64_t>(crossing.unbroken_bytes, 1));
  if (crossing.vector_bytes < kVector)
    // Lanes beside each other move whole sectors where both sides' runs begin on them.
    return sectors * run_share(run, model.lost_per_run) *
           run_share(static_cast<double>(std::max(crossing.vector_bytes, 1)),
                     details.in.on_sectors && details.out.on_sectors ? 0 : model.lost_per_access);
  if (crossing.aligned_vectors)
    return sectors * (unbroken < kPacket ? model.short_runs : run_share(unbroken, model.lost_per_run));
  if (unbroken > run) return model.off_vectors * run_share(unbroken, model.lost_per_row_end);
  // Sectors that are written in part take longer than whole ones.
  return model.off_vectors * std::pow(sectors, 1.5) * run_share(run, model.lost_per_end);
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
  copied_[from] += bytes / share;
  copied_to_[from].insert(to);
}

double RouteTime::microseconds() const {
  double crossing = std::max(largest(links_), std::max(largest(out_ports_), largest(in_ports_)));
  for (const auto& [from, receivers] : copied_to_)
    if (receivers.size() > 1) crossing = std::max(crossing, copied_.at(from) / model_.copies_in_turns);
  const double devices = largest(devices_);
  return model_.start + (model_.waits_for_kernels ? devices + crossing : std::max(devices, crossing));
}

}  // namespace relayout::plan
