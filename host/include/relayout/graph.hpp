// Graphs: a sequence of queued work, recorded once and launched many times as one.
#pragma once

#include <functional>
#include <memory>

#include <relayout/export.hpp>
#include <relayout/stream.hpp>

namespace relayout {

/// On a GPU the work that a function queues is recorded instead of run (CUDA and HIP graphs), and a launch
/// queues all of it with one call. On cpu and emulated devices, where work has finished when its call
/// returns, there is nothing to record: a launch calls the function. Copies share the
/// recording, and moving one copies it.
class RELAYOUT_API Graph {
 public:
  /// Calls queue_work, on a GPU once and now: it only queues work, on `stream` or on streams that wait for it
  /// and that it waits for, from this thread; allocating and synchronising are errors. Addresses and sizes
  /// that host code inside it computes are those of that one call. None of the work runs yet. What queue_work
  /// throws comes out of the constructor (on cpu and emulated devices of launch), and the stream can be used
  /// on. Errors: {unsupported} for a GPU's default stream, which cannot record; {vendor} for work that cannot
  /// be recorded.
  Graph(const Stream& stream, const std::function<void()>& queue_work);
  /// A copy.
  Graph(const Graph&) = default;
  /// A copy.
  Graph& operator=(const Graph&) = default;

  /// Queues the recorded work once more, on any stream of the same device, else Error{invalid_argument}. It
  /// works on the same memory each time, the BLAS library's workspace of the recording stream included: a
  /// launch must not run beside another one, nor beside other GEMMs of that stream. The graph keeps
  /// queue_work and what it holds by value, such as Buffers; it must live until its last launch has finished.
  void launch(const Stream& stream) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace relayout
