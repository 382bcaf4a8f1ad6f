// Functions and divisions on many numbers: a fifth of all of f16 and bf16, all of them for roots and
// quotients, dense ranges of f32 with the tails of the activations, all pairs of 8 bits; and on operands that
// lie as the kernels with known types take them, or not.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "host/api/operation_rules.hpp"
#include "host/reference/accuracy.hpp"
#include "tests/support/arithmetic_inputs.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/elements.hpp"
#include "tests/support/guarded_buffer.hpp"

namespace relayout::test {
namespace {

using ElementwiseFunctionsTest = DeviceTest;
using Numbers = std::vector<std::uint64_t>;

std::uint64_t bits_of(long double x, DType type = DType::f64) {
  return reference::to_float_bits(x, type, Rounding::nearest_even, false);
}

void fill(GuardedBuffer& buffer, const Numbers& numbers) {
  std::size_t i = 0;
  for_each_element(buffer.host(), [&](const Dims&, std::int64_t offset) {
    store_bits(element_at(buffer.host(), offset), buffer.host().dtype(), numbers[i++]);
  });
  buffer.upload();
}

/// The first numbers of which the device's result is off by more than the bound. misaligned: where operands
/// begin, in elements from an aligned address.
void expect_right(const Stream& stream, Operation operation, DType type, const std::vector<Numbers>& operands,
                  std::int64_t misaligned = 0) {
  SCOPED_TRACE(std::string(name_of(operation)) + " in " + name_of(type));
  const auto elements = static_cast<std::int64_t>(operands[0].size());
  std::vector<std::unique_ptr<GuardedBuffer>> buffers;
  std::vector<TensorView> host;
  std::vector<Operand> device;
  for (const Numbers& numbers : operands) {
    buffers.push_back(
        std::make_unique<GuardedBuffer>(stream, Role::input, type, Dims{elements}, Dims{}, misaligned));
    fill(*buffers.back(), numbers);
    host.push_back(buffers.back()->host());
    device.emplace_back(buffers.back()->device());
  }
  GuardedBuffer out(stream, Role::output, type, {elements});
  elementwise(stream, operation, device, out.device());
  reference::elementwise(operation, host, type, out.host());
  const std::vector<unsigned char> bytes = out.download();
  const TensorView got = out.view_of(bytes);
  int wrong = 0;
  for (std::int64_t i = 0; i < elements && wrong < 3; ++i) {
    const std::uint64_t is = reference::load_bits(got, {i}), should = reference::load_bits(out.host(), {i});
    const std::uint64_t a = operands[0][static_cast<std::size_t>(i)];
    if (reference::agrees(operation, type, is, should)) continue;
    ADD_FAILURE() << "of " << describe(a, type) << ": " << describe(is, type) << ", should be "
                  << describe(should, type);
    ++wrong;
  }
  EXPECT_TRUE(out.check_outside());
}

std::vector<Operation> functions_of_one_number() {
  std::vector<Operation> functions;
  for (int i = 0; i < kOperations; ++i) {
    const auto operation = static_cast<Operation>(i);
    if (rule_of(operation).kind == OperationKind::floating && operands_of(operation) == 1)
      functions.push_back(operation);
  }
  return functions;
}

TEST_P(ElementwiseFunctionsTest, Halves) {
  constexpr std::uint64_t kStep = 5;
  std::uint64_t first = 0;
  for (const Operation operation : functions_of_one_number()) {
    Numbers numbers;
    for (std::uint64_t bits = first++ % kStep; bits < 65536; bits += kStep) numbers.push_back(bits);
    // 177.5, 355, 532.5 and 710 lie next to multiples of pi / 2.
    for (const std::uint64_t bits : {0x598c, 0x5d8c, 0x6029, 0x618c, 0xd98c, 0xdd8c}) numbers.push_back(bits);
    // Zeros, and infinities of f16 and of bf16.
    for (const std::uint64_t bits : {0x0000, 0x8000, 0x7c00, 0xfc00, 0x7f80, 0xff80}) numbers.push_back(bits);
    expect_right(stream(), operation, DType::f16, {numbers});
    expect_right(stream(), operation, DType::bf16, {numbers});
  }
}

/// They are not computed by the division and the root of f32, but are exact, too. Roots are of operands that
/// are not aligned, which another kernel takes than those that are, with the same functions.
TEST_P(ElementwiseFunctionsTest, RootsAndQuotientsOfHalves) {
  Numbers all, others, small;
  for (std::uint64_t bits = 0; bits < 65536; ++bits) {
    all.push_back(bits);
    others.push_back(hash(bits, 3) % 65536);
    small.push_back(hash(bits, 4) % 512 | (bits & 0x8000));
  }
  for (const DType type : {DType::f16, DType::bf16}) {
    for (const Operation operation : {Operation::sqrt, Operation::rsqrt, Operation::reciprocal})
      expect_right(stream(), operation, type, {all}, 1);
    for (const Numbers& divisors : {others, small}) {
      expect_right(stream(), Operation::truediv, type, {all, divisors});
      expect_right(stream(), Operation::fmod, type, {all, divisors});
    }
  }
}

/// Each of a fifth of all numbers beside one of any size, and one of a size that is near; and those at which
/// functions have their limits, each beside each.
TEST_P(ElementwiseFunctionsTest, PairsOfHalves) {
  for (const DType type : {DType::f16, DType::bf16}) {
    Numbers first, second;
    const auto add = [&](std::uint64_t a, std::uint64_t b) {
      first.push_back(a);
      second.push_back(b);
    };
    for (std::uint64_t bits = 2; bits < 65536; bits += 5) {
      add(bits, hash(bits, 5) % 65536);
      add(bits, (bits + hash(bits, 6) % 4096 - 2048) % 65536);
    }
    Numbers limits;
    for (const long double x : {0.0L, 0.5L, 1.0L, 2.0L, 3.0L, std::numeric_limits<long double>::infinity(),
                                std::numeric_limits<long double>::quiet_NaN()}) {
      limits.push_back(bits_of(x, type));
      limits.push_back(bits_of(-x, type));
    }
    for (const std::uint64_t a : limits)
      for (const std::uint64_t b : limits) add(a, b);
    for (const Operation operation : {Operation::div_trunc, Operation::div_floor, Operation::mod,
                                      Operation::hypot, Operation::atan2, Operation::pow})
      expect_right(stream(), operation, type, {first, second});
  }
}

TEST_P(ElementwiseFunctionsTest, SinglesAndTheTailsOfActivations) {
  Numbers numbers;
  for (int i = -4000; i <= 4000; ++i) numbers.push_back(bits_of(i * 0.03001L, DType::f32));
  for (std::uint64_t bits = 0; bits < 0x100000000; bits += 1000003) numbers.push_back(bits);
  for (const std::uint64_t bits : {0x7f800000, 0x7fc00000, 0x3f800000, 0x00000001, 0x00800000, 0x00000000})
    for (const std::uint64_t sign : {0x00000000u, 0x80000000u}) numbers.push_back(bits | sign);
  for (const Operation operation : functions_of_one_number())
    expect_right(stream(), operation, DType::f32, {numbers});
}

/// Quotients next to whole numbers, up to those with no fraction.
TEST_P(ElementwiseFunctionsTest, QuotientsNearWholeNumbers) {
  for (const DType type : {DType::f32, DType::f64}) {
    const int digits = type == DType::f32 ? 23 : 52, most = type == DType::f32 ? 30 : 51;
    Numbers dividends, divisors;
    for (int i = 0; i < 2000; ++i) {
      const auto fraction = static_cast<long double>(hash(i, 1) % (std::uint64_t{1} << digits));
      const long double divisor = std::ldexp(1 + std::ldexp(fraction, -digits), i % 40 - 20);
      const auto whole = static_cast<long double>(hash(i, 2) % (std::uint64_t{1} << (1 + i % most)));
      const std::uint64_t near = bits_of(divisor * whole, type);
      for (int apart = -1; apart <= 1; ++apart) {
        dividends.push_back(near == 0 ? near : near + static_cast<std::uint64_t>(apart));
        divisors.push_back(bits_of(i % 3 == 0 ? -divisor : divisor, type));
      }
    }
    for (const Operation operation :
         {Operation::div_trunc, Operation::div_floor, Operation::mod, Operation::fmod})
      expect_right(stream(), operation, type, {dividends, divisors});
  }
}

/// Down to where the exponentials are subnormal, and beyond; where sines and cosines are nearly 0; and where
/// silu and gelu_tanh would be off by 2.4 and 3.4 units if each of their steps were rounded. Operands are not
/// aligned, which another kernel takes than those of f32, with the same functions.
TEST_P(ElementwiseFunctionsTest, DoublesAndTheTailsOfActivations) {
  Numbers numbers;
  for (int i = -2500; i <= 2500; ++i) {
    numbers.push_back(bits_of(i * 0.017003L));
    numbers.push_back(bits_of(i * 0.31003L));
    numbers.push_back(bits_of(i * 1.57079632679489661923L));
  }
  for (int i = -1000; i <= 1000; ++i) {  // next to 1 and to 0, and the last digits of both
    numbers.push_back(bits_of(1 + i * 0x1p-20L));
    numbers.push_back(bits_of(1 + i * 0x1p-52L));
    numbers.push_back(bits_of(i * 0x1p-40L));
    numbers.push_back(bits_of(std::ldexp(1.3L, i)));
  }
  for (const long double x :
       {0.0L, 1e-310L, 1e-20L, 0.5L, 709.7L, 745.0L, 999999.0L, 1000001.0L, 1e20L, 1e300L, 6.870046499624603L,
        6.536482617504419L, std::numeric_limits<long double>::infinity()}) {
    numbers.push_back(bits_of(x));
    numbers.push_back(bits_of(-x));
  }
  numbers.push_back(bits_of(std::numeric_limits<long double>::quiet_NaN()));
  for (const Operation operation : functions_of_one_number())
    expect_right(stream(), operation, DType::f64, {numbers}, 1);
}

/// Numbers of all sizes, and those at which functions have their limits, each beside each; around 1 too.
TEST_P(ElementwiseFunctionsTest, PairsOfDoubles) {
  std::vector<long double> kinds;
  for (const long double x :
       {0.0L, 4.9406564584124654e-324L, 1e-310L, 2.2250738585072014e-308L, 1e-200L, 0.3L, 0.5L, 1.0L,
        1.0L + 0x1p-52L, 1.5L, 2.0L, 3.0L, 7.25L, 1e3L, 0x1p53L - 1, 0x1p53L + 2, 1e200L,
        1.7976931348623157e308L, std::numeric_limits<long double>::infinity()}) {
    kinds.push_back(x);
    kinds.push_back(-x);
  }
  kinds.push_back(std::numeric_limits<long double>::quiet_NaN());
  Numbers first, second;
  for (const long double a : kinds) {
    for (const long double b : kinds) {
      first.push_back(bits_of(a));
      second.push_back(bits_of(b));
    }
  }
  for (int i = 0; i < 3000; ++i) {
    const long double a = 1 + static_cast<long double>(hash(i, 1) % 1000003) / 1000003,
                      b = hash(i, 2) % 2000 - 1000.0L;
    first.push_back(bits_of(std::ldexp(a, i % 3 == 0 ? 0 : i % 41 - 20)));
    second.push_back(bits_of(b / (1 + i % 7)));
  }
  for (const Operation operation : {Operation::pow, Operation::hypot, Operation::atan2, Operation::fmod,
                                    Operation::mod, Operation::div_trunc, Operation::div_floor})
    expect_right(stream(), operation, DType::f64, {first, second});
}

TEST_P(ElementwiseFunctionsTest, AllPairsOfBytes) {
  Numbers first, second;
  for (std::uint64_t bits = 0; bits < 65536; ++bits) {
    first.push_back(bits & 0xff);
    second.push_back(bits >> 8);
  }
  for (const DType type : {DType::u8, DType::i8}) {
    for (const Operation operation :
         {Operation::div_trunc, Operation::div_floor, Operation::mod, Operation::fmod, Operation::pow})
      expect_right(stream(), operation, type, {first, second});
  }
}

/// Where the operands lie beside the output: in one piece, with a pitch, from an odd element on, repeated.
struct Placing {
  Dims out_strides, first_strides, second_strides;
  std::int64_t misaligned;
};

void expect_right(const Stream& stream, Operation operation, const std::vector<DType>& types, DType common,
                  const Placing& placing) {
  const Dims shape{3, 5, 67};
  SCOPED_TRACE(std::string(name_of(operation)) + " of " + name_of(types.back()));
  std::vector<std::unique_ptr<GuardedBuffer>> buffers;
  std::vector<TensorView> host;
  std::vector<Operand> device;
  for (std::size_t t = 0; t < types.size(); ++t) {
    const Dims& strides = t == 0 ? placing.first_strides : placing.second_strides;
    buffers.push_back(
        std::make_unique<GuardedBuffer>(stream, Role::input, types[t], shape, strides, placing.misaligned));
    std::uint64_t i = 0;
    for_each_element(buffers.back()->host(), [&](const Dims&, std::int64_t offset) {
      const std::uint64_t number = hash(i++, 7 + static_cast<int>(t)) % 23;
      store_bits(element_at(buffers.back()->host(), offset), types[t],
                 reference::convert_bits(number, DType::u64, types[t]));
    });
    buffers.back()->upload();
    host.push_back(buffers.back()->host());
    device.emplace_back(buffers.back()->device());
  }
  const DType result = reference::result_type(operation, common);
  GuardedBuffer out(stream, Role::output, result, shape, placing.out_strides, placing.misaligned);
  elementwise(stream, operation, device, out.device());
  reference::elementwise(operation, host, common, out.host());
  const std::vector<unsigned char> bytes = out.download();
  const TensorView got = out.view_of(bytes);
  for_each_element(out.host(), [&](const Dims& index, std::int64_t) {
    const std::uint64_t is = reference::load_bits(got, index),
                        should = reference::load_bits(out.host(), index);
    EXPECT_TRUE(reference::agrees(operation, common, is, should))
        << describe(is, result) << ", should be " << describe(should, result);
  });
  EXPECT_TRUE(out.check_outside());
}

TEST_P(ElementwiseFunctionsTest, Layouts) {
  const Dims whole{335, 67, 1}, pitched{400, 80, 1}, row{0, 0, 1}, column{5, 1, 0}, middle{67, 0, 1};
  for (const Placing& placing : {Placing{whole, whole, whole, 0}, Placing{pitched, pitched, pitched, 0},
                                 Placing{pitched, pitched, pitched, 3}, Placing{whole, whole, row, 0},
                                 Placing{pitched, column, pitched, 0}, Placing{whole, middle, whole, 5}}) {
    expect_right(stream(), Operation::exp, {DType::f16}, DType::f16, placing);
    expect_right(stream(), Operation::pow, {DType::bf16, DType::bf16}, DType::bf16, placing);
    expect_right(stream(), Operation::atan2, {DType::f32, DType::f32}, DType::f32, placing);
    expect_right(stream(), Operation::fmod, {DType::f64, DType::f64}, DType::f64, placing);
    expect_right(stream(), Operation::div_floor, {DType::i16, DType::i16}, DType::i16, placing);
    expect_right(stream(), Operation::mod, {DType::u8, DType::u8}, DType::u8, placing);
    expect_right(stream(), Operation::pow, {DType::i64, DType::i64}, DType::i64, placing);
    expect_right(stream(), Operation::truediv, {DType::u8, DType::u8}, DType::f32, placing);
    expect_right(stream(), Operation::hypot, {DType::i64, DType::i64}, DType::f32, placing);
    expect_right(stream(), Operation::isclose, {DType::i16, DType::i16}, DType::f32, placing);
    expect_right(stream(), Operation::add, {DType::i32, DType::f32}, DType::f32, placing);
    expect_right(stream(), Operation::where, {DType::bool_, DType::f32, DType::f32}, DType::f32, placing);
    expect_right(stream(), Operation::where, {DType::i64, DType::f32, DType::f32}, DType::f32, placing);
    expect_right(stream(), Operation::logical_and, {DType::f16, DType::f16}, DType::bool_, placing);
    expect_right(stream(), Operation::less, {DType::i8, DType::i8}, DType::i8, placing);
    expect_right(stream(), Operation::sign, {DType::u16}, DType::u16, placing);
  }
}

TEST_P(ElementwiseFunctionsTest, ConstantsBelowZero) {
  constexpr std::int64_t kElements = 101;
  for (const DType type : {DType::i8, DType::i16, DType::i32, DType::i64, DType::f16, DType::bf16}) {
    for (const Operation operation : {Operation::add, Operation::mod, Operation::less}) {
      SCOPED_TRACE(std::string(name_of(operation)) + " in " + name_of(type));
      GuardedBuffer in(stream(), Role::input, type, {kElements}),
          minus_three(stream(), Role::input, type, {1});
      Numbers numbers;
      for (std::int64_t i = 0; i < kElements; ++i)
        numbers.push_back(reference::convert_bits(static_cast<std::uint64_t>(i - 50), DType::i64, type));
      fill(in, numbers);
      fill(minus_three, {reference::convert_bits(static_cast<std::uint64_t>(-3), DType::i64, type)});
      GuardedBuffer out(stream(), Role::output, reference::result_type(operation, type), {kElements});
      elementwise(stream(), operation, {in.device(), -3}, out.device());
      const TensorView repeated(minus_three.host().data(), type, {kElements}, {0});
      reference::elementwise(operation, {in.host(), repeated}, type, out.host());
      EXPECT_TRUE(out.check());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, ElementwiseFunctionsTest, ::testing::ValuesIn(test_devices()),
                         device_test_name);

}  // namespace
}  // namespace relayout::test
