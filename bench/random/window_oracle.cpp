#include "bench/random/window_oracle.hpp"

#include <algorithm>

#include "bench/random/prepare.hpp"
#include "host/reference/depthwise.hpp"
#include "host/reference/pad.hpp"

namespace relayout::bench::random {
namespace {

/// How many samples of the input are copied at most to check a box of the output.
constexpr std::int64_t kMaxSamples = 1 << 20;

/// Batch, channel and sample that an element of the output holds; sample -1: padding.
class Sources {
 public:
  explicit Sources(const Problem& problem) : pad_(pad_of(problem)), length_(problem.inputs[0].shape[2]) {
    if (problem.family == Family::pad) return;
    window_ = window_of(problem);
    channels_ = problem.inputs[0].shape[1];
    positions_ = problem.out.shape[0] / problem.inputs[0].shape[0];
  }

  Dims of(const Dims& index) const {
    if (channels_ == 0)
      return {index[0], index[1], reference::source_sample(pad_, index[2] - pad_.left, length_)};
    const bool tap_outer = window_.order == ColumnOrder::tap_outer;
    const std::int64_t tap = tap_outer ? index[1] / channels_ : index[1] % window_.taps;
    const std::int64_t channel = tap_outer ? index[1] % channels_ : index[1] / window_.taps;
    const std::int64_t at = index[0] % positions_ * window_.stride + tap * window_.dilation - pad_.left;
    return {index[0] / positions_, channel, reference::source_sample(pad_, at, length_)};
  }

 private:
  PadSpec pad_;
  Window window_;
  std::int64_t length_, channels_ = 0, positions_ = 0;
};

Dims moved(const Dims& index, const Dims& by, std::int64_t sign) {
  Dims result = index;
  for (std::size_t axis = 0; axis < result.size(); ++axis) result[axis] += sign * by[axis];
  return result;
}

}  // namespace

std::string check_window_box(const Stream& stream, const Problem& problem, const TensorView& in,
                             const TensorView& out, const Box& box) {
  const Sources sources(problem);
  const HostTensor result(stream, out, box);
  Box needed{in.shape(), Dims(3, 0)};
  reference::for_each_index(result.view().shape(), [&](const Dims& index) {
    const Dims source = sources.of(moved(index, box.begin, 1));
    if (source[2] < 0) return;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      needed.begin[axis] = std::min(needed.begin[axis], source[axis]);
      needed.end[axis] = std::max(needed.end[axis], source[axis] + 1);
    }
  });
  if (needed.end[0] == 0) needed = {{0, 0, 0}, {1, 1, 1}};
  if (needed.elements() > kMaxSamples) return "";
  const HostTensor samples(stream, in, needed);
  std::int64_t wrong = 0;
  Dims first;
  reference::for_each_index(result.view().shape(), [&](const Dims& index) {
    const Dims source = sources.of(moved(index, box.begin, 1));
    std::uint64_t expected = 0;
    if (source[2] >= 0) {
      const std::uint64_t sample = reference::load_bits(samples.view(), moved(source, needed.begin, -1));
      expected = reference::convert_bits(sample, in.dtype(), out.dtype());
    }
    if (reference::load_bits(result.view(), index) == expected) return;
    if (wrong++ == 0) first = index;
  });
  return wrong == 0 ? "" : mismatch(wrong, box, first);
}

std::string check_depthwise_box(const Stream& stream, const Problem& problem,
                                const std::vector<TensorView>& inputs, const TensorView& out,
                                const Box& box) {
  const std::int64_t taps = inputs[1].extent(1), halo = std::min(box.begin[2], taps - 1);
  Box samples = box;
  samples.begin[2] -= halo;
  const std::int64_t first_channel = box.begin[1], end_channel = box.end[1];
  const HostTensor signal(stream, inputs[0], samples), result(stream, out, box);
  const HostTensor weights(stream, inputs[1], {{first_channel, 0}, {end_channel, taps}});
  std::vector<HostTensor> bias;
  if (inputs.size() > 2) bias.emplace_back(stream, inputs[2], Box{{first_channel}, {end_channel}});
  reference::DepthwiseOperands operands;
  operands.in = signal.view();
  operands.weights = weights.view();
  if (!bias.empty()) operands.bias = bias[0].view();
  operands.silu = problem.number("silu") != 0;
  reference::GemmGates gates(out.dtype(), taps, !bias.empty());
  reference::for_each_index(result.view().shape(), [&](const Dims& i) {
    gates.add(reference::load(result.view(), i),
              reference::depthwise_element(operands, i[0], i[1], i[2] + halo));
  });
  const reference::GemmCheck check = gates.check();
  return check.bound_ok() ? "" : "an error is " + std::to_string(check.worst) + " times its bound";
}

}  // namespace relayout::bench::random
