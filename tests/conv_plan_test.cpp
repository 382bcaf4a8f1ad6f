// Plans: every route on every device against the references, run again on new inputs, and recorded in graphs.
#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <vector>

#include "host/reference/gemm.hpp"
#include "host/reference/img2col.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/fill.hpp"
#include "tests/support/gates.hpp"
#include "tests/support/guarded_buffer.hpp"

namespace relayout::test {
namespace {

const std::vector<ConvRoute> kRoutes = {ConvRoute::operand, ConvRoute::strided_gemm, ConvRoute::direct};

struct ConvCase {
  Conv1d problem;
  bool bias = true, channels_last = false;
  DType input_type = DType::f32;
};

std::ostream& operator<<(std::ostream& out, const ConvCase& c) {
  const Conv1d& p = c.problem;
  return out << "batch " << p.batch << " ci " << p.in_channels << " hi " << p.length << " co "
             << p.out_channels << " hk " << p.window.taps << " stride " << p.window.stride << " dilation "
             << p.window.dilation << " groups " << p.window.groups << " order "
             << static_cast<int>(p.window.order) << " pad " << name_of(p.pad.mode) << ' ' << p.pad.left
             << ", " << p.pad.right << ' ' << name_of(c.input_type) << " to " << name_of(p.dtype)
             << (c.channels_last ? " nlc" : " ncl") << (c.bias ? " bias" : " no bias");
}

Dims input_strides(const ConvCase& c) {
  const Conv1d& p = c.problem;
  return c.channels_last ? Dims{p.in_channels * p.length, 1, p.in_channels}
                         : Dims{p.in_channels * p.length, p.length, 1};
}

/// One plan with memory of its own.
class Convolution {
 public:
  Convolution(const Stream& stream, const ConvCase& c, ConvRoute route, std::uint64_t seed = 1)
      : stream_(stream),
        case_(c),
        sizes_(sizes_of(c.problem)),
        input_(stream, Role::input, c.input_type, {c.problem.batch, c.problem.in_channels, c.problem.length},
               input_strides(c)),
        weights_(
            stream, Role::input, DType::f32,
            {c.problem.out_channels, c.problem.in_channels / c.problem.window.groups, c.problem.window.taps}),
        bias_(stream, Role::input, DType::f32, {c.problem.out_channels}),
        y_(stream, Role::output, c.problem.dtype,
           {c.problem.batch, sizes_.positions, c.problem.out_channels}) {
    fill_normal(weights_.host(), seed + 1000, 0.2);
    fill_normal(bias_.host(), seed + 2000);
    weights_.upload();
    bias_.upload();
    plan_ = std::make_unique<ConvPlan>(stream, c.problem, route, weights_.device(),
                                       c.bias ? bias_.device() : TensorView());
    set_input(seed);
  }

  void set_input(std::uint64_t seed) {
    fill_normal(input_.host(), seed);
    input_.upload();
  }
  /// The plan keeps copies of the weights and of the bias.
  void spoil_weights() {
    for (const GuardedBuffer* spoilt : {&weights_, &bias_}) {
      const TensorView& view = spoilt->device();
      stream_.fill(view.data(), 0xFF, static_cast<std::size_t>(view.elements()) * size_of(view.dtype()));
    }
  }
  void forget_result() const { y_.upload(); }
  void run(const Stream& stream) const { plan_->run(stream, input_.device(), y_.device()); }
  void run() const { run(stream_); }
  const ConvPlan& plan() const { return *plan_; }
  const GuardedBuffer& input() const { return input_; }
  const GuardedBuffer& y() const { return y_; }

  /// Applies the three gates against the reference, and checks that no byte beside the elements changed.
  void expect_result() const {
    const Conv1d& p = case_.problem;
    const std::int64_t groups = p.window.groups;
    const Dims a_shape =
        groups == 1 ? Dims{sizes_.rows, sizes_.depth} : Dims{groups, sizes_.rows, sizes_.depth};
    std::vector<std::uint16_t> a_bits(static_cast<std::size_t>(sizes_.operand_elements) + 1),
        bt_bits(static_cast<std::size_t>(sizes_.weight_elements) + 1);
    const TensorView a(a_bits.data(), p.dtype, a_shape),
        bt(bt_bits.data(), p.dtype, {p.out_channels, sizes_.depth});
    reference::img2col(input_.host(), p.window, p.pad, a);
    reference::rearrange_weights(weights_.host(), p.window.order, bt);

    EXPECT_TRUE(y_.check_outside());
    const std::vector<unsigned char> bytes = y_.download();
    const TensorView y(y_.view_of(bytes).data(), p.dtype, {groups, sizes_.rows, sizes_.columns},
                       {sizes_.columns, p.out_channels, 1});
    const TensorView bt_groups(bt.data(), p.dtype, {groups, sizes_.columns, sizes_.depth});
    const reference::GemmCheck gates =
        reference::check_gemm(a, bt_groups, case_.bias ? bias_.host() : TensorView(), y);
    EXPECT_EQ(gates.elements, sizes_.output_elements);
    expect_gates(gates, gates.elements < 200);
    EXPECT_TRUE(input_.check());
  }

 private:
  Stream stream_;
  ConvCase case_;
  Conv1dSizes sizes_;
  GuardedBuffer input_, weights_, bias_, y_;
  std::unique_ptr<ConvPlan> plan_;
};

ConvCase small_case() {
  ConvCase c;
  c.problem.batch = 2;
  c.problem.in_channels = 8;
  c.problem.length = 37;
  c.problem.out_channels = 6;
  c.problem.window.taps = 3;
  c.problem.pad.left = 2;
  return c;
}

std::vector<ConvCase> cases() {
  std::vector<ConvCase> all;
  const auto add = [&all](auto change) {
    ConvCase c = small_case();
    change(c);
    all.push_back(c);
  };
  add([](ConvCase&) {});
  add([](ConvCase& c) { c.bias = false; });
  add([](ConvCase& c) { c.channels_last = true, c.input_type = DType::f16; });
  add([](ConvCase& c) { c.problem.dtype = DType::bf16, c.input_type = DType::f64; });
  add([](ConvCase& c) { c.problem.batch = 1, c.problem.length = 64; });
  add([](ConvCase& c) { c.problem.in_channels = 5, c.problem.out_channels = 1; });
  add([](ConvCase& c) { c.problem.window.taps = 1, c.problem.pad.left = 0; });
  for (const std::int64_t stride : {1, 2, 3, 5}) {
    for (const std::int64_t dilation : {1, 2, 3, 4}) {
      for (const std::int64_t groups : {1, 2}) {
        add([&](ConvCase& c) {
          c.problem.window.stride = stride;
          c.problem.window.dilation = dilation;
          c.problem.window.groups = groups;
          c.problem.window.taps = 4;
          c.problem.pad.left = 3 * dilation;
          c.problem.pad.right = stride == 2 ? 4 : 0;
          c.problem.batch = dilation == 2 ? 3 : 1;
          c.bias = stride != 3;
          if (groups == 2) c.problem.window.order = ColumnOrder::channel_outer;
        });
      }
    }
  }
  for (const PadMode mode : {PadMode::constant, PadMode::replicate, PadMode::reflect, PadMode::symmetric,
                             PadMode::circular, PadMode::reflect_zero_extended}) {
    add([&](ConvCase& c) { c.problem.pad = {5, 3, mode, 0.3, PadPolicy::strict}; });
    add([&](ConvCase& c) {
      c.problem.pad = {-4, 6, mode, 0.3, PadPolicy::strict};
      c.problem.window.dilation = 5;  // the last residues are shorter than the first
    });
  }
  add([](ConvCase& c) { c.problem.window.dilation = 17, c.problem.pad.left = 34; });
  add([](ConvCase& c) { c.problem.window.stride = 50; });
  add([](ConvCase& c) { c.problem.batch = 0; });
  add([](ConvCase& c) { c.problem.in_channels = 0; });
  add([](ConvCase& c) { c.problem.out_channels = 0; });
  add([](ConvCase& c) { c.problem.length = 0, c.problem.pad.right = 3; });
  return all;
}

class ConvPlanTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, ConvPlanTest, ::testing::ValuesIn(test_devices()), device_test_name);

TEST_P(ConvPlanTest, EveryRouteGivesAValidResult) {
  for (const ConvCase& c : cases()) {
    for (const ConvRoute route : kRoutes) {
      SCOPED_TRACE(::testing::Message() << c << " route " << name_of(route));
      Convolution convolution(stream(), c, route);
      convolution.run();
      convolution.expect_result();
    }
  }
}

TEST_P(ConvPlanTest, RunsAgainOnNewInputsAndNeedsItsWeightsNoMore) {
  for (const ConvRoute route : kRoutes) {
    SCOPED_TRACE(name_of(route));
    Convolution convolution(stream(), small_case(), route);
    convolution.spoil_weights();
    for (std::uint64_t seed = 5; seed < 8; ++seed) {
      convolution.set_input(seed);
      convolution.forget_result();
      convolution.run();
      convolution.expect_result();
    }
    const ConvPlan copy = convolution.plan();
    convolution.forget_result();
    copy.run(stream(), convolution.input().device(), convolution.y().device());
    convolution.expect_result();
  }
}

TEST_P(ConvPlanTest, CanBeRecordedAndReplayedOnNewInputs) {
  for (const bool dilated : {false, true}) {
    for (const ConvRoute route : kRoutes) {
      SCOPED_TRACE(::testing::Message() << name_of(route) << (dilated ? " dilated" : ""));
      ConvCase c = small_case();
      if (dilated) c.problem.window.dilation = 3;
      Convolution convolution(stream(), c, route);
      const Graph graph(stream(), [&] { convolution.run(); });
      const Stream other(device());
      for (std::uint64_t seed = 15; seed < 18; ++seed) {
        convolution.set_input(seed);
        convolution.forget_result();
        const Stream& on = seed % 2 == 0 ? other : stream();
        graph.launch(on);
        on.synchronize();
        convolution.expect_result();
      }
    }
  }
}

/// A stream that has seen no GEMM before, plans and graphs in turn: no plan uses what another one wrote.
TEST_P(ConvPlanTest, PlansShareNothing) {
  const Stream fresh(device());
  ConvCase narrow = small_case();
  narrow.problem.out_channels = 3;
  Convolution a(fresh, small_case(), ConvRoute::strided_gemm, 1),
      b(fresh, small_case(), ConvRoute::strided_gemm, 2), c(fresh, narrow, ConvRoute::operand, 3);
  const Graph run_a(fresh, [&] { a.run(); }), run_c(fresh, [&] { c.run(); });
  for (std::uint64_t seed = 20; seed < 22; ++seed) {
    a.set_input(seed);
    b.set_input(seed + 10);
    c.set_input(seed + 20);
    run_c.launch(fresh);
    b.run();
    run_a.launch(fresh);
    a.expect_result();
    b.expect_result();
    c.expect_result();
  }
}

TEST_P(ConvPlanTest, OnAnotherStream) {
  const Stream other(device());
  for (const ConvRoute route : kRoutes) {
    Convolution convolution(stream(), small_case(), route);
    stream().synchronize();
    convolution.run(other);
    other.synchronize();
    convolution.expect_result();
  }
}

TEST_P(ConvPlanTest, TellsItsMemory) {
  const ConvCase c = small_case();  // A 74 x 24, Bt 6 x 24, bias 6, the padded signal 2 x 39 x 8, y 74 x 6
  const Convolution operand(stream(), c, ConvRoute::operand), view(stream(), c, ConvRoute::strided_gemm),
      direct(stream(), c, ConvRoute::direct);
  const TensorView y(nullptr, DType::f16, {74, 6});
  const std::int64_t workspace = static_cast<std::int64_t>(gemm_workspace_bytes(device(), y, true));
  EXPECT_EQ(operand.plan().device_bytes(), 74 * 24 * 2 + 6 * 24 * 2 + 6 * 4 + workspace);
  EXPECT_EQ(view.plan().device_bytes(), 2 * 39 * 8 * 2 + 6 * 24 * 2 + 6 * 4 + workspace);
  EXPECT_EQ(direct.plan().device_bytes(), 6 * 3 * 32 * 2 + 6 * 4);
  EXPECT_EQ(operand.plan().operand().shape(), (Dims{74, 24}));
  EXPECT_EQ(view.plan().operand().data(), nullptr);
  EXPECT_EQ(view.plan().weight_operand().shape(), (Dims{6, 24}));
  EXPECT_EQ(view.plan().sizes().rows, 74);
  EXPECT_EQ(direct.plan().weight_operand().shape(), (Dims{6, 3, 32}));
  EXPECT_STREQ(name_of(view.plan().route()), "strided-gemm");
  EXPECT_STREQ(name_of(direct.plan().route()), "direct");
}

TEST_P(ConvPlanTest, ExplainsEveryRoute) {
  const ConvCase c = small_case();
  const bool native = device().kind() == DeviceKind::cpu;
  const auto expect_words = [](const std::string& text, const std::vector<std::string>& words) {
    for (const std::string& word : words)
      EXPECT_NE(text.find(word), std::string::npos) << word << " in\n" << text;
  };
  for (const ConvRoute route : kRoutes) {
    SCOPED_TRACE(name_of(route));
    const Convolution convolution(stream(), c, route);
    const TensorView input = convolution.input().device(), y = convolution.y().device();
    const std::string text = convolution.plan().explain(input, y);
    if (route == ConvRoute::operand) expect_words(text, {"img2col: ", "gemm: "});
    if (route == ConvRoute::strided_gemm) expect_words(text, {"on views of the padded signal", "gemm: "});
    if (route == ConvRoute::direct && !native)
      expect_words(text, {"Kernel conv: ", "16 positions and 64 columns", "bytes of shared memory"});
    expect_words(text, {"Kernel "});
    expect_error(ErrorCode::shape, {"input"}, [&] { convolution.plan().explain(input.slice(2, 0, 1), y); });
  }
}

TEST_P(ConvPlanTest, WrongArguments) {
  const ConvCase c = small_case();
  Convolution convolution(stream(), c, ConvRoute::strided_gemm);
  const ConvPlan& plan = convolution.plan();
  const TensorView x = convolution.input().device(), y = convolution.y().device();
  const auto expect = [&](ErrorCode code, const std::vector<std::string>& words, const TensorView& input,
                          const TensorView& output) {
    expect_error(code, words, [&] { plan.run(stream(), input, output); });
  };
  expect(ErrorCode::shape, {"input", "[2, 8, 37]"}, x.slice(2, 1, 37), y);
  expect(ErrorCode::shape, {"y", "[2, 37, 6]"}, x, y.slice(1, 1, 37));
  expect(ErrorCode::dtype, {"i32"}, TensorView(x.data(), DType::i32, x.shape()), y);
  expect(ErrorCode::dtype, {"bf16"}, x, TensorView(y.data(), DType::bf16, y.shape()));
  expect(ErrorCode::invalid_argument, {"contiguous"}, x,
         TensorView(y.data(), DType::f16, y.shape(), {222, 1, 37}));
  expect(ErrorCode::null_pointer, {"input"}, TensorView(nullptr, DType::f32, x.shape()), y);
  expect(ErrorCode::null_pointer, {"y"}, x, TensorView(nullptr, DType::f16, y.shape()));
  expect(ErrorCode::partial_overlap, {}, x, TensorView(x.data(), DType::f16, y.shape()));
  if (const auto other = another_device(device()))
    expect_error(ErrorCode::invalid_argument, {"cpu"}, [&] { plan.run(Stream(*other), x, y); });
  EXPECT_TRUE(convolution.y().check()) << "something was written before the error";

  const auto make = [&](const TensorView& weights, const TensorView& bias) {
    return [&, weights, bias] { ConvPlan(stream(), c.problem, ConvRoute::operand, weights, bias); };
  };
  const TensorView w(x.data(), DType::f32, {6, 8, 3}), bias(x.data(), DType::f32, {6});
  EXPECT_NO_THROW(make(w, bias)());
  expect_error(ErrorCode::shape, {"weights"}, make(w.permuted({1, 0, 2}), bias));
  expect_error(ErrorCode::dtype, {"u8"}, make(TensorView(x.data(), DType::u8, {6, 8, 3}), bias));
  expect_error(ErrorCode::null_pointer, {"weights"}, make(TensorView(nullptr, DType::f32, {6, 8, 3}), bias));
  expect_error(ErrorCode::shape, {"bias"}, make(w, TensorView(x.data(), DType::f32, {5})));
  expect_error(ErrorCode::dtype, {"bias"}, make(w, TensorView(x.data(), DType::f16, {6})));
  // As in gemm, only a view without shape and memory stands for no bias.
  expect_error(ErrorCode::null_pointer, {"bias"}, make(w, TensorView(nullptr, DType::f32, {6})));
  expect_error(ErrorCode::shape, {"bias"}, make(w, TensorView(x.data(), DType::f32, {})));
  EXPECT_NO_THROW(make(w, TensorView())());
  Conv1d short_signal = c.problem;
  short_signal.length = 0;
  expect_error(ErrorCode::invalid_shape, {},
               [&] { ConvPlan(stream(), short_signal, ConvRoute::strided_gemm, w, bias); });
}

}  // namespace
}  // namespace relayout::test
