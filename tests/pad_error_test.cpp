// pad: what is refused, with nothing written.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/cases/pad_shorthand.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/fill.hpp"
#include "tests/support/guarded_buffer.hpp"

namespace relayout::test {
namespace {

using cases::kModes;
using cases::spec;

class PadErrorTest : public DeviceTest {
 protected:
  PadErrorTest()
      : in_(stream(), Role::input, DType::f32, {2, 3, 4}),
        out_(stream(), Role::output, DType::f32, {2, 3, 16}) {
    fill_values(in_.host());
    in_.upload();
  }
  TensorView output(std::int64_t length, DType type = DType::f32) const {
    return TensorView(out_.device().data(), type, {2, 3, length});
  }
  void expect(ErrorCode code, const std::vector<std::string>& words, const TensorView& in,
              const PadSpec& pad_spec, const TensorView& out) {
    expect_error(code, words, [&] { pad(stream(), in, pad_spec, out); });
    EXPECT_TRUE(out_.check()) << "something was written before the error";
  }
  GuardedBuffer in_, out_;
};
INSTANTIATE_TEST_SUITE_P(Devices, PadErrorTest, ::testing::ValuesIn(test_devices()), device_test_name);

TEST_P(PadErrorTest, StrictPadsReachNoFurtherThanTheSignal) {
  expect(ErrorCode::pad_too_large, {"4"}, in_.device(), spec(PadMode::reflect, 4, 0), output(8));
  expect(ErrorCode::pad_too_large, {"4"}, in_.device(), spec(PadMode::reflect, 0, 4), output(8));
  expect(ErrorCode::pad_too_large, {"5"}, in_.device(), spec(PadMode::circular, 5, 0), output(9));
  expect(ErrorCode::pad_too_large, {"5"}, in_.device(), spec(PadMode::circular, -1, 5), output(8));
}

TEST_P(PadErrorTest, NothingLeft) {
  for (const PadMode mode : kModes) {
    expect(ErrorCode::invalid_shape, {}, in_.device(), spec(mode, -2, -2), output(0));
    expect(ErrorCode::invalid_shape, {}, in_.device(), spec(mode, -5, 0), output(1));
  }
}

TEST_P(PadErrorTest, OnlyConstantsPadAnEmptySignal) {
  const TensorView empty(in_.device().data(), DType::f32, {2, 3, 0});
  for (const PadMode mode : kModes) {
    if (mode == PadMode::constant) continue;
    expect(ErrorCode::invalid_shape, {}, empty, spec(mode, 1, 1, PadPolicy::extended), output(2));
  }
}

TEST_P(PadErrorTest, ShapesThatDoNotGoTogether) {
  const PadSpec pads = spec(PadMode::constant, 1, 2);
  expect(ErrorCode::shape, {"[2, 3, 7]", "[2, 3, 8]"}, in_.device(), pads, output(8));
  expect(ErrorCode::shape, {"[2, 3, 7]", "[2, 2, 7]"}, in_.device(), pads,
         TensorView(out_.device().data(), DType::f32, {2, 2, 7}));
  expect(ErrorCode::shape, {"[2, 3, 7]", "[3, 2, 7]"}, in_.device(), pads,
         TensorView(out_.device().data(), DType::f32, {3, 2, 7}));
}

TEST_P(PadErrorTest, OtherRanksThanThree) {
  const PadSpec pads = spec(PadMode::constant, 1, 2);
  expect(ErrorCode::rank, {}, TensorView(in_.device().data(), DType::f32, {6, 4}), pads, output(7));
  expect(ErrorCode::rank, {}, in_.device(), pads, TensorView(out_.device().data(), DType::f32, {6, 7}));
}

TEST_P(PadErrorTest, TypesThatDoNotConvert) {
  const PadSpec pads = spec(PadMode::constant, 1, 2);
  expect(ErrorCode::dtype, {"f32", "i32"}, in_.device(), pads, output(7, DType::i32));
  expect(ErrorCode::dtype, {"i32", "u32"}, TensorView(in_.device().data(), DType::i32, {2, 3, 4}), pads,
         output(7, DType::u32));
}

TEST_P(PadErrorTest, ConstantsThatTheTypeCannotHold) {
  PadSpec pads = spec(PadMode::constant, 1, 2);
  for (const auto& [type, value] :
       std::vector<std::pair<DType, double>>{{DType::u8, 256.0},
                                             {DType::u8, -1.0},
                                             {DType::i32, 0.5},
                                             {DType::i8, 128.0},
                                             {DType::i32, std::numeric_limits<double>::quiet_NaN()}}) {
    pads.value = value;
    expect(ErrorCode::literal_range, {name_of(type)}, TensorView(in_.device().data(), type, {2, 3, 4}), pads,
           output(7, type));
  }
}

TEST_P(PadErrorTest, OverlapsAndNullPointers) {
  const PadSpec pads = spec(PadMode::constant, 1, 2);
  expect(ErrorCode::output_overlap, {}, in_.device(), pads,
         TensorView(out_.device().data(), DType::f32, {2, 3, 7}, {21, 7, 0}));
  expect(ErrorCode::output_overlap, {}, in_.device(), pads,
         TensorView(out_.device().data(), DType::f32, {2, 3, 7}, {21, 6, 1}));
  expect(ErrorCode::partial_overlap, {}, TensorView(out_.device().data(), DType::f32, {2, 3, 4}), pads,
         output(7));
  expect(ErrorCode::null_pointer, {}, TensorView(nullptr, DType::f32, {2, 3, 4}), pads, output(7));
  expect(ErrorCode::null_pointer, {}, in_.device(), pads, TensorView(nullptr, DType::f32, {2, 3, 7}));
}

TEST_P(PadErrorTest, SizesBeyondSixtyThreeBits) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  expect(ErrorCode::invalid_shape, {}, in_.device(), spec(PadMode::constant, kMax, 1), output(7));
  expect(ErrorCode::invalid_shape, {}, in_.device(), spec(PadMode::constant, kMax, kMax), output(7));
}

}  // namespace
}  // namespace relayout::test
