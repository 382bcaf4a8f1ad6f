// The fixture of the tests of map().
#pragma once

#include <string>
#include <vector>

#include "tests/map/map_case.hpp"
#include "tests/support/devices.hpp"

namespace relayout::test {

constexpr DType kF16 = DType::f16, kF32 = DType::f32, kF64 = DType::f64, kI8 = DType::i8;

inline TensorSpec packed(DType type, const Dims& shape, std::int64_t misaligned = 0) {
  return {type, shape, {}, misaligned};
}

class MapTest : public DeviceTest {
 protected:
  void SetUp() override {
    if (map_calls_of(device()).empty()) GTEST_SKIP() << "this build has no kernels of the tests' functors";
  }
  const MapCall& find(const std::string& name, const std::vector<DType>& types) const {
    return find_map(device(), name, types);
  }
  const MapCall& find(const ElementwiseCase& c) const { return find_map(device(), c); }
  void check(const ElementwiseCase& c) const { check_map(stream(), c); }
};

}  // namespace relayout::test
