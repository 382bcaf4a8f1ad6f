#include "bench/permute_csv.hpp"

#include <gtest/gtest.h>

#include <relayout/error.hpp>

#include <sstream>

namespace relayout::bench {
namespace {

constexpr const char* kHeader = "name,source,rank,shape,perm,elem_bytes\n";

std::vector<ListedPermute> read(const std::string& text) {
  std::istringstream stream(text);
  return read_permutes(stream, "cases.csv");
}

TEST(PermuteCsv, ReadsEveryField) {
  const auto list = read(std::string("# a comment, with commas\n\n") + kHeader +
                         "first,group: from a paper,3,2 3 5,2 0 1,4\n"
                         "# between\n"
                         "second.b-1,alone,1,7,0,1\r\n"
                         "third,,2, 10000019  7 ,1 0,2");
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0].name, "first");
  EXPECT_EQ(list[0].source, "group: from a paper");
  EXPECT_EQ(list[0].group(), "group");
  EXPECT_EQ(list[0].permute.in_type, DType::f32);
  EXPECT_EQ(list[0].permute.out_type, DType::f32);
  EXPECT_EQ(list[0].permute.shape, (Dims{2, 3, 5}));
  EXPECT_EQ(list[0].permute.axes, (std::vector<int>{2, 0, 1}));
  EXPECT_EQ(list[0].permute.out_shape(), (Dims{5, 2, 3}));
  EXPECT_EQ(list[1].name, "second.b-1");
  EXPECT_EQ(list[1].group(), "alone");
  EXPECT_EQ(list[1].permute.in_type, DType::u8);
  EXPECT_EQ(list[1].permute.shape, (Dims{7}));
  EXPECT_EQ(list[2].permute.in_type, DType::f16);
  EXPECT_EQ(list[2].permute.shape, (Dims{10000019, 7}));
}

TEST(PermuteCsv, EightBytesAreF64) {
  EXPECT_EQ(read(std::string(kHeader) + "a,b,1,2,0,8").at(0).permute.in_type, DType::f64);
}

TEST(PermuteCsv, NamesFileAndLineOfAMistake) {
  const struct {
    const char *line, *why;
  } mistakes[] = {
      {"a,b,2,3 4,1 0", "5 fields where there must be 6"},
      {"a,b,2,3 4,1 0,4,", "7 fields where there must be 6"},
      {",b,2,3 4,1 0,4", "name '' must consist of"},
      {"a b,b,2,3 4,1 0,4", "name 'a b' must consist of"},
      {"a/b,b,2,3 4,1 0,4", "name 'a/b' must consist of"},
      {"a,b,two,3 4,1 0,4", "rank 'two' is no number"},
      {"a,b,,3 4,1 0,4", "rank '' is no number"},
      {"a,b,0,,,4", "rank is 0, but must be 1 to 32"},
      {"a,b,33,3 4,1 0,4", "rank is 33, but must be 1 to 32"},
      {"a,b,2,3 4 5,1 0,4", "shape has 3 numbers, but rank is 2"},
      {"a,b,2,3 x,1 0,4", "shape 'x' is no number"},
      {"a,b,2,3 4.5,1 0,4", "shape '4.5' is no number"},
      {"a,b,2,3 99999999999999999999,1 0,4", "shape '99999999999999999999' is too large"},
      {"a,b,2,3 0,1 0,4", "shape [3, 0] has an extent below 1"},
      {"a,b,2,3 -4,1 0,4", "shape [3, -4] has an extent below 1"},
      {"a,b,3,4294967296 4294967296 2,2 1 0,4", "4294967296"},
      {"a,b,2,3 4,1,4", "perm has 1 numbers, but rank is 2"},
      {"a,b,2,3 4,1 1,4", "perm '1 1' is no permutation of 0..1"},
      {"a,b,2,3 4,2 0,4", "perm '2 0' is no permutation of 0..1"},
      {"a,b,2,3 4,-1 0,4", "perm '-1 0' is no permutation of 0..1"},
      {"a,b,2,3 4,1 0,3", "elem_bytes is 3, but must be 1, 2, 4 or 8"},
      {"good,b,2,3 4,1 0,4", "name 'good' is that of line 3"},
  };
  for (const auto& [line, why] : mistakes) {
    SCOPED_TRACE(line);
    try {
      read(std::string("# comment\n") + kHeader + "good,b,2,3 4,1 0,4\n" + line + "\nlast,b,1,2,0,1\n");
      FAIL() << "was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_EQ(std::string(error.what()).rfind("cases.csv:4: ", 0), 0u) << error.what();
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
  }
}

TEST(PermuteCsv, RefusesAFileWithoutHeaderOrCases) {
  const struct {
    std::string text, why;
  } mistakes[] = {
      {"a,b,2,3 4,1 0,4\n", "cases.csv:1: the first line must be name,source,rank,shape,perm,elem_bytes"},
      {"", "cases.csv:0: the file ends without a case"},
      {std::string(kHeader) + "# none\n", "cases.csv:2: the file ends without a case"},
  };
  for (const auto& [text, why] : mistakes) {
    try {
      read(text);
      FAIL() << "was taken: " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), why);
    }
  }
}

}  // namespace
}  // namespace relayout::bench
