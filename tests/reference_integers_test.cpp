// The oracle of arithmetic on integers and bools against values worked out by hand.
#include <gtest/gtest.h>

#include <stdexcept>

#include "host/reference/accuracy.hpp"
#include "host/reference/arithmetic.hpp"
#include "tests/support/element_types.hpp"

namespace relayout {
namespace {

using O = Operation;

/// The result's bits as a number of T.
template <class T>
T calculate(Operation operation, T a, T b = 0, T c = 0) {
  const auto bits = [](T value) { return static_cast<std::uint64_t>(value); };
  const std::uint64_t result = reference::apply(operation, dtype_of<T>, bits(a), bits(b), bits(c));
  EXPECT_TRUE(sizeof(T) == 8 || result >> (8 * sizeof(T) % 64) == 0) << "bits above the type's";
  return static_cast<T>(result);
}

template <class T>
void expect_rows(const std::vector<std::tuple<Operation, T, T, T>>& rows) {
  for (const auto& [operation, a, b, expected] : rows) {
    EXPECT_EQ(+calculate<T>(operation, a, b), +expected)
        << name_of(operation) << " of " << name_of(dtype_of<T>) << " " << +a << ", " << +b;
  }
}

TEST(ReferenceIntegers, Wrap) {
  expect_rows<std::int8_t>({{O::add, 127, 1, -128},
                            {O::sub, -128, 1, 127},
                            {O::mul, 64, 2, -128},
                            {O::mul, -128, -1, -128},
                            {O::neg, -128, 0, -128},
                            {O::neg, 5, 0, -5},
                            {O::abs, -128, 0, -128},
                            {O::abs, -7, 0, 7},
                            {O::square, 16, 0, 0},
                            {O::square, -12, 0, -112}});
  expect_rows<std::uint8_t>(
      {{O::add, 200, 100, 44}, {O::sub, 1, 2, 255}, {O::mul, 200, 200, 64}, {O::neg, 1, 0, 255}});
  expect_rows<std::uint64_t>({{O::mul, 0xffffffffffffffff, 0xffffffffffffffff, 1},
                              {O::add, 0xffffffffffffffff, 2, 1},
                              {O::square, 0x100000001, 0, 0x200000001},
                              {O::maximum, 0x8000000000000000, 1, 0x8000000000000000}});
  expect_rows<std::int64_t>({{O::mul, INT64_MIN, -1, INT64_MIN},
                             {O::mul, 3037000500, 3037000500, -9223372036709301616},
                             {O::sub, INT64_MIN, 1, INT64_MAX}});
}

TEST(ReferenceIntegers, Division) {
  for (const O division : {O::div, O::div_trunc}) {
    expect_rows<std::int32_t>({{division, 7, 2, 3},
                               {division, -7, 2, -3},
                               {division, 7, -2, -3},
                               {division, -7, -2, 3},
                               {division, 7, 0, 0},
                               {division, INT32_MIN, -1, INT32_MIN}});
    expect_rows<std::uint8_t>({{division, 255, 2, 127}, {division, 255, 0, 0}});
  }
  expect_rows<std::int32_t>({{O::div_floor, 7, 2, 3},
                             {O::div_floor, -7, 2, -4},
                             {O::div_floor, 7, -2, -4},
                             {O::div_floor, -7, -2, 3},
                             {O::div_floor, -6, 2, -3},
                             {O::div_floor, 0, -2, 0},
                             {O::div_floor, -7, 0, 0},
                             {O::div_floor, INT32_MIN, -1, INT32_MIN}});
  expect_rows<std::int64_t>(
      {{O::div, INT64_MIN, -1, INT64_MIN}, {O::div_floor, INT64_MIN, 3, -3074457345618258603}});
  expect_rows<std::uint64_t>({{O::div_floor, 0xffffffffffffffff, 2, 0x7fffffffffffffff}});
}

TEST(ReferenceIntegers, Remainder) {
  expect_rows<std::int16_t>({{O::mod, 7, 3, 1},
                             {O::mod, -7, 3, 2},
                             {O::mod, 7, -3, -2},
                             {O::mod, -7, -3, -1},
                             {O::mod, -6, 3, 0},
                             {O::mod, 7, 0, 0},
                             {O::mod, INT16_MIN, -1, 0},
                             {O::fmod, 7, 3, 1},
                             {O::fmod, -7, 3, -1},
                             {O::fmod, 7, -3, 1},
                             {O::fmod, -7, -3, -1},
                             {O::fmod, -7, 0, 0},
                             {O::fmod, INT16_MIN, -1, 0}});
  expect_rows<std::uint32_t>({{O::mod, 4294967295, 10, 5}, {O::fmod, 4294967295, 10, 5}});
}

TEST(ReferenceIntegers, Power) {
  expect_rows<std::int32_t>({{O::pow, 3, 4, 81},
                             {O::pow, -3, 3, -27},
                             {O::pow, 0, 0, 1},
                             {O::pow, 0, 5, 0},
                             {O::pow, 2, 31, INT32_MIN},
                             {O::pow, 2, 32, 0},
                             {O::pow, 3, 21, 1870418611},  // 10460353203 - 2 * 2^32
                             {O::pow, 1, -5, 1},
                             {O::pow, -1, -5, -1},
                             {O::pow, -1, -4, 1},
                             {O::pow, 2, -1, 0},
                             {O::pow, 0, -1, 0}});
  // Beyond what f64 has digits for.
  expect_rows<std::int64_t>({{O::pow, 3, 39, 4052555153018976267}, {O::pow, -1, INT64_MIN, 1}});
  expect_rows<std::uint8_t>({{O::pow, 255, 255, 255}, {O::pow, 2, 7, 128}, {O::pow, 2, 255, 0}});
}

TEST(ReferenceIntegers, Order) {
  expect_rows<std::int8_t>(
      {{O::maximum, -1, 1, 1},       {O::minimum, -1, 1, -1},      {O::fmax, -1, 1, 1},
       {O::fmin, -1, 1, -1},         {O::prelu, 5, 3, 5},          {O::prelu, -5, 3, -15},
       {O::prelu, -100, 2, 56},      {O::prelu, 0, 3, 0},          {O::sign, -128, 0, -1},
       {O::sign, 0, 0, 0},           {O::sign, 9, 0, 1},           {O::relu, -3, 0, 0},
       {O::relu, 3, 0, 3},           {O::step, -3, 0, 0},          {O::step, 0, 0, 0},
       {O::step, 3, 0, 1},           {O::abs_diff, -3, 4, 7},      {O::abs_diff, 4, -3, 7},
       {O::abs_diff, -128, 127, -1}, {O::squared_diff, 4, -3, 49}, {O::squared_diff, -128, 127, 1}});
  expect_rows<std::uint8_t>({{O::maximum, 255, 1, 255},
                             {O::minimum, 255, 1, 1},
                             {O::abs_diff, 1, 255, 254},
                             {O::prelu, 200, 3, 200},
                             {O::sign, 200, 0, 1}});
  for (const O whole : {O::floor, O::ceil, O::trunc, O::round})
    expect_rows<std::int16_t>({{whole, -7, 0, -7}});
  EXPECT_EQ(calculate<std::int32_t>(O::clip, 5, 0, 3), 3);
  EXPECT_EQ(calculate<std::int32_t>(O::clip, -5, 0, 3), 0);
  EXPECT_EQ(calculate<std::int32_t>(O::clip, 2, 0, 3), 2);
  EXPECT_EQ(calculate<std::int32_t>(O::clip, 7, 9, 1), 1);  // low > high: high
  EXPECT_EQ(calculate<std::uint32_t>(O::clip, 4000000000, 1, 4100000000), 4000000000);
}

TEST(ReferenceIntegers, Bits) {
  expect_rows<std::int8_t>({{O::bit_and, -2, 7, 6},
                            {O::bit_or, -128, 1, -127},
                            {O::bit_xor, -1, 5, -6},
                            {O::bit_not, 0, 0, -1},
                            {O::bit_not, 5, 0, -6},
                            {O::shift_left, 1, 7, -128},
                            {O::shift_left, 3, 7, -128},
                            {O::shift_left, -1, 1, -2},
                            {O::shift_left, 1, 8, 0},
                            {O::shift_left, 1, -1, 0},
                            {O::shift_left, 1, 127, 0},
                            {O::shift_right, -128, 7, -1},
                            {O::shift_right, -127, 1, -64},
                            {O::shift_right, 64, 3, 8},
                            {O::shift_right, -128, 8, -1},
                            {O::shift_right, -128, -1, -1},
                            {O::shift_right, 127, 8, 0},
                            {O::shift_right, 127, -128, 0}});
  expect_rows<std::uint8_t>({{O::bit_not, 5, 0, 250},
                             {O::shift_right, 255, 1, 127},
                             {O::shift_right, 255, 8, 0},
                             {O::shift_right, 255, 255, 0},
                             {O::shift_left, 255, 4, 240}});
  expect_rows<std::uint64_t>({{O::shift_left, 1, 63, 0x8000000000000000},
                              {O::shift_left, 1, 64, 0},
                              {O::shift_left, 3, 0xffffffffffffffff, 0},
                              {O::shift_right, 0x8000000000000000, 63, 1}});
  expect_rows<std::int64_t>({{O::shift_right, INT64_MIN, 64, -1}, {O::shift_right, INT64_MIN, 63, -1}});
}

TEST(ReferenceIntegers, Relations) {
  expect_rows<std::uint8_t>({{O::less, 1, 255, 1}, {O::greater, 1, 255, 0}});
  expect_rows<std::int8_t>({{O::less, 1, -1, 0},
                            {O::greater, 1, -1, 1},
                            {O::less_equal, 2, 2, 1},
                            {O::greater_equal, 2, 3, 0},
                            {O::equal, -1, -1, 1},
                            {O::not_equal, -1, -1, 0}});
  // Equal in f64.
  expect_rows<std::int64_t>(
      {{O::equal, INT64_MAX, INT64_MAX - 1, 0}, {O::greater, INT64_MAX, INT64_MAX - 1, 1}});
  expect_rows<std::uint64_t>({{O::greater, 0xffffffffffffffff, 1, 1}});
}

TEST(ReferenceIntegers, Bools) {
  const auto of = [](O operation, std::uint64_t a, std::uint64_t b = 0, std::uint64_t c = 0) {
    return reference::apply(operation, DType::bool_, a, b, c);
  };
  // 2 and 255 are as true as 1.
  EXPECT_EQ(of(O::equal, 2, 255), 1u);
  EXPECT_EQ(of(O::less, 0, 2), 1u);
  EXPECT_EQ(of(O::less, 1, 2), 0u);
  EXPECT_EQ(of(O::bit_and, 1, 2), 1u);
  EXPECT_EQ(of(O::bit_or, 0, 2), 1u);
  EXPECT_EQ(of(O::bit_xor, 1, 2), 0u);
  EXPECT_EQ(of(O::bit_not, 2), 0u);
  EXPECT_EQ(of(O::bit_not, 0), 1u);
  EXPECT_EQ(of(O::where, 1, 255, 0), 1u);
  EXPECT_EQ(of(O::where, 0, 255, 0), 0u);
  EXPECT_EQ(of(O::logical_and, 1, 1), 1u);
  EXPECT_EQ(of(O::logical_and, 1, 0), 0u);
  EXPECT_EQ(of(O::logical_or, 0, 1), 1u);
  EXPECT_EQ(of(O::logical_or, 0, 0), 0u);
  EXPECT_EQ(of(O::logical_xor, 1, 1), 0u);
  EXPECT_EQ(of(O::logical_xor, 0, 1), 1u);
  EXPECT_EQ(of(O::logical_not, 1), 0u);
  EXPECT_EQ(of(O::logical_not, 0), 1u);
}

TEST(ReferenceIntegers, Refusals) {
  for (const O operation : {O::add, O::maximum, O::neg, O::shift_left, O::clip})
    EXPECT_THROW(reference::apply(operation, DType::bool_, 1, 1), std::invalid_argument)
        << name_of(operation);
  for (const O operation : {O::truediv, O::exp, O::hypot, O::lerp, O::isnan, O::isclose})
    EXPECT_THROW(reference::apply(operation, DType::i32, 1, 1), std::invalid_argument) << name_of(operation);
  for (const O operation : {O::bit_and, O::bit_not, O::shift_right})
    EXPECT_THROW(reference::apply(operation, DType::f32, 1, 1), std::invalid_argument) << name_of(operation);
  for (const DType type : {DType::tf32, DType::e4m3fn, DType::e5m2, DType::b128})
    EXPECT_THROW(reference::apply(O::add, type, 1, 1), std::invalid_argument) << name_of(type);
  EXPECT_THROW(reference::apply(O::add, DType::i32, 1, 1, 0, {}, Rounding::up), std::invalid_argument);
  EXPECT_THROW(reference::apply(O::exp, DType::f32, 1, 1, 0, {}, Rounding::up), std::invalid_argument);
  EXPECT_THROW(reference::apply(O::add, DType::f32, 1, 1, 0, {}, Rounding::nearest_away),
               std::invalid_argument);
}

}  // namespace
}  // namespace relayout
