#include "bench/random/device_check.hpp"

#include <algorithm>

#include "bench/random/functions.hpp"
#include "bench/random/host_tensor.hpp"
#include "bench/random/prepare.hpp"
#include "core/bytes.hpp"
#include "core/depthwise_params.hpp"
#include "host/reference/accuracy.hpp"

namespace relayout::bench::random {
namespace {

/// The same elements as whole numbers; of 16 bytes as two along a new last axis.
TensorView bits_of(const TensorView& view) {
  const std::size_t size = size_of(view.dtype());
  Dims shape = view.shape(), strides = view.strides();
  if (size == 16) {
    for (std::int64_t& stride : strides) stride *= 2;
    shape.push_back(2);
    strides.push_back(1);
  }
  return TensorView(view.data(), unsigned_of(size), shape, strides);
}

/// Relative: some times the bounds of reference::ulp_bound, of which each side may use all.
double tolerance_of(DType type) {
  return type == DType::f16 ? 0x1p-8 : type == DType::bf16 ? 0x1p-5 : type == DType::f32 ? 0x1p-19 : 0x1p-48;
}

/// The relative distance of neighbouring numbers, and half of it more. No sum of the numbers that are drawn
/// cancels out: all are positive.
double tolerance_of_sums(DType type) { return type == DType::f16 ? 0x1.8p-10 : 0x1.8p-7; }

/// Two steps between the least numbers of the type, where the relative tolerance is less.
double least_step_of(DType type) {
  return type == DType::f16 ? 0x1p-23 : type == DType::bf16 ? 0x1p-132 : type == DType::f32 ? 0x1p-148 : 0;
}

/// in[.., begin + i * step] for i < count, along the last axis; the step may be negative or 0.
TensorView samples(const TensorView& in, std::int64_t begin, std::int64_t step, std::int64_t count) {
  Dims shape = in.shape(), strides = in.strides();
  const char* const first = static_cast<const char*>(in.data()) + begin * strides[2] * bytes_of(in.dtype());
  shape[2] = count;
  strides[2] *= step;
  return TensorView(first, in.dtype(), shape, strides);
}

/// What a mode puts beside a signal: the samples from `begin` on, step by step.
struct Edge {
  std::int64_t begin, step;
};

Edge left_edge(PadMode mode, std::int64_t length, std::int64_t pad) {
  if (mode == PadMode::replicate) return {0, 0};
  if (mode == PadMode::circular) return {length - pad, 1};
  return {mode == PadMode::symmetric ? pad - 1 : pad, -1};
}

Edge right_edge(PadMode mode, std::int64_t length) {
  if (mode == PadMode::replicate) return {length - 1, 0};
  if (mode == PadMode::circular) return {0, 1};
  return {mode == PadMode::symmetric ? length - 1 : length - 2, -1};
}

}  // namespace

void* DeviceCheck::room(int slot, std::int64_t bytes) {
  const std::size_t at = static_cast<std::size_t>(slot);
  if (memory_.size() <= at) memory_.resize(at + 1);
  if (memory_[at].bytes() < static_cast<std::size_t>(bytes)) {
    stream_.synchronize();
    memory_[at] = Buffer();  // before the new one: both may not fit
    memory_[at] = Buffer(stream_.device(), static_cast<std::size_t>(bytes));
  }
  return memory_[at].data();
}

TensorView DeviceCheck::contiguous(int slot, DType type, const Dims& shape) {
  const TensorView none(nullptr, type, shape);
  return TensorView(room(slot, bytes_of(none)), type, shape);
}

TensorView DeviceCheck::with_gaps(int slot, DType type, const Dims& shape) {
  Dims strides = contiguous_strides(shape);
  for (std::int64_t& stride : strides) stride *= 2;
  const TensorView none(nullptr, type, shape);
  return TensorView(room(slot, 2 * bytes_of(none)), type, shape, strides);
}

/// The signal between its edges, which are copies of views of it: strict pads reach no further than the
/// signal, so that each is one piece.
TensorView DeviceCheck::padded_signal(const Problem& problem, const TensorView& in) {
  const PadSpec pad = pad_of(problem);
  const std::int64_t length = in.extent(2);
  Dims shape = in.shape();
  shape[2] += pad.left + pad.right;
  const TensorView padded = contiguous(kFirstOperand, in.dtype(), shape);
  if (pad.mode == PadMode::constant)
    stream_.fill(padded.data(), 0, static_cast<std::size_t>(bytes_of(padded)));
  gather(stream_, in, padded.slice(2, pad.left, pad.left + length));
  if (pad.mode == PadMode::constant) return padded;
  const Edge left = left_edge(pad.mode, length, pad.left), right = right_edge(pad.mode, length);
  if (pad.left > 0)
    gather(stream_, samples(in, left.begin, left.step, pad.left), padded.slice(2, 0, pad.left));
  if (pad.right > 0)
    gather(stream_, samples(in, right.begin, right.step, pad.right),
           padded.slice(2, pad.left + length, shape[2]));
  return padded;
}

TensorView DeviceCheck::expected_window(const Problem& problem, const TensorView& in) {
  const TensorView padded = padded_signal(problem, in);
  const TensorView result = contiguous(kResult, problem.out.type, problem.out.shape);
  if (problem.family == Family::pad) {
    gather(stream_, padded, result);
    return result;
  }
  const Window window = window_of(problem);
  const std::int64_t batch = in.extent(0), channels = in.extent(1);
  const std::int64_t positions = problem.out.shape[0] / batch;
  const Dims &s = padded.strides(), shape{batch, positions, window.taps, channels};
  const TensorView windows(padded.data(), padded.dtype(), shape,
                           {s[0], s[2] * window.stride, s[2] * window.dilation, s[1]});
  const bool tap_outer = window.order == ColumnOrder::tap_outer;
  const std::int64_t row = window.taps * channels;
  const TensorView rows(result.data(), result.dtype(), shape,
                        {positions * row, row, tap_outer ? channels : std::int64_t{1},
                         tap_outer ? std::int64_t{1} : window.taps});
  gather(stream_, windows, rows);
  return result;
}

TensorView DeviceCheck::expected(const Problem& problem, const std::vector<TensorView>& inputs) {
  const bool signals = problem.family == Family::depthwise;
  if (problem.family == Family::pad || problem.family == Family::img2col)
    return expected_window(problem, inputs[0]);
  if (problem.function.empty() && !signals) {
    const TensorView result = contiguous(kResult, problem.out.type, problem.out.shape);
    gather(stream_, inputs[0], result);
    return result;
  }
  const std::size_t laid_out = signals ? 1 : operands_of(problem);
  std::vector<TensorView> operands = inputs;
  for (std::size_t i = 0; i < laid_out; ++i) {
    operands[i] = with_gaps(kFirstOperand + static_cast<int>(i), inputs[i].dtype(), inputs[i].shape());
    gather(stream_, inputs[i], operands[i]);
  }
  const TensorView result = with_gaps(kResult, problem.out.type, problem.out.shape);
  run(stream_, problem, operands, result);
  return result;
}

/// Halves are joined until few words are left.
bool DeviceCheck::any_flag(std::int64_t flags) {
  constexpr std::int64_t kFewWords = 4096;
  char* const memory = static_cast<char*>(memory_[kFlags].data());
  std::int64_t words = (flags + 7) / 8;
  while (words > kFewWords) {
    const std::int64_t kept = (words + 1) / 2;
    const TensorView front(memory, DType::u64, {words - kept}),
        back(memory + 8 * kept, DType::u64, {words - kept});
    elementwise(stream_, Operation::bit_or, {front, back}, front);
    words = kept;
  }
  std::vector<std::uint64_t> left(static_cast<std::size_t>(words));
  stream_.copy(left.data(), memory, left.size() * 8);
  stream_.synchronize();
  return std::any_of(left.begin(), left.end(), [](std::uint64_t word) { return word != 0; });
}

bool DeviceCheck::differ(const TensorView& a, const TensorView& b, Equal equal) {
  const TensorView x = bits_of(a), y = bits_of(b);
  const std::int64_t count = x.elements(), padded = (count + 7) / 8 * 8;
  char* const memory = static_cast<char*>(room(kFlags, padded));
  stream_.fill(memory + padded - 8, 0, 8);
  const TensorView flags(memory, DType::bool_, x.shape());
  if (equal == Equal::nearly || equal == Equal::sums) {
    ElementwiseOptions options;
    options.rtol = equal == Equal::sums ? tolerance_of_sums(a.dtype()) : tolerance_of(a.dtype());
    options.atol = least_step_of(a.dtype());
    options.equal_nan = true;
    elementwise(stream_, Operation::isclose, {a, b}, flags, options);
    elementwise(stream_, Operation::logical_not, {flags}, flags);
  } else if (equal == Equal::codes) {  // the difference modulo 256 is -1, 0 or 1
    chain(stream_, {Operation::sub, Operation::add, Operation::greater}, {x, y, 1, 2}, flags);
  } else {
    elementwise(stream_, Operation::not_equal, {x, y}, flags);
  }
  return any_flag(padded);
}

std::string DeviceCheck::check(const Problem& problem, const std::vector<TensorView>& inputs,
                               const TensorView& out) {
  Equal equal = Equal::bits;
  if (problem.family == Family::quantized && problem.function != "dequantize") equal = Equal::codes;
  if (problem.family == Family::binary || problem.family == Family::unary) {
    const bool exact = reference::is_exact(operation_of(problem.function), problem.out.type);
    if (!exact && is_floating(problem.out.type)) equal = Equal::nearly;
  }
  if (problem.family == Family::depthwise && inputs[1].extent(1) > kUnrolledTaps &&
      size_of(problem.out.type) == 2)
    equal = Equal::sums;
  const TensorView wanted = expected(problem, inputs);
  if (!differ(out, wanted, equal)) return "";
  return "elements differ from those of the general kernels";
}

}  // namespace relayout::bench::random
