// The LDS bank conflicts of the 16-byte windows on CDNA, counted over the slots that the kernel uses.
//
// CDNA's LDS has 32 banks of 4 bytes. A 16-byte access of 64 lanes is served 8 lanes at a time, one cycle
// each time unless two lanes want different words of one bank: a write takes 8 neighbouring lanes, a read 4
// lanes and 4 others of the same half (AMD, "Avoiding LDS bank conflicts on AMD GPUs using CK-Tile
// framework").
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include "host/plan/window_vector_rules.hpp"

namespace relayout::test {
namespace {

constexpr int kLanes = 64, kBankGroups = 8;  // of 4 banks: 16 bytes
using Slots = std::array<int, kLanes>;       // of a wave's lanes, in 16 bytes

int write_group(int lane) { return lane / 8; }
/// Lanes 0-3 go with 20-23, 4-7 with 16-19, 8-11 with 28-31, 12-15 with 24-27; 32-63 likewise.
int read_group(int lane) {
  const int quad = lane % 32 / 4;
  return lane / 32 * 4 + (quad < 4 ? quad : (quad ^ 1) % 4);
}

/// Cycles of one access of a wave: 8 without a conflict.
int cycles(const Slots& slots, int (*group_of)(int)) {
  std::map<int, std::array<std::set<int>, kBankGroups>> groups;
  for (int lane = 0; lane < kLanes; ++lane) {
    const int slot = slots[static_cast<std::size_t>(lane)];
    groups[group_of(lane)][static_cast<std::size_t>(slot % kBankGroups)].insert(slot);
  }
  int sum = 0;
  for (const auto& group : groups) {
    std::size_t most = 0;
    for (const std::set<int>& wanted : group.second) most = std::max(most, wanted.size());
    sum += static_cast<int>(most);
  }
  return sum;
}

struct Count {
  double sum = 0, accesses = 0;

  void add(int of_one) {
    sum += of_one;
    accesses += 1;
  }
  /// Cycles beyond those of accesses without conflicts, as a share of these.
  double lost() const { return sum / (8 * accesses) - 1; }
};

/// Lanes along time store `vector` samples each of one pack column; along channels (vector 1) one row's
/// packs.
Count writes(int packs, int samples, int vector) {
  Count count;
  const int vectors = samples / vector;
  for (int wave = 0; wave < samples * packs / vector; wave += kLanes) {
    for (int step = 0; step < vector; ++step) {
      Slots slots{};
      for (int lane = 0; lane < kLanes; ++lane) {
        const int patch = wave + lane;
        const int pack = vector > 1 ? patch / vectors : patch % packs;
        const int sample = vector > 1 ? patch % vectors * vector + step : patch / packs;
        slots[static_cast<std::size_t>(lane)] = plan::vector_window_slot(sample, pack, packs, vector);
      }
      count.add(cycles(slots, write_group));
    }
  }
  return count;
}

/// Lanes read the packs of one position's row, then the next position's, at every distance from a boundary.
Count reads(int packs, int samples, int vector, int stride) {
  Count count;
  for (int offset = 0; offset < vector; ++offset) {
    const int positions = (samples - offset - 1) / stride + 1;
    for (int wave = 0; wave + kLanes <= positions * packs; wave += kLanes) {
      Slots slots{};
      for (int lane = 0; lane < kLanes; ++lane) {
        const int sample = offset + (wave + lane) / packs * stride;
        slots[static_cast<std::size_t>(lane)] =
            plan::vector_window_slot(sample, (wave + lane) % packs, packs, vector);
      }
      count.add(cycles(slots, read_group));
    }
  }
  return count;
}

TEST(WindowBanks, ReadGroupsAreThoseOfTheHardware) {
  std::map<int, std::vector<int>> groups;
  for (int lane = 0; lane < kLanes; ++lane) groups[read_group(lane)].push_back(lane);
  ASSERT_EQ(groups.size(), 8u);
  EXPECT_EQ(groups[0], (std::vector<int>{0, 1, 2, 3, 20, 21, 22, 23}));
  EXPECT_EQ(groups[1], (std::vector<int>{4, 5, 6, 7, 16, 17, 18, 19}));
  EXPECT_EQ(groups[2], (std::vector<int>{8, 9, 10, 11, 28, 29, 30, 31}));
  EXPECT_EQ(groups[3], (std::vector<int>{12, 13, 14, 15, 24, 25, 26, 27}));
  EXPECT_EQ(groups[4], (std::vector<int>{32, 33, 34, 35, 52, 53, 54, 55}));
}

/// What docs/conv1d.md says, for the tiles of 128, 64 and 32 channels in 16 bits.
TEST(WindowBanks, LoseWhatTheDocumentsSay) {
  struct Lost {
    int packs, samples, vector;  // vector: 4 for f32, 8 for f16, 1 along channels
    double writing, reading, reading_stride_2;
  };
  for (const Lost& c :
       {Lost{16, 64, 4, 0, 0.049, 0.100}, Lost{16, 64, 8, 0, 0.017, 0.034}, Lost{16, 64, 1, 0, 0, 0},
        Lost{8, 128, 4, 0, 0.115, 0.117}, Lost{8, 128, 8, 0, 0.050, 0.103}, Lost{8, 128, 1, 0, 0, 1},
        Lost{4, 128, 4, 1, 0, 1}, Lost{4, 128, 8, 1, 0, 1}, Lost{4, 128, 1, 0, 0, 1}}) {
    SCOPED_TRACE(::testing::Message() << c.packs << " packs, vectors of " << c.vector);
    EXPECT_NEAR(writes(c.packs, c.samples, c.vector).lost(), c.writing, 0.0005);
    EXPECT_NEAR(reads(c.packs, c.samples, c.vector, 1).lost(), c.reading, 0.0005);
    EXPECT_NEAR(reads(c.packs, c.samples, c.vector, 2).lost(), c.reading_stride_2, 0.0006);
  }
}

TEST(WindowBanks, TheSlotsAreAPermutationOfEachRow) {
  for (const int packs : {1, 2, 4, 8, 16}) {
    for (const int vector : {1, 2, 4, 8}) {
      for (int sample = 0; sample < 64; ++sample) {
        std::set<int> row;
        for (int pack = 0; pack < packs; ++pack)
          row.insert(plan::vector_window_slot(sample, pack, packs, vector));
        EXPECT_EQ(row.size(), static_cast<std::size_t>(packs));
        EXPECT_EQ(*row.begin(), sample * packs);
        EXPECT_EQ(*row.rbegin(), (sample + 1) * packs - 1);
      }
    }
  }
}

}  // namespace
}  // namespace relayout::test
