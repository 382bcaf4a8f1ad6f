// Makes the operand A of a conv1d while the host's work, the copies and the device's kernel run at the same
// time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <relayout/conv1d.hpp>
#include <relayout/export.hpp>

namespace relayout {

/// The input goes to the device in chunks over batch, channels and time. While chunk i is copied, the calling
/// thread (with its OpenMP threads) works on chunk i + 1, and the device makes the rows of A of chunk i - 1.
/// Each chunk carries the samples that its rows need. Padding that repeats samples from outside the chunk is
/// put in by the host. The constructor allocates everything: buffers, a stream for the copies, events;
/// running allocates no buffer and waits only for a staging buffer whose copy has not ended. Copies share the
/// buffers, and moving one copies it.
class RELAYOUT_API Conv1dOverlap {
 public:
  /// The input [batch, in_channels, length] in host memory, f16, bf16, f32 or f64, any strides, kept by the
  /// caller while work is queued. operand: A of Conv1dSizes in the memory of the stream's device, contiguous.
  /// Errors: those of sizes_of; shape, dtype, null_pointer, out_of_memory, invalid_argument (options).
  Conv1dOverlap(const Stream& stream, const Conv1d& problem, const TensorView& input,
                const TensorView& operand, const OverlapOptions& options = {});
  /// A copy.
  Conv1dOverlap(const Conv1dOverlap&) = default;
  /// A copy.
  Conv1dOverlap& operator=(const Conv1dOverlap&) = default;

  /// Queues everything; A is complete for later work of the stream.
  void run() const;
  /// Does only the host's work, so that its time can be compared with run()'s.
  void run_host_work() const;
  /// Queues only the copies, of whatever the staging buffers hold.
  void run_copies() const;

  /// How many chunks the input is cut into.
  std::int64_t chunks() const noexcept;
  /// How many of them are copied from the caller's memory directly.
  std::int64_t direct_chunks() const noexcept;
  /// Bytes that cross the link, halos and padding included.
  std::int64_t link_bytes() const noexcept;
  /// Bytes that the host reads and writes.
  std::int64_t host_bytes() const noexcept;
  /// What happens at the same time: "cast | copy f16 | img2col", "cast + T | copy f16 | img2col",
  /// "stage | copy f32 | img2col".
  const std::string& description() const noexcept;
  /// The chunks, and what the device's kernel does with the first one, in plain words.
  std::string explain() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace relayout
