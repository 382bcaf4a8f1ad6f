// What the tests of fused() share.
#pragma once

#include <string>
#include <vector>

#include "tests/fused/fused_case.hpp"
#include "tests/support/devices.hpp"

namespace relayout::test {

constexpr DType kF16 = DType::f16, kF32 = DType::f32, kF64 = DType::f64, kI8 = DType::i8;

inline TensorSpec packed(DType type, const Dims& shape, std::int64_t misaligned = 0) {
  return {type, shape, {}, misaligned};
}

class FusedTest : public DeviceTest {
 protected:
  const FusedCall& find(const std::string& name, const std::vector<DType>& types) const {
    return find_fused(device(), name, types);
  }
  const FusedCall& find(const ElementwiseCase& c) const { return find_fused(device(), c); }
  void check(const ElementwiseCase& c) const { check_fused(stream(), c); }
};

}  // namespace relayout::test
