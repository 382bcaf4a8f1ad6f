// What img2col refuses, before anything is written; the lengths and the causal pads.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/cases/img2col_shorthand.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/fill.hpp"
#include "tests/support/guarded_buffer.hpp"

namespace relayout::test {
namespace {

using cases::window;
using cases::zeros;

TEST(OutputLength, IsTheFloorFormula) {
  EXPECT_EQ(output_length(2048, window(4), zeros(3, 0)), 2048);
  EXPECT_EQ(output_length(10, window(3, 2), zeros(0, 0)), 4);
  EXPECT_EQ(output_length(10, window(3, 2), zeros(0, 1)), 5);
  EXPECT_EQ(output_length(10, window(3, 1, 4), zeros(0, 0)), 2);
  EXPECT_EQ(output_length(9, window(3, 1, 4), zeros(0, 0)), 1);
  EXPECT_EQ(output_length(10, window(3), zeros(-2, -5)), 1);
  EXPECT_EQ(output_length(2, window(5), zeros(2, 1)), 1);
  EXPECT_EQ(output_length(0, window(3), zeros(2, 2)), 2);
  EXPECT_EQ(output_length(10, window(1, 100), zeros(0, 0)), 1);
}

TEST(OutputLength, Errors) {
  expect_error(ErrorCode::invalid_shape, {}, [] { output_length(8, window(3, 1, 4), zeros(0, 0)); });
  expect_error(ErrorCode::invalid_shape, {}, [] { output_length(1, window(3, 7), zeros(0, 1)); });
  expect_error(ErrorCode::invalid_shape, {}, [] { output_length(4, window(2), zeros(-2, -1)); });
  for (const Window& w :
       {window(0), window(-1), window(3, 0), window(3, -2), window(3, 1, 0), window(3, 1, 1, 0)})
    expect_error(ErrorCode::invalid_argument, {}, [&] { output_length(8, w, zeros(5, 0)); });
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  expect_error(ErrorCode::invalid_shape, {}, [] { output_length(8, window(3), zeros(kMax, kMax)); });
  expect_error(ErrorCode::invalid_shape, {}, [] { output_length(8, window(kMax, 1, kMax), zeros(1, 1)); });
}

TEST(CausalPadding, GivesOneOutputPerStrideAndReadsNoLaterSample) {
  for (const std::int64_t length : {1, 2, 3, 7, 8, 9, 24})
    for (const std::int64_t taps : {1, 2, 3, 7})
      for (const std::int64_t stride : {1, 2, 3, 5})
        for (const std::int64_t dilation : {1, 2, 4}) {
          SCOPED_TRACE(::testing::Message() << "length " << length << " taps " << taps << " stride " << stride
                                            << " dilation " << dilation);
          const Window w = window(taps, stride, dilation);
          const std::int64_t frames = (length + stride - 1) / stride, span = (taps - 1) * dilation + 1;
          const PadSpec sample = causal_padding(Causal::sample, length, w);
          EXPECT_EQ(sample.left, span - 1);
          EXPECT_EQ(sample.right, 0);
          EXPECT_EQ(sample.mode, PadMode::constant);
          EXPECT_EQ(sample.value, 0.0);
          EXPECT_EQ(output_length(length, w, sample), frames);
          if (span < stride) {
            expect_error(ErrorCode::invalid_argument, {}, [&] { causal_padding(Causal::frame, length, w); });
            continue;
          }
          const PadSpec frame = causal_padding(Causal::frame, length, w);
          EXPECT_EQ(frame.left, span - stride);
          EXPECT_EQ(frame.right, (frames - 1) * stride + span - length - frame.left);
          EXPECT_EQ(output_length(length, w, frame), frames);
          if (stride == 1) {
            EXPECT_EQ(frame.left, sample.left);
            EXPECT_EQ(frame.right, sample.right);
          }
        }
}

class Img2colErrorTest : public DeviceTest {
 protected:
  Img2colErrorTest()
      : in_(stream(), Role::input, DType::f32, {2, 6, 8}),
        out_(stream(), Role::output, DType::f16, {16, 18}) {
    fill_values(in_.host());
    in_.upload();
  }
  TensorView output(const Dims& shape, DType type = DType::f16) const {
    return TensorView(out_.device().data(), type, shape);
  }
  void expect(ErrorCode code, const std::vector<std::string>& words, const TensorView& in, const Window& w,
              const PadSpec& pad, const TensorView& out) {
    expect_error(code, words, [&] { img2col(stream(), in, w, pad, out); });
    EXPECT_TRUE(out_.check()) << "something was written before the error";
  }
  GuardedBuffer in_, out_;
};
INSTANTIATE_TEST_SUITE_P(Devices, Img2colErrorTest, ::testing::ValuesIn(test_devices()), device_test_name);

TEST_P(Img2colErrorTest, Windows) {
  for (const Window& w :
       {window(0), window(-3), window(3, 0), window(3, -1), window(3, 1, 0), window(3, 1, 1, 0)})
    expect(ErrorCode::invalid_argument, {}, in_.device(), w, zeros(2, 0), out_.device());
  expect(ErrorCode::invalid_argument, {"6", "4"}, in_.device(), window(3, 1, 1, 4), zeros(2, 0),
         output({4, 16, 4}));
  expect(ErrorCode::invalid_shape, {"8"}, in_.device(), window(10), zeros(0, 1), out_.device());
}

TEST_P(Img2colErrorTest, ShapesThatDoNotGoTogether) {
  expect(ErrorCode::shape, {"[16, 18]", "[16, 17]"}, in_.device(), window(3), zeros(2, 0), output({16, 17}));
  expect(ErrorCode::shape, {"[16, 18]", "[15, 18]"}, in_.device(), window(3), zeros(2, 0), output({15, 18}));
  expect(ErrorCode::shape, {"[2, 16, 9]", "[2, 9, 16]"}, in_.device(), window(3, 1, 1, 2), zeros(2, 0),
         output({2, 9, 16}));
}

TEST_P(Img2colErrorTest, Ranks) {
  expect(ErrorCode::rank, {}, TensorView(in_.device().data(), DType::f32, {12, 8}), window(3), zeros(2, 0),
         out_.device());
  expect(ErrorCode::rank, {}, in_.device(), window(3), zeros(2, 0), output({288}));
  expect(ErrorCode::rank, {}, in_.device(), window(3, 1, 1, 2), zeros(2, 0), output({16, 18}));
}

TEST_P(Img2colErrorTest, TypesThatDoNotConvert) {
  expect(ErrorCode::dtype, {"f32", "i16"}, in_.device(), window(3), zeros(2, 0),
         output({16, 18}, DType::i16));
  expect(ErrorCode::dtype, {"u32", "f16"}, TensorView(in_.device().data(), DType::u32, {2, 6, 8}), window(3),
         zeros(2, 0), out_.device());
}

TEST_P(Img2colErrorTest, Pads) {
  PadSpec pad = zeros(8, 0);
  pad.mode = PadMode::reflect;
  expect(ErrorCode::pad_too_large, {"8"}, in_.device(), window(9), pad, output({16, 54}));
  pad.mode = PadMode::circular;
  pad.left = 9;
  expect(ErrorCode::pad_too_large, {"9"}, in_.device(), window(10), pad, output({16, 60}));
}

TEST_P(Img2colErrorTest, OverlapsAndNullPointers) {
  const Window w = window(3);
  expect(ErrorCode::output_overlap, {}, in_.device(), w, zeros(2, 0),
         TensorView(out_.device().data(), DType::f16, {16, 18}, {17, 1}));
  expect(ErrorCode::partial_overlap, {}, TensorView(out_.device().data(), DType::f32, {1, 6, 8}), w,
         zeros(2, 0), output({8, 18}));
  expect(ErrorCode::null_pointer, {}, TensorView(nullptr, DType::f32, {2, 6, 8}), w, zeros(2, 0),
         out_.device());
  expect(ErrorCode::null_pointer, {}, in_.device(), w, zeros(2, 0),
         TensorView(nullptr, DType::f16, {16, 18}));
}

}  // namespace
}  // namespace relayout::test
