#include "relayout/graph.hpp"

#include "host/api/checks.hpp"
#include "platform/backend.hpp"
#include "relayout/error.hpp"

namespace relayout {

struct Graph::State {
  Stream stream;  // on which it was recorded
  std::function<void()> queue_work;
  void* executable = nullptr;  // null: a launch calls queue_work

  State(const Stream& stream_, const std::function<void()>& queue_work_)
      : stream(stream_), queue_work(queue_work_) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (executable != nullptr) stream.device().backend().destroy_graph(stream.device().index(), executable);
  }

  void record() {
    Backend& backend = stream.device().backend();
    const LaunchContext context = context_of(stream);
    if (!backend.begin_capture(context)) return;
    try {
      queue_work();
    } catch (...) {
      backend.abandon_capture(context);
      throw;
    }
    executable = backend.end_capture(context);
  }
};

Graph::Graph(const Stream& stream, const std::function<void()>& queue_work)
    : state_(std::make_shared<State>(stream, queue_work)) {
  if (!queue_work) throw Error(ErrorCode::invalid_argument, "graph: the function that queues work is empty");
  if (stream.device().kind() == DeviceKind::gpu && stream.native() == nullptr) {
    throw Error(ErrorCode::unsupported,
                "graph: a GPU's default stream cannot record work; record on a Stream of its own");
  }
  state_->record();
}

void Graph::launch(const Stream& stream) const {
  const Device &own = state_->stream.device(), &other = stream.device();
  if (!same_device(own, other)) {
    throw Error(ErrorCode::invalid_argument,
                "graph: recorded on " + own.to_string() + ", and cannot be launched on " + other.to_string());
  }
  if (state_->executable == nullptr) {
    state_->queue_work();
  } else {
    own.backend().launch_graph(context_of(stream), state_->executable);
  }
}

}  // namespace relayout
