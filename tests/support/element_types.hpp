// All element types that are cast, and tests that take a device and one of them.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/devices.hpp"

namespace relayout {

inline void PrintTo(DType type, std::ostream* out) { *out << name_of(type); }

}  // namespace relayout

namespace relayout::test {

inline const std::vector<DType> kCastableTypes{
    DType::bool_, DType::u8,  DType::u16,  DType::u32, DType::u64, DType::i8,   DType::i16,    DType::i32,
    DType::i64,   DType::f16, DType::bf16, DType::f32, DType::f64, DType::tf32, DType::e4m3fn, DType::e5m2};

/// "emulated32_f16"
inline std::string device_and_type_name(const ::testing::TestParamInfo<std::tuple<Device, DType>>& info) {
  return test_name(std::get<0>(info.param)) + "_" + name_of(std::get<1>(info.param));
}

}  // namespace relayout::test
