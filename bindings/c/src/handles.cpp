#include "bindings/c/src/handles.hpp"

#include <vector>

using namespace relayout;
using c::check_given;
using c::guarded;

namespace {

template <class F>
relayout_status make_device(relayout_device** device, F&& make) noexcept {
  return guarded([&] {
    check_given(device, "device");
    *device = nullptr;
    const Device made = make();
    *device = new relayout_device{made, made.to_string()};
  });
}

template <class F>
relayout_status make_stream(relayout_stream** stream, F&& make) noexcept {
  return guarded([&] {
    check_given(stream, "stream");
    *stream = nullptr;
    *stream = new relayout_stream{make()};
  });
}

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

TensorView at(const TensorView& view, const void* data) {
  return TensorView(data, view.dtype(), view.shape(), view.strides());
}

const void* only_input(const std::vector<const void*>& inputs) {
  if (inputs.size() != 1) {
    throw Error(ErrorCode::invalid_argument,
                "the plan runs on 1 input, and " + std::to_string(inputs.size()) + " were given");
  }
  return inputs[0];
}

/// The input, the gradient of the output, and the workspace where it was planned.
void run_backward(const DepthwiseBackwardPlan& plan, const Stream& stream,
                  const std::vector<const void*>& inputs, void* d_in) {
  const std::size_t wanted = plan.workspace_bytes() > 0 ? 3 : 2;
  if (inputs.size() < wanted || inputs.size() > 3) {
    throw Error(ErrorCode::invalid_argument, "the plan runs on " + std::to_string(wanted) + " inputs, and " +
                                                 std::to_string(inputs.size()) + " were given");
  }
  plan.run(stream, inputs[0], inputs[1], d_in, wanted == 3 ? const_cast<void*>(inputs[2]) : nullptr);
}

}  // namespace

extern "C" {

relayout_status relayout_device_cpu(relayout_device** device) { return make_device(device, Device::cpu); }

relayout_status relayout_device_emulated(int32_t warp_size, relayout_device** device) {
  return make_device(device, [&] { return Device::emulated(warp_size); });
}

relayout_status relayout_device_gpu(int32_t index, relayout_device** device) {
  return make_device(device, [&] { return Device::gpu(index); });
}

relayout_status relayout_device_best(relayout_device** device) { return make_device(device, Device::best); }

relayout_status relayout_gpu_count(int32_t* count) {
  return guarded([&] {
    check_given(count, "count");
    *count = Device::gpu_count();
  });
}

relayout_status relayout_device_name(const relayout_device* device, const char** name) {
  return guarded([&] {
    check_given(device, "device");
    check_given(name, "name");
    *name = device->name.c_str();
  });
}

void relayout_device_destroy(relayout_device* device) { delete device; }

relayout_status relayout_stream_create(const relayout_device* device, relayout_stream** stream) {
  return make_stream(stream, [&] { return Stream(c::device_of(device)); });
}

relayout_status relayout_stream_from_native(const relayout_device* device, void* native,
                                            relayout_stream** stream) {
  return make_stream(stream, [&] { return Stream::from_native(c::device_of(device), native); });
}

relayout_status relayout_stream_synchronize(const relayout_stream* stream) {
  return guarded([&] { c::stream_of(stream).synchronize(); });
}

void relayout_stream_destroy(relayout_stream* stream) { delete stream; }

relayout_status relayout_run(const relayout_plan* plan, const relayout_stream* stream) {
  return guarded([&] {
    check_given(plan, "plan");
    const Stream& on = c::stream_of(stream);
    std::visit(Overloaded{[&](const auto& one) { one.run(on); },
                          [&](const std::shared_ptr<c::ConvRun>& conv) {
                            const std::lock_guard<std::mutex> lock(conv->turn);
                            conv->plan.run(on, conv->in, conv->y);
                          }},
               plan->plan);
  });
}

relayout_status relayout_run_on(const relayout_plan* plan, const relayout_stream* stream,
                                const void* const* inputs, int32_t input_count, void* out) {
  return guarded([&] {
    check_given(plan, "plan");
    const Stream& on = c::stream_of(stream);
    if (input_count < 0) throw Error(ErrorCode::invalid_argument, "the number of inputs is negative");
    if (input_count > 0) check_given(inputs, "inputs");
    const std::vector<const void*> given(inputs, inputs + input_count);
    std::visit(Overloaded{[&](const auto& one) { one.run(on, only_input(given), out); },
                          [&](const ElementwisePlan& one) { one.run(on, given, out); },
                          [&](const DepthwiseBackwardPlan& one) { run_backward(one, on, given, out); },
                          [&](const std::shared_ptr<c::ConvRun>& conv) {
                            const TensorView in = at(conv->in, only_input(given));
                            const std::lock_guard<std::mutex> lock(conv->turn);
                            conv->plan.run(on, in, at(conv->y, out));
                          }},
               plan->plan);
  });
}

relayout_status relayout_explain(const relayout_plan* plan, const char** text) {
  return guarded([&] {
    check_given(plan, "plan");
    check_given(text, "text");
    thread_local std::string words;
    words = std::visit(Overloaded{[](const auto& one) { return one.explain(); },
                                  [](const std::shared_ptr<c::ConvRun>& conv) {
                                    return conv->plan.explain(conv->in, conv->y);
                                  }},
                       plan->plan);
    *text = words.c_str();
  });
}

void relayout_plan_destroy(relayout_plan* plan) { delete plan; }

}  // extern "C"
