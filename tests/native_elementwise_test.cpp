// Those of the processor's own element-wise operations that differ from small ones: pieces of rows, threads,
// operands that repeat or lie across the output, outputs that go past the caches.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "core/operation_kind.hpp"
#include "host/cpu/elementwise/elementwise_rows.hpp"
#include "host/cpu/parallel.hpp"
#include "host/cpu/streaming.hpp"
#include "host/reference/accuracy.hpp"
#include "host/reference/arithmetic.hpp"
#include "host/reference/convert.hpp"
#include "tests/support/elements.hpp"

#include <relayout/relayout.hpp>

namespace relayout::test {
namespace {

constexpr unsigned char kGuard = 0xA5;
/// Room before and after an operand's elements.
constexpr std::int64_t kBand = 192;
constexpr int kNumbers = 41;

/// Whole numbers from -20 to 20, which every signed type holds, as the differences of two of them.
std::vector<std::uint64_t> numbers(DType type) {
  std::vector<std::uint64_t> bits;
  for (std::int64_t i = 0; i < kNumbers; ++i)
    bits.push_back(reference::convert_bits(static_cast<std::uint64_t>(i - kNumbers / 2), DType::i64, type));
  return bits;
}

/// A tensor between guards, `misaligned` elements beyond the boundary of a line.
struct Tensor {
  std::vector<unsigned char> bytes;
  TensorView view;

  Tensor(DType type, const Dims& shape, const Dims& strides, std::int64_t misaligned, std::uint64_t seed) {
    const auto size = static_cast<std::int64_t>(size_of(type));
    std::int64_t first = 0, last = 0;
    for (std::size_t k = 0; k < shape.size(); ++k)
      (strides[k] < 0 ? first : last) += (shape[k] - 1) * strides[k];
    bytes.assign(static_cast<std::size_t>(2 * kBand + (last - first + 1) * size), kGuard);
    unsigned char* const start = bytes.data() + 64 + native::bytes_to_line(bytes.data() + 64);
    view = TensorView(start + (misaligned - first) * size, type, shape, strides);
    if (seed == 0) return;
    const std::vector<std::uint64_t> values = numbers(type);
    std::uint64_t state = seed;
    for_each_element(view, [&](const Dims&, std::int64_t offset) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      store_bits(element_at(view, offset), type, values[(state >> 33) % kNumbers]);
    });
  }
};

Dims packed(const Dims& shape) {
  Dims strides(shape.size());
  std::int64_t pitch = 1;
  for (std::size_t k = shape.size(); k-- > 0; pitch *= shape[k]) strides[k] = pitch;
  return strides;
}

long double number_at(const TensorView& view, std::int64_t offset) {
  const std::uint64_t bits = load_bits(element_at(view, offset), view.dtype());
  return is_floating(view.dtype()) ? value_of(bits, view.dtype())
                                   : reference::exact_value(view.dtype(), bits);
}

struct Difference {
  DType type;
  Dims shape, a, b;  // strides
  Dims out = {};     // those of the output; packed if there are none
  std::int64_t misaligned = 0;
  bool in_place = false;  // out is a
  DType out_type = DType::b128;
};

/// out = a - b, and nothing else is written.
void check(Difference c) {
  SCOPED_TRACE(name_of(c.type) + to_string(c.shape) + " of strides " + to_string(c.a) + " and " +
               to_string(c.b));
  if (c.out_type == DType::b128) c.out_type = c.type;
  if (c.out.empty()) c.out = packed(c.shape);
  const Tensor a(c.type, c.shape, c.a, c.misaligned, 1), b(c.type, c.shape, c.b, 0, 2);
  Tensor out(c.out_type, c.shape, c.out, c.misaligned, c.in_place ? 1 : 0);
  ElementwiseOptions options;
  options.cast_out = true;
  elementwise(Stream(Device::cpu()), Operation::sub, {c.in_place ? out.view : a.view, b.view}, out.view,
              options);
  std::int64_t wrong = 0;
  for_each_element(out.view, [&](const Dims& index, std::int64_t offset) {
    const long double expected =
        number_at(a.view, offset_of(a.view, index)) - number_at(b.view, offset_of(b.view, index));
    wrong += number_at(out.view, offset) != expected ? 1 : 0;
    const std::uint64_t guard = ~std::uint64_t{0} / 255 * kGuard;
    store_bits(element_at(out.view, offset), c.out_type, guard);
  });
  EXPECT_EQ(wrong, 0);
  // Right elements become guards again, and so must be all other bytes.
  EXPECT_EQ(out.bytes, std::vector<unsigned char>(out.bytes.size(), kGuard));
}

constexpr DType kTypes[] = {DType::i8,  DType::i16,  DType::i32, DType::i64,
                            DType::f16, DType::bf16, DType::f32, DType::f64};

TEST(NativeElementwise, PiecesAndThreads) {
  for (const DType type : kTypes) {
    for (const std::int64_t count : {1, 511, 513, 1023, 1024, 1025, 2047, 4097, 8193})
      check({type, {count}, {1}, {1}});
    const std::int64_t many = native::kSerialElements + 77;
    check({type, {many}, {1}, {1}});
    check({type, {many}, {1}, {1}, {}, 1, true});
    check({type, {70, 1000}, {1000, 1}, {1024, 1}, {1011, 1}});
    check({type, {70, 1000}, {2000, 2}, {0, 1}, {3000, 3}});
    // The second of two threads begins inside a row: its first piece is shorter than the next.
    check({type, {35, 3, 701}, {2130, 710, 1}, {1, 0, 0}});
  }
}

TEST(NativeElementwise, RepeatedOperands) {
  for (const DType type : {DType::i8, DType::f16, DType::f32, DType::f64}) {
    for (const std::int64_t row : {2, 3, 7, 64, 255, 257, 511, 512, 513, 1023, 1024, 1025, 1500}) {
      const std::int64_t rows = 5000 / row + 2;
      check({type, {rows, row}, {row, 1}, {0, 1}});
      check({type, {rows, row}, {1, 0}, {row, 1}});
      check({type, {3, rows, row}, {rows * row, row, 1}, {0, 1, 0}});
      check({type, {3, rows, row}, {row, 0, 1}, {0, 0, 0}, {}, 0, false, DType::f32});
    }
    check({type, {33000, 3}, {3, 1}, {0, 1}});
    check({type, {700, 100}, {0, 1}, {1, 0}});
    // Periods of several pieces: kept, unless their rows are as long as pieces.
    check({type, {17, 90, 49}, {4410, 49, 1}, {0, 1, 0}});
    check({type, {19, 1500}, {1500, 1}, {0, 2}});
    check({type, {19, 1500}, {0, -1}, {1500, 1}});
    check({type, {7, 1500}, {0, 3}, {1500, 1}});
  }
}

TEST(NativeElementwise, OperandsAcrossTheOutput) {
  for (const DType type : {DType::i8, DType::f16, DType::f32, DType::f64}) {
    check({type, {300, 200}, {200, 1}, {1, 300}});
    check({type, {331, 257}, {1, 331}, {2, 701}, {}, 1});
    check({type, {331, 257}, {257, 1}, {-1, 331}, {260, 1}, 1, true});
    check({type, {3, 70, 90}, {6300, 90, 1}, {6300, 1, 70}});  // channels first and last
    check({type, {3, 70, 90}, {1, 270, 3}, {0, 1, 70}});
    check({type, {9, 8, 7, 50}, {1, 9, 72, 504}, {2800, 350, 50, 1}});
    check({type, {8, 8}, {1, 8}, {8, 1}});
  }
}

TEST(NativeElementwise, OutputsAcrossTheOperands) {
  for (const DType type : {DType::i8, DType::f16, DType::f32, DType::f64}) {
    // Rows of 3, 5 and 7 elements with gaps, next to the operands' and across them.
    check({type, {90, 31, 3}, {93, 3, 1}, {93, 3, 1}, {160, 5, 1}, 1});
    check({type, {70, 5, 40}, {200, 40, 1}, {0, 40, 1}, {1, 71, 360}, 3});
    check({type, {13, 7, 255}, {1785, 255, 1}, {255, 0, 1}, {1800, 1, 7}, 1, true});
    check({type, {13, 7, 255}, {-1785, 255, -1}, {255, 0, 1}, {1800, -1, 7}, 1});
    // One plane for all boxes, and the last box a part of one.
    check({type, {511, 130}, {130, 1}, {131, 1}, {1, 511}, 1});
    check({type, {511, 130}, {130, 1}, {131, 1}, {1, 512}, 0, true});
    // Rows whose neighbours lie far apart, in the order of either operand.
    check({type, {33, 32, 16, 8}, {4096, 128, 8, 1}, {4200, 130, 8, 1}, {8, 4224, 264, 1}, 1});
    check({type, {90, 13, 9, 63}, {1, 90, 1170, 10530}, {0, 63, 819, 1}, {63, 51030, 5670, 1}, 2});
  }
  for (const DType type : {DType::i8, DType::i32, DType::i64, DType::f64})
    check({type,
           {9, 13, 4, 13, 31},
           {62868, 4836, 1209, 93, 1},
           {20956, 1612, 403, 31, 1},
           {1, 14508, 9, 36, 468},
           0,
           false,
           DType::f16});
}

TEST(NativeElementwise, ShortAndStridedRows) {
  for (const DType type : {DType::i8, DType::f16, DType::f32, DType::f64}) {
    check({type, {16, 300, 4}, {1200, 4, 1}, {4, 64, 1}});
    check({type, {103, 10, 3}, {30, 3, 1}, {3, 309, 1}, {}, 1});
    check({type, {103, 10, 3}, {3, 309, 1}, {-40, 4, -1}, {70, 7, 1}, 1});
    check({type, {31, 7, 9, 8}, {504, 72, 1, 9}, {504, 72, 8, 1}});
    check({type, {90, 77}, {268, 2}, {77, 1}, {}, 3});
    check({type, {9001}, {-1}, {3}});
    check({type, {9001}, {2}, {-1}, {2}, 1, true});
    check({type, {90, 7}, {9, 1}, {7, 1}, {9, 1}, 1, true});
    check({type, {2, 33, 1000, 3}, {99000, 3, 99, 1}, {3, 6000, 6, 1}});
  }
}

/// Rows that are gathered and scattered many at a time, and pieces that end inside of one.
TEST(NativeElementwise, ShortRowsAtOnePitch) {
  for (const DType type : {DType::i8, DType::f16, DType::f32, DType::f64}) {
    for (const std::int64_t row : {1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 127, 128}) {
      const std::int64_t pitch = row + 3, plane = 41 * pitch;
      check({type, {3, 40, row}, {plane, pitch, 1}, {row, 0, 1}, {plane, pitch, 1}, 1});  // one row for many
      check({type, {3, 40, row}, {40, 1, 0}, {-plane, -pitch, 1}, {}, 1});  // one number for a row
      check(
          {type, {3, 40, row}, {2 * plane, 2 * pitch, 2}, {plane, pitch, -1}, {2 * plane, 2 * pitch, 2}, 3});
    }
  }
}

TEST(NativeElementwise, PastTheCaches) {
  const std::int64_t bytes = native::kStreamedBytes;
  check({DType::f32, {bytes / 4 + 1021}, {1}, {1}});
  check({DType::f32, {bytes / 4 + 1021}, {1}, {1}, {}, 3});
  check({DType::f32, {bytes / 4 + 1021}, {1}, {1}, {}, 1, true});
  check({DType::f64, {bytes / 8 / 1500 + 2, 1500}, {1500, 1}, {0, 1}, {1507, 1}, 1});
  check({DType::f16, {bytes / 4 + 5}, {1}, {2}, {}, 5, false, DType::f32});
  // The longest pieces: 8-byte numbers that become single bytes, up to the end of a line that began before.
  check({DType::f64, {bytes / 8000 + 1, 8000}, {0, 1}, {0, 1}, {}, 1, false, DType::i8});
  check({DType::f32, {3, 700, 2003}, {1402100, 2003, 1}, {1402100, 1, 700}});
}

TEST(NativeElementwise, ChainsOfSeveralPieces) {
  const std::int64_t count = native::kSerialElements + 1000;
  const Tensor a(DType::f16, {count}, {1}, 0, 1), b(DType::f16, {count}, {1}, 0, 2),
      c(DType::f16, {count}, {0}, 0, 3);
  Tensor out(DType::f16, {count}, {1}, 0, 0);
  chain(Stream(Device::cpu()), {Operation::mul, Operation::clip, Operation::sub, Operation::abs},
        {a.view, b.view, -30, 300, c.view}, out.view);
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const long double product = number_at(a.view, i) * number_at(b.view, i);
    const long double limited = std::fmin(std::fmax(product, -30.0L), 300.0L);
    wrong += number_at(out.view, i) != std::fabs(limited - number_at(c.view, 0)) ? 1 : 0;
  }
  EXPECT_EQ(wrong, 0);
}

/// Bools of 8-byte elements, gathered and not: a piece of bools has more elements than the buffers hold of
/// these.
TEST(NativeElementwise, BoolsOfLongElements) {
  constexpr std::int64_t kCount = 9001;
  for (const std::int64_t step : {1, 2}) {
    const Tensor a(DType::f64, {kCount}, {step}, 0, 1), b(DType::i64, {kCount}, {1}, 0, 2);
    Tensor out(DType::bool_, {kCount}, {1}, 0, 0);
    logical_and(Stream(Device::cpu()), a.view, b.view, out.view);
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < kCount; ++i) {
      const bool both = number_at(a.view, i * step) != 0 && number_at(b.view, i) != 0;
      wrong += load_bits(element_at(out.view, i), DType::bool_) != (both ? 1u : 0u) ? 1 : 0;
    }
    EXPECT_EQ(wrong, 0);
  }
}

/// Rows that one number shifts, which are told from others: by none, by all bits but one, by all and more.
TEST(NativeElementwise, ShiftsByOneNumber) {
  constexpr std::int64_t kCount = 1301;
  const Stream stream(Device::cpu());
  for (const DType type :
       {DType::u8, DType::i8, DType::u16, DType::i16, DType::u32, DType::i32, DType::u64, DType::i64}) {
    const auto bits = static_cast<std::int64_t>(8 * size_of(type));
    for (const Operation operation : {Operation::shift_left, Operation::shift_right}) {
      for (const std::int64_t by :
           {std::int64_t{0}, std::int64_t{3}, bits - 1, bits, bits + 5, std::int64_t{-1}}) {
        const Tensor a(type, {kCount}, {1}, 0, 1);
        Tensor shift(type, {kCount}, {1}, 0, 0), out(type, {kCount}, {1}, 0, 0),
            expected(type, {kCount}, {1}, 0, 0);
        for (std::int64_t i = 0; i < kCount; ++i)
          store_bits(element_at(shift.view, i), type, static_cast<std::uint64_t>(by));
        for (const std::int64_t other : {by, std::int64_t{2}}) {  // the same everywhere, and but for one
          store_bits(element_at(shift.view, 700), type, static_cast<std::uint64_t>(other));
          elementwise(stream, operation, {a.view, shift.view}, out.view);
          reference::elementwise(operation, {a.view, shift.view}, type, expected.view);
          std::int64_t wrong = 0;
          for (std::int64_t i = 0; i < kCount; ++i)
            wrong += load_bits(element_at(out.view, i), type) != load_bits(element_at(expected.view, i), type)
                         ? 1
                         : 0;
          EXPECT_EQ(wrong, 0) << name_of(operation) << " of " << name_of(type) << " by " << by;
        }
      }
    }
  }
}

/// Outputs in one piece, with gaps between rows and between elements, in parts of two threads, past the
/// caches.
TEST(NativeElementwise, OneResultForAllElements) {
  const Stream stream(Device::cpu());
  const std::int64_t rows = native::kSerialElements / 300 + 5;
  const auto check_fill = [&](DType type, const Dims& shape, const Dims& strides) {
    SCOPED_TRACE(name_of(type) + to_string(shape) + " of strides " + to_string(strides));
    Tensor out(type, shape, strides, 3, 0);
    const std::uint64_t seven = reference::convert_bits(7, DType::u64, type),
                        guard = ~std::uint64_t{0} / 255 * kGuard;
    fill(stream, 7, out.view);
    std::int64_t wrong = 0;
    for_each_element(out.view, [&](const Dims&, std::int64_t offset) {
      wrong += load_bits(element_at(out.view, offset), type) != seven ? 1 : 0;
      store_bits(element_at(out.view, offset), type, guard);
    });
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(out.bytes, std::vector<unsigned char>(out.bytes.size(), kGuard));
  };
  for (const DType type : {DType::u8, DType::f16, DType::f32, DType::f64}) {
    check_fill(type, {1}, {1});
    check_fill(type, {5003}, {1});
    check_fill(type, {rows, 300}, {307, 1});
    check_fill(type, {20000, 7}, {9, 1});
    check_fill(type, {31, 7, 9}, {200, 21, 2});
    check_fill(type, {9001}, {-3});
    check_fill(type, {native::kStreamedBytes / static_cast<std::int64_t>(size_of(type)) + 999}, {1});
  }
  const Tensor in(DType::i32, {40, 300}, {1, 40}, 0, 1);
  Tensor out(DType::bool_, {40, 300}, {301, 1}, 0, 0);
  isfinite(stream, in.view, out.view);
  for_each_element(out.view, [&](const Dims&, std::int64_t offset) {
    EXPECT_EQ(load_bits(element_at(out.view, offset), DType::bool_), 1u);
  });
}

/// Where the C library has no vectors.
TEST(NativeElementwise, FunctionsOneByOne) {
  constexpr std::int64_t kCount = 301;
  std::vector<float> numbers(kCount), results(kCount);
  for (std::size_t i = 0; i < kCount; ++i) numbers[i] = (static_cast<float>(i) - 150) * 0.37f;
  std::vector<float> expected(kCount);
  const TensorView in(numbers.data(), DType::f32, {kCount}), out(expected.data(), DType::f32, {kCount});
  const auto bits = [](float number) { return std::uint64_t{detail::bit_cast<std::uint32_t>(number)}; };
  for (int number = 0; number < kOperations; ++number) {
    const auto operation = static_cast<Operation>(number);
    if (kind_of(operation) != OperationKind::floating || operands_of(operation) != 1) continue;
    const native::ElementwiseRow row = native::function_row(operation, ComputeClass::f32);
    if (row == nullptr) continue;  // it calls no library
    row(numbers.data(), nullptr, nullptr, results.data(), kCount, {});
    reference::elementwise(operation, {in}, DType::f32, out);
    for (std::size_t i = 0; i < kCount; ++i)
      EXPECT_TRUE(reference::agrees(operation, DType::f32, bits(results[i]), bits(expected[i])))
          << name_of(operation) << "(" << numbers[i] << ") is " << results[i] << ", not " << expected[i];
  }
}

/// These functions of x are x, where its square is less than half a unit.
TEST(NativeElementwise, FunctionsNextToZero) {
  std::uint16_t in[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x0003, 0x83ff}, out[std::size(in)];
  const Dims shape = {std::size(in)};
  for (const Operation operation : {Operation::expm1, Operation::log1p, Operation::sinh, Operation::tanh,
                                    Operation::sin, Operation::tan}) {
    elementwise(Stream(Device::cpu()), operation, {TensorView(in, DType::f16, shape)},
                TensorView(out, DType::f16, shape));
    EXPECT_TRUE(std::equal(in, std::end(in), out)) << name_of(operation);
  }
}

/// The last elements of a row are computed as the others are.
TEST(NativeElementwise, FunctionsDoNotDependOnThePlace) {
  constexpr std::int64_t kCount = 83;
  const Stream stream(Device::cpu());
  for (const DType type : {DType::f16, DType::bf16, DType::f32}) {
    std::vector<std::uint64_t> bits;
    for (std::int64_t i = 0; i < kCount; ++i)
      bits.push_back(reference::to_float_bits((i - kCount / 2) * 0.37L, type, Rounding::nearest_even, false));
    for (int number = 0; number < kOperations; ++number) {
      const auto operation = static_cast<Operation>(number);
      if (kind_of(operation) != OperationKind::floating || operands_of(operation) != 1) continue;
      Tensor in(type, {kCount}, {1}, 0, 0), whole(type, {kCount}, {1}, 0, 0),
          apart(type, {kCount}, {1}, 0, 0);
      for (std::int64_t i = 0; i < kCount; ++i)
        store_bits(element_at(in.view, i), type, bits[static_cast<std::size_t>(i)]);
      elementwise(stream, operation, {in.view}, whole.view);
      for (std::int64_t i = 0; i < kCount; ++i)
        elementwise(stream, operation, {TensorView(element_at(in.view, i), type, {1})},
                    TensorView(element_at(apart.view, i), type, {1}));
      std::int64_t differ = 0;  // but for NaNs, whose bits are not told
      for (std::int64_t i = 0; i < kCount; ++i) {
        const long double one = number_at(whole.view, i), other = number_at(apart.view, i);
        differ += one == other || (std::isnan(one) && std::isnan(other)) ? 0 : 1;
      }
      EXPECT_EQ(differ, 0) << name_of(operation) << " of " << name_of(type);
    }
  }
}

}  // namespace
}  // namespace relayout::test
