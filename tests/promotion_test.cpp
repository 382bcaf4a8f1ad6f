// Promotion against tests/cases/promotion.csv: the common type, and the result of each class of operations,
// for every pair of element types, and for every type with constants. ERROR stands for an error, - for a case
// that is not tested. Constants are named by the narrowest type that holds them; where a row stands for
// several, the edges of its range are tested.
#include "relayout/promotion.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "host/api/promotion_rules.hpp"
#include "relayout/error.hpp"
#include "tests/support/element_types.hpp"
#include "tests/support/expect_error.hpp"

namespace relayout::test {
namespace {

using Row = std::vector<std::string>;

std::vector<Row> read_table() {
  std::ifstream file(RELAYOUT_PROMOTION_TABLE);
  EXPECT_TRUE(file) << RELAYOUT_PROMOTION_TABLE;
  std::vector<Row> rows;
  std::string line;
  std::getline(file, line);  // the columns' names
  while (std::getline(file, line)) {
    Row row;
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
    EXPECT_EQ(row.size(), 8u) << line;
    rows.push_back(row);
  }
  return rows;
}

const std::map<std::string, DType>& types() {
  static const std::map<std::string, DType> all = [] {
    std::map<std::string, DType> named;
    for (const DType type : kCastableTypes) named[name_of(type)] = type;
    return named;
  }();
  return all;
}

/// The values that a row's constant stands for.
std::vector<Literal> literals(const std::string& name) {
  constexpr long long kI32 = std::int64_t{1} << 31;
  constexpr unsigned long long kU64 = ~0ull;
  if (name == "bool literal") return {true, false};
  if (name == "float literal") return {1.5, 0.0, 1e300};
  if (name == "i32 literal") return {0, 1, 127};
  if (name == "i64 literal") return {kI32};
  if (name == "u64 literal") return {kU64, kU64 / 2 + 1};
  return {};
}

std::string outcome(const std::function<DType()>& type) {
  try {
    return name_of(type());
  } catch (const Error&) {
    return "ERROR";
  }
}

const std::vector<OperationClass> kColumns{OperationClass::arithmetic, OperationClass::true_division,
                                           OperationClass::relational, OperationClass::bitwise,
                                           OperationClass::select};

template <class B>
void expect_row(const Row& row, DType a, const B& b) {
  EXPECT_EQ(outcome([&] { return common_type(a, b); }), row[2]);
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    if (row[3 + i] != "-") {
      EXPECT_EQ(outcome([&] { return result_type(kColumns[i], a, b); }), row[3 + i]) << "column " << 3 + i;
    }
  }
}

TEST(Promotion, EveryRowOfTheTable) {
  int pairs = 0, beside_literals = 0, between_literals = 0;
  const std::vector<std::string> kinds{"bool literal", "int literal", "float literal"};
  for (const Row& row : read_table()) {
    SCOPED_TRACE(row[0] + " with " + row[1]);
    const auto a = types().find(row[0]), b = types().find(row[1]);
    if (a != types().end() && b != types().end()) {
      expect_row(row, a->second, b->second);
      ++pairs;
    } else if (a != types().end()) {
      for (const Literal& literal : literals(row[1])) expect_row(row, a->second, literal);
      ++beside_literals;
    } else {
      for (const Literal& left : literals(row[0])) {
        for (const Literal& right : literals(row[1]))
          EXPECT_EQ(kinds[static_cast<std::size_t>(common_kind(left, right))], row[2]);
      }
      ++between_literals;
    }
  }
  EXPECT_EQ(pairs, 256);
  EXPECT_EQ(beside_literals, 80);
  EXPECT_EQ(between_literals, 25);
}

TEST(Promotion, RangesOfLiterals) {
  struct Range {
    DType type;
    long long least;
    unsigned long long most;
  };
  const Range ranges[] = {{DType::u8, 0, 255},         {DType::u16, 0, 65535},
                          {DType::u32, 0, 4294967295}, {DType::i8, -128, 127},
                          {DType::i16, -32768, 32767}, {DType::i32, -2147483648ll, 2147483647}};
  for (const Range& range : ranges) {
    EXPECT_EQ(common_type(range.type, range.least), range.type);
    EXPECT_EQ(common_type(range.type, range.most), range.type);
    expect_error(ErrorCode::literal_range, {"add", std::to_string(range.least - 1), name_of(range.type)},
                 [&] { common_type(range.type, range.least - 1, "add"); });
    expect_error(ErrorCode::literal_range, {"add", std::to_string(range.most + 1), name_of(range.type)},
                 [&] { result_type(OperationClass::arithmetic, range.type, range.most + 1, "add"); });
  }
  const long long least = std::numeric_limits<long long>::min();
  EXPECT_EQ(common_type(DType::i64, least), DType::i64);
  EXPECT_EQ(common_type(DType::u64, ~0ull), DType::u64);
  expect_error(ErrorCode::literal_range, {"-1", "u64"}, [] { common_type(DType::u64, -1); });
  EXPECT_EQ(Literal(2147483647).dtype(), DType::i32);
  EXPECT_EQ(Literal(-2147483648ll).dtype(), DType::i32);
  EXPECT_EQ(Literal(2147483648ll).dtype(), DType::i64);
  EXPECT_EQ(Literal(-2147483649ll).dtype(), DType::i64);
  EXPECT_EQ(Literal(1ull << 63).dtype(), DType::u64);
  EXPECT_EQ(Literal(0.5).dtype(), DType::f32);
  EXPECT_EQ(Literal(true).dtype(), DType::bool_);
}

/// Constants count together, in whatever order they stand.
TEST(Promotion, OfSeveralConstants) {
  const auto common = [](std::vector<Literal> constants, std::optional<DType> tensor = std::nullopt) {
    std::string found;
    std::sort(constants.begin(), constants.end(),
              [](const Literal& x, const Literal& y) { return x.magnitude() < y.magnitude(); });
    for (const bool tensor_first : {false, true}) {
      for (int turn = 0; turn < 2; ++turn) {
        std::reverse(constants.begin(), constants.end());
        const std::string name = outcome([&] {
          Promotion promotion("where", false);
          if (tensor && tensor_first) promotion.add(*tensor);
          for (const Literal& constant : constants) promotion.add(constant);
          if (tensor && !tensor_first) promotion.add(*tensor);
          return promotion.common();
        });
        EXPECT_TRUE(found.empty() || found == name) << found << " or " << name << " by order";
        found = name;
      }
    }
    return found;
  };
  EXPECT_EQ(common({1, 5000000000}), "i64");
  EXPECT_EQ(common({1, 5000000000}, DType::bool_), "i64");
  EXPECT_EQ(common({-300, 0.5}, DType::i8), "f32");
  EXPECT_EQ(common({5000000000, 0.5}), "f32");
  EXPECT_EQ(common({true, 7}), "i32");
  EXPECT_EQ(common({true, false}, DType::bool_), "bool");
  EXPECT_EQ(common({1, 1ull << 63}), "u64");
  EXPECT_EQ(common({-1, 1ull << 63}), "ERROR");
  EXPECT_EQ(common({-1, 300}, DType::i8), "ERROR");
  EXPECT_EQ(common({-1, 127}, DType::i8), "i8");
  EXPECT_EQ(common({0.5, 1ull << 63}, DType::f16), "f16");
  EXPECT_EQ(common({1, 2}, DType::b128), "ERROR");
}

TEST(Promotion, ErrorsNameBothTypesAndAWayOut) {
  const auto expect = [](ErrorCode code, OperationClass kind, DType a, DType b) {
    expect_error(code, {"mul", name_of(a), name_of(b), "cast"}, [&] { result_type(kind, a, b, "mul"); });
  };
  expect(ErrorCode::promotion, OperationClass::arithmetic, DType::i8, DType::u32);
  expect(ErrorCode::promotion, OperationClass::relational, DType::f16, DType::bf16);
  expect(ErrorCode::promotion, OperationClass::select, DType::f32, DType::tf32);
  expect(ErrorCode::promotion, OperationClass::select, DType::e5m2, DType::e4m3fn);
  expect(ErrorCode::promotion, OperationClass::bitwise, DType::i8, DType::i16);
  expect(ErrorCode::promotion, OperationClass::select, DType::b128, DType::f32);
  expect(ErrorCode::dtype, OperationClass::arithmetic, DType::bool_, DType::bool_);
  expect(ErrorCode::dtype, OperationClass::relational, DType::e5m2, DType::e5m2);
  expect_error(ErrorCode::dtype, {"mul", "e4m3fn"},
               [] { result_type(OperationClass::arithmetic, DType::f32, DType::e4m3fn, "mul"); });
  EXPECT_EQ(result_type(OperationClass::select, DType::b128, DType::b128), DType::b128);
  expect_error(ErrorCode::dtype, {"bit_and", "f32"},
               [] { result_type(OperationClass::bitwise, DType::f32, DType::f32, "bit_and"); });
  expect_error(ErrorCode::promotion, {"add", "b128", "i32"}, [] { common_type(DType::b128, 1, "add"); });
}

}  // namespace
}  // namespace relayout::test
