// map() in every layout: operands repeated along axes, any strides, any alignment, none or one element.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/cases/layout.hpp"
#include "tests/map/map_fixture.hpp"

namespace relayout::test {
namespace {

class MapLayoutTest : public MapTest {
 protected:
  /// Gives all views the type `type`.
  void check_sub(DType type, TensorSpec a, TensorSpec b, TensorSpec out) const {
    a.type = b.type = out.type = type;
    ElementwiseCase c;
    c.operations = {Operation::sub};
    c.operands = {a, b};
    c.out = out;
    c.common = type;
    check(c);
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, MapLayoutTest, ::testing::ValuesIn(test_devices()), device_test_name);

const std::vector<DType> kWidths{kI8, kF16, kF32, kF64};

TEST_P(MapLayoutTest, Broadcasts) {
  const std::vector<std::pair<Dims, Dims>> cases{
      {{1000}, {1000}},
      {{}, {30, 41}},
      {{1, 1}, {30, 41}},
      {{41}, {30, 41}},
      {{64}, {30, 64}},
      {{30, 1}, {30, 64}},
      {{5, 1, 33}, {5, 7, 33}},
      {{6, 1, 1}, {3, 6, 5, 7}},
      {{3, 6, 1, 8}, {3, 6, 5, 8}},
  };
  for (const DType type : kWidths) {
    for (const auto& [small, shape] : cases) {
      check_sub(type, packed(type, shape), packed(type, small), packed(type, shape));
      check_sub(type, packed(type, small), packed(type, shape), packed(type, shape));
    }
    check_sub(type, packed(type, {30, 1}), packed(type, {41}), packed(type, {30, 41}));
    check_sub(type, packed(type, {1, 7, 1, 5}), packed(type, {6, 1, 4, 1}), packed(type, {6, 7, 4, 5}));
  }
}

TEST_P(MapLayoutTest, NothingAndOneElement) {
  for (const Dims& shape : {Dims{}, Dims{1, 1, 1}, Dims{0}, Dims{4, 0, 5}})
    check_sub(kF32, packed(kF32, shape), packed(kF32, {}), packed(kF32, shape));
  check_sub(kF32, packed(kF32, {1, 5}), packed(kF32, {0, 5}), packed(kF32, {0, 5}));
}

TEST_P(MapLayoutTest, ManyAxes) {
  check_sub(kF32, packed(kF32, {3, 1, 2, 1, 4, 1, 5}), packed(kF32, {3, 1, 2, 1, 5, 1}),
            packed(kF32, {3, 3, 2, 2, 4, 5, 5}));
  Dims twos(32, 1), backwards(32, 0);  // none of whose axes can be merged
  for (std::size_t axis = 0; axis < 32; axis += 3) twos[axis] = 2;
  std::int64_t step = 1;
  for (std::size_t axis = 0; axis < 32; step *= twos[axis++]) backwards[axis] = step;
  check_sub(kF16, packed(kF16, twos), {kF16, twos, backwards, 0}, packed(kF16, twos));
}

TEST_P(MapLayoutTest, AnyStrides) {
  using L = cases::Layout;
  const Dims shape{3, 20, 37};
  for (const DType type : kWidths) {
    const TensorSpec whole = packed(type, shape);
    for (const L layout :
         {L::nlc, L::lcn, L::gaps, L::nlc_gaps, L::wide_rows, L::every_second, L::reversed}) {
      const TensorSpec strided{type, shape, cases::strides_of(layout, shape), 1};
      check_sub(type, strided, whole, whole);
      check_sub(type, packed(type, shape, 3), strided, packed(type, shape, 1));
      check_sub(type, whole, packed(type, {20, 1}), strided);
      check_sub(type, strided, whole, strided);
    }
    for (const L layout : {L::one_batch, L::one_channel, L::one_sample})
      check_sub(type, whole, {type, shape, cases::strides_of(layout, shape), 0}, whole);
    check_sub(type, {type, {61, 67}, {71, 1}, 3}, {type, {61, 67}, {1, 61}, 0}, {type, {61, 67}, {69, 1}, 2});
  }
}

TEST_P(MapLayoutTest, EveryMisalignedBase) {
  for (const DType type : {kI8, kF16, kF32}) {
    for (std::int64_t a = 0; a < 4; ++a) {
      for (std::int64_t out = 0; out < 4; ++out) {
        check_sub(type, packed(type, {200}, a), packed(type, {200}, 5 - a), packed(type, {200}, out));
        check_sub(type, packed(type, {7, 48}, a), packed(type, {48}, 1), packed(type, {7, 48}, out));
      }
    }
  }
}

}  // namespace
}  // namespace relayout::test
