// Element-wise operations with every layout of operands and outputs: broadcast, strided, in image layouts,
// misaligned.
#include <gtest/gtest.h>

#include <vector>

#include "tests/cases/layout.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/elementwise_case.hpp"

namespace relayout::test {
namespace {

class ElementwiseLayoutTest : public DeviceTest {
 protected:
  void check_binary(DType type, const TensorSpec& a, const TensorSpec& b, const TensorSpec& out,
                    Operation operation = Operation::sub, const ElementwiseOptions& options = {}) {
    const auto with = [](TensorSpec spec, DType to) {
      spec.type = to;
      return spec;
    };
    ElementwiseCase c;
    c.operations = {operation};
    c.operands = {with(a, type), with(b, type)};
    c.out = with(out, reference::result_type(operation, type));
    c.common = type;
    c.options = options;
    check(stream(), c);
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, ElementwiseLayoutTest, ::testing::ValuesIn(test_devices()),
                         device_test_name);

constexpr DType kF32 = DType::f32;
const std::vector<DType> kWidths{DType::i8, DType::f16, DType::f32, DType::f64};

TensorSpec packed(const Dims& shape, std::int64_t misaligned = 0) { return {kF32, shape, {}, misaligned}; }
TensorSpec in_layout(Layout layout, const Dims& shape) { return {kF32, shape, strides_in(layout, shape), 0}; }

/// Every usual case of broadcasting, with either operand as the small one.
TEST_P(ElementwiseLayoutTest, Broadcasts) {
  struct Case {
    Dims small, out;
  };
  const Case cases[] = {
      {{1000}, {1000}},              // nothing repeated
      {{}, {30, 41}},                // a scalar of rank 0
      {{1, 1}, {30, 41}},            // one of rank 2
      {{41}, {30, 41}},              // a row
      {{64}, {30, 64}},              // a row of whole vectors
      {{30, 1}, {30, 41}},           // a column
      {{5, 1, 33}, {5, 7, 33}},      // one broadcast axis
      {{6, 1, 1}, {3, 6, 5, 7}},     // a bias, one axis not broadcast
      {{1, 6, 1, 1}, {3, 6, 4, 8}},  // the same with all axes
      {{3, 6, 1, 1}, {3, 6, 5, 7}},  // features
      {{1, 6, 1, 7}, {3, 6, 5, 7}},  // two axes, not neighbours
      {{1, 1, 5, 7}, {3, 6, 5, 7}},  // two leading axes
  };
  for (const DType type : kWidths) {
    for (const Case& c : cases) {
      check_binary(type, packed(c.out), packed(c.small), packed(c.out));
      check_binary(type, packed(c.small), packed(c.out), packed(c.out));
    }
  }
}

TEST_P(ElementwiseLayoutTest, BroadcastsBothOperandsAtOnce) {
  for (const DType type : kWidths) {
    check_binary(type, packed({30, 1}), packed({41}), packed({30, 41}));  // outer
    check_binary(type, packed({1, 41}), packed({30, 1}), packed({30, 41}));
    check_binary(type, packed({4, 1, 9}), packed({5, 1}), packed({4, 5, 9}));
    check_binary(type, packed({1, 7, 1, 5}), packed({6, 1, 4, 1}), packed({6, 7, 4, 5}));
    check_binary(type, packed({1}), packed({6, 1}), packed({6, 1}), Operation::less);
  }
  const auto of = [](const Dims& shape) { return OperandSpec(packed(shape)); };
  check(stream(), {{Operation::where}, {of({9, 1}), of({7}), of({1, 1})}, packed({9, 7}), kF32});
}

TEST_P(ElementwiseLayoutTest, NothingAndOneElement) {
  check_binary(kF32, packed({}), packed({}), packed({}));
  check_binary(kF32, packed({1, 1, 1}), packed({}), packed({1, 1, 1}));
  check_binary(kF32, packed({0}), packed({0}), packed({0}));
  check_binary(kF32, packed({0}), packed({1}), packed({0}));
  check_binary(kF32, packed({1, 5}), packed({0, 5}), packed({0, 5}));
  check_binary(kF32, packed({4, 0, 5}), packed({1, 5}), packed({4, 0, 5}));
}

TEST_P(ElementwiseLayoutTest, ManyAxes) {
  check_binary(kF32, packed({3, 1, 2, 1, 4, 1, 5}), packed({3, 1, 2, 1, 5, 1}),
               packed({3, 3, 2, 2, 4, 5, 5}));
  check_binary(DType::f16, packed({2, 3, 1, 2, 1, 4, 1}), packed({1, 3, 3, 1, 5, 1, 8}),
               packed({2, 3, 3, 2, 5, 4, 8}));
  Dims shape(32, 1), other(32, 1);
  for (const std::size_t axis : {0, 3, 9, 14, 20, 26, 31}) shape[axis] = 2 + static_cast<int>(axis % 3);
  other[3] = shape[3];
  other[20] = shape[20];
  check_binary(kF32, packed(shape), packed(other), packed(shape));
  Dims twos(32, 1);  // none of whose axes can be merged
  for (std::size_t axis = 0; axis < 32; axis += 3) twos[axis] = 2;
  Dims backwards(32, 0);
  std::int64_t step = 1;
  for (std::size_t axis = 0; axis < 32; step *= twos[axis++]) backwards[axis] = step;
  check_binary(kF32, packed(twos), {kF32, twos, backwards, 0}, packed(twos));
}

TEST_P(ElementwiseLayoutTest, OperandsOfAnyStrides) {
  using L = cases::Layout;
  const Dims shape{3, 20, 37};
  for (const DType type : kWidths) {
    for (const L layout : {L::nlc, L::lcn, L::gaps, L::nlc_gaps, L::wide_rows, L::every_second, L::reversed,
                           L::one_batch, L::one_channel, L::one_sample}) {
      const TensorSpec strided{kF32, shape, cases::strides_of(layout, shape), 1};
      check_binary(type, strided, packed(shape), packed(shape));
      check_binary(type, packed(shape, 3), strided, packed(shape, 1));
    }
  }
}

TEST_P(ElementwiseLayoutTest, OutputsOfAnyStrides) {
  using L = cases::Layout;
  const Dims shape{3, 20, 37};
  for (const DType type : kWidths) {
    for (const L layout :
         {L::nlc, L::lcn, L::gaps, L::nlc_gaps, L::wide_rows, L::every_second, L::reversed}) {
      const TensorSpec out{kF32, shape, cases::strides_of(layout, shape), 1};
      check_binary(type, packed(shape), packed({20, 1}), out);
      check_binary(type, out, {kF32, shape, cases::strides_of(L::nlc, shape), 0}, out);
      check_binary(type, packed(shape), packed(shape), out, Operation::less_equal);
    }
  }
}

TEST_P(ElementwiseLayoutTest, SlicesOfOddExtentsAndTransposedOperands) {
  const Dims shape{61, 67};
  for (const DType type : kWidths) {
    check_binary(type, {kF32, shape, {71, 1}, 3}, {kF32, shape, {73, 1}, 1}, {kF32, shape, {69, 1}, 2});
    check_binary(type, packed(shape), {kF32, shape, {1, 61}, 0}, packed(shape));
    check_binary(type, {kF32, shape, {1, 64}, 0}, {kF32, shape, {1, 61}, 0}, packed(shape));
    const TensorSpec turned{kF32, {64, 64}, {1, 64}, 0};
    check_binary(type, turned, turned, packed({64, 64}));
  }
}

TEST_P(ElementwiseLayoutTest, EveryMisalignedBase) {
  for (const DType type : {DType::i8, DType::f16, DType::i32}) {
    for (std::int64_t a = 0; a < 4; ++a) {
      for (std::int64_t out = 0; out < 4; ++out) {
        check_binary(type, packed({200}, a), packed({200}, 5 - a), packed({200}, out));
        check_binary(type, packed({7, 24}, a), packed({24}, 1), packed({7, 24}, out));
      }
    }
  }
}

/// Operations of many instructions have vectors of half a size where another kernel takes them.
TEST_P(ElementwiseLayoutTest, CostlyOperationsFromEveryMisalignedBase) {
  for (const DType type : {DType::f16, DType::bf16, kF32}) {
    for (std::int64_t a = 0; a < 8; ++a) {
      for (std::int64_t out = 0; out < 8; out += 2) {
        check(stream(), {{Operation::exp}, {TensorSpec{type, {100}, {}, a}}, {type, {100}, {}, out}, type});
        check(stream(), {{Operation::add, Operation::exp},
                         {TensorSpec{type, {5, 24}, {28, 1}, a}, TensorSpec{type, {24}, {}, out}},
                         {type, {5, 24}, {36, 1}, out},
                         type});
      }
    }
  }
}

/// Lanes that make strips share a long axis in chunks, of which the last one is shorter, or by strips.
TEST_P(ElementwiseLayoutTest, LongRowsInNoVectors) {
  const auto check_rows = [&](DType type, const Dims& shape, const Dims& a, const Dims& b, const Dims& out) {
    check(stream(), {{Operation::add, Operation::exp},
                     {TensorSpec{type, shape, a, 1}, TensorSpec{type, shape, b, 2}},
                     {type, shape, out, 3},
                     type});
  };
  for (const DType type : {DType::f16, kF32, DType::f64}) {
    check_rows(type, {5300}, {1}, {1}, {1});
    check_rows(type, {3, 1300}, {1301, 1}, {0, 1}, {1303, 1});
    check_rows(type, {3, 1300}, {1, 3}, {1300, 1}, {1300, 1});
    check_rows(type, {1300, 3}, {1, 1300}, {3, 1}, {4, 1});
    check_rows(type, {5, 67, 7}, {1, 35, 5}, {469, 1, 67}, {469, 7, 1});
    check_rows(type, {2, 3, 5, 101}, {1, 2, 606, 6}, {0, 505, 0, 5}, {1515, 505, 101, 1});
    check_rows(type, {3, 700}, {-701, -1}, {-1, 3}, {1400, 2});
    check_rows(type, {150, 131}, {1, 150}, {131, 1}, {131, 1});
    check_rows(type, {3, 80, 37}, {37 * 80, 1, 80}, {37 * 80, 1, 80}, {37 * 80, 37, 1});
  }
}

const std::vector<DType> kTyped{DType::bool_, DType::u8,  DType::i8,   DType::i16, DType::u32,
                                DType::i64,   DType::f16, DType::bf16, kF32,       DType::f64};

/// Operations that kernels for one type have: of few instructions, to bool, and of many.
std::vector<Operation> operations_on(DType type) {
  if (type == DType::bool_) return {Operation::bit_xor, Operation::less};
  return {Operation::sub, Operation::less, Operation::mod};
}

/// Elements of an operand that lies across the rows are read several rows at once, by whole words where they
/// are aligned and by those around them where they are not; the axis ends between the rows, and words would
/// reach beyond it.
TEST_P(ElementwiseLayoutTest, OperandsAcrossTheRows) {
  for (const DType type : kTyped) {
    for (const Operation operation : operations_on(type)) {
      for (const std::int64_t rows : {8, 21, 48}) {
        const Dims shape{3, rows, 37}, across{37 * rows, 1, rows}, pitched{37 * 50, 1, 50};
        for (const std::int64_t misaligned : {0, 1, 4}) {
          check_binary(type, {kF32, shape, across, misaligned}, packed(shape, 1), packed(shape), operation);
          check_binary(type, packed(shape), {kF32, shape, pitched, misaligned}, packed(shape, 3), operation);
        }
      }
    }
  }
  const Dims shape{150, 131};
  for (const DType type : {DType::u8, DType::f16, kF32})
    check_binary(type, {kF32, shape, {1, 151}, 1}, {kF32, shape, {1, 150}, 0}, packed(shape, 1));
}

/// An operand across the rows whose fastest axis is short, and which the next one follows: strips lie along
/// both of them, and begin and end anywhere in the inner one. The other operand lies as the output does, is
/// repeated along either axis, or lies across as well.
TEST_P(ElementwiseLayoutTest, OperandsWithShortAxesAcrossTheRows) {
  for (const DType type : kTyped) {
    for (const Operation operation : operations_on(type)) {
      for (const std::int64_t inner : {2, 3, 5, 9, 17}) {
        const Dims shape{inner, 16, 37}, across{1, inner, 16 * inner}, pitched{1, inner, 19 * inner};
        check_binary(type, {kF32, shape, across, 1}, packed(shape, 1), packed(shape), operation);
        check_binary(type, {kF32, {inner, 1, 37}, {}, 0}, {kF32, shape, pitched, 0}, packed(shape, 3),
                     operation);
        check_binary(type, {kF32, shape, across, 0}, {kF32, shape, pitched, 1}, packed(shape), operation);
      }
    }
  }
}

/// Integers are finite, whatever they are and wherever they lie.
TEST_P(ElementwiseLayoutTest, IntegersAreNoNanAndNotInfinite) {
  for (const DType type : {DType::bool_, DType::u8, DType::i16, DType::u32, DType::i64}) {
    for (const Operation operation : {Operation::isnan, Operation::isinf, Operation::isfinite}) {
      const Dims shape{3, 20, 37};
      check(stream(),
            {{operation}, {TensorSpec{type, shape, {1, 3, 60}, 1}}, {DType::bool_, shape, {}, 1}, kF32});
      check(stream(),
            {{operation}, {TensorSpec{type, shape, {}, 0}}, {DType::bool_, shape, {1000, 50, 1}, 0}, kF32});
    }
  }
}

/// Constants below 0, of one operation and of a chain, in aligned rows and in others.
TEST_P(ElementwiseLayoutTest, NegativeConstants) {
  for (const DType type : {DType::i8, DType::i16, DType::i32, DType::i64, DType::f16, kF32}) {
    const Dims shape{5, 64};
    for (const Dims& strides : {Dims{64, 1}, Dims{67, 1}, Dims{1, 5}}) {
      const TensorSpec x{type, shape, strides, 0}, out{type, shape, {}, 0};
      check(stream(), {{Operation::clip}, {x, Literal(-9), Literal(-2)}, out, type});
      check(stream(), {{Operation::maximum, Operation::sub}, {x, Literal(-3), Literal(-7)}, out, type});
      check(stream(), {{Operation::sub}, {Literal(-5), x}, out, type});
    }
  }
}

/// Operands whose rows lie any number of bytes behind the output's vectors: by whole halves and quarters of a
/// vector, and by less. The rows end with vectors.
TEST_P(ElementwiseLayoutTest, RowsAtAnyDistanceFromVectors) {
  for (const DType type : kTyped) {
    const std::int64_t bytes = static_cast<std::int64_t>(size_of(type)), length = 9 * 16 / bytes;
    for (const Operation operation : operations_on(type)) {
      for (const std::int64_t distance : {1, 2, 4, 7, 8, 12}) {
        if (distance % bytes != 0) continue;
        const std::int64_t elements = distance / bytes;
        const TensorSpec apart{kF32, {3, length}, {length + elements, 1}, elements};
        check_binary(type, apart, packed({length}), packed({3, length}), operation);
        check_binary(type, packed({3, length}), apart, packed({3, length}), operation);
      }
    }
  }
}

/// Long rows are moved in vectors, from any address, also where these begin and end inside of vectors.
TEST_P(ElementwiseLayoutTest, LongMisalignedRows) {
  for (const DType type : kTyped) {
    const std::int64_t length = 201 * 16 / static_cast<std::int64_t>(size_of(type)) + 5;
    for (const Operation operation : operations_on(type)) {
      for (const std::int64_t misaligned : {1, 2, 4, 5}) {
        check_binary(type, packed({length}, misaligned), packed({length}), packed({length}), operation);
        check_binary(type, packed({2, length}), {kF32, {2, length}, {length + 3, 1}, 1},
                     {kF32, {2, length}, {length + 1, 1}, misaligned}, operation);
      }
    }
  }
}

TEST_P(ElementwiseLayoutTest, IntegersInRowsShorterThanAVector) {
  for (const DType type : {DType::i8, DType::u8, DType::i16, DType::u32, DType::i64, DType::bool_}) {
    const Operation operation = type == DType::bool_ ? Operation::bit_xor : Operation::add;
    for (const std::int64_t row : {1, 2, 3, 5, 7, 13}) {
      const Dims shape{50, row}, pitch{row + 2, 1};
      check_binary(type, {kF32, shape, pitch, 0}, packed({row}), {kF32, shape, pitch, 1}, operation);
      check_binary(type, packed(shape), {kF32, shape, {1, 50}, 0}, {kF32, shape, pitch, 0}, operation);
    }
  }
}

/// Where the output has no gaps its rows could be joined, but not those of every operand.
TEST_P(ElementwiseLayoutTest, ShortRowsOfAnOutputWithoutGaps) {
  for (const DType type : {DType::i8, DType::f16, DType::f32, DType::f64, DType::i64, DType::u16}) {
    for (const std::int64_t row : {2, 3, 5, 7, 49, 127, 129, 255, 257}) {
      const Dims shape{3, 11, row};
      for (const std::int64_t misaligned : {0, 1, 3}) {
        const TensorSpec out = packed(shape, misaligned);
        check_binary(type, packed(shape), packed({row}), out);
        check_binary(type, packed({11, 1}), packed(shape, 1), out, Operation::less);
        check_binary(type, {kF32, shape, {row, 3 * row, 1}, 0}, {kF32, shape, {11 * row, -row, 1}, 2}, out);
      }
      const TensorSpec gaps{kF32, shape, {11 * row + 5, row, 1}, 0};
      check_binary(type, {kF32, shape, {0, 1, 11}, 0}, {kF32, shape, {11 * row, row, -1}, 0}, gaps);
    }
  }
  const auto of = [](DType type, const Dims& shape) { return OperandSpec(TensorSpec{type, shape, {}, 0}); };
  for (const DType type : {DType::f16, DType::f32}) {
    const TensorSpec out{type, {40, 7, 3}, {}, 1};
    check(stream(), {{Operation::add, Operation::exp}, {of(type, out.shape), of(type, {3})}, out, type});
    check(stream(), {{Operation::mul, Operation::relu}, {of(type, {7, 1}), of(type, out.shape)}, out, type});
    check(stream(), {{Operation::add}, {of(kF32, out.shape), of(type, {7, 1})}, packed(out.shape), kF32});
    const TensorSpec slice{type, out.shape, {70, 10, 1}, 0};
    check(stream(), {{Operation::sub}, {Literal(2.5), slice}, out, type});
    check(stream(), {{Operation::clip}, {slice, Literal(-1.0), Literal(2.0)}, out, type});
  }
}

/// The pads of NHWC8 and NHWC16 are guard bytes in outputs; in operands they hold 0xFF.
TEST_P(ElementwiseLayoutTest, ImageLayoutsInAnyMix) {
  const Dims shape{2, 11, 5, 6};
  const std::vector<Layout> layouts{Layout::ndarray, Layout::nhwc, Layout::nhwc8, Layout::nhwc16};
  for (const Layout a : layouts) {
    for (const Layout b : layouts) {
      for (const Layout out : layouts)
        check_binary(DType::f16, in_layout(a, shape), in_layout(b, shape), in_layout(out, shape),
                     Operation::div);
    }
    for (const Dims& bias : {Dims{11, 1, 1}, Dims{2, 11, 1, 1}, Dims{6}, Dims{}}) {
      check_binary(DType::i8, in_layout(a, shape), packed(bias), in_layout(a, shape));
      check_binary(kF32, packed(bias), in_layout(Layout::nhwc8, shape), in_layout(a, shape));
    }
    const Dims channels{1, 11, 1, 1};
    check_binary(kF32, in_layout(a, shape), in_layout(Layout::nhwc16, channels), in_layout(a, shape));
  }
}

TEST_P(ElementwiseLayoutTest, RepeatsWholeOperands) {
  ElementwiseOptions repeat;
  repeat.broadcasting = Broadcasting::repeat;
  const auto repeats = [&](DType type, const Dims& whole, const Dims& part, const TensorSpec& out) {
    check_binary(type, packed(whole), packed(part), out, Operation::sub, repeat);
  };
  for (const DType type : kWidths) {
    repeats(type, {6, 12}, {6, 12}, packed({6, 12}));
    repeats(type, {6, 12}, {3, 4}, packed({6, 12}));
    repeats(type, {6, 12}, {2, 1}, packed({6, 12}));
    repeats(type, {6, 12}, {6}, packed({6, 12}));
    repeats(type, {6, 12}, {}, packed({6, 12}));
    repeats(type, {4, 6, 10}, {2, 6, 5}, {kF32, {4, 6, 10}, {-70, 11, 1}, 0});
    repeats(type, {0, 12}, {3, 4}, packed({0, 12}));
  }
  const auto of = [](const Dims& shape) { return OperandSpec(packed(shape)); };
  check(stream(),
        {{Operation::where}, {of({8, 12}), of({4, 12}), of({1, 3})}, packed({8, 12}), kF32, repeat});
}

/// Every axis along which an operand repeats is split into two while shapes are matched; axes of one element
/// vanish.
TEST_P(ElementwiseLayoutTest, RepeatsAlongAxesOfManyThatHaveOneElement) {
  ElementwiseOptions repeat;
  repeat.broadcasting = Broadcasting::repeat;
  Dims whole(kMaxRank, 1), part(kMaxRank, 1);
  for (const std::size_t axis : {0, 7, 18, 31}) {
    whole[axis] = 4;
    part[axis] = 2;
  }
  for (const DType type : kWidths)
    check_binary(type, packed(whole), packed(part), packed(whole), Operation::sub, repeat);
}

}  // namespace
}  // namespace relayout::test
