// The LDS bank conflicts of the 16-byte windows on CDNA, counted over the slots that the kernel uses.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "core/window_geometry.hpp"
#include "host/plan/copy/bank_model.hpp"
#include "host/plan/window/window_banks.hpp"

namespace relayout::test {
namespace {

using plan::SharedAccess;

constexpr int kLanes = 64;
using Slots = std::vector<int>;  // of a wave's lanes, in 16 bytes

/// Passes of one access of a wave: 8 without a conflict.
int cycles(const Slots& slots, SharedAccess access) {
  static const plan::BankModel model = plan::bank_model(DeviceProperties::mi300x());
  std::vector<std::int64_t> addresses;
  for (const int slot : slots) addresses.push_back(slot * 16);
  plan::BankCount count;
  add_access(model, access, addresses, 16, count);
  return static_cast<int>(count.passes);
}

struct Count {
  double sum = 0, accesses = 0;

  void add(int of_one) {
    sum += of_one;
    accesses += 1;
  }
  /// Cycles beyond those of accesses without conflicts, as a share of the latter.
  double lost() const { return sum / (8 * accesses) - 1; }
};

/// Lanes along time store `vector` samples each of one pack column; along channels (vector 1) one row's
/// packs.
Count writes(int packs, int samples, int vector) {
  Count count;
  const int vectors = samples / vector;
  for (int wave = 0; wave < samples * packs / vector; wave += kLanes) {
    for (int step = 0; step < vector; ++step) {
      Slots slots;
      for (int lane = 0; lane < kLanes; ++lane) {
        const int patch = wave + lane;
        const int pack = vector > 1 ? patch / vectors : patch % packs;
        const int sample = vector > 1 ? patch % vectors * vector + step : patch / packs;
        slots.push_back(vector_window_slot(sample, pack, packs, vector));
      }
      count.add(cycles(slots, SharedAccess::write));
    }
  }
  return count;
}

/// Lanes read the packs of one position's row, then the next position's, at the first `offsets` distances
/// from a boundary.
Count reads(int packs, int samples, int vector, int stride, int offsets) {
  Count count;
  for (int offset = 0; offset < offsets; ++offset) {
    const int positions = (samples - offset - 1) / stride + 1;
    for (int wave = 0; wave + kLanes <= positions * packs; wave += kLanes) {
      Slots slots;
      for (int lane = 0; lane < kLanes; ++lane) {
        const int sample = offset + (wave + lane) / packs * stride;
        slots.push_back(vector_window_slot(sample, (wave + lane) % packs, packs, vector));
      }
      count.add(cycles(slots, SharedAccess::read));
    }
  }
  return count;
}

/// The figures of docs/notes/conv1d.md, for tiles of 128, 64 and 32 channels in 16 bits.
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
    EXPECT_NEAR(reads(c.packs, c.samples, c.vector, 1, c.vector).lost(), c.reading, 0.0005);
    EXPECT_NEAR(reads(c.packs, c.samples, c.vector, 2, c.vector).lost(), c.reading_stride_2, 0.0006);
  }
}

/// The count that a copy's plan says, for windows of one tap that start on a boundary.
TEST(WindowBanks, PlansOfCopiesCountTheSame) {
  for (const int packs : {4, 8, 16}) {
    for (const int vector : {1, 4, 8}) {
      SCOPED_TRACE(::testing::Message() << packs << " packs, vectors of " << vector);
      WindowParams params;
      params.in_type = vector == 4 ? DType::f32 : DType::f16;
      params.out_type = DType::f16;
      params.along_time = vector > 1;
      params.channels = params.tile_channels = packs * 8;
      params.positions = params.tile_positions = params.tile_samples = 128;
      const plan::BankReport report = count_conflicts(params, DeviceProperties::mi300x());
      const Count writing = writes(packs, 128, vector), reading = reads(packs, 128, vector, 1, 1);
      EXPECT_EQ(report.fill.passes, writing.sum);
      EXPECT_EQ(report.fill.least, 8 * writing.accesses);
      EXPECT_EQ(report.drain.passes, reading.sum);
      EXPECT_EQ(report.drain.least, 8 * reading.accesses);
    }
  }
}

/// Half of the positions and channels exist: half of the accesses, in whole warps.
TEST(WindowBanks, PlansOfCopiesLeaveOutWhatDoesNotExist) {
  WindowParams params;
  params.in_type = params.out_type = DType::f32;
  params.along_time = true;
  params.tile_channels = 64;
  params.tile_positions = params.tile_samples = 128;
  params.channels = params.positions = 1000;
  const plan::BankReport whole = count_conflicts(params, DeviceProperties::h200());
  params.channels = 32;
  params.positions = 64;
  const plan::BankReport part = count_conflicts(params, DeviceProperties::h200());
  EXPECT_EQ(part.fill.least, whole.fill.least / 4);
  EXPECT_EQ(part.drain.least, whole.drain.least / 4);
}

TEST(WindowBanks, TheSlotsAreAPermutationOfEachRow) {
  for (const int packs : {1, 2, 4, 8, 16}) {
    for (const int vector : {1, 2, 4, 8}) {
      for (int sample = 0; sample < 64; ++sample) {
        std::set<int> row;
        for (int pack = 0; pack < packs; ++pack) row.insert(vector_window_slot(sample, pack, packs, vector));
        EXPECT_EQ(row.size(), static_cast<std::size_t>(packs));
        EXPECT_EQ(*row.begin(), sample * packs);
        EXPECT_EQ(*row.rbegin(), (sample + 1) * packs - 1);
      }
    }
  }
}

}  // namespace
}  // namespace relayout::test
