// Plans of copies chosen by the clock instead of by estimate, and kept: in memory, and in files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include <relayout/copy_plan.hpp>
#include <relayout/export.hpp>
#include <relayout/stream.hpp>
#include <relayout/tensor_view.hpp>

namespace relayout {

/// The fastest plans of copies that were measured. An entry belongs to one device (its name and number of
/// multiprocessors), element types (where they are equal, only their size), extents and strides of the loop
/// nest, and addresses of the first elements modulo 16 (input) and 32 (output) bytes. Different values of
/// alpha, and operations and shapes that come to the same nest, share an entry. Safe to use from several
/// threads at once.
class RELAYOUT_API PlanCache {
 public:
  /// An empty cache.
  PlanCache() = default;
  PlanCache(const PlanCache&) = delete;
  PlanCache& operator=(const PlanCache&) = delete;

  /// The fastest plan of the same copy on the stream's device. It is the one that is kept here; without one,
  /// the best 16 plans by estimate, at most, are timed on this memory, and the fastest is kept. `in` and
  /// `out` are what CopyPlan::run takes. Waits for the stream. Timing runs the copy often, so that `out` then
  /// holds its result; it may allocate on the device, and cannot be recorded in a Graph. Small operands stay
  /// in the device's caches while they are timed; other work on the device at the same time spoils the
  /// figures. A plan that has no alternative (for Device::cpu(), by the gather kernel, without elements) is
  /// returned as it is. Errors, whether anything is timed or not: those of CopyPlan::run on this memory;
  /// invalid_argument for a beta other than 0, since each run would add to `out`.
  CopyPlan measure(const Stream& stream, const CopyPlan& plan, const void* in, void* out);
  /// The plan that is kept here for the same copy; without one, or if this program has no such plan, `plan`
  /// itself. Runs nothing, also for plans from DeviceProperties.
  CopyPlan find(const CopyPlan& plan) const;

  /// How many plans are kept.
  std::size_t size() const;
  /// Adds what save() wrote; where both have a plan for the same copy, the file's counts. Throws
  /// Error{invalid_argument}, which names the file and the line, and adds nothing, for a missing file,
  /// another version, or a line that is no plan.
  void load(const std::string& path);
  /// Writes all plans as text (docs/permute.md), over whatever the file held. Error{invalid_argument} when it
  /// cannot be written.
  void save(const std::string& path) const;

  /// What is kept of a plan: enough to find it again among the plans for its copy.
  struct Entry {
    CopyKernel kernel = CopyKernel::tile;  ///< the kernel
    Dims tile;                             ///< for CopyKernel::tile, extents along the nest's axes
    int threads = 0;                       ///< for CopyKernel::tile, threads of a block
    std::int64_t nanoseconds = 0;          ///< the time of one run
    int candidates = 0;                    ///< how many plans it was the fastest of
  };

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;  // by the copy, as the file has it
};

}  // namespace relayout
