// In which order the processor's own element-wise operations walk their nest, and what they pack.
#include <gtest/gtest.h>

#include <cstddef>

#include "host/cpu/elementwise/elementwise_operand.hpp"
#include "host/cpu/elementwise/elementwise_order.hpp"
#include "host/cpu/elementwise/packed_boxes.hpp"

#include <relayout/relayout.hpp>

namespace relayout::test {
namespace {

/// An operation on one operand whose axes lie in the order of the output's.
ElementwiseParams operation_on(DType type, const Dims& shape, const Dims& strides, const Dims& out) {
  ElementwiseParams params;
  params.rank = static_cast<int>(shape.size());
  params.elements = 1;
  params.tensors = 1;
  params.tensor[0].type = type;
  params.out_type = type;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    params.elements *= shape[k];
    params.extents[k] = shape[k];
    params.out_strides[k] = out[k];
    params.tensor[0].strides[k] = strides[k];
  }
  return params;
}

TEST(NativeElementwise, InTheOrderOfFewestRows) {
  const auto first_extent = [](DType type, const Dims& shape, const Dims& strides, const Dims& out) {
    const ElementwiseParams params = operation_on(type, shape, strides, out);
    return native::in_better_order(params).value_or(params).extents[0];
  };
  // Neighbouring rows lie next to each other in the operand, but not in the output.
  EXPECT_EQ(first_extent(DType::f32, {32, 600, 63}, {63, 2016, 1}, {37800, 63, 1}), 600);
  EXPECT_EQ(first_extent(DType::f32, {600, 32, 63}, {2016, 63, 1}, {37800, 63, 1}), 600);     // in both
  EXPECT_EQ(first_extent(DType::f32, {600, 8, 63}, {63, 37800, 1}, {504, 63, 1}), 600);       // read ahead
  EXPECT_EQ(first_extent(DType::f32, {32, 600, 256}, {256, 8192, 1}, {153600, 256, 1}), 32);  // long rows
  EXPECT_EQ(first_extent(DType::f32, {32, 60, 63}, {63, 2016, 1}, {3780, 63, 1}), 32);        // in the caches
  // Results of one byte are unpacked sooner than two operands of eight are packed.
  ElementwiseParams comparison = operation_on(DType::i64, {128, 1024}, {1, 128}, {1024, 1});
  comparison.tensors = 2;
  comparison.tensor[1] = comparison.tensor[0];
  EXPECT_EQ(native::in_better_order(comparison).value_or(comparison).extents[0], 128);
  comparison.out_type = DType::bool_;
  EXPECT_EQ(native::in_better_order(comparison).value_or(comparison).extents[0], 1024);
}

/// Rows of a line to half a page that lie apart, of what the caches do not hold.
TEST(NativeElementwise, RowsAskedAhead) {
  const auto asked = [](const Dims& shape, const Dims& strides, std::int64_t bytes) {
    return native::rows_asked_ahead({static_cast<int>(shape.size()), shape.data(), strides.data()}, bytes);
  };
  EXPECT_EQ(asked({30, 200, 32}, {64, 1920, 1}, 4), 16);
  EXPECT_EQ(asked({200, 30, 500}, {600, 120000, 1}, 2), 3);
  EXPECT_EQ(asked({6000, 15}, {40, 1}, 4), 0);  // shorter than a line
  EXPECT_EQ(asked({600, 511}, {550, 1}, 4), 2);
  EXPECT_EQ(asked({600, 512}, {550, 1}, 4), 0);  // half a page
  EXPECT_EQ(asked({6000, 32}, {47, 1}, 4), 0);   // the next row begins within a line
  EXPECT_EQ(asked({6000, 32}, {48, 1}, 4), 16);
  EXPECT_EQ(asked({6000, 32}, {-48, 1}, 4), 16);
  EXPECT_EQ(asked({30, 200, 32}, {0, 64, 1}, 8), 0);  // the same rows again
  EXPECT_EQ(asked({30, 32}, {64, 1}, 4), 0);          // in the caches
  EXPECT_EQ(asked({6000, 32}, {128, 2}, 4), 0);       // strided
}

/// Whether an operand of these strides is packed box by box, and not taken row by row.
bool is_packed(DType type, const Dims& shape, const Dims& strides) {
  return native::PackedBoxes(operation_on(type, shape, strides, contiguous_strides(shape))).any();
}
/// Whether the results are, of an operand in one piece.
bool is_output_packed(DType type, const Dims& shape, const Dims& strides) {
  return native::PackedBoxes(operation_on(type, shape, contiguous_strides(shape), strides)).any();
}

/// The output and two operands are fastest along an axis each, and a box has runs of all three.
TEST(NativeElementwise, BoxesOfOperandsAcrossEachOther) {
  CopyParams nest;
  nest.rank = 3;
  const std::int64_t second[] = {64, 1, 64 * 64};
  for (int axis = 0; axis < 3; ++axis) {
    nest.extents[axis] = 64;
    nest.out_strides[axis] = axis == 0 ? 64 * 64 : axis == 1 ? 64 : 1;
    nest.in_strides[axis] = axis == 0 ? 1 : axis == 1 ? 64 : 64 * 64;
  }
  const native::AlsoRead also{second, 16};
  const native::CopyBox box = native::choose_box(nest, 64, 16384, &also);
  EXPECT_EQ(box.sides[2], 64);  // the output's
  EXPECT_EQ(box.sides[1], 16);  // the second operand's
  EXPECT_EQ(box.sides[0], 16);  // the first one's, for which there is room
  EXPECT_EQ(native::choose_box(nest, 64, 16384).sides[1], 4);
}

TEST(NativeElementwise, ShortRowsOfTheOutputArePacked) {
  EXPECT_TRUE(is_output_packed(DType::f32, {700, 7, 7}, {540, 8, 1}));
  EXPECT_FALSE(is_output_packed(DType::f32, {90, 60, 7}, {540, 8, 1}));  // eight rows of one pitch and more
  EXPECT_TRUE(is_output_packed(DType::f32, {90, 60, 7}, {8, 7200, 1}));  // which lie in another order
  EXPECT_FALSE(is_output_packed(DType::f32, {700, 7, 8}, {630, 9, 1}));
  EXPECT_FALSE(is_output_packed(DType::f32, {5400, 7}, {8, 1}));  // of one pitch
  EXPECT_TRUE(is_output_packed(DType::f32, {90, 77}, {1, 90}));
  EXPECT_TRUE(is_output_packed(DType::f32, {90, 77}, {154, 2}));
}

TEST(NativeElementwise, ShortAndStridedRowsArePacked) {
  EXPECT_TRUE(is_packed(DType::u64, {16, 300, 4}, {4, 64, 1}));
  EXPECT_TRUE(is_packed(DType::u8, {9, 7, 63}, {641, 64, 1}));
  EXPECT_FALSE(is_packed(DType::u8, {9, 10, 63}, {641, 64, 1}));  // eight rows of one pitch and more
  EXPECT_FALSE(is_packed(DType::u8, {9, 10, 64}, {651, 65, 1}));
  EXPECT_FALSE(is_packed(DType::u8, {90, 63}, {64, 1}));  // of one pitch
  EXPECT_TRUE(is_packed(DType::f32, {90, 77}, {1200, 15}));
  EXPECT_FALSE(is_packed(DType::f32, {90, 77}, {1300, 16}));  // a line for each, and no neighbours
  EXPECT_TRUE(is_packed(DType::f32, {9000}, {-1}));
  EXPECT_FALSE(is_packed(DType::f32, {9000}, {1}));
  EXPECT_FALSE(is_packed(DType::u8, {90, 3}, {3, 1}));  // one row
  // Repeated elements are few: only where neighbours lie in lines of their own are they packed.
  EXPECT_FALSE(is_packed(DType::u16, {13, 8, 13, 35, 5}, {65, 0, 5, 0, 1}));
  EXPECT_FALSE(is_packed(DType::u16, {13, 8, 13, 3, 5}, {260, 0, 20, 6, 1}));
  EXPECT_FALSE(is_packed(DType::f32, {90, 8, 70}, {140, 0, 2}));
  EXPECT_TRUE(is_packed(DType::f32, {90, 8, 70}, {1, 0, 90}));
  EXPECT_FALSE(is_packed(DType::f32, {7, 8, 70}, {1, 0, 90}));
  EXPECT_TRUE(is_packed(DType::f32, {4, 2, 8, 70}, {1, 4, 0, 90}));  // the first two axes are neighbours
  // So small an operand costs less than packing it.
  EXPECT_FALSE(is_packed(DType::u64, {16, 30, 4}, {4, 64, 1}));
}

}  // namespace
}  // namespace relayout::test
