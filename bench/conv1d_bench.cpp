// Causal conv1d: padding, img2col with everything fused into it, and the whole convolution on the device.
#include "bench/bench_case.hpp"
#include "bench/case_json.hpp"
#include "bench/rotation.hpp"

namespace relayout::bench {
namespace {

using cases::Img2colCase;
using cases::Layout;
using cases::PadCase;
using Views = std::vector<TensorView>;

/// One kernel from `in` to `out`.
template <class Case, class Run>
BenchCase single_kernel_case(const std::string& name, const Case& c, const Operand& out, const Run& run) {
  const Operand in{c.in_type, c.in_shape(), cases::strides_of(c.in_layout, c.in_shape())};
  return {"conv1d",
          name,
          in.bytes() + out.bytes(),
          parameters_of(c),
          printed(c),
          [in, out, run](const Stream& stream) {
            return prepare_rotated(stream, {in, out},
                                   [stream, run](const Views& views) { run(stream, views[0], views[1]); });
          }};
}

BenchCase img2col_case(const Img2colCase& c) {
  const std::string name = std::string("img2col/") + name_of(c.in_type) + "-" + cases::name_of(c.in_layout) +
                           "/" + joined(c.in_shape()) + "/hk" + std::to_string(c.window.taps);
  return single_kernel_case(name, c, {c.out_type, c.out_shape(), c.out_strides()},
                            [c](const Stream& stream, const TensorView& in, const TensorView& out) {
                              img2col(stream, in, c.window, c.pad, out);
                            });
}

BenchCase pad_case(const PadCase& c) {
  const std::string name = std::string("pad-") + name_of(c.pad.mode) + "/" + name_of(c.in_type) + "-" +
                           cases::name_of(c.in_layout) + "-" + name_of(c.out_type) + "-" +
                           cases::name_of(c.out_layout) + "/" + joined(c.in_shape());
  return single_kernel_case(name, c,
                            {c.out_type, c.out_shape(), cases::strides_of(c.out_layout, c.out_shape())},
                            [c](const Stream& stream, const TensorView& in, const TensorView& out) {
                              pad(stream, in, c.pad, out);
                            });
}

/// From x on the device to y, with weights prepared once and no bias. Data that the plan holds in between
/// does not count as bytes.
BenchCase whole_case(const Img2colCase& c, std::int64_t out_channels, ConvRoute route) {
  Conv1d problem;
  problem.batch = c.batch;
  problem.in_channels = c.channels;
  problem.length = c.length;
  problem.out_channels = out_channels;
  problem.window = c.window;
  problem.pad = c.pad;
  problem.dtype = c.out_type;
  const Operand x{c.in_type, c.in_shape(), cases::strides_of(c.in_layout, c.in_shape())};
  const Operand weights = contiguous_operand(DType::f32, {out_channels, c.channels, c.window.taps});
  const Operand bt = contiguous_operand(c.out_type, {out_channels, c.depth()});
  const Operand y = contiguous_operand(c.out_type, {c.batch, sizes_of(problem).positions, out_channels});
  Json parameters = parameters_of(c);
  parameters["operation"] = "conv1d";
  parameters["out_channels"] = out_channels;
  parameters["route"] = name_of(route);
  const std::string name = std::string("whole-") + name_of(route) + "/" + joined(c.in_shape()) + "/hk" +
                           std::to_string(c.window.taps) + "/co" + std::to_string(out_channels);
  return {
      "conv1d",
      name,
      x.bytes() + bt.bytes() + y.bytes(),
      parameters,
      std::string("whole conv1d by ") + name_of(route) + ", A from " + printed(c),
      [x, weights, bt, y, problem, route](const Stream& stream) {
        const Buffer memory = random_buffer(stream, weights.dtype, static_cast<std::size_t>(weights.bytes()));
        const TensorView w(memory.data(), weights.dtype, weights.shape);
        const ConvPlan plan(stream, problem, route, w);
        // Bt as the formulas have it, whatever form the route gives to the weights.
        const Buffer bt_memory(stream.device(), static_cast<std::size_t>(bt.bytes()));
        const TensorView bt_view(bt_memory.data(), bt.dtype, bt.shape);
        rearrange_weights(stream, w, problem.window.order, bt_view);
        stream.synchronize();
        Prepared prepared = prepare_rotated(stream, {x, y}, [stream, plan, bt_memory](const Views& views) {
          plan.run(stream, views[0], views[1]);
        });
        prepared.inputs.push_back(bt_view);
        return prepared;
      }};
}

/// The signal [batch, channels, length].
struct Signal {
  std::int64_t batch, channels, length;
};

Img2colCase causal(const Signal& signal, std::int64_t taps, DType in_type, Layout layout) {
  Img2colCase c;
  c.batch = signal.batch;
  c.channels = signal.channels;
  c.length = signal.length;
  c.window.taps = taps;
  c.pad = causal_padding(Causal::sample, c.length, c.window);
  c.in_type = in_type;
  c.in_layout = layout;
  return c;
}

PadCase padded(const Signal& signal, const PadSpec& pad, DType in_type, DType out_type, Layout in_layout,
               Layout out_layout) {
  return {signal.batch, signal.channels, signal.length, pad, in_type, out_type, in_layout, out_layout, 0, 0};
}

struct Img2colSize {
  Signal signal;
  std::int64_t taps;
};
struct WholeSize {
  Signal signal;
  std::int64_t taps, out_channels;
};
struct SizeTable {
  std::vector<Img2colSize> direct;
  Img2colSize channels_last;
  Signal pad;
  std::vector<WholeSize> whole;
};

SizeTable table_of(Sizes sizes) {
  switch (sizes) {
    case Sizes::gpu:
      return {{{{8, 2048, 8192}, 4}, {{8, 512, 16384}, 8}, {{64, 64, 2048}, 4}, {{1, 64, 2048}, 4}},
              {{8, 2048, 8192}, 4},
              {8, 2048, 8192},
              {{{1, 64, 2048}, 4, 64}, {{64, 64, 2048}, 4, 64}, {{8, 2048, 8192}, 4, 2048}}};
    case Sizes::cpu:
      return {{{{8, 512, 4096}, 4}, {{8, 128, 8192}, 8}, {{64, 64, 2048}, 4}, {{1, 64, 2048}, 4}},
              {{8, 512, 4096}, 4},
              {8, 512, 4096},
              {{{1, 64, 2048}, 4, 64}, {{16, 64, 2048}, 4, 64}}};
    default:
      return {{{{2, 5, 37}, 4}, {{1, 64, 70}, 8}}, {{2, 5, 37}, 4}, {2, 9, 41}, {{{2, 8, 33}, 4, 6}}};
  }
}

}  // namespace

BenchCases conv1d_cases(Sizes sizes) {
  const SizeTable table = table_of(sizes);
  BenchCases list;
  for (const Img2colSize& size : table.direct)
    list.push_back(img2col_case(causal(size.signal, size.taps, DType::f32, Layout::ncl)));
  list.push_back(
      img2col_case(causal(table.channels_last.signal, table.channels_last.taps, DType::f16, Layout::nlc)));

  PadSpec causal_pad;
  causal_pad.left = 3;
  list.push_back(pad_case(padded(table.pad, causal_pad, DType::f32, DType::f16, Layout::ncl, Layout::nlc)));
  for (const PadMode mode : {PadMode::constant, PadMode::replicate, PadMode::reflect, PadMode::symmetric,
                             PadMode::circular, PadMode::reflect_zero_extended}) {
    PadSpec both_sides;
    both_sides.left = both_sides.right = 3;
    both_sides.mode = mode;
    for (const DType type : {DType::f32, DType::f16}) {
      for (const Layout layout : {Layout::ncl, Layout::nlc})
        list.push_back(pad_case(padded(table.pad, both_sides, type, type, layout, layout)));
    }
  }
  for (const WholeSize& size : table.whole) {
    for (const ConvRoute route : {ConvRoute::operand, ConvRoute::strided_gemm, ConvRoute::direct})
      list.push_back(
          whole_case(causal(size.signal, size.taps, DType::f32, Layout::ncl), size.out_channels, route));
  }
  return list;
}

}  // namespace relayout::bench
