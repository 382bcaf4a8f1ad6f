// Plans of copies chosen by the clock instead of by estimate, and kept: in memory, and in files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include <relayout/copy_plan.hpp>
#include <relayout/stream.hpp>
#include <relayout/tensor_view.hpp>

namespace relayout {

/// The fastest plans of copies that were measured. One entry is for one device (its name and number of
/// multiprocessors), element types (of equal types the size), extents and strides of the loop nest, and
/// addresses of the first elements modulo 16 (input) and 32 (output) bytes; values of alpha, names of
/// operations and shapes that come to the same nest do not matter. Safe to use from several threads at once.
class PlanCache {
 public:
  PlanCache() = default;
  PlanCache(const PlanCache&) = delete;
  PlanCache& operator=(const PlanCache&) = delete;

  /// A plan of the same copy, the fastest on the stream's device: the one that is kept here, or else the
  /// fastest of up to 16, the best by estimate, each timed on this memory and the winner kept. `in` and `out`
  /// are what CopyPlan::run takes. Waits for the stream. Timing runs the copy often, so that `out` then holds
  /// its result; it may allocate on the device, and cannot be recorded in a Graph. Small operands are timed
  /// as the device's caches hold them; other work on the device at the same time spoils the figures.
  /// A plan without another to choose (of Device::cpu(), gathered, without elements) is returned as it is.
  /// Errors, whether anything is timed or not: those of CopyPlan::run on this memory; invalid_argument for a
  /// beta other than 0, since each run would add to `out`.
  CopyPlan measure(const Stream& stream, const CopyPlan& plan, const void* in, void* out);
  /// The plan that is kept here for the same copy; without one, or if this program has no such plan, `plan`
  /// itself. Runs nothing, also for plans from DeviceProperties.
  CopyPlan find(const CopyPlan& plan) const;

  /// Plans that are kept.
  std::size_t size() const;
  /// Adds what save() wrote; where both have a plan for the same copy, the file's counts. On an
  /// Error{invalid_argument}, which names the file and the line, nothing was added: no such file, another
  /// version, a line that is no plan.
  void load(const std::string& path);
  /// Writes all plans as text (docs/permute.md), over whatever the file held. Error{invalid_argument} when it
  /// cannot be written.
  void save(const std::string& path) const;

  /// What is kept of a plan: enough to find it again among the plans for its copy.
  struct Entry {
    CopyKernel kernel = CopyKernel::tile;
    Dims tile;        // extents along the nest's axes, and
    int threads = 0;  // of a block, for CopyKernel::tile
    std::int64_t nanoseconds = 0;
    int candidates = 0;  // that it was the fastest of
  };

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;  // by the copy, as the file has it
};

}  // namespace relayout
