// Copies of short rows on the processor, many of one pitch at a time: of every length, and next to those that
// are moved in another way.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "host/cpu/copy/pitched_rows.hpp"
#include "host/reference/permute.hpp"
#include "tests/support/random.hpp"

#include <relayout/relayout.hpp>

namespace relayout::test {
namespace {

using Bytes = std::vector<unsigned char>;

class NativeShortRows : public ::testing::Test {
 protected:
  /// A copy of [outer, inner, row] elements. On each side rows lie `gap` elements apart, the output lies
  /// between guards, and the input's rows follow each other backwards where that is asked for.
  void check(DType type, const Dims& shape, std::int64_t in_gap, std::int64_t out_gap,
             bool backwards = false) {
    const auto size = static_cast<std::int64_t>(size_of(type));
    const auto strides = [&](std::int64_t gap) {
      return Dims{shape[1] * (shape[2] + gap) + gap, shape[2] + gap, 1};
    };
    const Dims in = strides(in_gap), out = strides(out_gap);
    Bytes memory(static_cast<std::size_t>((shape[0] * in[0] + 1) * size));
    for (unsigned char& byte : memory) byte = static_cast<unsigned char>(random_.integer(0, 255));
    const TensorView from = backwards ? TensorView(memory.data() + (shape[0] * in[0] - in[1]) * size, type,
                                                   shape, {-in[0], -in[1], 1})
                                      : TensorView(memory.data() + size, type, shape, in);
    Bytes got(static_cast<std::size_t>((shape[0] * out[0] + 2) * size), 0xa5), expected = got;
    const auto out_of = [&](Bytes& bytes) { return TensorView(bytes.data() + size, type, shape, out); };
    copy(Stream(Device::cpu()), from, out_of(got));
    reference::permute(from, {0, 1, 2}, out_of(expected));
    ASSERT_EQ(got, expected) << name_of(type) << ' ' << to_string(shape) << ", gaps of " << in_gap << " and "
                             << out_gap;
  }

 private:
  Random random_{1};
};

TEST_F(NativeShortRows, OfEveryLength) {
  for (const DType type : {DType::u8, DType::u16, DType::u32, DType::u64}) {
    const auto size = static_cast<std::int64_t>(size_of(type));
    for (std::int64_t row = 1; row * size <= native::kMostPitchedBytes + 2 * size; ++row) {
      check(type, {2, 9, row}, 3, 0);
      check(type, {2, 9, row}, 0, 3);
      check(type, {2, 9, row}, 1, 2, true);
    }
  }
}

TEST_F(NativeShortRows, OfEveryNumber) {
  for (const std::int64_t rows : {1, 2, 7, 8, 9, 255, 256, 257, 513}) {
    check(DType::u8, {3, rows, 5}, 2, 1);
    check(DType::u16, {1, rows, 16}, 2, 0);
    check(DType::u32, {5, rows, 16}, 0, 1);
    check(DType::f64, {2, rows, 4}, 1, 0);
  }
}

}  // namespace
}  // namespace relayout::test
