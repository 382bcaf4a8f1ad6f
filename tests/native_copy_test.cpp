// Those of the processor's own copies that differ from small ones: outputs that go past the caches, and
// blocks that are transposed in vector registers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "host/cpu/copy/micro_transpose.hpp"
#include "host/cpu/streaming.hpp"

#include <relayout/relayout.hpp>

namespace relayout::test {
namespace {

constexpr unsigned char kGuard = 0xA5;
constexpr std::int64_t kBand = 192;

std::vector<unsigned char> random_bytes(std::int64_t count) {
  std::vector<unsigned char> bytes(static_cast<std::size_t>(count));
  std::uint64_t state = 1;
  for (unsigned char& byte : bytes) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<unsigned char>(state >> 33);
  }
  return bytes;
}

TEST(NativeTranspose, EveryElementSizeAndSide) {
  const std::vector<std::int64_t> sides{1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 50};
  for (const std::int64_t size : {1, 2, 4, 8, 16}) {
    for (const std::int64_t rows : sides) {
      for (const std::int64_t columns : sides) {
        const std::int64_t in_pitch = rows * size + 5, out_pitch = columns * size + 3;
        const std::vector<unsigned char> in = random_bytes(columns * in_pitch);
        std::vector<unsigned char> expected(static_cast<std::size_t>(2 * kBand + rows * out_pitch), kGuard);
        std::vector<unsigned char> out = expected;
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t j = 0; j < columns; ++j)
            std::memcpy(&expected[static_cast<std::size_t>(kBand + i * out_pitch + j * size)],
                        &in[static_cast<std::size_t>(j * in_pitch + i * size)],
                        static_cast<std::size_t>(size));
        native::transpose_block(size)({reinterpret_cast<const char*>(in.data()), in_pitch},
                                      {reinterpret_cast<char*>(out.data()) + kBand, out_pitch}, rows,
                                      columns);
        ASSERT_EQ(out, expected) << rows << " x " << columns << " elements of " << size << " bytes";
      }
    }
  }
}

/// Lines that lie in no order, and one of them twice.
TEST(NativeTranspose, GatheredLines) {
  const std::vector<std::int64_t> sides{1, 3, 4, 8, 15, 16, 17, 32, 50};
  for (const std::int64_t size : {1, 2, 4, 8, 16}) {
    for (const std::int64_t rows : sides) {
      for (const std::int64_t columns : sides) {
        const std::vector<unsigned char> in = random_bytes((columns * 53 + rows) * size);
        std::vector<std::int64_t> offsets;
        for (std::int64_t j = 0; j < columns; ++j) offsets.push_back(j * 29 % columns * 53);
        offsets.back() = offsets.front();
        const std::int64_t pitch = columns * size + 3;
        std::vector<unsigned char> expected(static_cast<std::size_t>(2 * kBand + rows * pitch), kGuard);
        std::vector<unsigned char> out = expected;
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t j = 0; j < columns; ++j)
            std::memcpy(&expected[static_cast<std::size_t>(kBand + i * pitch + j * size)],
                        &in[static_cast<std::size_t>((offsets[static_cast<std::size_t>(j)] + i) * size)],
                        static_cast<std::size_t>(size));
        native::transpose_gathered(size)({reinterpret_cast<const char*>(in.data()), offsets.data()},
                                         {reinterpret_cast<char*>(out.data()) + kBand, pitch}, rows, columns);
        ASSERT_EQ(out, expected) << rows << " x " << columns << " elements of " << size << " bytes";
      }
    }
  }
}

/// A copy: the input's bytes are random, the output lies between guards.
struct Copy {
  DType in_type, out_type;
  Dims shape;             // of the input
  std::vector<int> axes;  // output axis j is input axis axes[j]
  std::int64_t gap = 0;   // elements between the output's rows
  std::int64_t misaligned = 0;
};

template <class T>
T element(const unsigned char* data, std::int64_t index) {
  T value;
  std::memcpy(&value, data + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}

void check(const Copy& c) {
  const auto in_size = static_cast<std::int64_t>(size_of(c.in_type)),
             out_size = static_cast<std::int64_t>(size_of(c.out_type));
  const TensorView shape_only(nullptr, c.in_type, c.shape);
  Dims out_shape;
  for (const int axis : c.axes) out_shape.push_back(c.shape[static_cast<std::size_t>(axis)]);
  Dims out_strides(out_shape.size());
  std::int64_t pitch = 1;
  for (std::size_t k = out_shape.size(); k-- > 0;) {
    out_strides[k] = pitch;
    pitch = pitch * out_shape[k] + (k + 1 == out_shape.size() ? c.gap : 0);
  }
  std::vector<unsigned char> in_bytes = random_bytes(shape_only.elements() * in_size);
  std::vector<unsigned char> out_bytes(static_cast<std::size_t>(2 * kBand + pitch * out_size), kGuard);
  unsigned char* const first = out_bytes.data() + kBand + c.misaligned * out_size;
  const TensorView in(in_bytes.data(), c.in_type, c.shape);
  const TensorView out(first, c.out_type, out_shape, out_strides);
  permute(Stream(Device::cpu()), in, c.axes, out);

  const TensorView view = in.permuted(c.axes);
  Dims index(out_shape.size(), 0);
  std::int64_t from = 0, to = 0, wrong = 0, written = 0;
  const auto is_right = [&] {
    if (c.in_type == c.out_type)
      return std::memcmp(&in_bytes[static_cast<std::size_t>(from * in_size)], first + to * out_size,
                         static_cast<std::size_t>(out_size)) == 0;
    const float value = element<float>(in_bytes.data(), from);
    const f16 rounded = element<f16>(first, to);
    return value != value ? (rounded.bits & 0x7fffu) > 0x7c00u : rounded.bits == to_f16(value).bits;
  };
  while (true) {
    if (!is_right()) ++wrong;
    std::memset(first + to * out_size, kGuard, static_cast<std::size_t>(out_size));
    ++written;
    std::size_t k = out_shape.size();
    for (; k-- > 0;) {
      from += view.stride(static_cast<int>(k));
      to += out_strides[k];
      if (++index[k] < out_shape[k]) break;
      from -= index[k] * view.stride(static_cast<int>(k));
      to -= index[k] * out_strides[k];
      index[k] = 0;
    }
    if (k > out_shape.size()) break;
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(written, shape_only.elements());
  // Right elements become guards again, and so must be all other bytes.
  EXPECT_EQ(std::count(out_bytes.begin(), out_bytes.end(), kGuard),
            static_cast<std::ptrdiff_t>(out_bytes.size()));
}

/// The same of more than native::kStreamedBytes.
void check_streamed(const Copy& c) {
  const TensorView out(nullptr, c.out_type, c.shape);
  ASSERT_GT(out.elements() * static_cast<std::int64_t>(size_of(c.out_type)), native::kStreamedBytes);
  check(c);
}

/// Rows that are cast straight from the input, and asked for before; the last ones, of each thread, are not.
TEST(NativeTranspose, CastRowsThatLieApart) {
  for (const std::int64_t row : {31, 32, 64, 77, 255, 1023, 1024}) {
    check({DType::f32, DType::f16, {70000 / row + 3, 9, row}, {1, 0, 2}});
    check({DType::f32, DType::f16, {5, 3, 2, row}, {2, 0, 1, 3}, 7, 3});
    check({DType::f32, DType::f16, {2, row}, {0, 1}, 5, 1});
  }
}

/// Planes whose columns run along several axes, one and several in a box, and lines longer than a box.
TEST(NativeTranspose, ShortAxesTogether) {
  check({DType::u8, DType::u8, {8, 63, 224}, {2, 1, 0}});
  check({DType::u8, DType::u8, {3, 5, 7, 101}, {0, 3, 2, 1}, 0, 1});
  check({DType::u8, DType::u8, {4, 3, 5, 4, 2000}, {4, 3, 2, 1, 0}, 2, 3});
  check({DType::i16, DType::i16, {5, 32, 33, 31}, {3, 2, 1, 0}});
  check({DType::f16, DType::f16, {7, 9, 1100}, {2, 1, 0}, 1});
}

/// Lines along several axes of the input as well, whose rows of the output run along several axes, too.
TEST(NativeTranspose, ShortAxesOnBothSides) {
  for (const DType type : {DType::u8, DType::i16, DType::f32, DType::f64}) {
    check({type, type, {5, 6, 8, 7, 4}, {4, 3, 1, 0, 2}});
    check({type, type, {9, 17, 8, 31, 16}, {4, 3, 1, 0, 2}, 0, 1});
    check({type, type, {3, 2, 33, 5, 3, 4, 6}, {6, 2, 5, 4, 3, 1, 0}, 0, 2});
  }
  check({DType::f32, DType::f16, {5, 6, 8, 7, 4}, {4, 3, 1, 0, 2}, 0, 3});
}

TEST(NativeStreaming, AlignedRows) {
  check_streamed({DType::f32, DType::f32, {2048, 2112}, {1, 0}});
  check_streamed({DType::f16, DType::f16, {2048, 4224}, {1, 0}});
  check_streamed({DType::f32, DType::f16, {3, 1024, 2817}, {0, 2, 1}});
}

TEST(NativeStreaming, RowsThatBeginInsideALine) {
  check_streamed({DType::u8, DType::u8, {4099, 4127}, {1, 0}});
  check_streamed({DType::f16, DType::f16, {2903, 3001}, {1, 0}, 0, 1});
  check_streamed({DType::f32, DType::f32, {2053, 2099}, {1, 0}, 3, 1});
  check_streamed({DType::f64, DType::f64, {1409, 1511}, {1, 0}});
  check_streamed({DType::f32, DType::f16, {2999, 2903}, {1, 0}, 1, 3});
}

/// Rows that are a line longer than a box at most, so that one box has them whole and the next one their
/// ends.
TEST(NativeStreaming, RowsThatEndJustBehindABox) {
  check_streamed({DType::f32, DType::f32, {136, 32768}, {1, 0}});
  check_streamed({DType::f32, DType::f32, {144, 32768}, {1, 0}, 0, 1});
  check_streamed({DType::f32, DType::f32, {129, 37, 900}, {2, 1, 0}, 1});
  check_streamed({DType::u8, DType::u8, {520, 40000}, {1, 0}});
  check_streamed({DType::f16, DType::f16, {264, 32768}, {1, 0}, 3});
  check_streamed({DType::f64, DType::f64, {70, 32768}, {1, 0}});
  check_streamed({DType::f32, DType::f16, {264, 32768}, {1, 0}});
  check_streamed({DType::f32, DType::f32, {3, 136, 11000}, {0, 2, 1}, 0, 3});
}

TEST(NativeStreaming, ManyAxes) {
  check_streamed({DType::f32, DType::f32, {21, 36, 21, 11, 25}, {4, 3, 2, 1, 0}});
  check_streamed({DType::f32, DType::f32, {12, 12, 25, 12, 9, 12}, {4, 1, 0, 3, 2, 5}});
  check_streamed({DType::f32, DType::f32, {11, 11, 24, 11, 4, 36}, {1, 5, 4, 0, 3, 2}, 7});
  check_streamed({DType::u8, DType::u8, {225, 224, 3, 113}, {0, 3, 1, 2}});
}

TEST(NativeStreaming, LongRows) {
  check_streamed({DType::f32, DType::f32, {7, 31, 20011}, {1, 0, 2}, 5, 1});
  check_streamed({DType::f32, DType::f16, {9000001}, {0}, 0, 1});
}

/// The result has the same elements as the cast and the permutation give.
TEST(NativeStreaming, Img2col) {
  const std::int64_t batch = 2, channels = 100, length = 11003, taps = 4;
  const std::vector<unsigned char> in_bytes = random_bytes(batch * channels * length * 4);
  std::vector<unsigned char> out_bytes(
      static_cast<std::size_t>(2 * kBand + batch * length * taps * channels * 2), kGuard);
  ASSERT_GT(batch * length * taps * channels * 2, native::kStreamedBytes);
  Window window;
  window.taps = taps;
  PadSpec pad;
  pad.left = taps - 1;
  const TensorView in(const_cast<unsigned char*>(in_bytes.data()), DType::f32, {batch, channels, length});
  unsigned char* const first = out_bytes.data() + kBand;
  img2col(Stream(Device::cpu()), in, window, pad,
          TensorView(first, DType::f16, {batch * length, taps * channels}));
  std::int64_t wrong = 0;
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t t = 0; t < length; ++t)
      for (std::int64_t k = 0; k < taps; ++k)
        for (std::int64_t c = 0; c < channels; ++c) {
          const std::int64_t sample = t + k - (taps - 1);
          const float value =
              sample < 0 ? 0.0f : element<float>(in_bytes.data(), (b * channels + c) * length + sample);
          const f16 rounded = element<f16>(first, ((b * length + t) * taps + k) * channels + c);
          const bool right =
              value != value ? (rounded.bits & 0x7fffu) > 0x7c00u : rounded.bits == to_f16(value).bits;
          wrong += right ? 0 : 1;
        }
  EXPECT_EQ(wrong, 0);
  for (std::int64_t i = 0; i < kBand; ++i) {
    ASSERT_EQ(out_bytes[static_cast<std::size_t>(i)], kGuard);
    ASSERT_EQ(out_bytes[out_bytes.size() - 1 - static_cast<std::size_t>(i)], kGuard);
  }
}

}  // namespace
}  // namespace relayout::test
