// TensorView: construction and its errors, and the views made from views, checked by the elements they reach.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "host/reference/scalar.hpp"
#include "tests/support/expect_error.hpp"

#include <relayout/error.hpp>
#include <relayout/tensor_view.hpp>

namespace relayout {
namespace {

using test::expect_error;

constexpr std::int64_t kHuge = std::int64_t{1} << 62;

/// Memory that holds 0, 1, 2, ...
std::vector<std::int32_t> counting(int elements) {
  std::vector<std::int32_t> memory(static_cast<std::size_t>(elements));
  std::iota(memory.begin(), memory.end(), 0);
  return memory;
}

/// The elements in C order.
std::vector<int> values(const TensorView& view) {
  std::vector<int> result;
  reference::for_each_index(view.shape(), [&](const Dims& index) {
    result.push_back(static_cast<int>(reference::load_bits(view, index)));
  });
  return result;
}

TEST(TensorView, DefaultIsAnAbsentScalar) {
  const TensorView view;
  EXPECT_EQ(view.data(), nullptr);
  EXPECT_EQ(view.rank(), 0);
  EXPECT_EQ(view.elements(), 1);
}

TEST(TensorView, Contiguous) {
  float memory[24];
  const TensorView view(memory, DType::f32, {2, 3, 4});
  EXPECT_EQ(view.data(), memory);
  EXPECT_EQ(view.dtype(), DType::f32);
  EXPECT_EQ(view.rank(), 3);
  EXPECT_EQ(view.shape(), (Dims{2, 3, 4}));
  EXPECT_EQ(view.strides(), (Dims{12, 4, 1}));
  EXPECT_EQ(view.extent(1), 3);
  EXPECT_EQ(view.stride(1), 4);
  EXPECT_EQ(view.elements(), 24);
  EXPECT_TRUE(view.is_contiguous());
  EXPECT_EQ(view.byte_range().begin, 0);
  EXPECT_EQ(view.byte_range().end, 96);
  EXPECT_EQ(view.to_string(), "f32[2, 3, 4] strides [12, 4, 1]");
}

TEST(TensorView, ScalarAndEmpty) {
  const TensorView scalar(nullptr, DType::f64, {});
  EXPECT_EQ(scalar.elements(), 1);
  EXPECT_EQ(scalar.byte_range().end, 8);
  EXPECT_EQ(scalar.to_string(), "f64[] strides []");
  const TensorView empty(nullptr, DType::f64, {3, 0, 2});
  EXPECT_EQ(empty.elements(), 0);
  EXPECT_EQ(empty.byte_range().begin, 0);
  EXPECT_EQ(empty.byte_range().end, 0);
  EXPECT_TRUE(empty.is_contiguous());
}

TEST(TensorView, FromGgml) {
  std::vector<std::int32_t> memory = counting(24);
  // Rows of 3 elements 4 apart, 2 rows, 2 planes 12 apart.
  const TensorView view = TensorView::from_ggml(memory.data(), DType::i32, {3, 2, 2, 1}, {4, 16, 48, 96});
  EXPECT_EQ(view.shape(), (Dims{1, 2, 2, 3}));
  EXPECT_EQ(view.strides(), (Dims{24, 12, 4, 1}));
  EXPECT_EQ(values(view), (std::vector<int>{0, 1, 2, 4, 5, 6, 12, 13, 14, 16, 17, 18}));
  EXPECT_EQ(TensorView::from_ggml(memory.data(), DType::i32, {5}, {8}).strides(), (Dims{2}));
  expect_error(ErrorCode::rank, {}, [&] { TensorView::from_ggml(memory.data(), DType::i32, {3, 2}, {4}); });
  expect_error(ErrorCode::stride_alignment, {}, [&] {
    TensorView::from_ggml(memory.data(), DType::i32, {3, 2}, {4, 6});
  });
}

TEST(TensorView, IsContiguous) {
  const auto contiguous = [](Dims shape, Dims strides) {
    return TensorView(nullptr, DType::u8, shape, strides).is_contiguous();
  };
  EXPECT_TRUE(contiguous({2, 3}, {3, 1}));
  EXPECT_TRUE(contiguous({1, 3}, {-99, 1}));
  EXPECT_TRUE(contiguous({2, 1, 3}, {3, 7, 1}));
  EXPECT_TRUE(contiguous({}, {}));
  EXPECT_FALSE(contiguous({2, 3}, {1, 2}));
  EXPECT_FALSE(contiguous({2, 3}, {4, 1}));
  EXPECT_FALSE(contiguous({3}, {-1}));
  EXPECT_FALSE(contiguous({3}, {0}));
}

TEST(TensorView, ByteRangeOfNegativeStrides) {
  const TensorView view(nullptr, DType::f16, {4, 3}, {-10, 2});
  EXPECT_EQ(view.byte_range().begin, -60);
  EXPECT_EQ(view.byte_range().end, 10);
}

TEST(TensorView, RefusesBadExtentsAndRanks) {
  expect_error(ErrorCode::invalid_argument, {"[2, -1]"}, [] { TensorView(nullptr, DType::f32, {2, -1}); });
  expect_error(ErrorCode::rank, {"33", "32"}, [] { TensorView(nullptr, DType::f32, Dims(33, 1)); });
  EXPECT_EQ(TensorView(nullptr, DType::f32, Dims(32, 1)).rank(), 32);
  expect_error(ErrorCode::rank, {"[2, 3]", "[1]"}, [] { TensorView(nullptr, DType::f32, {2, 3}, {1}); });
}

TEST(TensorView, RefusesSizesBeyond63Bits) {
  expect_error(ErrorCode::invalid_shape, {"[4611686018427387904, 2]"}, [] {
    TensorView(nullptr, DType::u8, {kHuge, 2});
  });
  // The elements fit, their bytes do not.
  expect_error(ErrorCode::invalid_shape, {"offset"}, [] { TensorView(nullptr, DType::f32, {kHuge / 2}); });
  EXPECT_EQ(TensorView(nullptr, DType::u8, {kHuge}).elements(), kHuge);
  expect_error(ErrorCode::invalid_shape, {"offset"}, [] { TensorView(nullptr, DType::u8, {3}, {kHuge}); });
  expect_error(ErrorCode::invalid_shape, {"offset"}, [] {
    TensorView(nullptr, DType::u8, {2, 2}, {kHuge, kHuge});
  });
  expect_error(ErrorCode::invalid_shape, {"offset"},
               [] { TensorView(nullptr, DType::u8, {2}, {std::numeric_limits<std::int64_t>::min()}); });
  // Strides that no index uses do not matter.
  EXPECT_EQ(TensorView(nullptr, DType::f64, {1, 2}, {kHuge, 1}).byte_range().end, 16);
  EXPECT_EQ(TensorView(nullptr, DType::f64, {0, 9}, {kHuge, kHuge}).elements(), 0);
}

TEST(TensorView, FromBytes) {
  const TensorView view = TensorView::from_bytes(nullptr, DType::f32, {2, 3}, {-48, 4});
  EXPECT_EQ(view.strides(), (Dims{-12, 1}));
  expect_error(ErrorCode::stride_alignment, {"[12, 6]", "4"}, [] {
    TensorView::from_bytes(nullptr, DType::f32, {2, 3}, {12, 6});
  });
  expect_error(ErrorCode::rank, {}, [] { TensorView::from_bytes(nullptr, DType::f32, {2, 3}, {12}); });
}

TEST(Permuted, MovesAxes) {
  const std::vector<std::int32_t> memory = counting(6);
  const TensorView view(memory.data(), DType::i32, {2, 3});
  const TensorView transposed = view.permuted({1, 0});
  EXPECT_EQ(transposed.shape(), (Dims{3, 2}));
  EXPECT_EQ(values(transposed), (std::vector<int>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(TensorView(nullptr, DType::u8, {2, 3, 4}).permuted({2, 0, 1}).shape(), (Dims{4, 2, 3}));
  EXPECT_EQ(TensorView(nullptr, DType::u8, {}).permuted({}).rank(), 0);
}

TEST(Permuted, RefusesAnythingElse) {
  const TensorView view(nullptr, DType::i32, {2, 3});
  for (const std::vector<int>& axes :
       std::vector<std::vector<int>>{{}, {0}, {0, 0}, {0, 2}, {-1, 0}, {0, 1, 2}}) {
    expect_error(ErrorCode::invalid_argument, {"[2, 3]"}, [&] { view.permuted(axes); });
  }
}

TEST(Broadcast, RepeatsByStrideZero) {
  const std::vector<std::int32_t> memory = counting(3);
  const TensorView view(memory.data(), DType::i32, {3, 1});
  const TensorView wide = view.broadcast_to({2, 3, 2});
  EXPECT_EQ(wide.strides(), (Dims{0, 1, 0}));
  EXPECT_EQ(values(wide), (std::vector<int>{0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(view.broadcast_to({3, 0}).elements(), 0);
  EXPECT_EQ(TensorView(nullptr, DType::u8, {}).broadcast_to({4}).strides(), Dims{0});
  expect_error(ErrorCode::shape, {"[3, 1]", "[4, 2]"}, [&] { view.broadcast_to({4, 2}); });
  expect_error(ErrorCode::shape, {"[3, 1]", "[3]"}, [&] { view.broadcast_to({3}); });
}

TEST(Broadcast, Shapes) {
  EXPECT_EQ(broadcast_shapes({3, 1}, {2, 1, 4}), (Dims{2, 3, 4}));
  EXPECT_EQ(broadcast_shapes({}, {5}), Dims{5});
  EXPECT_EQ(broadcast_shapes({1}, {0}), Dims{0});
  expect_error(ErrorCode::shape, {"[3]", "[4]"}, [] { broadcast_shapes({3}, {4}); });
  expect_error(ErrorCode::shape, {}, [] { broadcast_shapes({2}, {0}); });
}

TEST(Slice, MovesTheStart) {
  const std::vector<std::int32_t> memory = counting(12);
  const TensorView view(memory.data(), DType::i32, {3, 4});
  EXPECT_EQ(values(view.slice(1, 1, 3)), (std::vector<int>{1, 2, 5, 6, 9, 10}));
  EXPECT_EQ(values(view.slice(0, 2, 3)), (std::vector<int>{8, 9, 10, 11}));
  EXPECT_EQ(view.slice(0, 3, 3).elements(), 0);
  const TensorView backwards(memory.data() + 3, DType::i32, {4}, {-1});
  EXPECT_EQ(values(backwards.slice(0, 1, 3)), (std::vector<int>{2, 1}));
}

TEST(Slice, RefusesToLeaveTheView) {
  const TensorView view(nullptr, DType::i32, {3, 4});
  for (const auto& range : std::vector<std::vector<std::int64_t>>{{-1, 2}, {2, 1}, {0, 5}, {5, 5}}) {
    expect_error(ErrorCode::invalid_argument, {"[3, 4]", "axis 1"},
                 [&] { view.slice(1, range[0], range[1]); });
  }
  expect_error(ErrorCode::invalid_argument, {"axis 2"}, [&] { view.slice(2, 0, 1); });
  expect_error(ErrorCode::invalid_argument, {"axis -1"}, [&] { view.slice(-1, 0, 1); });
  // An empty view's strides were never checked, so no offset may be computed from them.
  EXPECT_EQ(TensorView(nullptr, DType::f64, {0, 9}, {1, kHuge}).slice(1, 8, 9).elements(), 0);
}

TEST(Reshaped, SplitsAndMerges) {
  const std::vector<std::int32_t> memory = counting(24);
  const TensorView view(memory.data(), DType::i32, {4, 6});
  const std::vector<int> elements = values(view);
  for (const Dims& shape : std::vector<Dims>{{24}, {2, 2, 6}, {1, 4, 1, 6, 1}, {3, 8}, {2, 3, 4}}) {
    const TensorView result = view.reshaped(shape);
    EXPECT_EQ(result.shape(), shape);
    EXPECT_TRUE(result.is_contiguous()) << result.to_string();
    EXPECT_EQ(values(result), elements);
  }
  EXPECT_EQ(view.reshaped({1, 4, 1, 6, 1}).strides(), (Dims{24, 6, 6, 1, 1}));
}

TEST(Reshaped, StridedViews) {
  const std::vector<std::int32_t> memory = counting(64);
  const TensorView gap(memory.data(), DType::i32, {4, 6}, {8, 1});
  EXPECT_EQ(gap.reshaped({2, 2, 3, 2}).strides(), (Dims{16, 8, 2, 1}));
  EXPECT_EQ(values(gap.reshaped({2, 2, 3, 2})), values(gap));
  expect_error(ErrorCode::shape, {"strides [8, 1]", "[24]", "copy"}, [&] { gap.reshaped({24}); });
  expect_error(ErrorCode::shape, {"copy"}, [&] { gap.reshaped({3, 8}); });
  const TensorView transposed = TensorView(memory.data(), DType::i32, {4, 6}).permuted({1, 0});
  expect_error(ErrorCode::shape, {"copy"}, [&] { transposed.reshaped({24}); });
  EXPECT_EQ(values(transposed.reshaped({2, 3, 4})), values(transposed));
  const TensorView backwards(memory.data() + 23, DType::i32, {24}, {-1});
  EXPECT_EQ(backwards.reshaped({4, 6}).strides(), (Dims{-6, -1}));
  const TensorView repeated(memory.data(), DType::i32, {4, 6}, {0, 0});
  EXPECT_EQ(repeated.reshaped({8, 3}).strides(), (Dims{0, 0}));
}

TEST(Reshaped, CountsMustAgree) {
  const TensorView view(nullptr, DType::i32, {4, 6});
  expect_error(ErrorCode::shape, {"[4, 6]", "[5, 5]"}, [&] { view.reshaped({5, 5}); });
  expect_error(ErrorCode::invalid_argument, {}, [&] { view.reshaped({-4, -6}); });
  expect_error(ErrorCode::invalid_shape, {}, [&] { view.reshaped({kHuge, kHuge}); });
  EXPECT_EQ(TensorView(nullptr, DType::i32, {0, 6}).reshaped({3, 0, 5}).strides(), (Dims{5, 5, 1}));
  EXPECT_EQ(TensorView(nullptr, DType::i32, {1, 1}).reshaped({}).rank(), 0);
  EXPECT_EQ(TensorView(nullptr, DType::i32, {}).reshaped({1, 1}).strides(), (Dims{1, 1}));
}

TEST(Dims, Words) {
  EXPECT_EQ(to_string(Dims{}), "[]");
  EXPECT_EQ(to_string(Dims{2}), "[2]");
  EXPECT_EQ(to_string(Dims{2, -3}), "[2, -3]");
  EXPECT_EQ(contiguous_strides({2, 3, 4}), (Dims{12, 4, 1}));
  EXPECT_EQ(contiguous_strides({kHuge, 1}), (Dims{1, 1}));
  expect_error(ErrorCode::invalid_shape, {}, [] { contiguous_strides({0, kHuge, 2}); });
}

TEST(Errors, EveryCodeHasItsName) {
  EXPECT_STREQ(name_of(ErrorCode::invalid_argument), "invalid_argument");
  EXPECT_STREQ(name_of(ErrorCode::pad_too_large), "pad_too_large");
  EXPECT_STREQ(name_of(ErrorCode::vendor), "vendor");
  for (int code = 0; code <= static_cast<int>(ErrorCode::timeout); ++code) {
    EXPECT_STRNE(name_of(static_cast<ErrorCode>(code)), "unknown") << code;
  }
  const Error error(ErrorCode::shape, "A sentence.");
  EXPECT_EQ(error.code(), ErrorCode::shape);
  EXPECT_STREQ(error.what(), "A sentence.");
}

}  // namespace
}  // namespace relayout
