// What the tests of fused() share: its instances on every device, and their check against the oracle.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/fused/fused_kernels.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/elementwise_case.hpp"

namespace relayout::test {

inline const std::vector<FusedCall>& calls_of(const Device& device) {
  if (device.kind() != DeviceKind::gpu) return cpu::fused_calls();
#ifdef RELAYOUT_TEST_CUDA
  return cuda::fused_calls();
#elif defined(RELAYOUT_TEST_HIP)
  return hip::fused_calls();
#else
  throw Error(ErrorCode::not_built, "no GPU back end");
#endif
}

inline std::vector<TensorView> views_of(const std::vector<Operand>& operands) {
  std::vector<TensorView> views;
  for (const Operand& operand : operands) {
    if (!operand.is_literal()) views.push_back(operand.tensor());
  }
  return views;
}

/// "mul+add"
inline std::string name_of(const std::vector<Operation>& operations) {
  std::string name;
  for (const Operation operation : operations)
    name += (name.empty() ? "" : "+") + std::string(relayout::name_of(operation));
  return name;
}

inline TensorSpec packed(DType type, const Dims& shape, std::int64_t misaligned = 0) {
  return {type, shape, {}, misaligned};
}

constexpr DType kF16 = DType::f16, kF32 = DType::f32, kF64 = DType::f64, kI8 = DType::i8;

class FusedTest : public DeviceTest {
 protected:
  /// The instance for these operations and tensors.
  const FusedCall& find(const std::string& name, const std::vector<DType>& types) const {
    const std::vector<FusedCall>& calls = calls_of(device());
    const auto found = std::find_if(calls.begin(), calls.end(), [&](const FusedCall& call) {
      return call.name == name && call.types == types;
    });
    if (found == calls.end()) throw std::out_of_range("no instance of " + name);
    return *found;
  }
  const FusedCall& find(const ElementwiseCase& c) const {
    std::vector<DType> types{c.out.type};
    for (const OperandSpec& operand : c.operands) {
      if (const auto* spec = std::get_if<TensorSpec>(&operand)) types.push_back(spec->type);
    }
    return find(name_of(c.operations), types);
  }
  void check(const ElementwiseCase& c) const {
    SCOPED_TRACE(::testing::Message() << c);
    const ElementwiseTensors tensors(stream(), c);
    EXPECT_NO_THROW(find(c).run(stream(), views_of(tensors.operands()), tensors.out()));
    tensors.expect_right();
  }
};

}  // namespace relayout::test
