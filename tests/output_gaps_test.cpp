// What the planners expect of outputs whose rows lie apart, of copies and of windows, on an H200.
#include <gtest/gtest.h>

#include <cstdint>

#include "host/plan/window/window_parts.hpp"
#include "host/plan/window/window_plan.hpp"

#include <relayout/relayout.hpp>

namespace relayout::test {
namespace {

/// The predicted time of a kernel for a copy of rows to columns [0, row) of a matrix, on an H200.
double predicted(CopyKernel kernel, DType type, std::int64_t row, std::int64_t pitch) {
  const Dims shape{20'000'000 / (row * static_cast<std::int64_t>(size_of(type))), row};
  const CopyDetails copy = plan_copy(DeviceProperties::h200(), TensorView(nullptr, type, shape),
                                     TensorView(nullptr, type, shape, {pitch, 1}))
                               .details();
  if (copy.kernel == kernel) return copy.microseconds;
  for (const CopyAlternative& other : copy.others)
    if (other.kernel == kernel && other.possible) return other.microseconds;
  return 0;
}

/// With the times of an H200. Single elements are the fastest, however short the rows.
TEST(OutputGapsTest, RowsAreCompleted) {
  struct Measured {
    DType type;
    std::int64_t row, pitch;
    double gather, rows, tile;
  };
  for (const Measured& m :
       {Measured{DType::u8, 63, 125, 32.7, 84.4, 53.1}, Measured{DType::u8, 33, 65, 32.2, 109.3, 56.8},
        Measured{DType::f16, 25, 49, 30.4, 57.4, 47.6}, Measured{DType::f16, 63, 65, 21.9, 26.3, 27.9},
        Measured{DType::f16, 63, 125, 29.5, 40.5, 38.0}, Measured{DType::f16, 100, 199, 26.8, 30.1, 33.0},
        Measured{DType::f32, 16, 31, 31.4, 35.3, 44.0}, Measured{DType::f32, 33, 65, 25.3, 29.6, 35.3}}) {
    SCOPED_TRACE(::testing::Message() << name_of(m.type) << " " << m.row << " of " << m.pitch);
    const double gather = predicted(CopyKernel::gather, m.type, m.row, m.pitch),
                 rows = predicted(CopyKernel::rows, m.type, m.row, m.pitch),
                 tile = predicted(CopyKernel::tile, m.type, m.row, m.pitch);
    EXPECT_NEAR(gather / m.gather, 1, 0.2);
    EXPECT_NEAR(rows / m.rows, 1, 0.35);
    EXPECT_NEAR(tile / m.tile, 1, 0.4);
    EXPECT_LT(gather, rows);
    EXPECT_LT(gather, tile);
  }
}

/// Rows of whole sectors need nothing completed.
TEST(OutputGapsTest, WholeSectorsAreNotCompleted) {
  for (const CopyKernel kernel : {CopyKernel::gather, CopyKernel::rows})
    EXPECT_LT(predicted(kernel, DType::f32, 16, 32), 0.7 * predicted(kernel, DType::f32, 16, 31));
}

/// A padding of u8 at the end of `rows` signals of `samples`, whose outputs' elements lie `step` apart. The
/// channels are the batches.
WindowParams padding(std::int64_t rows, std::int64_t samples, std::int64_t step) {
  WindowParams p;
  p.in_type = p.out_type = DType::u8;
  p.batch = rows;
  p.channels = 1;
  p.length = samples;
  p.positions = samples + 9;
  p.in_batch = samples;
  p.in_channel = p.in_time = 1;
  p.out_batch = (samples + 9) * step;
  p.out_group = p.out_tap = p.out_channel = 1;
  p.out_position = step;
  return p;
}

double microseconds(const WindowParams& p) {
  return plan::window_candidate(DeviceProperties::h200(), p, WindowKernel::tile).microseconds;
}

/// As measured: 16 signals of 3.35 million samples into every third byte take 110 us by a copy and a kernel
/// for the end, 157 us and more by the tiles of a window.
TEST(OutputGapsTest, WindowsAreCompleted) {
  const WindowParams apart = padding(16, 3'350'000, 3);
  EXPECT_GT(microseconds(apart), 100);
  EXPECT_TRUE(plan::plan_window(DeviceProperties::h200(), false, apart).inside);
  EXPECT_LT(microseconds(padding(16, 3'350'000, 1)), 60);
}

/// What the second cache holds is complete before it is written back.
TEST(OutputGapsTest, SmallWindowsAreNot) {
  const WindowParams small = padding(16, 200'000, 3), large = padding(16, 3'200'000, 3);
  EXPECT_LT(microseconds(small), microseconds(large) / 16 + 2);
}

}  // namespace
}  // namespace relayout::test
