// Graphs: recorded work gives the right results at every launch, for the contents that its memory has then.
#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>
#include <vector>

#include "host/reference/gemm.hpp"
#include "host/reference/img2col.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/fill.hpp"
#include "tests/support/guarded_buffer.hpp"

namespace relayout::test {
namespace {

class GraphTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, GraphTest, ::testing::ValuesIn(test_devices()), device_test_name);

/// img2col and a GEMM with bias, which is the first on its stream.
struct Convolution {
  explicit Convolution(const Stream& on)
      : stream(on),
        signal(on, Role::input, DType::f32, {2, 8, 33}),
        bt(on, Role::input, DType::f16, {5, 24}),
        bias(on, Role::input, DType::f32, {5}),
        a(on, Role::output, DType::f16, {66, 24}),
        y(on, Role::output, DType::f16, {66, 5}),
        workspace(on.device(), gemm_workspace_bytes(on.device(), y.device(), true)) {
    window.taps = 3;
    pad.left = 2;
    fill_small_integers(bt.host(), 2);
    fill_small_integers(bias.host(), 3);
    bt.upload();
    bias.upload();
  }

  void queue() const {
    img2col(stream, signal.device(), window, pad, a.device());
    gemm(stream, a.device(), bt.device(), bias.device(), y.device(),
         TensorView(workspace.data(), DType::u8, {static_cast<std::int64_t>(workspace.bytes())}));
  }
  void set_input(std::uint64_t seed) const {
    fill_small_integers(signal.host(), seed);
    signal.upload();
  }
  void expect_results() const {
    reference::img2col(signal.host(), window, pad, a.host());
    reference::gemm(a.host(), bt.host(), bias.host(), y.host());
    EXPECT_TRUE(a.check());
    EXPECT_TRUE(y.check());
  }

  Stream stream;
  Window window;
  PadSpec pad;
  GuardedBuffer signal, bt, bias, a, y;
  Buffer workspace;
};

TEST_P(GraphTest, RecordingRunsNothing) {
  const Convolution work(stream());
  work.set_input(1);
  const Graph graph(stream(), [&] { work.queue(); });
  EXPECT_TRUE(work.a.check());  // still the NaNs of its construction
  EXPECT_TRUE(work.y.check());
  graph.launch(stream());
  work.expect_results();
}

TEST_P(GraphTest, EveryLaunchWorksOnWhatTheMemoryHoldsThen) {
  const Convolution work(stream());
  const Graph graph(stream(), [&] { work.queue(); });
  const Stream other(device());
  for (std::uint64_t seed = 10; seed < 14; ++seed) {
    SCOPED_TRACE(seed);
    work.set_input(seed);
    const Stream& on = seed % 2 == 0 ? stream() : other;
    graph.launch(on);
    on.synchronize();
    work.expect_results();
  }
}

TEST_P(GraphTest, TwoGraphsOfOneStreamDoNotDisturbEachOther) {
  const Convolution first(stream()), second(stream());
  const Graph one(stream(), [&] { first.queue(); }), two(stream(), [&] { second.queue(); });
  first.set_input(20);
  second.set_input(21);
  for (int turn = 0; turn < 2; ++turn) {
    two.launch(stream());
    one.launch(stream());
  }
  first.expect_results();
  second.expect_results();
}

TEST_P(GraphTest, CopiesAndFillsAreRecorded) {
  GuardedBuffer in(stream(), Role::input, DType::u8, {1000}), out(stream(), Role::output, DType::u8, {1000});
  const Graph graph(stream(), [&] {
    stream().fill(out.device().data(), 7, 1000);
    stream().copy(out.device().data(), in.device().data(), 500);
  });
  for (const std::uint64_t seed : {1, 2}) {
    fill_bits(in.host(), seed);
    in.upload();
    graph.launch(stream());
    for (std::int64_t i = 0; i < 1000; ++i) {
      static_cast<unsigned char*>(out.host().data())[i] =
          i < 500 ? static_cast<unsigned char*>(in.host().data())[i] : 7;
    }
    EXPECT_TRUE(out.check());
  }
}

TEST_P(GraphTest, KeepsWhatItsFunctionHolds) {
  const PinnedBuffer target(device(), 4096);
  const auto record = [&] {
    const Buffer buffer(device(), target.bytes());
    return Graph(stream(), [stream = stream(), buffer, target] {
      stream.fill(buffer.data(), 9, buffer.bytes());
      stream.copy(target.data(), buffer.data(), buffer.bytes());
    });
  };
  const Graph graph = record();
  graph.launch(stream());
  stream().synchronize();
  const std::vector<unsigned char> expected(target.bytes(), 9);
  EXPECT_EQ(std::memcmp(target.data(), expected.data(), expected.size()), 0);
}

/// An exception of the function comes out of the call, and the stream can be used on.
TEST_P(GraphTest, TheStreamSurvivesAFunctionThatThrows) {
  const Convolution work(stream());
  EXPECT_THROW(Graph(stream(),
                     [&] {
                       work.queue();
                       throw std::runtime_error("stop");
                     })
                   .launch(stream()),
               std::runtime_error);
  expect_error(ErrorCode::rank, {"pad"}, [&] {
    Graph(stream(), [&] { pad(stream(), work.bt.device(), PadSpec(), work.y.device()); }).launch(stream());
  });
  work.set_input(30);
  work.queue();
  work.expect_results();
  const Graph graph(stream(), [&] { work.queue(); });
  work.set_input(31);
  graph.launch(stream());
  work.expect_results();
}

TEST_P(GraphTest, WhatCannotBeRecordedIsAnError) {
  if (device().kind() != DeviceKind::gpu) {
    // Nothing is recorded, so nothing is forbidden.
    const Graph graph(stream(), [&] { stream().synchronize(); });
    EXPECT_NO_THROW(graph.launch(stream()));
    return;
  }
  EXPECT_THROW(Graph(stream(), [&] { stream().synchronize(); }), Error);
  expect_error(ErrorCode::unsupported, {"default stream"},
               [&] { Graph(Stream::from_native(device(), nullptr), [] {}); });
  const Convolution work(stream());
  work.set_input(40);
  work.queue();
  work.expect_results();
}

TEST_P(GraphTest, WrongArguments) {
  expect_error(ErrorCode::invalid_argument, {"empty"}, [&] { Graph(stream(), std::function<void()>()); });
  const Graph graph(stream(), [] {});
  EXPECT_NO_THROW(graph.launch(stream()));
  if (const auto other = another_device(device()))
    expect_error(ErrorCode::invalid_argument, {"cpu"}, [&] { graph.launch(Stream(*other)); });
}

}  // namespace
}  // namespace relayout::test
