// The model by which the routes of a redistribution are compared: how long work takes on each device, and
// messages on each link between two devices. All of them run at the same time; the slowest one counts.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "relayout/copy_plan.hpp"
#include "relayout/device.hpp"

namespace relayout::plan {

/// The numbers of a class of devices, in bytes and microseconds.
struct LinkModel {
  double link;              // bytes a microsecond of kernels and copies between two devices, in one direction
  double port;              // the same between a device and all others together
  double copies_in_turns;   // the same of copies to several others, each of which waits for the one before
  double memory;            // bytes a microsecond that a copy within a device reads and writes
  double message;           // before the first and after the last byte of one of several queued copies
  double start;             // for the streams of the ranks to wait for each other, before and after the data
  double lost_per_run;      // bytes of a link lost per run of bytes that a kernel writes unbroken
  double short_runs;        // the share of the link that such runs of less than 64 bytes reach
  double lost_per_row;      // the same per row that the copy engine copies
  double lost_per_end;      // the same per run whose vectors leave elements over, beside what follows
  double lost_per_row_end;  // the same per row that tiles cut on the boundaries of sectors
  double off_vectors;       // the share of the link that long runs of such vectors reach
  double lost_per_access;   // bytes of a link lost per access of a lane that is shorter than a vector
  double cached;            // bytes of an output that stay in the cache beside what is moved meanwhile
  double signal;            // for the streams of two processes to wait for each other once
  bool waits_for_kernels;   // messages are moved by kernels, which take turns with those that pack
};

/// The numbers go by the device's architecture: NVLink between H200s, which emulated GPUs have, too, the
/// fabric of MI300X, or the processor's own memory. by_messages: of NCCL or RCCL, between processes.
const LinkModel& link_model(const DeviceProperties& device, bool by_messages);

/// The share of the link's speed that the side of a kernel reaches that crosses, what it reads or what it
/// writes: whole sectors cross, and short runs, ends that vectors leave over and short accesses each take
/// more than their bytes.
double share_of_link(const CopyDetails& details, bool reads, const LinkModel& model);

/// The largest number of a map; 0: it has none above.
template <class Key>
double largest(const std::map<Key, double>& numbers) {
  double most = 0;
  for (const auto& number : numbers) most = std::max(most, number.second);
  return most;
}

/// A sum of work over devices and links. Devices are numbers of the caller's.
class RouteTime {
 public:
  explicit RouteTime(const LinkModel& model) : model_(model) {}

  /// A kernel on a device, by its own predicted time; without one (0), by the bytes that it moves.
  void add_kernel(int device, double microseconds, double bytes);
  /// Bytes on the way between devices at this share of the link's speed, without a copy's own time.
  void add_bytes(int from, int to, double bytes, double share);
  /// A queued copy, in rows of so many bytes.
  void add_copy(int from, int to, double bytes, double row_bytes);

  /// Until the slowest device, link and port are done, and the streams have waited for each other.
  double microseconds() const;

 private:
  const LinkModel& model_;
  std::map<int, double> devices_, out_ports_, in_ports_;
  std::map<std::pair<int, int>, double> links_;
  std::map<int, double> copied_;  // bytes of a sender's copies
  std::map<int, std::set<int>> copied_to_;
};

}  // namespace relayout::plan
