// Casts of rows on the processor: rows of every length, read in the input's order and across it, straight to
// the output or through boxes.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "host/reference/permute.hpp"
#include "tests/support/random.hpp"

#include <relayout/relayout.hpp>

namespace relayout::test {
namespace {

using Bytes = std::vector<unsigned char>;

struct Types {
  DType in, out;
};
/// Longer and shorter elements, by one loop and by two, and one that the compiler does not vectorise.
constexpr Types kCasts[] = {{DType::u8, DType::i32},  {DType::bool_, DType::f64},  {DType::i8, DType::i16},
                            {DType::f16, DType::f32}, {DType::f32, DType::f16},    {DType::i64, DType::u8},
                            {DType::i16, DType::u8},  {DType::f32, DType::e4m3fn}, {DType::f64, DType::bf16},
                            {DType::u32, DType::i32}};

class NativeCast : public ::testing::Test {
 protected:
  /// A cast of [outer, inner, row], `across` to [inner, outer, row]. The input's rows lie 8 elements apart,
  /// the output is one piece between guards.
  void check(const Types& types, const Dims& shape, bool across) {
    const auto out_size = static_cast<std::int64_t>(size_of(types.out));
    const std::int64_t row = shape[2], pitch = row + 8, rows = shape[0] * shape[1];
    std::vector<std::int16_t> numbers(static_cast<std::size_t>(rows * pitch));
    for (std::int16_t& number : numbers) number = static_cast<std::int16_t>(random_.integer(-32768, 32767));
    Bytes memory(numbers.size() * size_of(types.in));
    reference::cast(TensorView(numbers.data(), DType::i16, {rows * pitch}),
                    TensorView(memory.data(), types.in, {rows * pitch}));
    const TensorView in(memory.data(), types.in, shape, {shape[1] * pitch, pitch, 1});
    const std::vector<int> axes = across ? std::vector<int>{1, 0, 2} : std::vector<int>{0, 1, 2};
    const Dims out_shape = in.permuted(axes).shape();
    Bytes got(static_cast<std::size_t>((rows * row + 2) * out_size), 0xa5), expected = got;
    const auto out_of = [&](Bytes& bytes) {
      return TensorView(bytes.data() + out_size, types.out, out_shape, {out_shape[1] * row, row, 1});
    };
    permute(Stream(Device::cpu()), in, axes, out_of(got));
    reference::permute(in, axes, out_of(expected));
    ASSERT_EQ(got, expected) << name_of(types.in) << " to " << name_of(types.out) << ", rows of " << row
                             << (across ? " across" : "");
  }

 private:
  Random random_{1};
};

TEST_F(NativeCast, RowsOfEveryLength) {
  for (const Types& types : kCasts) {
    for (std::int64_t row = 1; row <= 100; row += row < 70 ? 1 : 7) {
      check(types, {3, 5, row}, false);
      check(types, {3, 5, row}, true);
    }
  }
}

}  // namespace
}  // namespace relayout::test
