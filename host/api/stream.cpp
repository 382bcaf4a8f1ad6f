#include "host/api/half_streams.hpp"

#include <string>

#include "host/api/checks.hpp"
#include "platform/backend.hpp"
#include "relayout/error.hpp"

namespace relayout {

struct Stream::State {
  Device device;
  void* native;
  bool owned;

  /// Creates a stream and owns it. The stream is made last, so that nothing can fail once it is there.
  explicit State(const Device& device_)
      : device(device_), native(device.backend().create_stream(device)), owned(true) {}
  /// The same of a stream of half the device.
  State(const Device& device_, int half)
      : device(device_), native(device.backend().create_half_stream(device, half)), owned(true) {}
  State(const Device& device_, void* native_) : device(device_), native(native_), owned(false) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (owned) device.backend().destroy_stream(device.index(), native);
  }
  LaunchContext context() const { return {device.index(), native}; }
};

Stream::Stream(const Device& device) : state_(std::make_shared<State>(device)) {}

Stream Stream::from_native(const Device& device, void* native) {
  if (device.kind() != DeviceKind::gpu) {
    throw Error(ErrorCode::unsupported,
                "only a GPU has native streams, and this device is " + device.to_string());
  }
  return Stream(std::make_shared<State>(device, native));
}

std::array<Stream, 2> half_streams(const Device& device) {
  const auto half = [&](int number) { return Stream(std::make_shared<Stream::State>(device, number)); };
  return {half(0), half(1)};
}

const Device& Stream::device() const noexcept { return state_->device; }
void* Stream::native() const noexcept { return state_->native; }

void Stream::synchronize() const { device().backend().synchronize_stream(state_->context()); }

void Stream::copy(void* destination, const void* source, std::size_t bytes) const {
  if (bytes == 0) return;
  if (destination == nullptr || source == nullptr) {
    throw Error(ErrorCode::null_pointer,
                "copy of " + std::to_string(bytes) + " bytes from or to a null pointer");
  }
  device().backend().copy(state_->context(), destination, source, bytes);
}

void Stream::copy_rows(void* destination, std::size_t destination_pitch, const void* source,
                       std::size_t source_pitch, std::size_t width, std::size_t rows) const {
  if (width == 0 || rows == 0) return;
  if (destination_pitch < width || source_pitch < width) {
    throw Error(ErrorCode::invalid_argument,
                "copy_rows: rows of " + std::to_string(width) + " bytes overlap at pitches of " +
                    std::to_string(destination_pitch) + " and " + std::to_string(source_pitch) + " bytes");
  }
  if (rows == 1 || (destination_pitch == width && source_pitch == width)) {
    return copy(destination, source, width * rows);
  }
  if (destination == nullptr || source == nullptr) {
    throw Error(ErrorCode::null_pointer, "copy_rows of " + std::to_string(rows) + " rows of " +
                                             std::to_string(width) + " bytes from or to a null pointer");
  }
  device().backend().copy_rows(state_->context(), destination, destination_pitch, source, source_pitch, width,
                               rows);
}

void Stream::fill(void* destination, unsigned char value, std::size_t bytes) const {
  if (bytes == 0) return;
  if (destination == nullptr) {
    throw Error(ErrorCode::null_pointer, "fill of " + std::to_string(bytes) + " bytes at a null pointer");
  }
  device().backend().fill(state_->context(), destination, value, bytes);
}

struct Event::State {
  Device device;
  void* native;
  bool is_timed;

  State(const Device& device_, bool timed)
      : device(device_), native(device.backend().create_event(device.index(), timed)), is_timed(timed) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { device.backend().destroy_event(device.index(), native); }
};

namespace {

/// Events and streams of different back ends do not know each other.
void check_same_backend(const char* operation, const Device& stream, const Device& event) {
  if (&stream.backend() != &event.backend()) {
    fail(operation, ErrorCode::invalid_argument,
         "the event belongs to " + event.to_string() + ", the stream to " + stream.to_string());
  }
}

}  // namespace

void Stream::wait(const Event& event) const {
  check_same_backend("wait", device(), event.state_->device);
  device().backend().wait_event(state_->context(), event.state_->native);
}

Event::Event(const Device& device) : state_(std::make_shared<State>(device, true)) {}

Event Event::untimed(const Device& device) { return Event(std::make_shared<State>(device, false)); }

void Event::record(const Stream& stream) {
  check_same_backend("record", stream.device(), state_->device);
  state_->device.backend().record_event({stream.device().index(), stream.native()}, state_->native);
}

bool Event::is_done() const {
  return state_->device.backend().event_is_done(state_->device.index(), state_->native);
}

void Event::synchronize() const {
  state_->device.backend().synchronize_event(state_->device.index(), state_->native);
}

float Event::milliseconds_since(const Event& start) const {
  check_same_backend("milliseconds_since", state_->device, start.state_->device);
  if (!state_->is_timed || !start.state_->is_timed)
    throw Error(ErrorCode::invalid_argument, "milliseconds_since: an untimed event has no time stamp");
  return state_->device.backend().milliseconds(state_->device.index(), start.state_->native, state_->native);
}

}  // namespace relayout
