// What a plan says about itself: the kernel and the reason for it, its tile, its alignment and accesses, and
// the predicted bank conflicts.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "host/api/copy.hpp"
#include "host/plan/copy/tile_banks.hpp"
#include "relayout/permute.hpp"

namespace relayout::test {
namespace {

/// A contiguous [shape] of planned, aligned memory permuted by `axes`.
CopyPlan permute_plan(const PlanTarget& target, DType type, const Dims& shape, const std::vector<int>& axes) {
  Dims out;
  for (const int axis : axes) out.push_back(shape[static_cast<std::size_t>(axis)]);
  return plan_permute(target, TensorView(nullptr, type, shape), axes, TensorView(nullptr, type, out));
}

std::vector<int> reversal(int rank) {
  std::vector<int> axes;
  while (rank-- > 0) axes.push_back(rank);
  return axes;
}

const std::vector<DeviceProperties> kGpus{DeviceProperties::h200(), DeviceProperties::mi300x()};

void expect_words(const CopyPlan& plan, const std::vector<std::string>& words) {
  const std::string text = plan.explain();
  for (const std::string& word : words)
    EXPECT_NE(text.find(word), std::string::npos) << "no '" << word << "' in:\n" << text;
}

TEST(CopyDetails, TransposesToLargerElementsTakeTheWindowKernel) {
  for (const DeviceProperties& gpu : kGpus) {
    EXPECT_EQ(permute_plan(gpu, DType::f32, {8192, 8192}, {1, 0}).details().kernel, CopyKernel::tile);
    const TensorView in(nullptr, DType::f16, {8192, 8192}), out(nullptr, DType::f32, {8192, 8192});
    const CopyPlan plan = plan_copy(gpu, in.permuted({1, 0}), out);
    const CopyDetails details = plan.details();
    EXPECT_EQ(details.kernel, CopyKernel::window);
    EXPECT_EQ(details.out.bytes, std::int64_t{8192} * 8192 * 4);
    for (const CopySide& side : {details.in, details.out}) {
      EXPECT_EQ(side.vector_bytes, 16);
      EXPECT_TRUE(side.aligned_vectors);
      EXPECT_EQ(side.alignment, 16);
      EXPECT_GE(side.run_bytes, 128);
      EXPECT_EQ(side.sectors_touched, side.sectors_needed);
    }
    EXPECT_LE(details.shared_bytes, gpu.shared_memory_per_block);
    EXPECT_EQ(details.tile.size(), 2u);
    EXPECT_EQ(details.blocks * details.tile[0] * details.tile[1], 8192 * 8192);
    expect_words(plan, {"window", gpu.name, "f16[8192, 8192]", "16 bytes an access", "268435456 bytes",
                        std::to_string(details.blocks) + " blocks"});
  }
}

TEST(CopyDetails, BytesAndManyAxesTakeTiles) {
  for (const DeviceProperties& gpu : kGpus) {
    for (const CopyPlan& plan : {permute_plan(gpu, DType::u8, {4096, 4096}, {1, 0}),
                                 permute_plan(gpu, DType::f32, {48, 30, 28, 26, 24}, {4, 3, 2, 1, 0}),
                                 permute_plan(gpu, DType::f16, {64, 64, 64}, {1, 0, 2})}) {
      const CopyDetails details = plan.details();
      EXPECT_EQ(details.kernel, CopyKernel::tile);
      EXPECT_EQ(details.in.vector_bytes, 16);
      EXPECT_EQ(details.out.vector_bytes, 16);
      EXPECT_LE(details.shared_bytes, gpu.shared_memory_per_block);
      EXPECT_LE(details.threads, gpu.max_threads_per_block);
      EXPECT_GE(details.in.sectors_touched, details.in.sectors_needed);
      EXPECT_GE(details.out.sectors_touched, details.out.sectors_needed);
      expect_words(plan, {"Kernel tile", gpu.name, "shared memory", "sectors"});
    }
  }
}

struct Permutation {
  DType type;
  Dims shape;
  std::vector<int> axes;
};

/// 64 lanes, 64 KiB of LDS, 16-byte vectors: whatever is planned for an MI300X.
TEST(CopyDetails, PlansSuitCdna) {
  const DeviceProperties gpu = DeviceProperties::mi300x();
  int tiles = 0;
  for (const Permutation& p : {Permutation{DType::f32, {8192, 8192}, {1, 0}},
                               {DType::f16, {64, 256, 56, 56}, {0, 2, 3, 1}},
                               {DType::u8, {16384, 16384}, {1, 0}},
                               {DType::f64, {8192, 8192}, {1, 0}},
                               {DType::b128, {2048, 2048}, {1, 0}},
                               {DType::f32, {12345, 6789}, {1, 0}},
                               {DType::f16, {12345, 6789}, {1, 0}},
                               {DType::f32, {10000019, 7}, {1, 0}},
                               {DType::i8, {3, 20000003}, {1, 0}},
                               {DType::u8, {256, 224, 224, 3}, {0, 3, 1, 2}},
                               {DType::f16, {8, 4096, 32, 128}, {0, 2, 1, 3}},
                               {DType::f32, {48, 28, 28, 28, 48}, {4, 3, 2, 1, 0}},
                               {DType::f16, {20, 18, 16, 14, 22, 24}, {5, 4, 3, 2, 1, 0}},
                               {DType::f32, {7, 8, 9, 10, 11, 12, 13, 5}, reversal(8)},
                               {DType::f32, {1, 64, 2048}, {0, 2, 1}}}) {
    const CopyPlan plan = permute_plan(gpu, p.type, p.shape, p.axes);
    SCOPED_TRACE(plan.explain());
    const CopyDetails details = plan.details();
    tiles += details.kernel == CopyKernel::tile ? 1 : 0;
    EXPECT_EQ(details.threads % 64, 0);
    EXPECT_LE(details.threads, gpu.max_threads_per_block);
    EXPECT_LE(details.shared_bytes, 64 * 1024);
    EXPECT_EQ(details.in.vector_bytes, 16);
    EXPECT_EQ(details.out.vector_bytes, 16);
    expect_words(plan, {"on AMD Instinct MI300X", "16 bytes an access", "predicted for CDNA with 64 lanes",
                        std::to_string(details.shared_bytes) + " bytes of shared memory"});
  }
  EXPECT_GE(tiles, 10);
}

TEST(CopyDetails, AlignedTransposesHaveNoBankConflicts) {
  for (const DeviceProperties& gpu : kGpus) {
    for (const DType type : {DType::u8, DType::f16, DType::f32, DType::f64}) {
      const CopyPlan plan = permute_plan(gpu, type, {8192, 8192}, {1, 0});
      SCOPED_TRACE(plan.explain());
      const CopyDetails details = plan.details();
      const std::int64_t moved = details.tile[0] * details.tile[1] * static_cast<std::int64_t>(size_of(type));
      for (const CopyBanks& banks : {details.shared_writes, details.shared_reads}) {
        EXPECT_EQ(banks.banks, 32);
        EXPECT_EQ(banks.passes, moved / 128) << "all banks in every pass";
        EXPECT_EQ(banks.least, banks.passes);
        EXPECT_EQ(banks.worst, 1);
      }
      expect_words(plan, {"none of them for conflicts; reads",
                          gpu.warp_size == 64 ? "for CDNA with 64 lanes" : "for NVIDIA with 32 lanes"});
    }
  }
}

/// What the simulator counts, for the addresses that were planned for.
TEST(CopyDetails, BankConflictsAreSaid) {
  for (const DeviceProperties& gpu : kGpus) {
    for (const Permutation& p : {Permutation{DType::f32, {48, 28, 28, 28, 48}, {4, 3, 2, 1, 0}},
                                 {DType::f32, {12345, 6789}, {1, 0}},
                                 {DType::u8, {3, 20000003}, {1, 0}}}) {
      const CopyPlan plan = permute_plan(gpu, p.type, p.shape, p.axes);
      SCOPED_TRACE(plan.explain());
      const plan::BankReport expected =
          count_conflicts(std::get<TileParams>(plan.state().copy.params), gpu);  // null pointers, as planned
      const CopyDetails details = plan.details();
      const CopyBanks &writes = details.shared_writes, &reads = details.shared_reads;
      EXPECT_EQ(writes.passes, expected.fill.passes);
      EXPECT_EQ(writes.least, expected.fill.least);
      EXPECT_EQ(writes.worst, expected.fill.worst);
      EXPECT_EQ(reads.passes, expected.drain.passes);
      EXPECT_EQ(reads.least, expected.drain.least);
      EXPECT_EQ(reads.worst, expected.drain.worst);
      EXPECT_GT(reads.passes, reads.least);
      expect_words(plan, {"reads take " + std::to_string(reads.passes) + " passes of 32 banks a tile, " +
                              std::to_string(reads.passes - reads.least) + " of them for conflicts",
                          "at worst " + std::to_string(reads.worst) + " where one would do"});
    }
  }
  DeviceProperties cdna4 = DeviceProperties::mi300x();
  cdna4.architecture = "gfx950";
  const CopyDetails details = permute_plan(cdna4, DType::f32, {8192, 8192}, {1, 0}).details();
  EXPECT_EQ(details.shared_writes.banks, 32);
  EXPECT_EQ(details.shared_reads.banks, 64);
}

TEST(CopyDetails, KernelsWithoutSharedMemoryHaveNoBanks) {
  const DeviceProperties gpu = DeviceProperties::h200();
  const TensorView one_piece(nullptr, DType::f32, {4096}), gaps(nullptr, DType::f32, {64, 64}, {128, 2});
  for (const CopyPlan& plan :
       {plan_cast(gpu, one_piece, one_piece), plan_cast(gpu, gaps, TensorView(nullptr, DType::f32, {64, 64})),
        permute_plan(Device::cpu(), DType::f32, {64, 64}, {1, 0})}) {
    EXPECT_EQ(plan.details().shared_writes.banks, 0);
    EXPECT_EQ(plan.details().shared_reads.banks, 0);
    EXPECT_EQ(plan.explain().find("Shared memory"), std::string::npos);
  }
}

TEST(CopyDetails, OddPitchesReadRowsThatStartAnywhere) {
  const CopyPlan plan = permute_plan(DeviceProperties::h200(), DType::f32, {12345, 6789}, {1, 0});
  const CopyDetails details = plan.details();
  EXPECT_EQ(details.kernel, CopyKernel::tile);
  EXPECT_FALSE(details.in.aligned_vectors);
  EXPECT_FALSE(details.out.aligned_vectors);
  EXPECT_GT(details.in.sectors_touched, details.in.sectors_needed);
  EXPECT_EQ(details.out.unbroken_bytes, 12345 * 4);  // from tile to tile
  expect_words(plan, {"start anywhere"});
}

/// The lanes that write a run of 8 elements take vectors of two such runs by turns, whose other halves of a
/// sector follow with the next access.
TEST(CopyDetails, RunsThatAreWrittenByTurns) {
  const TensorView in = TensorView(nullptr, DType::f16, {1024, 8, 4096}).permuted({0, 2, 1});
  const CopyPlan plan = plan_cast(DeviceProperties::h200(), in, TensorView(nullptr, DType::f16, in.shape()));
  const CopyDetails details = plan.details();
  EXPECT_EQ(details.kernel, CopyKernel::tile);
  expect_words(plan, {"of several runs at once"});
  EXPECT_GT(details.out.run_bytes, 1024);
  EXPECT_EQ(details.out.unbroken_bytes, 16);
  EXPECT_EQ(details.in.unbroken_bytes, details.in.run_bytes);
}

TEST(CopyDetails, RunsThatBeginOnSectors) {
  const auto out = [](std::int64_t rows, std::int64_t columns, std::int64_t pitch) {
    const TensorView view(nullptr, DType::f32, {rows, columns}, {pitch, 1});
    return plan_cast(DeviceProperties::h200(), TensorView(nullptr, DType::f32, {rows, columns}), view)
        .details()
        .out;
  };
  EXPECT_TRUE(out(64, 16, 24).on_sectors);
  EXPECT_FALSE(out(64, 16, 25).on_sectors);
  EXPECT_TRUE(out(1, 16, 25).on_sectors);
}

TEST(CopyDetails, WhatHasNoRunIsGathered) {
  const TensorView out(nullptr, DType::f32, {64, 64}, {128, 2});
  const CopyPlan plan =
      plan_cast(DeviceProperties::h200(), TensorView(nullptr, DType::f32, {64, 64}, {128, 2}), out);
  const CopyDetails details = plan.details();
  EXPECT_EQ(details.kernel, CopyKernel::gather);
  EXPECT_EQ(details.in.run_bytes, 4);
  EXPECT_EQ(details.out.run_bytes, 4);
  EXPECT_EQ(details.in.sectors_touched, 2 * details.in.sectors_needed);
  EXPECT_EQ(details.blocks, 8);
  expect_words(plan, {"gather", "8 blocks", "no run"});
}

TEST(CopyDetails, RunsOfTheOutputAloneAreRows) {
  const TensorView out(nullptr, DType::f32, {64, 64});
  const CopyPlan plan =
      plan_cast(DeviceProperties::h200(), TensorView(nullptr, DType::f32, {64, 64}, {129, 2}), out);
  const CopyDetails details = plan.details();
  EXPECT_EQ(details.kernel, CopyKernel::rows);
  EXPECT_EQ(details.in.vector_bytes, 4);
  EXPECT_EQ(details.out.vector_bytes, 16);
  EXPECT_EQ(details.in.run_bytes, 4);
  EXPECT_EQ(details.out.run_bytes, 4096);
  EXPECT_EQ(details.blocks, 4);
  expect_words(plan, {"rows", "4 blocks", "element by element"});
}

TEST(CopyDetails, CrossingShapesHaveAxesOfTheirOwn) {
  const CopyPlan plan = plan_copy(DeviceProperties::mi300x(), TensorView(nullptr, DType::f32, {4, 6}, {7, 1}),
                                  TensorView(nullptr, DType::f32, {6, 4}, {5, 1}));
  EXPECT_EQ(plan.details().kernel, CopyKernel::gather);
  EXPECT_TRUE(plan.details().in_strides.empty());
  expect_words(plan, {"axes of its own", "no loop nest in common"});
}

/// No kernel is left out without a word: each is the winner, or possible with a predicted time, or refused.
TEST(CopyDetails, EveryKernelIsAccountedFor) {
  const DeviceProperties gpu = DeviceProperties::h200();
  const TensorView gaps(nullptr, DType::f32, {64, 64}, {128, 2}), rows(nullptr, DType::f32, {64, 64});
  struct Case {
    CopyPlan plan;
    CopyKernel kernel;
    std::vector<CopyKernel> possible;
  };
  for (const Case& c : {Case{permute_plan(gpu, DType::f32, {8192, 8192}, {1, 0}),
                             CopyKernel::tile,
                             {CopyKernel::window, CopyKernel::rows, CopyKernel::gather}},
                        {permute_plan(gpu, DType::f32, {12345, 6789}, {1, 0}),
                         CopyKernel::tile,
                         {CopyKernel::rows, CopyKernel::gather}},
                        {plan_contiguous(gpu, rows),
                         CopyKernel::stream,
                         {CopyKernel::tile, CopyKernel::rows, CopyKernel::gather}},
                        {plan_copy(gpu, gaps, rows), CopyKernel::rows, {CopyKernel::gather}},
                        {plan_copy(gpu, rows, gaps), CopyKernel::gather, {}}}) {
    const CopyDetails details = c.plan.details();
    SCOPED_TRACE(c.plan.explain());
    EXPECT_EQ(details.kernel, c.kernel);
    EXPECT_GT(details.microseconds, 0);
    ASSERT_EQ(details.others.size(), 4u);
    std::vector<CopyKernel> possible;
    for (const CopyAlternative& other : details.others) {
      EXPECT_NE(other.kernel, details.kernel);
      EXPECT_FALSE(other.reason.empty());
      EXPECT_EQ(other.microseconds > 0, other.possible);
      if (other.possible) possible.push_back(other.kernel);
      expect_words(c.plan, {std::string("Not ") + name_of(other.kernel) + ": ", other.reason});
    }
    EXPECT_EQ(possible, c.possible);
    expect_words(c.plan, {"Predicted: "});
  }
  EXPECT_TRUE(permute_plan(Device::cpu(), DType::f32, {64, 64}, {1, 0}).details().others.empty());
}

/// The prediction of what was measured on an H200 (docs/permute.md), within a third.
TEST(CopyDetails, PredictedTimesAreNearMeasuredOnes) {
  const DeviceProperties gpu = DeviceProperties::h200();
  struct Case {
    CopyPlan plan;
    double microseconds;
  };
  for (const Case& c : {Case{permute_plan(gpu, DType::f32, {8192, 8192}, {1, 0}), 132.8},
                        {permute_plan(gpu, DType::u8, {16384, 16384}, {1, 0}), 136.2},
                        {permute_plan(gpu, DType::f16, {8, 4096, 32, 128}, {0, 2, 1, 3}), 141.2},
                        {permute_plan(gpu, DType::f32, {12345, 6789}, {1, 0}), 188.1},
                        {permute_plan(gpu, DType::f32, {48, 30, 28, 26, 24}, reversal(5)), 60.1}}) {
    SCOPED_TRACE(c.plan.explain());
    EXPECT_LT(c.plan.details().microseconds, c.microseconds * 4 / 3);
    EXPECT_GT(c.plan.details().microseconds, c.microseconds * 3 / 4);
  }
}

TEST(CopyDetails, ContiguousSaysWhatItDoes) {
  const TensorView in = TensorView(nullptr, DType::f16, {64, 384, 2144}).permuted({1, 0, 2});
  const CopyPlan plan = plan_contiguous(DeviceProperties::h200(), in);
  EXPECT_EQ(plan.details().kernel, CopyKernel::stream);
  expect_words(plan, {"contiguous: f16[384, 64, 2144]", "-> f16[384, 64, 2144] strides [137216, 2144, 1]"});
}

TEST(CopyDetails, TheProcessorRunsItsOwnCode) {
  const CopyPlan plan = permute_plan(Device::cpu(), DType::f32, {64, 64}, {1, 0});
  EXPECT_EQ(plan.details().kernel, CopyKernel::native);
  expect_words(plan, {"native", "cpu"});
}

TEST(CopyDetails, NothingToDo) {
  const CopyPlan plan = permute_plan(DeviceProperties::h200(), DType::f32, {0, 64}, {1, 0});
  EXPECT_EQ(plan.details().kernel, CopyKernel::nothing);
  expect_words(plan, {"no elements"});
}

/// A repeated row is read once.
TEST(CopyDetails, BytesCountDifferentElements) {
  const CopyPlan plan =
      plan_cast(DeviceProperties::h200(), TensorView(nullptr, DType::f16, {100, 64}, {0, 1}),
                TensorView(nullptr, DType::f32, {100, 64}));
  EXPECT_EQ(plan.details().in.bytes, 128);
  EXPECT_EQ(plan.details().out.bytes, 25600);
}

/// A plan runs on any memory that is as aligned as the planned memory, and says how much that is.
TEST(CopyDetails, Alignment) {
  alignas(64) static char memory[64];
  const auto alignment_of = [&](std::ptrdiff_t offset) {
    const TensorView in(memory + offset, DType::u8, {4, 4});
    return plan_cast(DeviceProperties::h200(), in, TensorView(nullptr, DType::u8, {4, 4}))
        .details()
        .in.alignment;
  };
  EXPECT_EQ(alignment_of(0), 16);
  EXPECT_EQ(alignment_of(8), 8);
  EXPECT_EQ(alignment_of(6), 2);
  EXPECT_EQ(alignment_of(3), 1);
}

}  // namespace
}  // namespace relayout::test
