#include "bench/random/problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

#include "bench/random/generator.hpp"
#include "bench/random/sectors.hpp"

namespace relayout::bench::random {
namespace {

constexpr Bytes kSizes{1 << 20, 16 << 20};
constexpr std::int64_t kProblems = 300;

std::vector<Problem> drawn(Family family) {
  std::vector<Problem> problems;
  for (std::int64_t i = 0; i < kProblems; ++i) problems.push_back(generate(101, family, i, kSizes));
  return problems;
}

std::vector<Problem> read(const std::string& text) {
  std::istringstream stream(text);
  return read_csv(stream, "problems.csv");
}

double share(const std::vector<Problem>& problems, bool (*is)(const Problem&)) {
  return static_cast<double>(std::count_if(problems.begin(), problems.end(), is)) /
         static_cast<double>(problems.size());
}

bool is_misaligned(const Problem& problem) {
  return problem.out.offset * static_cast<std::int64_t>(size_of(problem.out.type)) % 16 != 0;
}

class Families : public ::testing::TestWithParam<int> {
 protected:
  Family family() const { return static_cast<Family>(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(All, Families, ::testing::Range(0, kFamilies));

TEST_P(Families, EveryProblemIsReadBackFromItsLine) {
  for (const Problem& problem : drawn(family())) {
    const std::string line = to_csv(problem);
    const std::vector<Problem> back = read(std::string(kCsvHeader) + "\n# a comment\n" + line + "\r\n");
    ASSERT_EQ(back.size(), 1u);
    EXPECT_EQ(to_csv(back[0]), line);
    EXPECT_EQ(back[0].bytes(), problem.bytes());
  }
}

/// Element by element.
std::int64_t counted_sectors(const Tensor& tensor) {
  std::set<std::int64_t> sectors;
  const auto size = static_cast<std::int64_t>(size_of(tensor.type));
  const std::int64_t elements = tensor.view(nullptr).elements();
  for (std::int64_t i = 0; i < elements; ++i) {
    std::int64_t rest = i, place = tensor.offset;
    for (std::size_t axis = tensor.shape.size(); axis-- > 0; rest /= tensor.shape[axis])
      place += rest % tensor.shape[axis] * tensor.strides[axis];
    for (std::int64_t byte = place * size; byte < (place + 1) * size; ++byte)
      sectors.insert(byte / kSectorBytes);
  }
  return static_cast<std::int64_t>(sectors.size()) * kSectorBytes;
}

TEST(Sectors, AreThoseInWhichElementsLie) {
  EXPECT_EQ(sector_bytes(Tensor{DType::f32, {16}, {1}, 0}), 64);
  EXPECT_EQ(sector_bytes(Tensor{DType::f32, {16}, {1}, 1}), 96);
  EXPECT_EQ(sector_bytes(Tensor{DType::f32, {16}, {2}, 0}), 128);
  EXPECT_EQ(sector_bytes(Tensor{DType::u8, {16}, {64}, 0}), 16 * 32);
  EXPECT_EQ(sector_bytes(Tensor{DType::f32, {4, 1000}, {0, 0}, 7}), 32);
}

TEST_P(Families, SectorsAreThoseInWhichElementsLie) {
  for (std::int64_t i = 0; i < 60; ++i) {
    const Problem problem = generate(7, family(), i, {1 << 10, 1 << 13});
    std::int64_t sectors = counted_sectors(problem.out);
    for (const Tensor& input : problem.inputs) sectors += counted_sectors(input);
    EXPECT_EQ(sector_bytes(problem), sectors) << to_csv(problem);
  }
}

TEST_P(Families, SizesLieInTheRange) {
  const auto fits = [](const Problem& problem) {
    return problem.bytes() >= kSizes.least && problem.bytes() <= kSizes.most;
  };
  EXPECT_GT(share(drawn(family()), fits), 0.99);
}

TEST_P(Families, ProblemsDependOnSeedAndNumberAlone) {
  EXPECT_EQ(to_csv(generate(7, family(), 5, kSizes)), to_csv(generate(7, family(), 5, kSizes)));
  std::set<std::string> lines;
  for (const std::uint64_t seed : {1, 2}) {
    for (const std::int64_t index : {0, 1}) lines.insert(to_csv(generate(seed, family(), index, kSizes)));
  }
  EXPECT_EQ(lines.size(), 4u);
}

TEST_P(Families, OneOutputInFourIsMisaligned) {
  const double misaligned = share(drawn(family()), is_misaligned);
  EXPECT_GT(misaligned, 0.1);
  EXPECT_LT(misaligned, 0.5);  // slices begin anywhere, too
}

TEST_P(Families, NoOutputHasTwoElementsInOnePlace) {
  for (const Problem& problem : drawn(family())) {
    std::vector<std::size_t> axes(problem.out.shape.size());
    for (std::size_t axis = 0; axis < axes.size(); ++axis) axes[axis] = axis;
    const Tensor& out = problem.out;
    std::sort(axes.begin(), axes.end(),
              [&](std::size_t a, std::size_t b) { return out.strides[a] < out.strides[b]; });
    std::int64_t reach = 0;
    for (const std::size_t axis : axes) {
      if (out.shape[axis] == 1) continue;
      ASSERT_GT(out.strides[axis], reach) << to_csv(problem);
      reach += (out.shape[axis] - 1) * out.strides[axis];
    }
  }
}

TEST(RandomProblem, EveryRankIsDrawn) {
  std::set<std::size_t> ranks;
  for (const Problem& problem : drawn(Family::permute)) ranks.insert(problem.out.shape.size());
  EXPECT_EQ(ranks, (std::set<std::size_t>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(RandomProblem, OneOperandInFourIsRepeated) {
  const auto repeats = [](const Problem& problem) {
    const Dims& strides = problem.inputs[0].strides;
    return std::find(strides.begin(), strides.end(), 0) != strides.end();
  };
  const double repeated = share(drawn(Family::binary), repeats);
  EXPECT_GT(repeated, 0.15);
  EXPECT_LT(repeated, 0.35);
}

TEST(RandomProblem, BytesCountEveryElementOnce) {
  const Problem problem = read(std::string(kCsvHeader) +
                               "\n1,3,4,binary,add,f16 2x3x5 @1 0x10x2|f16 2x3x5 @0 15x5x1,"
                               "f16 2x3x5 @0 15x5x1,\n")[0];
  EXPECT_EQ(problem.bytes(), 2 * (15 + 30 + 30));
  EXPECT_EQ(problem.inputs[0].footprint(), 2 * (1 + 20 + 8 + 1));
  EXPECT_EQ(problem.name(), "binary-3-4");
}

TEST(RandomProblem, MistakesAreRefusedWithTheirLine) {
  const std::string line = "1,3,4,cast,,f16 4 @0 1,f32 4 @0 1,";
  EXPECT_NO_THROW(read(std::string(kCsvHeader) + "\n" + line));
  for (const char* wrong : {"1,3,4,cast,,f16 4 @0 1,f32 4 @0 1", "1,3,4,none,,f16 4 @0 1,f32 4 @0 1,",
                            "1,3,4,cast,,f17 4 @0 1,f32 4 @0 1,", "1,3,4,cast,,f16 4 @0 1x1,f32 4 @0 1,",
                            "1,3,4,cast,,f16 4 @-1 1,f32 4 @0 1,", "1,3,4,cast,,f16 4 @0 -1,f32 4 @0 1,",
                            "1,3,4,cast,,f16 0 @0 1,f32 0 @0 1,", "1,3,4,cast,,f16 4 0 1,f32 4 @0 1,",
                            "1,3,4,pad,,f16 4 @0 1,f32 4 @0 1,left"}) {
    try {
      read(std::string(kCsvHeader) + "\n" + wrong);
      FAIL() << wrong;
    } catch (const Error& error) {
      EXPECT_EQ(error.code() == ErrorCode::invalid_argument || error.code() == ErrorCode::rank, true);
      EXPECT_NE(std::string(error.what()).find("problems.csv:2: "), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(read("name,source\n" + line), Error);
  EXPECT_THROW(read(std::string(kCsvHeader) + "\n"), Error);
}

/// What is drawn changes with the generator's version only. Were this test to fail without one, tables and
/// figures of earlier runs would no longer belong to their seeds.
TEST(RandomProblem, VersionOneDrawsWhatItAlwaysDrew) {
  ASSERT_EQ(kGeneratorVersion, 1);
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (int family = 0; family < kFamilies; ++family) {
    for (const Problem& problem : drawn(static_cast<Family>(family))) {
      for (const char letter : to_csv(problem))
        hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211u;
    }
  }
  EXPECT_EQ(hash, 5945663279796210838u);
}

}  // namespace
}  // namespace relayout::bench::random
