// Element-wise operations to an output in one piece, whose rows end inside vectors: operands that lie as it
// does, at other distances from a vector's boundary, and one element for each row.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/devices.hpp"
#include "tests/support/elementwise_case.hpp"

namespace relayout::test {
namespace {

class ElementwiseFlatTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, ElementwiseFlatTest, ::testing::ValuesIn(test_devices()), device_test_name);

using Op = Operation;

/// An operation on operands of one type, and the result's type; how many elements a lane has.
struct Typed {
  Op operation;
  DType type, result;
  std::int64_t lane;
};
const Typed kTyped[] = {
    {Op::add, DType::f32, DType::f32, 8},
    {Op::less, DType::f32, DType::bool_, 8},
    {Op::sub, DType::u32, DType::u32, 8},
    {Op::atan2, DType::f32, DType::f32, 8},
    {Op::mul, DType::f16, DType::f16, 16},
    {Op::maximum, DType::bf16, DType::bf16, 16},
    {Op::greater, DType::bf16, DType::bool_, 16},
    {Op::hypot, DType::f16, DType::f16, 16},
    {Op::prelu, DType::i16, DType::i16, 16},
    {Op::div_floor, DType::u16, DType::u16, 16},
    {Op::abs_diff, DType::u8, DType::u8, 16},
    {Op::mod, DType::i8, DType::i8, 16},
    {Op::logical_xor, DType::bool_, DType::bool_, 16},
};

std::string explained(Op operation, const std::vector<TensorView>& operands, const TensorView& out,
                      const Device& device = Device::emulated(32)) {
  return plan_elementwise(device, operation, {operands.begin(), operands.end()}, out).explain();
}

/// Rows of one lane's elements meet the next row in every lane; longer ones in some.
TEST_P(ElementwiseFlatTest, OneElementForEachRow) {
  for (const Typed& t : kTyped) {
    for (const std::int64_t length : {t.lane, t.lane + 1, 3 * t.lane + 1, 5 * t.lane - 1}) {
      const TensorView row(nullptr, t.type, {3, 7, length}), element(nullptr, t.type, {3, 7, 1}),
          result(nullptr, t.result, {3, 7, length});
      if (length % t.lane != 0 && device().kind() != DeviceKind::cpu) {
        const std::string text = explained(t.operation, {row, element}, result, device());
        EXPECT_NE(text.find("Kernel typed, output in one piece"), std::string::npos) << text;
      }
      for (const std::int64_t misaligned : {0, 1, 3}) {
        const TensorSpec rows{t.type, {3, 7, length}, {}, misaligned}, of_rows{t.type, {3, 7, 1}, {}, 1},
            of_columns{t.type, {7, 1}, {}, 2};
        for (const std::int64_t out_misaligned : {0, 3}) {
          const TensorSpec out{t.result, {3, 7, length}, {}, out_misaligned};
          check(stream(), {{t.operation}, {rows, of_rows}, out, t.type});
          check(stream(), {{t.operation}, {of_columns, rows}, out, t.type});
        }
      }
    }
  }
}

/// Axes inside and outside of those that the element is repeated along.
TEST_P(ElementwiseFlatTest, ElementsRepeatedAlongSeveralAxes) {
  for (const Typed& t : kTyped) {
    const TensorSpec out{t.result, {2, 3, 2, 5, 17}, {}, 1}, rows{t.type, {2, 3, 2, 5, 17}, {}, 2};
    for (const Dims& shape :
         {Dims{2, 1, 2, 1, 1}, Dims{1, 3, 1, 5, 1}, Dims{2, 3, 1, 1, 1}, Dims{1, 1, 1, 1, 1}})
      check(stream(), {{t.operation}, {rows, TensorSpec{t.type, shape, {}, 1}}, out, t.type});
    // With strides of 0 an operand has the output's shape, and both may be repeated.
    const TensorSpec apart{t.type, {2, 3, 2, 5, 17}, {997, 301, 60, 7, 0}};
    check(stream(), {{t.operation}, {rows, apart}, out, t.type});
    check(stream(), {{t.operation}, {apart, TensorSpec{t.type, {3, 1, 5, 1}, {}, 1}}, out, t.type});
  }
}

/// Nine axes outside of the rows, of which no two are one.
TEST_P(ElementwiseFlatTest, ElementsOfManyAxes) {
  const Dims shape{2, 2, 2, 2, 2, 2, 2, 2, 3, 49};
  for (const DType type : {DType::f32, DType::f16}) {
    const TensorSpec out{type, shape, {}, 1}, rows{type, shape, {}, 2},
        of_rows{type, {2, 1, 2, 1, 2, 1, 2, 1, 3, 1}, {}, 1};
    const TensorView result(nullptr, type, shape), element(nullptr, type, of_rows.shape);
    if (device().kind() != DeviceKind::cpu) {
      const std::string text = explained(Op::sub, {result, element}, result, device());
      EXPECT_NE(text.find("Kernel typed, output in one piece"), std::string::npos) << text;
    }
    check(stream(), {{Op::sub}, {rows, of_rows}, out, type});
    check(stream(), {{Op::atan2}, {of_rows, rows}, out, type});
  }
}

/// Operands in one piece at other distances from a vector's boundary, and in place.
TEST_P(ElementwiseFlatTest, PiecesFromAnyAddress) {
  for (const Typed& t : kTyped) {
    for (const std::int64_t elements : {t.lane - 1, t.lane + 5, 40 * t.lane + 3}) {
      for (const std::int64_t misaligned : {0, 1, 5}) {
        const TensorSpec out{t.result, {elements}, {}, 2}, a{t.type, {elements}, {}, misaligned},
            b{t.type, {elements}, {}, 3};
        check(stream(), {{t.operation}, {a, b}, out, t.type});
        check(stream(), {{t.operation}, {a, TensorSpec{t.type, {1}, {}, 1}}, out, t.type});
      }
    }
    if (t.result != t.type) continue;
    ElementwiseCase c{{t.operation},
                      {TensorSpec{t.type, {5, 49}, {}, 3}, TensorSpec{t.type, {5, 1}, {}}},
                      {t.type, {5, 49}, {}, 3},
                      t.type};
    c.in_place = 0;
    check(stream(), c);
  }
}

TEST_P(ElementwiseFlatTest, PairsOfTypesAndConstants) {
  for (const DType half : {DType::f16, DType::bf16}) {
    const TensorSpec out{DType::f32, {9, 49}, {}, 1}, scale{DType::f32, {9, 1}, {}},
        halves{half, {9, 49}, {}, 3};
    check(stream(), {{Op::mul}, {halves, scale}, out, DType::f32});
    check(stream(), {{Op::sub}, {scale, halves}, out, DType::f32});
    const TensorSpec same{half, {9, 49}, {}, 1};
    check(stream(), {{Op::clip}, {halves, TensorSpec{half, {9, 1}, {}}, Literal(4)}, same, half});
  }
}

/// What is no flat output: a row shorter than a lane's elements, gaps, an operand along rows of its own.
TEST(ElementwiseFlat, LeavesOthersToStrips) {
  if (!has_emulated_devices()) GTEST_SKIP() << "this build has no emulated devices";
  const DType f16 = DType::f16;
  const TensorView out(nullptr, f16, {64, 49}), column(nullptr, f16, {64, 1}), row(nullptr, f16, {49});
  const auto strips = [](const std::string& text) {
    EXPECT_NE(text.find("Kernel typed, strips"), std::string::npos) << text;
  };
  EXPECT_NE(explained(Op::add, {out, column}, out)
                .find("output in one piece: 196 lanes with 16 elements each, in rows of 49"),
            std::string::npos)
      << explained(Op::add, {out, column}, out);
  strips(explained(Op::add, {out, row}, out));
  const TensorView pitched(nullptr, f16, {64, 49}, {50, 1});
  strips(explained(Op::add, {out, column}, pitched));
  strips(explained(Op::add, {pitched, column}, out));
  strips(explained(Op::add, {pitched, column}, pitched));
  const TensorView narrow(nullptr, f16, {64, 15});
  strips(explained(Op::add, {narrow, column}, narrow));
  const TensorView wide(nullptr, DType::f64, {64, 49}), scale(nullptr, DType::f64, {64, 1});
  strips(explained(Op::add, {wide, scale}, wide));
}

}  // namespace
}  // namespace relayout::test
