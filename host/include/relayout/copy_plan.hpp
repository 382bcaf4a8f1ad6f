// Plans of copies: what permute, transpose, copy, contiguous and cast do, checked and planned once, run many
// times.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <relayout/copy_options.hpp>
#include <relayout/export.hpp>
#include <relayout/stream.hpp>
#include <relayout/tensor_view.hpp>

namespace relayout {

/// What a copy is planned for: a device, or the properties of a GPU that need not be present. A plan for
/// properties can be looked at but not run. A PlanTarget refers to its argument, so it is made in the call.
class RELAYOUT_API PlanTarget {
 public:
  /// Plans for this device.
  PlanTarget(const Device& device) : device_(&device), properties_(&device.properties()) {}
  /// Plans for a device with these properties. Throws Error{invalid_argument}, with the field's name, for
  /// those that no GPU of the supported kinds has: warps of other than 32 or 64 lanes, blocks of fewer than
  /// 256 threads or 16 KiB of shared memory, banks whose number is no power of two from 16 to 256 or that are
  /// not 4 or 8 bytes wide, nothing to run on.
  PlanTarget(const DeviceProperties& properties);
  /// The device; null where there are only properties.
  const Device* device() const noexcept { return device_; }
  /// The properties that the plan goes by.
  const DeviceProperties& properties() const noexcept { return *properties_; }

 private:
  const Device* device_ = nullptr;
  const DeviceProperties* properties_;
};

/// Which kernel does a copy.
enum class CopyKernel {
  nothing,  ///< no elements
  native,   ///< the processor's own code
  stream,   ///< both sides in one piece or in rows: whole vectors, without shared memory
  rows,     ///< vectors of the output's runs, from wherever their elements lie, without shared memory
  tile,     ///< boxes of the loop nest through shared memory
  window,   ///< the window kernel with one tap: aligned transposes of two or three axes
  gather    ///< element by element
};
/// The enumerator's name, as in "tile".
RELAYOUT_API const char* name_of(CopyKernel kernel) noexcept;

/// One side of a planned copy. A tile is what one block moves. Counts describe the first tile, which is a
/// whole one where there is any.
struct RELAYOUT_API CopySide {
  std::int64_t bytes = 0;        ///< bytes of all elements, each counted once
  std::int64_t alignment = 1;    ///< alignment of the first element in bytes, at most 16; run() needs as much
  int vector_bytes = 0;          ///< bytes that a lane moves at once
  bool aligned_vectors = false;  ///< whether each vector lies on a multiple of its size; else it is joined
                                 ///< from two, or cut at the ends of runs
  std::int64_t run_bytes = 0;    ///< bytes of a tile that follow each other in memory
  /// Bytes that follow each other and are moved in whole sectors but at their ends: fewer than the run's
  /// where each lane takes vectors of several rows by turns, more where runs of neighbouring tiles meet on a
  /// sector's boundary.
  std::int64_t unbroken_bytes = 0;
  bool on_sectors = false;           ///< whether all runs begin on sectors, if the first element does
  std::int64_t sectors_needed = 0;   ///< the fewest sectors of 32 bytes that can hold a tile
  std::int64_t sectors_touched = 0;  ///< the sectors of 32 bytes that the tile meets
};

/// How a tile's accesses to shared memory meet its banks. It is predicted for the planned addresses from a
/// model of the device (docs/permute.md, "Banks"). A bank delivers one word per pass: lanes that want
/// different words of one bank wait for each other.
struct CopyBanks {
  int banks = 0;            ///< banks of the device; 0: no shared memory is used
  std::int64_t passes = 0;  ///< passes of all accesses of a block
  std::int64_t least = 0;   ///< passes if no two lanes met in a bank; equal to `passes` without conflicts
  int worst = 0;            ///< the most passes of an access that could take one
};

/// What PlanCache::measure found.
struct CopyMeasurement {
  double microseconds = 0;  ///< time of one run: the best round of this plan
  int candidates = 0;       ///< plans that were timed; 0: the plan was chosen by estimate
};

/// What another kernel than the planned one would do.
struct CopyAlternative {
  CopyKernel kernel = CopyKernel::nothing;  ///< the kernel
  bool possible = false;                    ///< whether it can do this copy
  std::string reason;                       ///< why it suits, or why it cannot
  double microseconds = 0;                  ///< the predicted time of a run, where it is possible
};

/// What explain() says, as numbers.
struct CopyDetails {
  CopyKernel kernel = CopyKernel::nothing;  ///< the kernel
  std::string reason;                       ///< why this kernel
  /// The time of a run as the model of the device's class predicts it; 0: there is no model. Tiles are
  /// compared by it, other kernels are not yet.
  double microseconds = 0;
  /// All other kernels of a GPU; none for native code and for copies of no elements.
  std::vector<CopyAlternative> others;
  Dims extents;  ///< the extents of the loop nest, the output's fastest axis last
  /// The input's strides in elements. Empty where the input has axes of its own: copies between shapes that
  /// have no nest in common.
  Dims in_strides;
  Dims out_strides;               ///< the output's strides in elements
  Dims tile;                      ///< extents of a tile along the nest's axes; empty for native code
  int threads = 0;                ///< threads of a block
  std::int64_t blocks = 0;        ///< blocks of the launch
  std::int64_t shared_bytes = 0;  ///< bytes of shared memory that a block uses
  CopySide in;                    ///< the reading side
  CopySide out;                   ///< the writing side
  CopyBanks shared_writes;        ///< writes to shared memory, on the way from the input
  CopyBanks shared_reads;         ///< reads of shared memory, on the way to the output
  /// alpha and beta, rounded to the type of the arithmetic; 1 and 0 are the plain copy. With a beta other
  /// than 0 the output is read as well, which out.bytes does not count.
  CopyScale scale;
  bool indirect = false;        ///< whether it was planned for run_indirect
  CopyMeasurement measurement;  ///< what PlanCache::measure found
};

/// A copy that was checked and planned: immutable, cheap to copy, safe to use from several threads at once.
/// Moving one copies it, here and for all plans, so that a plan is never empty.
class RELAYOUT_API CopyPlan {
 public:
  struct State;  ///< the library's own
  /// For the library: users have the plan_* functions.
  explicit CopyPlan(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  /// A copy.
  CopyPlan(const CopyPlan&) = default;
  /// A copy.
  CopyPlan& operator=(const CopyPlan&) = default;

  /// Queues the copy between the planned views: allocates nothing on the device, waits for nothing, can be
  /// recorded in a Graph. Errors: null_pointer for a view that was planned with a null pointer;
  /// invalid_argument for a stream of another device; unsupported for a plan from DeviceProperties.
  void run(const Stream& stream) const;
  /// The same between other memory: in and out take the place of the planned views' data(), with their
  /// strides. Each must be at least as aligned as the planned pointer, up to 16 bytes. Further errors:
  /// invalid_argument for an alignment, partial_overlap.
  void run(const Stream& stream, const void* in, void* out) const;
  /// The same between memory that is named when the copy starts: *in_slot and *out_slot, read by the device
  /// then, take the place of the planned views' data(). So a recorded Graph replays on other tensors. The
  /// slots lie in memory that the device reads, each on a multiple of a pointer's size, and stay until the
  /// copy has run. A slot whose own address is null stands for the planned pointer. A slot that holds a null
  /// pointer is Error{null_pointer} on cpu and emulated devices, where the call reads it; on a GPU nothing
  /// that a slot holds can be checked. Each pointer must be at least as aligned as the planned one, up to 16
  /// bytes (details()), and in and out may share no byte; anything else is undefined. Errors: those of
  /// run(stream); invalid_argument for a plan that was not made with CopyPlanOptions::indirect, and for a
  /// slot's alignment.
  void run_indirect(const Stream& stream, const void* const* in_slot, void* const* out_slot) const;

  /// What explain() says, as numbers.
  CopyDetails details() const;
  /// The plan in plain words, several lines: the nest, the kernel and the reason for it, the tile, and how
  /// both sides meet the memory.
  std::string explain() const;

  /// For the library: users have details().
  const State& state() const noexcept { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace relayout
