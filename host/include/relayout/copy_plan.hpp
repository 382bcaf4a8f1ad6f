// Plans of copies: what permute, transpose, copy, contiguous and cast do, checked and planned once, run many
// times.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <relayout/copy_options.hpp>
#include <relayout/stream.hpp>
#include <relayout/tensor_view.hpp>

namespace relayout {

/// What a copy is planned for: a device, or the properties of a GPU that need not be here. A plan of the
/// second kind can be looked at, not run. Made where a function is called; it refers to its argument.
class PlanTarget {
 public:
  PlanTarget(const Device& device) : device_(&device), properties_(&device.properties()) {}
  PlanTarget(const DeviceProperties& properties) : properties_(&properties) {}
  /// Null for mere properties.
  const Device* device() const noexcept { return device_; }
  const DeviceProperties& properties() const noexcept { return *properties_; }

 private:
  const Device* device_ = nullptr;
  const DeviceProperties* properties_;
};

enum class CopyKernel {
  nothing,  // no elements
  native,   // the processor's own code
  stream,   // both sides in one piece: whole vectors, without shared memory
  tile,     // boxes of the loop nest through shared memory
  window,   // the window kernel with one tap: aligned transposes of two or three axes
  gather    // element by element
};
/// The enumerator's name, as in "tile".
const char* name_of(CopyKernel kernel) noexcept;

/// One side of a planned copy. A tile is what one block moves; counts are of the first tile, a whole one
/// where there is any.
struct CopySide {
  std::int64_t bytes = 0;        // of all elements, each once
  std::int64_t alignment = 1;    // bytes: of the first element's address, at most 16; run() needs as much
  int vector_bytes = 0;          // that a lane moves at once
  bool aligned_vectors = false;  // each lies on a multiple of its size; else it is joined from two, or cut at
                                 // the ends of runs
  std::int64_t run_bytes = 0;    // of a tile that follow each other in memory
  std::int64_t sectors_needed = 0, sectors_touched = 0;  // of 32 bytes: the fewest for a tile; those it meets
};

/// How a tile's accesses to shared memory meet its banks, predicted from a model of the device
/// (docs/permute.md, "Banks"), for the planned addresses. A bank delivers one word a pass: lanes that want
/// different words of one bank wait for each other.
struct CopyBanks {
  int banks = 0;            // 0: no shared memory is used
  std::int64_t passes = 0;  // of all accesses of a block
  std::int64_t least = 0;   // passes if no two lanes met in a bank; as many as `passes`: no conflicts
  int worst = 0;            // passes of what should take one, at worst
};

/// How PlanCache::measure came to a plan.
struct CopyMeasurement {
  double microseconds = 0;  // of a run, the planned one's best
  int candidates = 0;       // that were timed; 0: the plan was chosen by estimate
};

/// What another kernel than the planned one would do.
struct CopyAlternative {
  CopyKernel kernel = CopyKernel::nothing;
  bool possible = false;
  std::string reason;       // why it suits, or why it cannot
  double microseconds = 0;  // predicted, where it is possible
};

/// What explain() says, to be computed with.
struct CopyDetails {
  CopyKernel kernel = CopyKernel::nothing;
  std::string reason;  // why this kernel
  /// A run as the model of the device's class predicts it; 0: there is no model. Tiles are compared by it,
  /// other kernels are not yet.
  double microseconds = 0;
  /// All other kernels of a GPU; none for native code and for copies of no elements.
  std::vector<CopyAlternative> others;
  /// The loop nest: extents, and strides in elements, the output's fastest axis last. Where the input has
  /// axes of its own (copies between shapes that no nest has in common), in_strides is empty.
  Dims extents, in_strides, out_strides;
  Dims tile;  // extents of a tile along the nest's axes; empty for native code
  int threads = 0;
  std::int64_t blocks = 0;
  std::int64_t shared_bytes = 0;  // of a block
  CopySide in, out;
  CopyBanks shared_writes, shared_reads;  // on the way from the input, and to the output
  /// alpha and beta, rounded as they are computed with; for a beta other than 0 `out` is read as well, which
  /// its bytes do not count. 1 and 0: the plain copy.
  CopyScale scale;
  bool indirect = false;  // for run_indirect
  CopyMeasurement measurement;
};

/// A copy that was checked and planned: immutable, cheap to copy, safe to use from several threads at once.
class CopyPlan {
 public:
  struct State;
  explicit CopyPlan(std::shared_ptr<const State> state) : state_(std::move(state)) {}

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
  /// copy has run; a null slot stands for the planned pointer. What they hold cannot be checked: each pointer
  /// must be at least as aligned as the planned one, up to 16 bytes (details()), and in and out may share no
  /// byte; anything else is undefined. Errors: those of run(stream); invalid_argument for a plan that was not
  /// made with CopyPlanOptions::indirect, and for a slot's alignment.
  void run_indirect(const Stream& stream, const void* const* in_slot, void* const* out_slot) const;

  CopyDetails details() const;
  /// The plan in plain words, several lines: the nest, the kernel and why it, its tile, and what both sides'
  /// memory sees of it.
  std::string explain() const;

  /// For the library: users have details().
  const State& state() const noexcept { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace relayout
