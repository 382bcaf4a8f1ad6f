// Whether views share bytes: written-out cases, every byte of small random views, and operations between
// neighbours.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <ostream>
#include <set>
#include <utility>
#include <vector>

#include <relayout/relayout.hpp>

#include "host/plan/sharing.hpp"
#include "host/reference/scalar.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/random.hpp"

namespace relayout::plan {

std::ostream& operator<<(std::ostream& out, Sharing sharing) {
  return out << (sharing == Sharing::none ? "none" : sharing == Sharing::some ? "some" : "undecided");
}

namespace {

TensorView floats(int start, Dims shape, Dims strides) {
  static float memory[4096];
  return TensorView(memory + start, DType::f32, std::move(shape), std::move(strides));
}

TEST(Sharing, OneAxis) {
  EXPECT_EQ(sharing_of(floats(0, {4}, {1}), floats(4, {4}, {1})), Sharing::none);
  EXPECT_EQ(sharing_of(floats(4, {4}, {1}), floats(0, {4}, {1})), Sharing::none);
  EXPECT_EQ(sharing_of(floats(0, {5}, {1}), floats(4, {4}, {1})), Sharing::some);
  EXPECT_EQ(sharing_of(floats(4, {4}, {1}), floats(4, {4}, {1})), Sharing::some);
  EXPECT_EQ(sharing_of(floats(3, {4}, {-1}), floats(4, {4}, {1})), Sharing::none);
  EXPECT_EQ(sharing_of(floats(4, {4}, {-1}), floats(4, {4}, {1})), Sharing::some);
  EXPECT_EQ(sharing_of(floats(0, {0}, {1}), floats(0, {4}, {1})), Sharing::none);
  EXPECT_EQ(sharing_of(floats(0, {4}, {2}), floats(1, {4}, {2})), Sharing::none);
  EXPECT_EQ(sharing_of(floats(0, {4}, {2}), floats(1, {4}, {3})), Sharing::some);
}

TEST(Sharing, OneByteCounts) {
  static char memory[64];
  const TensorView shorts(memory, DType::u16, {8});
  for (int at = 0; at < 20; ++at)
    EXPECT_EQ(sharing_of(shorts, TensorView(memory + at, DType::u8, {1})),
              at < 16 ? Sharing::some : Sharing::none)
        << at;
  const TensorView gaps(memory, DType::u16, {4}, {3});  // bytes 0, 1, 6, 7, 12, 13, 18, 19
  for (int at = 0; at < 24; ++at)
    EXPECT_EQ(sharing_of(gaps, TensorView(memory + at, DType::u8, {1})),
              at % 6 < 2 && at < 20 ? Sharing::some : Sharing::none)
        << at;
}

TEST(Sharing, PartsOfOneTensor) {
  // Rows of 16: even and odd columns, left and right halves, one column beyond the half.
  EXPECT_EQ(sharing_of(floats(0, {9, 8}, {16, 2}), floats(1, {9, 8}, {16, 2})), Sharing::none);
  EXPECT_EQ(sharing_of(floats(0, {9, 8}, {16, 1}), floats(8, {9, 8}, {16, 1})), Sharing::none);
  EXPECT_EQ(sharing_of(floats(0, {9, 9}, {16, 1}), floats(8, {9, 8}, {16, 1})), Sharing::some);
  EXPECT_EQ(sharing_of(floats(0, {9, 8}, {16, 1}), floats(8, {9, 9}, {16, 1})),
            Sharing::some);  // into the next row
  // A cache [batch, head, position, channel]: positions 0 to 7 and 8 to 11 of all heads.
  EXPECT_EQ(sharing_of(floats(0, {2, 4, 8, 8}, {512, 128, 8, 1}), floats(64, {2, 4, 4, 8}, {512, 128, 8, 1})),
            Sharing::none);
  // [h, w, 3] to another channel of itself; transposed, too.
  EXPECT_EQ(sharing_of(floats(1, {10, 20}, {60, 3}), floats(0, {10, 20}, {60, 3})), Sharing::none);
  EXPECT_EQ(sharing_of(floats(1, {20, 10}, {3, 60}), floats(0, {10, 20}, {60, 3})), Sharing::none);
  EXPECT_EQ(sharing_of(floats(3, {9, 20}, {60, 3}), floats(0, {10, 20}, {60, 3})), Sharing::some);
}

TEST(Sharing, WholeRangesOfAddresses) {
  constexpr std::int64_t kFar = std::int64_t{1} << 60;
  const TensorView far(reinterpret_cast<void*>(std::uintptr_t{1} << 62), DType::f32, {2, 2}, {kFar, 2});
  const TensorView between(reinterpret_cast<void*>((std::uintptr_t{1} << 62) + 4), DType::f32, {2, 2},
                           {kFar, 2});
  EXPECT_EQ(sharing_of(far, between), Sharing::none);
  EXPECT_EQ(sharing_of(far, far), Sharing::some);
}

std::set<std::uintptr_t> bytes_of(const TensorView& view) {
  std::set<std::uintptr_t> bytes;
  reference::for_each_index(view.shape(), [&](const Dims& index) {
    const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(reference::address(view, index));
    for (std::size_t i = 0; i < size_of(view.dtype()); ++i) bytes.insert(first + i);
  });
  return bytes;
}

TEST(Sharing, EveryByteOfRandomViews) {
  static char memory[1 << 16];
  static constexpr DType kTypes[] = {DType::u8, DType::u16, DType::f32, DType::f64, DType::b128};
  int none = 0, some = 0, undecided = 0;
  for (const std::uint64_t seed : test::random_seeds(4000)) {
    SCOPED_TRACE(test::reproduce(seed));
    test::Random random(seed);
    const auto draw = [&random] {
      const int rank = static_cast<int>(random.integer(0, 4));
      Dims shape, strides;
      for (int axis = 0; axis < rank; ++axis) {
        shape.push_back(random.integer(1, 5));
        strides.push_back(random.integer(-20, 20));
      }
      return TensorView(memory + (1 << 15) + 16 * random.integer(-10, 10), kTypes[random.integer(0, 4)],
                        shape, strides);
    };
    const TensorView a = draw(), b = draw();
    const std::set<std::uintptr_t> of_a = bytes_of(a), of_b = bytes_of(b);
    const bool shared =
        std::any_of(of_a.begin(), of_a.end(), [&](std::uintptr_t byte) { return of_b.count(byte) != 0; });
    const Sharing said = sharing_of(a, b);
    if (said == Sharing::undecided)
      ++undecided;
    else
      ASSERT_EQ(said, shared ? Sharing::some : Sharing::none) << a.to_string() << " and " << b.to_string();
    (shared ? some : none) += 1;
  }
  if (test::random_seeds(2).size() > 1) {
    EXPECT_GT(none, 500);
    EXPECT_GT(some, 500);
    EXPECT_LT(undecided, 20);
  }
}

TEST(Sharing, WhatCannotBeToldInBoundedTimeIsSaid) {
  static char memory[1 << 20];
  const auto view = [&](int at, const Dims& strides) {
    return TensorView(memory + at, DType::u8, {40, 40, 40, 40}, strides);
  };
  const Sharing said = sharing_of(view(1, {6, 10, 15, 2310}), view(0, {14, 21, 35, 1155}));
  EXPECT_NE(said, Sharing::none);
}

}  // namespace
}  // namespace relayout::plan

namespace relayout::test {
namespace {

/// Kernels load whole words, whose other bytes may be the output's: nobody uses them, but ThreadSanitizer
/// sees them.
class NeighboursTest : public DeviceTest {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_THREAD__)
    if (device().kind() == DeviceKind::emulated) GTEST_SKIP() << "words that are loaded for a part of them";
#endif
  }
};

TEST_P(NeighboursTest, OddColumnsBecomeTheEvenOnes) {
  constexpr std::int64_t kRows = 37, kColumns = 41;
  Buffer memory(stream().device(), kRows * kColumns * 2 * sizeof(std::uint16_t));
  std::vector<std::uint16_t> host(kRows * kColumns * 2);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<std::uint16_t>(i * 7 + 1);
  stream().copy(memory.data(), host.data(), memory.bytes());
  std::uint16_t* const first = static_cast<std::uint16_t*>(memory.data());
  const Dims shape{kRows, kColumns}, strides{2 * kColumns, 2};
  copy(stream(), TensorView(first + 1, DType::u16, shape, strides),
       TensorView(first, DType::u16, shape, strides));
  std::vector<std::uint16_t> result(host.size());
  stream().copy(result.data(), memory.data(), memory.bytes());
  stream().synchronize();
  for (std::size_t i = 0; i < host.size(); ++i) ASSERT_EQ(result[i], host[i | 1]) << i;
}

TEST_P(NeighboursTest, TheRightHalfBecomesTheLeftOneTransposed) {
  constexpr std::int64_t kSide = 45;
  Buffer memory(stream().device(), kSide * kSide * 2 * sizeof(float));
  std::vector<float> host(kSide * kSide * 2);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i);
  stream().copy(memory.data(), host.data(), memory.bytes());
  float* const first = static_cast<float*>(memory.data());
  const TensorView left(first, DType::f32, {kSide, kSide}, {2 * kSide, 1});
  const TensorView right(first + kSide, DType::f32, {kSide, kSide}, {2 * kSide, 1});
  permute(stream(), left, {1, 0}, right);
  std::vector<float> result(host.size());
  stream().copy(result.data(), memory.data(), memory.bytes());
  stream().synchronize();
  const auto at = [](const std::vector<float>& values, std::int64_t row, std::int64_t column) {
    return values[static_cast<std::size_t>(row * 2 * kSide + column)];
  };
  for (std::int64_t row = 0; row < kSide; ++row) {
    for (std::int64_t column = 0; column < kSide; ++column) {
      ASSERT_EQ(at(result, row, column), at(host, row, column));
      ASSERT_EQ(at(result, row, kSide + column), at(host, column, row)) << row << ", " << column;
    }
  }
}

/// A view of [1, channels, time] for each part of one tensor, and the one beside it.
struct Neighbours {
  const char* name;
  std::int64_t from, to;  // elements from the start
  Dims strides;
};
constexpr std::int64_t kChannels = 6, kTime = 35;
const Neighbours kNeighbours[] = {{"even to odd columns", 0, 1, {0, 2 * kTime, 2}},
                                  {"odd to even columns", 1, 0, {0, 2 * kTime, 2}},
                                  {"left to right halves", 0, kTime, {0, 2 * kTime, 1}},
                                  {"positions of a cache", 0, 8 * kTime, {0, 16 * kTime, 8}},
                                  {"channels of an image", 1, 0, {0, 3 * kTime, 3}},
                                  {"along channels", 1, 0, {0, 3, 3 * kChannels}}};

/// What an operation writes beside its input is what it writes elsewhere, and nothing else changes.
TEST_P(NeighboursTest, EveryFamilyBetweenNeighbours) {
  using Call = std::function<void(const TensorView&, const TensorView&)>;
  const std::size_t elements = 16 * kChannels * kTime;
  const std::vector<float> taps(kChannels * 3, 0.5f), state(kChannels * 2, 1.0f);
  Buffer taps_memory(device(), taps.size() * 4), state_memory(device(), state.size() * 4);
  stream().copy(taps_memory.data(), taps.data(), taps_memory.bytes());
  const TensorView weights(taps_memory.data(), DType::f32, {kChannels, 3}),
      states(state_memory.data(), DType::f32, {1, kChannels, 2});
  const auto position_rows = [](const TensorView& out) {
    return TensorView(out.data(), out.dtype(), {kTime, kChannels}, {out.stride(2), out.stride(1)});
  };
  const std::pair<const char*, Call> calls[] = {
      {"add", [&](const TensorView& in, const TensorView& out) { add(stream(), in, 1, out); }},
      {"chain",
       [&](const TensorView& in, const TensorView& out) {
         chain(stream(), {Operation::mul, Operation::relu}, {in, in}, out);
       }},
      {"cast", [&](const TensorView& in, const TensorView& out) { copy(stream(), in, out); }},
      {"pad", [&](const TensorView& in, const TensorView& out) { pad(stream(), in, PadSpec(), out); }},
      {"img2col",
       [&](const TensorView& in, const TensorView& out) {
         img2col(stream(), in, Window(), PadSpec(), position_rows(out));
       }},
      {"depthwise_conv1d",
       [&](const TensorView& in, const TensorView& out) {
         depthwise_conv1d(stream(), in, weights, TensorView(), Activation::silu, TensorView(), out);
       }},
      {"depthwise_update", [&](const TensorView& in, const TensorView& out) {
         stream().copy(state_memory.data(), state.data(), state_memory.bytes());
         depthwise_update(stream(), states, in, weights, TensorView(), Activation::silu, out);
       }}};
  Buffer together(device(), elements * 4), apart(device(), elements * 4);
  std::vector<float> before(elements), got(elements), expected(elements);
  for (std::size_t i = 0; i < elements; ++i) before[i] = static_cast<float>(i % 97) - 48;
  for (const Neighbours& n : kNeighbours) {
    for (const auto& [name, call] : calls) {
      SCOPED_TRACE(std::string(name) + ", " + n.name);
      const auto view = [&n = n](const Buffer& memory, std::int64_t from, DType type) {
        return TensorView(static_cast<float*>(memory.data()) + from, type, {1, kChannels, kTime}, n.strides);
      };
      for (const Buffer* memory : {&together, &apart})
        stream().copy(memory->data(), before.data(), memory->bytes());
      const bool casts = std::string(name) == "cast";  // halves of the neighbours' places
      const auto out = [&](const Buffer& memory) {
        if (!casts) return view(memory, n.to, DType::f32);
        Dims strides = n.strides;
        for (std::int64_t& stride : strides) stride *= 2;
        return TensorView(static_cast<float*>(memory.data()) + n.to, DType::f16, {1, kChannels, kTime},
                          strides);
      };
      call(view(together, n.from, DType::f32), out(together));
      Buffer input(device(), elements * 4);
      stream().copy(input.data(), before.data(), input.bytes());
      call(view(input, n.from, DType::f32), out(apart));
      stream().copy(got.data(), together.data(), together.bytes());
      stream().copy(expected.data(), apart.data(), apart.bytes());
      stream().synchronize();
      EXPECT_EQ(std::memcmp(got.data(), expected.data(), elements * 4), 0);
      EXPECT_NE(std::memcmp(got.data(), before.data(), elements * 4), 0);
      EXPECT_THROW(
          call(view(together, n.from, DType::f32), view(together, n.from + n.strides[2], DType::f32)), Error);
    }
  }
}

TEST_P(NeighboursTest, OneSharedByteIsRefused) {
  Buffer memory(stream().device(), 4096);
  stream().fill(memory.data(), 1, 4096);
  char* const first = static_cast<char*>(memory.data());
  const TensorView in(first, DType::u16, {8, 8}, {16, 1}), fits(first + 16, DType::u16, {8, 8}, {16, 1});
  const TensorView late(first + 14, DType::u16, {8, 8}, {16, 1}),
      early(first + 18, DType::u16, {8, 8}, {16, 1});
  EXPECT_NO_THROW(copy(stream(), in, fits));
  for (const TensorView& out : {late, early}) {
    try {
      copy(stream(), in, out);
      ADD_FAILURE() << "the overlap was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::partial_overlap);
      EXPECT_NE(std::string(error.what()).find("share bytes"), std::string::npos) << error.what();
    }
  }
  const CopyPlan plan = plan_copy(stream().device(), in, fits);
  EXPECT_NO_THROW(plan.run(stream(), first, first + 16));
  EXPECT_THROW(plan.run(stream(), first, first + 14), Error);
}

INSTANTIATE_TEST_SUITE_P(Devices, NeighboursTest, ::testing::ValuesIn(test_devices()), device_test_name);

}  // namespace
}  // namespace relayout::test
