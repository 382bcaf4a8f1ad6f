// The cost of accesses to shared memory, against counts by hand.
#include "host/plan/copy/bank_model.hpp"

#include <gtest/gtest.h>

#include <map>

namespace relayout::plan {
namespace {

DeviceProperties gfx950() {
  DeviceProperties device = DeviceProperties::mi300x();
  device.architecture = "gfx950";
  return device;
}

/// Lane l at byte l * stride.
BankCount strided(const BankModel& model, SharedAccess access, std::int64_t stride, int bytes) {
  std::vector<std::int64_t> addresses;
  for (int lane = 0; lane < model.lanes; ++lane) addresses.push_back(lane * stride);
  BankCount count;
  add_access(model, access, addresses, bytes, count);
  return count;
}

std::map<int, std::vector<int>> phases(const BankModel& model, SharedAccess access, int bytes) {
  std::map<int, std::vector<int>> result;
  for (int lane = 0; lane < model.lanes; ++lane) result[model.phase_of(access, bytes, lane)].push_back(lane);
  return result;
}

TEST(BankModel, AWarpsWordsInDifferentBanksTakeOnePass) {
  const BankModel h200 = bank_model(DeviceProperties::h200());
  for (const int stride : {4, 12, 132}) {
    const BankCount count = strided(h200, SharedAccess::read, stride, 4);
    EXPECT_EQ(count.accesses, 1);
    EXPECT_EQ(count.passes, 1);
    EXPECT_EQ(count.least, 1);
    EXPECT_EQ(count.worst, 1);
  }
  // Every second word: two words of every second bank. A column of 32 words: all of one bank.
  EXPECT_EQ(strided(h200, SharedAccess::read, 8, 4).passes, 2);
  EXPECT_EQ(strided(h200, SharedAccess::read, 128, 4).passes, 32);
  EXPECT_EQ(strided(h200, SharedAccess::write, 128, 4).worst, 32);
}

TEST(BankModel, LanesShareAWord) {
  const BankModel h200 = bank_model(DeviceProperties::h200());
  EXPECT_EQ(strided(h200, SharedAccess::read, 0, 4).passes, 1);
  EXPECT_EQ(strided(h200, SharedAccess::read, 1, 1).passes, 1);    // four lanes a word
  EXPECT_EQ(strided(h200, SharedAccess::read, 2, 2).passes, 1);    // two
  EXPECT_EQ(strided(h200, SharedAccess::read, 64, 1).passes, 16);  // two banks, 16 words each
}

TEST(BankModel, WideAccessesGoInPhases) {
  const BankModel h200 = bank_model(DeviceProperties::h200()),
                  mi300x = bank_model(DeviceProperties::mi300x()), mi355x = bank_model(gfx950());
  EXPECT_EQ(h200.phase_lanes(SharedAccess::read, 1), 32);
  EXPECT_EQ(h200.phase_lanes(SharedAccess::read, 8), 16);
  EXPECT_EQ(h200.phase_lanes(SharedAccess::read, 16), 8);
  EXPECT_EQ(mi300x.phase_lanes(SharedAccess::read, 4), 32);
  EXPECT_EQ(mi355x.phase_lanes(SharedAccess::read, 4), 64);
  EXPECT_EQ(mi355x.phase_lanes(SharedAccess::read, 16), 16);
  EXPECT_EQ(mi355x.phase_lanes(SharedAccess::write, 16), 8);
  for (const int bytes : {4, 8, 16}) {
    EXPECT_EQ(strided(h200, SharedAccess::write, bytes, bytes).passes, bytes / 4);
    EXPECT_EQ(strided(mi300x, SharedAccess::write, bytes, bytes).passes, bytes / 2);
    EXPECT_EQ(strided(mi355x, SharedAccess::read, bytes, bytes).passes, bytes / 4);
    EXPECT_TRUE(strided(mi300x, SharedAccess::read, bytes, bytes).conflict_free());
  }
  // 16 bytes, every second 16 bytes: 8 lanes in four of the banks' eight quads.
  EXPECT_EQ(strided(h200, SharedAccess::write, 32, 16).passes, 8);
  EXPECT_EQ(strided(h200, SharedAccess::write, 32, 16).least, 4);
}

TEST(BankModel, SixtyFourBanksAreReadAtOnce) {
  const BankModel mi355x = bank_model(gfx950());
  EXPECT_EQ(strided(mi355x, SharedAccess::read, 4, 4).passes, 1);
  EXPECT_EQ(strided(mi355x, SharedAccess::read, 256, 4).passes, 64);
  EXPECT_EQ(strided(mi355x, SharedAccess::write, 256, 4).passes, 64);  // two phases of 32
  EXPECT_EQ(strided(mi355x, SharedAccess::write, 4, 4).passes, 2);
}

TEST(BankModel, SomeLanesOrNone) {
  const BankModel h200 = bank_model(DeviceProperties::h200());
  BankCount count;
  add_access(h200, SharedAccess::read, std::vector<std::int64_t>(32, kNoAddress), 4, count);
  EXPECT_EQ(count, BankCount());
  std::vector<std::int64_t> addresses(32, kNoAddress);
  addresses[3] = 0;
  addresses[9] = 128;  // another phase of 16-byte accesses
  add_access(h200, SharedAccess::read, addresses, 16, count);
  EXPECT_EQ(count.passes, 2);
  EXPECT_TRUE(count.conflict_free());
  addresses[5] = 256;  // the phase of lane 3
  add_access(h200, SharedAccess::read, addresses, 16, count);
  EXPECT_EQ(count.accesses, 2);
  EXPECT_EQ(count.passes, 5);
  EXPECT_EQ(count.least, 4);
}

TEST(BankModel, ReadPhasesAreThoseOfTheHardware) {
  using Lanes = std::vector<int>;
  auto mi300x = phases(bank_model(DeviceProperties::mi300x()), SharedAccess::read, 16);
  ASSERT_EQ(mi300x.size(), 8u);
  EXPECT_EQ(mi300x[0], (Lanes{0, 1, 2, 3, 20, 21, 22, 23}));
  EXPECT_EQ(mi300x[1], (Lanes{4, 5, 6, 7, 16, 17, 18, 19}));
  EXPECT_EQ(mi300x[2], (Lanes{8, 9, 10, 11, 28, 29, 30, 31}));
  EXPECT_EQ(mi300x[3], (Lanes{12, 13, 14, 15, 24, 25, 26, 27}));
  EXPECT_EQ(mi300x[4], (Lanes{32, 33, 34, 35, 52, 53, 54, 55}));
  EXPECT_EQ(mi300x[7], (Lanes{44, 45, 46, 47, 56, 57, 58, 59}));
  auto mi355x = phases(bank_model(gfx950()), SharedAccess::read, 16);
  ASSERT_EQ(mi355x.size(), 4u);
  EXPECT_EQ(mi355x[0], (Lanes{0, 1, 2, 3, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25, 26, 27}));
  EXPECT_EQ(mi355x[1], (Lanes{4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 28, 29, 30, 31}));
  EXPECT_EQ(mi355x[2], (Lanes{32, 33, 34, 35, 44, 45, 46, 47, 52, 53, 54, 55, 56, 57, 58, 59}));
  DeviceProperties w7900;
  w7900.architecture = "gfx1100";
  auto rdna3 = phases(bank_model(w7900), SharedAccess::read, 16);
  ASSERT_EQ(rdna3.size(), 4u);
  EXPECT_EQ(rdna3[1], (Lanes{4, 5, 6, 7, 16, 17, 18, 19}));
}

TEST(BankModel, OtherPhasesAreNeighbours) {
  // All lanes of a half in one phase: no such device is known.
  DeviceProperties wide = DeviceProperties::mi300x();
  wide.shared_memory_banks = 128;
  for (const DeviceProperties& device :
       {DeviceProperties::h200(), DeviceProperties::mi300x(), gfx950(), wide}) {
    const BankModel model = bank_model(device);
    for (const SharedAccess access : {SharedAccess::read, SharedAccess::write}) {
      for (const int bytes : {4, 8, 16}) {
        if (model.scattered_quads && access == SharedAccess::read && bytes == 16 && model.read_banks < 128)
          continue;
        for (const auto& [phase, lanes] : phases(model, access, bytes)) {
          EXPECT_EQ(lanes.size(), static_cast<std::size_t>(model.phase_lanes(access, bytes)));
          EXPECT_EQ(lanes.front(), phase * model.phase_lanes(access, bytes));
          EXPECT_EQ(lanes.back() - lanes.front() + 1, model.phase_lanes(access, bytes));
        }
      }
    }
  }
}

}  // namespace
}  // namespace relayout::plan
