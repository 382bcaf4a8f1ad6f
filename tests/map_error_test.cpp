// What map() refuses, on every device, with nothing written.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/map/map_fixture.hpp"
#include "tests/support/expect_error.hpp"

namespace relayout::test {
namespace {

/// Every refusal leaves the output as it was.
class MapErrorTest : public MapTest {
 protected:
  void refuses(ErrorCode code, const std::vector<std::string>& words, const std::vector<TensorView>& operands,
               const TensorView& to) const {
    expect_error(code, words, [&] { find("sub", {kF32, kF32, kF32}).run(stream(), operands, to); });
    EXPECT_TRUE(out_.check(NanRule::exact));
  }
  TensorView in(const Dims& shape, DType type = kF32) const {
    return TensorView(memory_.data(), type, shape);
  }

  const Dims shape_{6, 8};
  Buffer memory_{device(), 1024};
  GuardedBuffer out_{stream(), Role::output, kF32, shape_};
  const TensorView to_ = out_.device();
};
INSTANTIATE_TEST_SUITE_P(Devices, MapErrorTest, ::testing::ValuesIn(test_devices()), device_test_name);

TEST_P(MapErrorTest, Refusals) {
  const TensorView a = in(shape_), null(nullptr, kF32, shape_);
  refuses(ErrorCode::invalid_argument, {"map", "1 operands", "for 2"}, {a}, to_);
  refuses(ErrorCode::dtype, {"map", "operand 2", "f16", "f32"}, {a, in(shape_, kF16)}, to_);
  refuses(ErrorCode::dtype, {"map", "the output", "i32"}, {a, a}, TensorView(to_.data(), DType::i32, shape_));
  refuses(ErrorCode::shape, {"map", "[6, 7]"}, {a, in({6, 7})}, to_);
  refuses(ErrorCode::shape, {"map", "the output has shape [6, 8]", "[1, 8]"}, {in({8}), in({1, 8})}, to_);
  refuses(ErrorCode::output_overlap, {"map", "share an address"}, {a, a},
          TensorView(to_.data(), kF32, shape_, {0, 1}));
  auto* const bytes = static_cast<unsigned char*>(to_.data());
  refuses(ErrorCode::partial_overlap, {"map", "share bytes"}, {a, TensorView(bytes + 4, kF32, shape_)}, to_);
  refuses(ErrorCode::partial_overlap, {"map", "share bytes"}, {TensorView(bytes, kF32, {8}), a}, to_);
  refuses(ErrorCode::null_pointer, {"map", "operand 2"}, {a, null}, to_);
  refuses(ErrorCode::null_pointer, {"map", "the output"}, {a, a}, null);
  refuses(ErrorCode::invalid_argument, {"map", "operand 1", "multiple of 4"},
          {TensorView(static_cast<char*>(memory_.data()) + 2, kF32, shape_), a}, to_);
}

TEST_P(MapErrorTest, TheOrderOfChecks) {
  const TensorView i8 = in({5}, kI8), twice(nullptr, kF32, shape_, {0, 1});
  refuses(ErrorCode::invalid_argument, {}, {i8}, twice);
  refuses(ErrorCode::dtype, {}, {i8, in({7})}, twice);
  refuses(ErrorCode::shape, {}, {in({5}), in({7})}, twice);
  refuses(ErrorCode::output_overlap, {}, {in(shape_), in(shape_)}, twice);
  const TensorView shifted(static_cast<char*>(to_.data()) + 4, kF32, shape_);
  refuses(ErrorCode::partial_overlap, {}, {TensorView(nullptr, kF32, shape_), shifted}, to_);
  const TensorView none(nullptr, kF32, {0, 8});
  EXPECT_NO_THROW(find("sub", {kF32, kF32, kF32}).run(stream(), {none, in({8})}, none));
}

/// A file without code for the GPU.
class MapOnTheGpu : public DeviceTest {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MapOnTheGpu);
INSTANTIATE_TEST_SUITE_P(Devices, MapOnTheGpu, ::testing::ValuesIn(gpu_devices()), device_test_name);

TEST_P(MapOnTheGpu, NeedsItsCompiler) {
  const TensorView view(nullptr, kF32, {4});
  expect_error(ErrorCode::unsupported, {"map", device().to_string(), "compile it with"},
               [&] { map<float(float)>(stream(), functors::Relu(), {view}, view); });
}

}  // namespace
}  // namespace relayout::test
