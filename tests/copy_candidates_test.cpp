// Every candidate of a copy moves every element: each kernel that can run it, and each tile, not only the
// best.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "host/api/copy.hpp"
#include "tests/cases/permute_shorthand.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/random.hpp"

namespace relayout::test {
namespace {

using cases::move_of;
using cases::PermuteCase;

class CandidatesTest : public DeviceTest {
 protected:
  void check_candidates(const PermuteCase& c) {
    std::size_t count = 1;
    for (std::size_t i = 0; i < count; ++i) {
      SCOPED_TRACE(::testing::Message() << "candidate " << i);
      check_copy(stream(), c, [&](const TensorView& in, const TensorView& out) {
        const plan::PlannedCopy planned =
            plan_copy_of("permute", device(), in.permuted(c.axes), out, {c.scale, c.indirect});
        const std::vector<plan::CopyCandidate> candidates = candidates_of(planned);
        count = candidates.size();
        plan::PlannedCopy copy = planned;
        static_cast<plan::CopyCandidate&>(copy) = candidates[i];
        launch_copy(stream(), copy, {in.data(), out.data()});
        windows_ += copy.kernel == CopyKernel::window;
        tiles_ += copy.kernel == CopyKernel::tile;
      });
    }
  }
  std::vector<plan::CopyCandidate> candidates_of(const plan::PlannedCopy& planned) const {
    if (device().kind() == DeviceKind::cpu || planned.kernel == CopyKernel::nothing) return {planned};
    constexpr std::size_t kAllTiles = 1000;
    return plan::possible_candidates(planned, device().properties(), kAllTiles);
  }
  int tiles_ = 0, windows_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Devices, CandidatesTest, ::testing::ValuesIn(test_devices()), device_test_name);

TEST_P(CandidatesTest, AreAllRight) {
  for (const DType type : cases::kOneTypePerSize) {
    for (const Dims& shape : {Dims{64, 96}, Dims{61, 97}}) {
      PermuteCase c = move_of(type, shape, {1, 0});
      check_candidates(c);
      c.in_misaligned = 3;
      c.out_misaligned = 1;
      check_candidates(c);
    }
    check_candidates(move_of(type, {5, 24, 40}, {1, 0, 2}));
    check_candidates(move_of(type, {7, 6, 5, 9}, {3, 1, 0, 2}));
  }
  for (const auto& [from, to] :
       {std::pair{DType::f32, DType::f16}, {DType::f16, DType::bf16}, {DType::i32, DType::u8}}) {
    PermuteCase odd_cast = move_of(from, {131, 517}, {1, 0});
    odd_cast.out_type = to;
    check_candidates(odd_cast);
  }
  PermuteCase scaled_cast = move_of(DType::f32, {40, 72}, {1, 0});
  scaled_cast.out_type = DType::f16;
  check_candidates(scaled_cast);
  scaled_cast.scale = {3, 0};
  check_candidates(scaled_cast);
  PermuteCase sum = move_of(DType::f32, {33, 50}, {1, 0});
  sum.scale = {0.5, 2};
  check_candidates(sum);
  const bool native = device().kind() == DeviceKind::cpu;
  EXPECT_EQ(tiles_ > 200, !native) << tiles_;
  EXPECT_EQ(windows_ > 0, !native);
}

TEST_P(CandidatesTest, OfRandomPermutationsAreAllRight) {
  for (const std::uint64_t seed : random_seeds(40)) {
    SCOPED_TRACE(reproduce(seed));
    Random random(seed);
    const int rank = static_cast<int>(random.integer(2, 5));
    Dims shape;
    for (int axis = 0; axis < rank; ++axis) shape.push_back(random.integer(2, rank > 3 ? 9 : 24));
    std::vector<int> axes = cases::identity(rank);
    random.shuffle(axes);
    PermuteCase c = move_of(random.pick(cases::kOneTypePerSize), shape, axes);
    if (c.in_type == DType::f32 && random.chance(0.5))
      c.out_type = random.pick<DType>({DType::f16, DType::f64});
    c.in_misaligned = random.chance(0.3) ? random.integer(1, 7) : 0;
    c.out_misaligned = random.chance(0.3) ? random.integer(1, 7) : 0;
    c.indirect = random.chance(0.1);
    check_candidates(c);
  }
}

/// The larger blocks that fill a device.
TEST_P(CandidatesTest, OfManyElements) { check_candidates(move_of(DType::f32, {24, 57, 64}, {2, 1, 0})); }

}  // namespace
}  // namespace relayout::test
