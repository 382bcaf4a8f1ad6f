// The GEMMs on the padded signal: together they are the convolution, row by row, and each is one that
// libraries take.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <ostream>

#include "host/plan/conv/strided_gemms.hpp"
#include "tests/support/expect_error.hpp"

namespace relayout::plan {

inline std::ostream& operator<<(std::ostream& out, const ViewShape& s) {
  return out << "batch " << s.batch << " groups " << s.groups << " channels " << s.channels << " padded "
             << s.padded << " taps " << s.taps << " stride " << s.stride << " dilation " << s.dilation
             << " positions " << s.positions << " out channels " << s.out_channels;
}

}  // namespace relayout::plan

namespace relayout::test {
namespace {

using plan::plan_view;
using plan::StridedGemm;
using plan::ViewPlan;
using plan::ViewShape;

/// Where sample i of a sequence begins in the padded signal.
std::int64_t sample_at(const ViewShape& s, const ViewPlan& plan, std::int64_t group, std::int64_t batch,
                       std::int64_t i) {
  const std::int64_t residue = i % s.dilation, quotient = i / s.dilation;
  return (((group * s.batch + batch) * s.dilation + residue) * plan.samples + quotient) * s.channels;
}

/// Every row of every GEMM: where it reads, by where it writes.
void check_rows(const ViewShape& s, const ViewPlan& plan) {
  std::map<std::int64_t, std::int64_t> rows;
  for (const StridedGemm& g : plan.gemms) {
    ASSERT_GE(g.m, 1);
    ASSERT_GE(g.count, 1);
    for (std::int64_t c = 0; c < g.count; ++c) {
      for (std::int64_t i = 0; i < g.m; ++i) {
        const std::int64_t y = g.y + c * g.y_step + i * plan.y_pitch;
        const std::int64_t a = g.a + c * g.a_step + i * plan.a_pitch;
        EXPECT_GE(a, 0);
        EXPECT_LE(a + plan.depth, plan.signal_elements);
        EXPECT_TRUE(rows.emplace(y, a).second) << "two rows write y from " << y;
        EXPECT_EQ(y % s.out_channels, g.group * (s.out_channels / s.groups));
      }
    }
  }
  ASSERT_EQ(static_cast<std::int64_t>(rows.size()), s.groups * s.batch * s.positions);
  for (std::int64_t g = 0; g < s.groups; ++g) {
    for (std::int64_t b = 0; b < s.batch; ++b) {
      for (std::int64_t t = 0; t < s.positions; ++t) {
        const std::int64_t y = (b * s.positions + t) * s.out_channels + g * (s.out_channels / s.groups);
        ASSERT_EQ(rows.count(y), 1u);
        for (std::int64_t k = 0; k < s.taps; ++k) {
          EXPECT_EQ(rows[y] + k * s.channels, sample_at(s, plan, g, b, t * s.stride + k * s.dilation))
              << "position " << t << " tap " << k;
        }
      }
    }
  }
}

TEST(StridedGemms, TogetherAreTheConvolution) {
  for (const std::int64_t taps : {1, 2, 3, 4, 7}) {
    for (const std::int64_t stride : {1, 2, 3, 4, 6, 9}) {
      for (const std::int64_t dilation : {1, 2, 3, 4, 6, 20}) {
        for (const std::int64_t extra : {0, 1, 5, 37}) {
          for (const std::int64_t batch : {1, 3}) {
            ViewShape s;
            s.batch = batch;
            s.groups = extra == 5 ? 2 : 1;
            s.channels = 5;
            s.out_channels = 6;
            s.taps = taps;
            s.stride = stride;
            s.dilation = dilation;
            s.padded = (taps - 1) * dilation + 1 + extra;
            s.positions = extra / stride + 1;
            SCOPED_TRACE(::testing::Message() << s);
            const ViewPlan free = plan_view(s, true), apart = plan_view(s, false);
            check_rows(s, free);
            check_rows(s, apart);
            EXPECT_GE(apart.a_pitch, apart.depth);
            EXPECT_LE(free.gemms.size(), apart.gemms.size());
            if (HasFailure()) return;
          }
        }
      }
    }
  }
}

std::size_t gemms_of(ViewShape s, std::int64_t length, bool rows_may_overlap) {
  s.padded = length + (s.taps - 1) * s.dilation;
  s.positions = (length - 1) / s.stride + 1;
  return plan_view(s, rows_may_overlap).gemms.size();
}

TEST(StridedGemms, AreFew) {
  ViewShape s;
  s.channels = s.out_channels = 64;
  s.taps = 4;
  EXPECT_EQ(gemms_of(s, 2048, true), 1u);
  EXPECT_EQ(gemms_of(s, 2048, false), 1u);  // four matrices of 512 rows, batched
  EXPECT_EQ(gemms_of(s, 2049, false), 2u);  // one of 513 rows
  s.batch = 64;
  EXPECT_EQ(gemms_of(s, 2048, true), 1u);
  EXPECT_EQ(gemms_of(s, 2048, false), 4u);  // one for each tap, batched over the sequences
  s.stride = 2;
  EXPECT_EQ(gemms_of(s, 2048, false), 2u);
  s.stride = 4;
  EXPECT_EQ(gemms_of(s, 2048, false), 1u);
  s.stride = 1;
  s.batch = 2;
  s.dilation = 512;
  EXPECT_EQ(gemms_of(s, 2048, true), 2u);  // 512 matrices of 4 rows, batched, for each sequence
  s.groups = 8;
  EXPECT_EQ(gemms_of(s, 2048, true), 16u);
}

TEST(StridedGemms, NothingToDo) {
  ViewShape s;
  s.taps = 3;
  s.padded = 5;
  s.positions = 3;
  for (std::int64_t ViewShape::*extent : {&ViewShape::batch, &ViewShape::out_channels}) {
    ViewShape empty = s;
    empty.*extent = 0;
    EXPECT_TRUE(plan_view(empty, false).gemms.empty());
  }
  s.channels = 0;
  const ViewPlan plan = plan_view(s, false);
  EXPECT_EQ(plan.signal_elements, 0);
  EXPECT_EQ(plan.depth, 0);
  std::int64_t rows = 0;
  for (const StridedGemm& gemm : plan.gemms) rows += gemm.count * gemm.m;
  EXPECT_EQ(rows, 3);
}

TEST(StridedGemms, SizesThatDoNotFit) {
  ViewShape s;
  s.padded = s.positions = std::numeric_limits<std::int64_t>::max() / 4;
  s.channels = 3;
  expect_error(ErrorCode::invalid_shape, {"63 bits"}, [&] { plan_view(s, false); });
  // A stride that no row takes is no reason to refuse.
  ViewShape one;
  one.stride = std::numeric_limits<std::int64_t>::max();
  one.channels = 64;
  EXPECT_EQ(plan_view(one, false).gemms.size(), 1u);
  EXPECT_EQ(plan_view(one, true).gemms.size(), 1u);
}

}  // namespace
}  // namespace relayout::test
