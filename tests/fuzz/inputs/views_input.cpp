// Operations on views of any shape and strides, in memory of exactly the bytes that they reach: the sanitizer
// sees every access before the first of them and behind the last.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "tests/fuzz/draw.hpp"

#include <relayout/relayout.hpp>

namespace relayout::fuzz {
namespace {

constexpr std::int64_t kMaxBytes = 1 << 14;

/// A view, and the allocation that it fills.
struct Placed {
  TensorView view;
  std::unique_ptr<unsigned char, decltype(&std::free)> memory{nullptr, std::free};
};

Placed place(DType type, const Dims& shape, const Dims& strides) {
  Placed placed;
  placed.view = TensorView(nullptr, type, shape, strides);
  const TensorView::ByteRange range = placed.view.byte_range();
  const std::int64_t bytes = range.end - range.begin;
  if (bytes > kMaxBytes) throw Error(ErrorCode::invalid_argument, "more memory than a case has");
  if (bytes == 0) return placed;
  placed.memory.reset(static_cast<unsigned char*>(std::malloc(static_cast<std::size_t>(bytes))));
  std::memset(placed.memory.get(), 0x3C, static_cast<std::size_t>(bytes));
  placed.view = TensorView(placed.memory.get() - range.begin, type, shape, strides);
  return placed;
}

Placed any_input(Draw& draw, DType type, const Dims& shape) {
  Dims strides = contiguous_strides(shape);
  for (std::int64_t& stride : strides)
    if (draw.chance(100)) stride = draw.below(23) - 7;
  return place(type, shape, strides);
}

/// Axes in a random order, with gaps, some of them backwards.
Placed any_output(Draw& draw, DType type, const Dims& shape) {
  Dims strides(shape.size(), 1);
  std::vector<std::size_t> order(shape.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;
  for (std::size_t i = 1; i < order.size(); ++i)
    std::swap(order[i], order[static_cast<std::size_t>(draw.below(static_cast<int>(i) + 1))]);
  std::int64_t step = 1;
  for (const std::size_t axis : order) {
    step += draw.chance(60) ? draw.below(5) : 0;
    strides[axis] = draw.chance(40) ? -step : step;
    step *= std::max<std::int64_t>(1, shape[axis]);
  }
  return place(type, shape, strides);
}

Dims any_shape(Draw& draw, int rank) {
  Dims shape;
  for (int axis = 0; axis < rank; ++axis)
    shape.push_back(draw.chance(40) ? draw.below(70) : draw.below(7) + 1);
  return shape;
}

constexpr DType kTypes[] = {DType::f32,  DType::u8,  DType::f16, DType::f64,
                            DType::bf16, DType::i32, DType::i64};
constexpr DType kSignals[] = {DType::f32, DType::f16, DType::bf16};

void run_copy(Draw& draw, const Stream& stream) {
  const DType from = draw.pick(kTypes), to = draw.chance(128) ? draw.pick(kTypes) : from;
  const Dims shape = any_shape(draw, draw.below(6));
  const Placed in = any_input(draw, from, shape), out = any_output(draw, to, shape);
  draw.chance(128) ? copy(stream, in.view, out.view) : cast(stream, in.view, out.view);
}

void run_window(Draw& draw, const Stream& stream) {
  const DType type = draw.pick(kTypes);
  const Placed in = any_input(draw, type, any_shape(draw, 3));
  Window window;
  window.taps = draw.below(6) + 1;
  window.stride = draw.below(4) + 1;
  window.dilation = draw.below(4) + 1;
  if (draw.chance(60)) window.groups = draw.below(3) + 1;
  if (draw.chance(100)) window.order = ColumnOrder::channel_outer;
  PadSpec pad;
  pad.left = draw.below(12) - 2;
  pad.right = draw.below(12) - 2;
  pad.mode = static_cast<PadMode>(draw.below(6));
  pad.policy = PadPolicy::extended;
  if (draw.chance(100)) {
    const std::int64_t padded = output_length(in.view.extent(2), Window(), pad);
    const Placed out = any_output(draw, type, {in.view.extent(0), in.view.extent(1), padded});
    return relayout::pad(stream, in.view, pad, out.view);
  }
  const std::int64_t rows = in.view.extent(0) * output_length(in.view.extent(2), window, pad),
                     columns = in.view.extent(1) / window.groups * window.taps;
  const Placed out =
      any_output(draw, type, window.groups == 1 ? Dims{rows, columns} : Dims{window.groups, rows, columns});
  img2col(stream, in.view, window, pad, out.view);
}

void run_depthwise(Draw& draw, const Stream& stream) {
  const DType type = draw.pick(kSignals);
  const Dims shape = any_shape(draw, 3);
  const std::int64_t taps = draw.below(12) + 1;
  const Placed in = any_input(draw, type, shape), weights = any_input(draw, DType::f32, {shape[1], taps}),
               out = any_output(draw, type, shape), bias = any_input(draw, type, {shape[1]});
  const Activation activation = draw.chance(128) ? Activation::silu : Activation::none;
  if (draw.chance(80)) {
    const Placed state = any_output(draw, type, {shape[0], shape[1], taps - 1 + draw.below(3)});
    return depthwise_update(stream, state.view, in.view, weights.view, bias.view, activation, out.view);
  }
  const Placed before = any_input(draw, type, {shape[0], shape[1], taps - 1}),
               after = any_output(draw, type, {shape[0], shape[1], taps - 1});
  const bool states = draw.chance(128);
  depthwise_conv1d(stream, in.view, weights.view, bias.view, activation, states ? before.view : TensorView(),
                   out.view, states ? after.view : TensorView());
}

void run_backward(Draw& draw, const Stream& stream) {
  const DType type = draw.pick(kSignals);
  const Dims shape = any_shape(draw, 3);
  const std::int64_t taps = draw.below(12) + 1;
  const Dims state{shape[0], shape[1], taps - 1};
  const Placed in = any_input(draw, type, shape), weights = any_input(draw, DType::f32, {shape[1], taps}),
               bias = any_input(draw, type, {shape[1]}), before = any_input(draw, type, state),
               ids = any_input(draw, DType::i32, {shape[0], shape[2]}), d_out = any_input(draw, type, shape),
               d_final = any_input(draw, type, state), d_in = any_output(draw, type, shape),
               d_weights = any_output(draw, type, {shape[1], taps}),
               d_bias = any_output(draw, type, {shape[1]}), d_before = any_output(draw, type, state);
  const auto given = [&draw](const Placed& placed) { return draw.chance(128) ? placed.view : TensorView(); };
  DepthwiseForward forward{in.view, weights.view, given(bias), Activation::silu, TensorView(), TensorView()};
  DepthwiseGradients gradients{d_out.view,       TensorView(),  d_in.view,
                               given(d_weights), given(d_bias), TensorView()};
  if (draw.chance(80)) {
    forward.sequence_ids = ids.view;
  } else {
    forward.initial_state = given(before);
    gradients.d_final_state = given(d_final);
    gradients.d_initial_state = given(d_before);
  }
  const std::size_t bytes = depthwise_conv1d_backward_workspace_bytes(stream.device(), forward, gradients);
  const Placed workspace = place(DType::u8, {static_cast<std::int64_t>(bytes)}, {1});
  depthwise_conv1d_backward(stream, forward, gradients, workspace.view);
}

/// Numbers of sequences and states that may lead anywhere.
Placed any_numbers(Draw& draw, const Dims& shape, int most) {
  Placed placed = place(DType::i32, shape, contiguous_strides(shape));
  auto* const numbers = reinterpret_cast<std::int32_t*>(placed.memory.get());
  for (std::int64_t i = 0; i < placed.view.elements(); ++i)
    numbers[i] = draw.chance(20) ? (draw.below(2) - 1) * 0x7fffffff : draw.below(most + 3) - 1;
  return placed;
}

void run_sequences(Draw& draw, const Stream& stream) {
  constexpr int kBlocks = 3;
  const DType type = draw.pick(kSignals);
  const std::int64_t channels = draw.below(9), taps = draw.below(8) + 1, batch = draw.below(5),
                     slots = draw.below(6);
  const auto total = static_cast<std::int64_t>(draw.below(90));
  const Placed in = any_input(draw, type, {channels, total}),
               weights = any_input(draw, DType::f32, {channels, taps}),
               bias = any_input(draw, type, {channels}), out = any_output(draw, type, {channels, total}),
               starts = any_numbers(draw, {batch + 1}, static_cast<int>(total)),
               indices = any_numbers(draw, {batch}, static_cast<int>(slots)),
               accepted = any_numbers(draw, {batch}, 4), initial = any_numbers(draw, {batch}, kBlocks),
               last = any_numbers(draw, {batch}, kBlocks), first = any_numbers(draw, {batch}, kBlocks),
               computed = any_numbers(draw, {batch}, 40),
               rows = any_numbers(draw, {batch, kBlocks}, static_cast<int>(slots));
  const bool in_blocks = draw.chance(80), indexed = in_blocks || draw.chance(128);
  const Placed states =
      any_output(draw, type, {indexed ? slots : batch, channels, taps - 1 + (draw.chance(90) ? 5 : 0)});
  if (draw.chance(60)) return depthwise_varlen_states(stream, in.view, starts.view, states.view);
  if (draw.chance(128)) {
    DepthwiseUpdateOptions options;
    if (indexed) options.state_indices = indices.view;
    options.query_start_loc = starts.view;
    if (in_blocks) {
      options.state_indices = rows.view;
      options.initial_block = initial.view;
      options.last_block = last.view;
    }
    (draw.chance(128) && !in_blocks ? options.cache_seqlens : options.num_accepted_tokens) = accepted.view;
    return depthwise_update(stream, states.view, in.view, weights.view, bias.view, Activation::silu, out.view,
                            options);
  }
  DepthwiseVarlenOptions options;
  if (indexed) options.state_indices = indices.view;
  if (in_blocks) {
    options.state_indices = rows.view;
    options.initial_block = initial.view;
    options.last_block = last.view;
    if (draw.chance(200)) {
      options.block_size = taps + draw.below(9);
      options.first_block = first.view;
      options.computed_tokens = computed.view;
    }
  }
  const TensorView exact = states.view.slice(2, 0, taps - 1);
  depthwise_varlen(stream, in.view, starts.view, weights.view, bias.view, Activation::none, exact, out.view,
                   options);
}

void run_gemm(Draw& draw, const Stream& stream) {
  const DType type = draw.chance(128) ? DType::bf16 : DType::f16,
              result = draw.chance(80) ? DType::f32 : type;
  const std::int64_t groups = draw.chance(80) ? draw.below(3) + 1 : 0, m = draw.below(40), n = draw.below(40),
                     k = draw.below(70);
  const auto matrix = [&](DType of, std::int64_t rows, std::int64_t columns, std::int64_t least) {
    const std::int64_t pitch = least + draw.below(4);
    const Dims shape{groups, rows, columns},
        strides{draw.chance(40) ? 0 : rows * pitch + draw.below(3), pitch, 1};
    return groups > 0 ? place(of, shape, strides) : place(of, {rows, columns}, {pitch, 1});
  };
  const Placed a = matrix(type, m, k, draw.chance(60) ? draw.below(5) : k), bt = matrix(type, n, k, k),
               y = matrix(result, m, n, n),
               bias = place(DType::f32, {std::max<std::int64_t>(groups, 1) * n}, {1});
  gemm(stream, a.view, bt.view, draw.chance(128) ? bias.view : TensorView(), y.view);
}

void run_elementwise(Draw& draw, const Stream& stream) {
  const DType type = draw.pick(kTypes);
  const Dims shape = any_shape(draw, draw.below(5));
  Dims other = shape;
  for (std::int64_t& extent : other)
    if (draw.chance(60)) extent = 1;
  const Placed a = any_input(draw, type, shape), b = any_input(draw, type, other),
               out = any_output(draw, type, shape);
  switch (draw.below(4)) {
    case 0:
      return maximum(stream, a.view, b.view, out.view);
    case 1:
      return div_floor(stream, b.view, a.view, out.view);
    case 2:
      return chain(stream, {Operation::add, Operation::mul, {Operation::sub, 1}}, {a.view, b.view, a.view, 2},
                   out.view);
    default: {
      const Placed codes = any_input(draw, DType::i8, shape), to = any_output(draw, DType::u8, shape);
      quantized(stream, Operation::add, {QuantizedTensor{codes.view, 0.5f, 1}, 1.5f},
                QuantizedTensor{to.view, 0.25f, 7});
    }
  }
}

}  // namespace
}  // namespace relayout::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace relayout;
  using namespace relayout::fuzz;
  static const Stream cpu{Device::cpu()};
  Draw draw(data, size);
  try {
    switch (draw.below(7)) {
      case 0:
        run_copy(draw, cpu);
        break;
      case 1:
        run_window(draw, cpu);
        break;
      case 2:
        run_depthwise(draw, cpu);
        break;
      case 4:
        run_backward(draw, cpu);
        break;
      case 5:
        run_sequences(draw, cpu);
        break;
      case 6:
        run_gemm(draw, cpu);
        break;
      default:
        run_elementwise(draw, cpu);
    }
  } catch (const Error&) {
  }
  return 0;
}
