// map() where a file of the host's compiler is enough: offsets and counts beyond 32 bits, every conversion.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "host/reference/convert.hpp"
#include "tests/support/arithmetic_inputs.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/reserved_memory.hpp"

#include <relayout/map.hpp>

namespace relayout::test {
namespace {

constexpr DType kF32 = DType::f32, kI8 = DType::i8;

/// Elements further apart than 2^31, and an output of as many.
TEST(MapHostTest, OffsetsBeyond32Bits) {
  constexpr std::int64_t kFar = (std::int64_t{1} << 31) + 4096;
  for (const Device& device : host_memory_devices()) {
    SCOPED_TRACE(device.to_string());
    const ReservedMemory from(static_cast<std::size_t>(kFar + 64)), to(static_cast<std::size_t>(kFar + 64));
    for (std::int64_t i = 0; i < 40; ++i) {
      from.data()[i] = static_cast<unsigned char>(i);
      from.data()[kFar + i] = static_cast<unsigned char>(2 * i);
    }
    const TensorView in(from.data(), kI8, {2, 40}, {kFar, 1}), out(to.data(), kI8, {2, 40}, {kFar, 1});
    const unsigned char three = 3;
    map<std::int8_t(std::int8_t, std::int8_t)>(Stream(device), functors::Subtract(),
                                               {in, TensorView(&three, kI8, {})}, out);
    for (std::int64_t i = 0; i < 40; ++i) {
      ASSERT_EQ(to.data()[i], static_cast<unsigned char>(i - 3));
      ASSERT_EQ(to.data()[kFar + i], static_cast<unsigned char>(2 * i - 3));
    }
  }
}

/// What only nests of more than 2^32 vectors take.
TEST(MapHostTest, VectorsCountedIn64Bits) {
  const Dims shape{3, 5, 45};
  std::vector<float> a(675), b(15), out(675);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(1000 * i);
  detail::MapNest nest =
      detail::map_nest(Device::cpu(), {nullptr, {kF32, kF32, kF32}, 2, 4},
                       {TensorView(a.data(), kF32, shape), TensorView(b.data(), kF32, {3, 5, 1})},
                       TensorView(out.data(), kF32, shape));
  EXPECT_TRUE(nest.fits_32_bits);
  ASSERT_EQ(nest.width, 4);
  nest.fits_32_bits = false;
  for (std::int64_t i = 0; i < nest.vectors; ++i)
    detail::MapThread<float(float, float)>::run<4>(nest, functors::Subtract(), i);
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], a[i] - b[i / 45]);
}

template <class Out, class In>
void expect_conversions() {
  SCOPED_TRACE(std::string(relayout::name_of(dtype_of<In>)) + " to " + relayout::name_of(dtype_of<Out>));
  for (const std::uint64_t bits : interesting(dtype_of<In>)) {
    detail::Stored<In> in;
    std::memcpy(&in, &bits, sizeof in);
    const detail::Stored<Out> out = detail::stored_as<Out>(detail::value_of<In>(in));
    EXPECT_TRUE(same_element(reference::convert_bits(bits, dtype_of<In>, dtype_of<Out>),
                             load_bits(&out, dtype_of<Out>), dtype_of<Out>, NanRule::any))
        << bits;
  }
}

template <class Out, class... In>
void expect_conversions_to() {
  (expect_conversions<Out, In>(), ...);
}

template <class... T>
void expect_all_conversions() {
  (expect_conversions_to<T, T...>(), ...);
}

TEST(MapHostTest, EveryConversion) {
  expect_all_conversions<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, std::int8_t, std::int16_t,
                         std::int32_t, std::int64_t, f16, bf16, float, double>();
  expect_conversions_to<bool, std::uint8_t, std::int64_t, f16, float, double>();
  expect_conversions<float, bool>();
  expect_conversions<f16, bool>();
  expect_conversions<std::int32_t, bool>();
}

struct Weighted {
  float operator()(float a, float b, float c, float d, float e, float f, float g, float h) const {
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
  }
};

TEST(MapHostTest, EightOperandsByAPlan) {
  std::vector<float> values(8 * 100), out(100);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 13);
  std::vector<TensorView> operands;
  for (int k = 0; k < 8; ++k) operands.emplace_back(values.data() + 100 * k, kF32, Dims{100});
  for (const Device& device : host_memory_devices()) {
    SCOPED_TRACE(device.to_string());
    std::fill(out.begin(), out.end(), -1.0f);
    using F = float;
    const auto plan = plan_map<F(F, F, F, F, F, F, F, F)>(device, Weighted(), operands,
                                                          TensorView(out.data(), kF32, {100}));
    for (const char* words : {"map to f32", "extents [100]", "operand 8's [1]"})
      EXPECT_NE(plan.explain().find(words), std::string::npos) << plan.explain();
    const Stream stream(device);
    plan.run(stream);
    stream.synchronize();
    for (std::size_t i = 0; i < out.size(); ++i) {
      float sum = 0;
      for (std::size_t k = 0; k < 8; ++k) sum += static_cast<float>(k + 1) * values[100 * k + i];
      ASSERT_EQ(out[i], sum);
    }
    if (const auto other = another_device(device)) {
      EXPECT_THROW(plan.run(Stream(*other)), Error);
    }
  }
}

static_assert(std::is_same_v<detail::Common<std::int8_t, std::int16_t>, std::int16_t>);
static_assert(std::is_same_v<detail::Common<std::int64_t, float>, float>);
static_assert(std::is_same_v<detail::Common<float, double>, double>);
static_assert(decltype(chain_of(functors::Multiply(), functors::Add(), functors::Relu()))::kOperands == 3);

struct WeightedDigits {
  float operator()(float a, float b, float c, float d, float e) const {
    return a + 10 * b + 100 * c + 1000 * d + 10000 * e;
  }
};
TEST(Chain, OfAFunctorOfManyNumbers) {
  const auto chain = chain_of(WeightedDigits(), functors::Subtract(), functors::Multiply());
  EXPECT_EQ(chain(1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 321.0f, 0.5f), 27000.0f);
}

}  // namespace
}  // namespace relayout::test
