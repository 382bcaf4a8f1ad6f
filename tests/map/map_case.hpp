// The instances of map() on a device, and the check of a case that one of them runs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/map/map_kernels.hpp"
#include "tests/support/elementwise_case.hpp"

namespace relayout::test {

/// None where the build has no back end with kernels.
inline const std::vector<MapCall>& map_calls_of([[maybe_unused]] const Device& device) {
#ifdef RELAYOUT_TEST_EMULATOR
  if (device.kind() != DeviceKind::gpu) return emulator::map_calls();
#endif
#ifdef RELAYOUT_TEST_CUDA
  return cuda::map_calls();
#elif defined(RELAYOUT_TEST_HIP)
  return hip::map_calls();
#else
  static const std::vector<MapCall> none;
  return none;
#endif
}

inline const MapCall& find_map(const Device& device, const std::string& name,
                               const std::vector<DType>& types) {
  const std::vector<MapCall>& calls = map_calls_of(device);
  const auto found = std::find_if(calls.begin(), calls.end(), [&](const MapCall& call) {
    return call.name == name && call.types == types;
  });
  if (found == calls.end()) throw std::out_of_range("no instance of " + name);
  return *found;
}

/// The instance for the case's operations and tensors.
inline const MapCall& find_map(const Device& device, const ElementwiseCase& c) {
  std::string name;  // "mul+add"
  for (const Operation operation : c.operations)
    name += (name.empty() ? "" : "+") + std::string(relayout::name_of(operation));
  std::vector<DType> types{c.out.type};
  for (const OperandSpec& operand : c.operands) {
    if (const auto* spec = std::get_if<TensorSpec>(&operand)) types.push_back(spec->type);
  }
  return find_map(device, name, types);
}

inline std::vector<TensorView> tensors_of(const std::vector<Operand>& operands) {
  std::vector<TensorView> views;
  for (const Operand& operand : operands) {
    if (!operand.is_literal()) views.push_back(operand.tensor());
  }
  return views;
}

/// Runs the case by a functor; its constants are the functor's.
inline void check_map(const Stream& stream, const ElementwiseCase& c, std::uint64_t seed = 1) {
  SCOPED_TRACE(::testing::Message() << c);
  const ElementwiseTensors tensors(stream, c, seed);
  EXPECT_NO_THROW(find_map(stream.device(), c).run(stream, tensors_of(tensors.operands()), tensors.out()));
  tensors.expect_right();
}

}  // namespace relayout::test
