// Streams and events: work is queued in order; cpu and emulated streams finish each call before it returns.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include <relayout/device.hpp>
#include <relayout/export.hpp>

namespace relayout {

class Event;

/// A queue of work on a device. Copies of a Stream are the same queue, and moving one copies it: no Stream is
/// without a queue.
class RELAYOUT_API Stream {
 public:
  /// A new stream of the device, destroyed (after its work) with the last copy of this object.
  explicit Stream(const Device& device);
  /// A copy.
  Stream(const Stream&) = default;
  /// A copy.
  Stream& operator=(const Stream&) = default;
  /// The caller's own stream (cudaStream_t or hipStream_t; null: the default stream), never destroyed here.
  /// Error{unsupported} for devices that are no GPU.
  static Stream from_native(const Device& device, void* native);

  /// The device that the work runs on.
  const Device& device() const noexcept;
  /// The vendor's handle: cudaStream_t or hipStream_t; an internal one on other devices.
  void* native() const noexcept;

  /// Waits for all queued work, and throws the error of a kernel that failed.
  void synchronize() const;
  /// Queues a copy of bytes between any host and device memory. Pageable host memory may make the call wait.
  void copy(void* destination, const void* source, std::size_t bytes) const;
  /// Queues a copy of `rows` rows of `width` bytes. Rows begin a pitch (in bytes, at least `width`) apart.
  void copy_rows(void* destination, std::size_t destination_pitch, const void* source,
                 std::size_t source_pitch, std::size_t width, std::size_t rows) const;
  /// Queues setting bytes of device memory to `value`.
  void fill(void* destination, unsigned char value, std::size_t bytes) const;
  /// Later work of this stream waits for the event.
  void wait(const Event& event) const;

 private:
  friend std::array<Stream, 2> half_streams(const Device& device);
  struct State;
  explicit Stream(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

/// A point in a stream's work, with a time stamp unless it is untimed. Copies are the same event, and moving
/// one copies it.
class RELAYOUT_API Event {
 public:
  /// An event of the device that was not recorded yet.
  explicit Event(const Device& device);
  /// The same without a time stamp, which makes recording it and waiting for it cheaper.
  static Event untimed(const Device& device);
  /// A copy.
  Event(const Event&) = default;
  /// A copy.
  Event& operator=(const Event&) = default;
  /// Marks the point in the stream's work that is reached when all work queued so far has finished.
  void record(const Stream& stream);
  /// Whether the recorded point is reached, without waiting; true for an event that was not recorded. Throws
  /// the error of a kernel that failed.
  bool is_done() const;
  /// Waits until the recorded point is reached.
  void synchronize() const;
  /// Milliseconds from `start` to this event. Both must have been recorded and reached.
  /// Error{invalid_argument} for an untimed one.
  float milliseconds_since(const Event& start) const;

 private:
  friend class Stream;
  struct State;
  explicit Event(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace relayout
