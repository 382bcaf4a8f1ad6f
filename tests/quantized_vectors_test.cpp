// Operations on codes whose rows are moved in vectors of the output: rows that begin anywhere, repeated codes
// and rows, gaps beside rows, scales of rows, results that are clamped as they are packed and before.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "host/api/operation_rules.hpp"
#include "host/plan/elementwise/code_kernel.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/quantized_check.hpp"

namespace relayout::test {
namespace {

class QuantizedVectorsTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, QuantizedVectorsTest, ::testing::ValuesIn(test_devices()),
                         device_test_name);

using Op = Operation;

/// Without emulated devices there is nobody to ask.
void expect_vectors(Op operation, const std::vector<QuantizedOperand>& operands, const QuantizedTensor& out) {
  if (!has_emulated_devices()) return;
  const std::string text = plan_quantized(Device::emulated(32), operation, operands, out).explain();
  EXPECT_NE(text.find("Kernel codes, vectors of rows: "), std::string::npos) << text;
}

/// Every bounded operation on rows of 141 codes, with scales that are folded and that are not, and results
/// that the low bits of a float hold and that they do not.
TEST_P(QuantizedVectorsTest, EveryBoundedOperation) {
  const Dims shape{9, 141}, channels{9, 1};
  for (const float scale : {0.05f, 1e-38f, 3e38f}) {
    for (const float out_scale : {0.06f, 1e-6f}) {
      const CodesTensor a(stream(), Role::input, {DType::i8, shape, 0.04f, 3, channels}, 1);
      const CodesTensor b(stream(), Role::input, {DType::u8, shape, scale, 120}, 2);
      for (const DType type : {DType::i8, DType::u8}) {
        const CodesTensor out(stream(), Role::output, {type, shape, out_scale, 9});
        for (int i = 0; i < kOperations; ++i) {
          const auto operation = static_cast<Op>(i);
          if (!plan::is_bounded(operation) || operation == Op::copysign) continue;
          if (rule_of(operation).operands == 1) {
            expect_codes(stream(), operation, {&a}, out);
          } else {
            expect_codes(stream(), operation, {&a, &b}, out);
            expect_codes(stream(), operation, {&b, &a}, out);
          }
        }
      }
    }
  }
}

/// Every pair of codes. Sums are fewer than 2^21 codes with both scales of the result, products with one.
TEST_P(QuantizedVectorsTest, EveryPairOfCodes) {
  for (const float out_scale : {2e-4f, 0.01f}) {
    CodesCase first{DType::i8, {65536}, 0.5f, 0};
    first.misaligned = 1;
    CodesTensor a(stream(), Role::input, first), b(stream(), Role::input, {DType::u8, {65536}, 0.5f, 128});
    a.fill([](std::int64_t i) { return i; });
    b.fill([](std::int64_t i) { return i / 256; });
    const CodesTensor out(stream(), Role::output, {DType::u8, {65536}, out_scale, 130});
    expect_vectors(Op::mul, {a.quantized(), b.quantized()}, out.quantized());
    for (const Op operation : {Op::add, Op::sub, Op::mul, Op::maximum})
      expect_codes(stream(), operation, {&a, &b}, out);
  }
}

TEST_P(QuantizedVectorsTest, RowsFromAnyAddress) {
  const Dims shape{7, 3, 141}, channels{7, 1, 1};
  for (const std::int64_t misaligned : {0, 1, 7, 15}) {
    for (const std::int64_t out_misaligned : {0, 2, 13}) {
      CodesCase a{DType::u8, shape, 0.04f, 130, channels}, b{DType::i8, shape, 0.05f, -3},
          to{DType::i8, shape, 0.07f, 1, channels};
      a.strides = Dims{141, 7 * 141, 1};
      a.misaligned = misaligned;
      b.misaligned = 3;
      to.misaligned = out_misaligned;
      const CodesTensor x(stream(), Role::input, a, 1), y(stream(), Role::input, b, 2);
      const CodesTensor out(stream(), Role::output, to);
      expect_vectors(Op::add, {x.quantized(), y.quantized()}, out.quantized());
      expect_codes(stream(), Op::add, {&x, &y}, out);
      expect_codes(stream(), Op::mul, {&y, &x}, out);
      expect_codes(stream(), Op::hardswish, {&x}, out);
    }
  }
}

/// Beside the rows of slices, and of a row that is repeated, nothing may be read.
TEST_P(QuantizedVectorsTest, GapsAndRepeatedRows) {
  const std::int64_t length = 1101;
  const Dims shape{3, length};
  for (const std::int64_t misaligned : {0, 5}) {
    CodesCase a{DType::i8, shape, 0.03f, -4, Dims{3, 1}}, to{DType::u8, shape, 0.06f, 90};
    a.strides = Dims{length + 9, 1};
    to.strides = Dims{length + 2, 1};
    a.misaligned = misaligned;
    const CodesTensor slice(stream(), Role::input, a, 1);
    const CodesTensor row(stream(), Role::input, {DType::u8, {length}, 0.05f, 7}, 2);
    const CodesTensor each(stream(), Role::input, {DType::i8, {3, 1}, 0.05f, 4}, 3);
    const CodesTensor out(stream(), Role::output, to);
    expect_vectors(Op::sub, {slice.quantized(), row.quantized()}, out.quantized());
    expect_codes(stream(), Op::sub, {&slice, &row}, out);
    expect_codes(stream(), Op::maximum, {&each, &slice}, out);
    expect_codes(stream(), Op::mul, {&row, &each}, out);
    expect_codes(stream(), Op::relu, {&slice}, out);
  }
}

/// Nine axes outside of the rows, of which no two are one; also with gaps between the outermost parts.
TEST_P(QuantizedVectorsTest, ManyAxes) {
  const Dims shape{2, 2, 2, 2, 2, 2, 2, 2, 2, 64};
  const CodesTensor a(stream(), Role::input, {DType::u8, shape, 0.04f, 130}, 1);
  const CodesTensor b(stream(), Role::input, {DType::u8, {1, 2, 1, 2, 1, 2, 1, 2, 1, 64}, 0.05f, 7}, 2);
  for (const std::int64_t outermost : {16384, 32768}) {
    CodesCase to{DType::u8, shape, 0.06f, 90};
    to.strides = Dims{outermost, 8192, 4096, 2048, 1024, 512, 256, 128, 64, 1};
    const CodesTensor out(stream(), Role::output, to);
    expect_vectors(Op::maximum, {a.quantized(), b.quantized()}, out.quantized());
    expect_codes(stream(), Op::maximum, {&a, &b}, out);
    expect_codes(stream(), Op::sub, {&b, &a}, out);
  }
}

TEST_P(QuantizedVectorsTest, InPlace) {
  const Dims shape{2, 1101}, channels{2, 1};
  CodesCase first{DType::i8, shape, 0.05f, 3, channels};
  first.misaligned = 7;
  CodesTensor a(stream(), Role::input, first, 1);
  const CodesTensor b(stream(), Role::input, {DType::i8, shape, 0.04f, -2}, 2);
  const CodesTensor out(stream(), Role::output, {DType::i8, shape, 0.05f, 3, channels});
  const std::vector<QuantizedOperand> operands{a.quantized(), b.quantized()};
  quantized(stream(), Op::add, operands, out.quantized());
  QuantizedTensor in_place = a.quantized();
  in_place.scale = out.quantized().scale;
  expect_vectors(Op::add, operands, in_place);
  quantized(stream(), Op::add, operands, in_place);
  EXPECT_TRUE(same_contents(out.codes(), a.codes()));
}

}  // namespace
}  // namespace relayout::test
