// Strips (host/plan/elementwise/elementwise_strips.hpp): whatever the nest, the lanes' strips hold each of
// its elements once, and the elements of all tensors that belong together.
#include "host/plan/elementwise/elementwise_strips.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "host/plan/elementwise/elementwise_rows.hpp"
#include "host/plan/elementwise/strip_builder.hpp"
#include "tests/support/random.hpp"

namespace relayout::test {
namespace {

alignas(256) unsigned char memory[256];  // only addresses are computed

/// Offsets of an element in the output and in two tensors.
using Places = std::array<std::int64_t, 3>;

std::vector<Places> sorted(std::vector<Places> places) {
  std::sort(places.begin(), places.end());
  return places;
}

Places strides_of(const ElementwiseParams& p, int axis) {
  return {p.out_strides[axis], p.tensor[0].strides[axis], p.tensor[1].strides[axis]};
}

std::vector<Places> elements_of_nest(const ElementwiseParams& p) {
  std::vector<Places> elements;
  std::vector<std::int64_t> index(static_cast<std::size_t>(p.rank));
  for (int axis = 0; axis >= 0;) {
    Places places{};
    for (axis = 0; axis < p.rank; ++axis) {
      const Places strides = strides_of(p, axis);
      for (std::size_t i = 0; i < places.size(); ++i)
        places[i] += index[static_cast<std::size_t>(axis)] * strides[i];
    }
    elements.push_back(places);
    axis = p.rank - 1;
    while (axis >= 0 && ++index[static_cast<std::size_t>(axis)] == p.extents[axis])
      index[static_cast<std::size_t>(axis--)] = 0;
  }
  return sorted(std::move(elements));
}

/// What core/elementwise_params.hpp says of Strips, in words of its own; of the first `most` lanes.
std::vector<Places> elements_of_strips(const ElementwiseParams& p,
                                       std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  const Strips& s = p.strips;
  const Places strip = strides_of(p, 0), jump = strides_of(p, kJumpAxis);
  const bool joined = p.strip_axes[0].wraps() != 0;
  std::vector<Places> elements;
  std::int64_t lanes = 1;
  for (int axis = 1; axis < p.rank; ++axis) lanes *= p.extents[axis];
  EXPECT_EQ(lanes, p.lanes);
  for (std::int64_t lane = 0; lane < std::min(lanes, most); ++lane) {
    Places places{};
    std::uint32_t scaled = 0, chunked = 0;
    std::int64_t number = lane;
    for (int axis = 1; axis < p.rank; number /= p.extents[axis++]) {
      const Places strides = strides_of(p, axis);
      for (std::size_t t = 0; t < places.size(); ++t) places[t] += number * strides[t];
      scaled += static_cast<std::uint32_t>(number) * p.strip_axes[axis].scale;
      chunked += static_cast<std::uint32_t>(number) * p.strip_axes[axis].chunk;
    }
    if (static_cast<std::int32_t>(chunked) >= s.chunked_extent) continue;
    for (std::int64_t i = 0; i < s.count; ++i) {
      const std::int64_t element = static_cast<std::int32_t>(scaled) - s.lead + i * s.step;
      const bool exists = element >= 0 && element < s.extent;
      EXPECT_TRUE(exists || !s.whole);
      if (!exists) continue;
      Places place = places;
      const std::int64_t jumps = joined ? element / p.strip_axes[0].inner() : 0;
      for (std::size_t t = 0; t < place.size(); ++t) place[t] += (i - s.lead) * strip[t] + jumps * jump[t];
      elements.push_back(place);
    }
  }
  return sorted(std::move(elements));
}

/// A nest whose output is contiguous or has gaps, with tensors that lie in any order of its axes, repeat
/// elements or run backwards.
ElementwiseParams random_nest(Random& random) {
  ElementwiseParams p;
  p.rank = static_cast<std::int32_t>(random.pick<std::int64_t>({1, 2, 3, 4, 5}));
  p.tensors = 2;
  p.steps = 1;
  p.out = memory + 128;
  std::int64_t elements = 1;
  for (int axis = 0; axis < p.rank; ++axis) {
    p.extents[axis] = random.pick<std::int64_t>({2, 3, 4, 5, 7, 8, 9, 17, 31, 64, 70, 131, 300});
    while (elements * p.extents[axis] > 3000) p.extents[axis] = (p.extents[axis] + 1) / 2;
    elements *= p.extents[axis];
  }
  const auto lay = [&](std::int64_t* strides, const std::vector<int>& order) {
    std::int64_t step = 1;
    for (const int axis : order) {
      strides[axis] = random.chance(0.1) ? 0 : step;
      step *= p.extents[axis] + (random.chance(0.2) ? 3 : 0);
    }
  };
  std::vector<int> order(static_cast<std::size_t>(p.rank));
  std::iota(order.rbegin(), order.rend(), 0);
  std::int64_t step = random.chance(0.2) ? 2 : 1;
  for (const int axis : order) {
    p.out_strides[axis] = step;
    step *= p.extents[axis] + (random.chance(0.2) ? 1 : 0);
  }
  for (int t = 0; t < 2; ++t) {
    p.tensor[t].bytes = static_cast<std::int8_t>(random.pick<std::int64_t>({1, 2, 4, 8}));
    p.tensor[t].data = memory + random.pick<std::int64_t>({0, 1, 3, 5}) * p.tensor[t].bytes;
    if (random.chance(0.7)) random.shuffle(order);
    lay(p.tensor[t].strides, order);
    if (random.chance(0.1)) p.tensor[t].strides[p.rank - 1] *= -1;
  }
  return p;
}

TEST(ElementwiseStrips, HoldEachElementOnce) {
  Random random(1);
  int in_chunks = 0, misaligned = 0, apart = 0, whole = 0, joined = 0;
  for (int i = 0; i < 1000; ++i) {
    ElementwiseParams p = random_nest(random);
    p.width = static_cast<std::int32_t>(random.pick<std::int64_t>({2, 4, 8, 16}));
    const std::vector<Places> elements = elements_of_nest(p);
    const auto without =
        static_cast<std::uint32_t>(random.chance(0.3) ? random.pick<std::int64_t>({1, 2, 5}) : 0);
    plan::cut_strips(p, random.chance(0.5) ? p.width : strip_elements(p.width), without);
    ASSERT_EQ(elements_of_strips(p), elements) << "nest " << i << " of seed 1";
    in_chunks += p.strips.chunked_extent > 1 ? 1 : 0;
    misaligned += p.strips.lead > 0 ? 1 : 0;
    apart += p.strips.step > 1 ? 1 : 0;
    whole += p.strips.whole ? 1 : 0;
    joined += p.strip_axes[0].wraps() != 0 ? 1 : 0;
  }
  EXPECT_GT(in_chunks, 10);
  EXPECT_GT(misaligned, 10);
  EXPECT_GT(apart, 10);
  EXPECT_GT(whole, 10);
  EXPECT_GT(joined, 10);
}

/// Two axes, along which the output lies without gaps; tensors lie as their strides say.
ElementwiseParams plane(std::int64_t rows, std::int64_t columns,
                        const std::vector<std::array<std::int64_t, 2>>& tensor_strides) {
  ElementwiseParams p;
  p.rank = 2;
  p.steps = 1;
  p.tensors = static_cast<std::int32_t>(tensor_strides.size());
  p.extents[0] = rows;
  p.extents[1] = columns;
  p.out = memory;
  p.out_strides[0] = columns;
  p.out_strides[1] = 1;
  for (std::size_t t = 0; t < tensor_strides.size(); ++t) {
    p.tensor[t].data = memory + 4;
    std::copy(tensor_strides[t].begin(), tensor_strides[t].end(), p.tensor[t].strides);
  }
  return p;
}

/// A tensor across the output: its neighbours are a strip's, and neighbouring lanes are the output's.
TEST(ElementwiseStrips, AreVectorsOfATensorAcross) {
  ElementwiseParams p = plane(512, 96, {{1, 512}});
  p.width = 8;
  p.tensor[0].bytes = 2;
  p.tensor[0].data = memory;
  EXPECT_TRUE(plan::cut_strips(p, 8).vectors);
  EXPECT_EQ(p.tensor[0].strides[0], 1);
  EXPECT_EQ(p.out_strides[1], 1);
  EXPECT_EQ(p.strips.step, 1);
  EXPECT_TRUE(p.strips.whole);
  EXPECT_EQ(p.lanes, 512u * 96u / 8u);
}

/// Strips that begin before their axis begin no further before it than an element lies behind its begin:
/// offsets of 32 bits reach these from the first element, and perhaps nothing else.
TEST(ElementwiseStrips, BeginNoFurtherBeforeAnAxisThanItIsLong) {
  ElementwiseParams p = plane(12, 64, {{1, 16}});
  p.width = 16;
  p.tensor[0].bytes = 1;
  for (const int misaligned : {0, 5, 11, 12, 15}) {
    p.tensor[0].data = memory + misaligned;
    EXPECT_EQ(plan::misaligned_elements(p, 0, 0), misaligned < 12 ? misaligned : 0);
  }
}

/// Where the axis of a tensor across is too short for strips, another one has them.
TEST(ElementwiseStrips, AreNoVectorsOfAShortAxis) {
  ElementwiseParams p = plane(5, 96, {{1, 5}});
  p.width = 8;
  p.tensor[0].data = memory;
  EXPECT_FALSE(plan::cut_strips(p, 8).vectors);
}

/// Where the next axis of the tensor follows a short one, strips lie along both: an element beside the last
/// one of the inner axis is `jump` further on than its neighbour.
TEST(ElementwiseStrips, LieAlongTwoAxesThatFollowEachOther) {
  ElementwiseParams p;
  p.rank = 3;
  p.tensors = 1;
  p.width = 8;
  p.out = memory;
  p.tensor[0].data = memory;
  const std::int64_t extents[] = {5, 64, 96}, out[] = {64 * 96, 96, 1}, tensor[] = {1, 5, 5 * 64};
  std::copy(extents, extents + 3, p.extents);
  std::copy(out, out + 3, p.out_strides);
  std::copy(tensor, tensor + 3, p.tensor[0].strides);
  ElementwiseParams apart = p;
  EXPECT_TRUE(plan::cut_strips(p, 8).vectors);
  EXPECT_EQ(p.strips.extent, 5 * 64);
  EXPECT_EQ(p.strip_axes[0].inner(), 5u);
  EXPECT_EQ(p.strip_axes[0].wraps(), 0x42108421u);
  EXPECT_EQ(p.out_strides[0], 64 * 96);
  EXPECT_EQ(p.out_strides[kJumpAxis], 96 - 5 * 64 * 96);
  EXPECT_EQ(p.tensor[0].strides[kJumpAxis], 0);
  EXPECT_EQ(p.lanes, 5u * 64 * 96 / 8);
  EXPECT_FALSE(plan::cut_strips(apart, 8, 0, false).vectors);
  EXPECT_EQ(apart.strip_axes[0].wraps(), 0u);
}

/// Two tensors across the output, along axes of their own: the lanes of a block share the sectors of both. By
/// the larger tensor alone, each element of the other one would be in a sector of its own.
TEST(ElementwiseStrips, ShareTheSectorsOfAllTensors) {
  ElementwiseParams p;
  p.rank = 3;
  p.tensors = 2;
  p.width = 8;
  p.out_bytes = 2;
  p.out = memory;
  p.steps = 1;
  const std::int64_t extents[] = {64, 16, 16}, out[] = {256, 16, 1},
                     tensors[][3] = {{256, 1, 16}, {1, 64 * 16, 64}};
  std::copy(extents, extents + 3, p.extents);
  std::copy(out, out + 3, p.out_strides);
  for (int t = 0; t < 2; ++t) {
    p.tensor[t].data = memory;
    p.tensor[t].bytes = 2;
    std::copy(tensors[t], tensors[t] + 3, p.tensor[t].strides);
  }
  const plan::StripCut cut = plan::cut_strips(p, 8);
  EXPECT_GT(cut.cost, 0);
  std::array<std::set<std::int64_t>, 3> sectors;
  const std::vector<Places> elements = elements_of_strips(p, kStripThreads);
  for (const Places& places : elements) {
    for (std::size_t t = 0; t < places.size(); ++t) sectors[t].insert(places[t] / 16);
  }
  for (const auto& met : sectors) EXPECT_LE(met.size(), elements.size() / 8);
}

/// Strips along an axis that fills them by half, rather than lanes that find each sector of the tensor anew.
TEST(ElementwiseStrips, LieAlongAShortAxisOfATensorWithGaps) {
  ElementwiseParams p = plane(9, 4096, {{1, 20}});
  p.width = 16;
  p.out_bytes = p.tensor[0].bytes = 1;
  ElementwiseParams second = plane(9, 4096, {{4096, 1}, {1, 20}});  // the same behind one like the output
  second.width = 16;
  second.out_bytes = second.tensor[0].bytes = second.tensor[1].bytes = 1;
  for (ElementwiseParams* const nest : {&p, &second}) {
    plan::cut_strips(*nest, 16);
    EXPECT_EQ(nest->strips.extent, 9);
    EXPECT_EQ(nest->strips.step, 1);
  }
}

/// Lanes along the output: a row as a whole where it is not much longer than wanted, else parts of it that
/// begin with a sector of the output, as long as these are nearly full.
TEST(ElementwiseStrips, HaveLanesThatBeginWithSectors) {
  const auto lanes_along = [](std::int64_t columns, std::int32_t bytes) {
    ElementwiseParams p = plane(512, columns, {{1, 512}});
    p.width = 8;
    p.out_bytes = bytes;
    p.tensor[0].bytes = static_cast<std::int8_t>(bytes);
    p.tensor[0].data = memory;
    EXPECT_TRUE(plan::cut_strips(p, 8).vectors);
    return p.extents[1];
  };
  EXPECT_EQ(lanes_along(160, 4), 160);
  EXPECT_EQ(lanes_along(577, 4), 64);  // not 58, ten equal parts
  EXPECT_EQ(lanes_along(200, 1), 50);  // 64 would leave a part of 8
}

/// Strips may be read with what lies beside them in tensors without gaps, but for those that other lanes
/// write.
TEST(ElementwiseStrips, KnowWhatLiesBesideThem) {
  ElementwiseParams p = plane(40, 50, {{50, 1}, {50, 1}});
  p.width = 4;
  const auto dense = [&](int tensor) {
    ElementwiseParams cut = p;
    plan::cut_strips(cut, 8);
    return cut.tensor[tensor].dense;
  };
  EXPECT_EQ(dense(0), 2000);
  p.tensor[0].data = memory;  // in place
  p.tensor[1].strides[0] = 51;
  EXPECT_EQ(dense(0), 0);
  EXPECT_EQ(dense(1), 0);
  p.tensor[1].strides[0] = 0;
  EXPECT_EQ(dense(1), 50);
  p.tensor[1].strides[1] = -1;
  EXPECT_EQ(dense(1), 0);
  // As many elements as the tensor is long, but some of them twice, and gaps.
  p.extents[0] = p.extents[1] = 3;
  p.tensor[1].strides[0] = p.tensor[1].strides[1] = 2;
  EXPECT_EQ(dense(1), 0);
}

/// Scales that change along an axis keep strips off it, where another axis has room.
TEST(ElementwiseStrips, LieAlongAllowedAxes) {
  ElementwiseParams p;
  p.rank = 3;
  p.tensors = 1;
  p.width = 8;
  const std::int64_t extents[] = {64, 40, 48};
  std::int64_t step = 1;
  for (int axis = 2; axis >= 0; --axis) {
    p.extents[axis] = extents[axis];
    p.out_strides[axis] = p.tensor[0].strides[axis] = step;
    step *= extents[axis];
  }
  p.out = memory;
  p.tensor[0].data = memory + 1;
  p.tensor[0].bytes = 1;
  ElementwiseParams free = p;
  plan::cut_strips(free, 8);
  EXPECT_EQ(free.strips.extent, 40);
  plan::cut_strips(p, 8, 1u << 1);
  EXPECT_EQ(p.strips.extent, 64);
}

/// Blocks of as few threads as each multiprocessor needs to have one, but of 64 at least.
TEST(ElementwiseStrips, AreSharedOutAmongMultiprocessors) {
  ElementwiseParams p = plane(40, 50, {{50, 1}, {50, 1}});
  p.width = 4;
  plan::cut_strips(p, 8);
  const auto lanes = static_cast<std::int64_t>(p.lanes);
  DeviceProperties device = DeviceProperties::h200();
  for (const std::int64_t multiprocessors : {1, 2, 3, 1000}) {
    device.multiprocessors = static_cast<decltype(device.multiprocessors)>(multiprocessors);
    plan::choose_block_threads(device, ElementwiseKernel::typed_strips, p);
    const std::int64_t threads = p.block_threads;
    EXPECT_TRUE(threads == 64 || (lanes + threads - 1) / threads >= multiprocessors) << threads;
    EXPECT_TRUE(threads == kStripThreads || (lanes + 2 * threads - 1) / (2 * threads) < multiprocessors)
        << threads;
    EXPECT_GE(threads, 64);
    EXPECT_LE(threads, kStripThreads);
  }
}

}  // namespace
}  // namespace relayout::test
