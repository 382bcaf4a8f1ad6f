// Tiles moved between strided views and dense buffers: what padding means for each type, and kernels that
// walk over all tiles of a view, on every back end.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "host/reference/convert.hpp"
#include "host/reference/scalar.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/element_types.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/fill.hpp"
#include "tests/support/guarded_buffer.hpp"
#include "tests/tile_transfer/tile_transfer_kernels.hpp"

namespace relayout::test {
namespace {

const std::vector<TilePadding> kPaddings{TilePadding::undetermined,      TilePadding::zero,
                                         TilePadding::negative_zero,     TilePadding::nan,
                                         TilePadding::positive_infinity, TilePadding::negative_infinity};

static_assert(padding_bits(DType::f16, TilePadding::negative_infinity) == 0xfc00);
static_assert(has_padding(DType::e5m2, TilePadding::nan) && !has_padding(DType::u8, TilePadding::nan));

/// The element that a padding stands for, by the oracle of conversions; false where the type has none.
bool padding_by_oracle(DType type, TilePadding padding, std::uint64_t& bits) {
  bits = 0;
  if (padding == TilePadding::undetermined || padding == TilePadding::zero) return true;
  if (!reference::has_fractions(type)) return false;
  const reference::FloatLayout layout = reference::float_layout(type);
  constexpr long double kInfinity = std::numeric_limits<long double>::infinity();
  switch (padding) {
    case TilePadding::negative_zero:
      bits = reference::bits_of_float(layout, -0.0L);
      return true;
    case TilePadding::nan:
      bits = reference::bits_of_float(layout, std::numeric_limits<long double>::quiet_NaN());
      return true;
    default:
      if (!layout.has_infinity) return false;
      bits = reference::bits_of_float(layout,
                                      padding == TilePadding::positive_infinity ? kInfinity : -kInfinity);
      return true;
  }
}

TEST(TilePaddingTest, EveryTypeAndMode) {
  std::vector<DType> types = kCastableTypes;
  types.push_back(DType::b128);
  for (const DType type : types) {
    for (const TilePadding padding : kPaddings) {
      SCOPED_TRACE(std::string(name_of(type)) + " " + name_of(padding));
      std::uint64_t bits = 0;
      const bool legal = padding_by_oracle(type, padding, bits);
      EXPECT_EQ(has_padding(type, padding), legal);
      EXPECT_EQ(padding_bits(type, padding), bits);
      if (legal) {
        EXPECT_NO_THROW(check_padding(type, padding));
      } else {
        expect_error(ErrorCode::padding_mode, {name_of(type), name_of(padding)},
                     [&] { check_padding(type, padding); });
      }
    }
  }
}

/// As a user calls it on the host: the type of the padding follows from T.
TEST(TileTransferTest, OneTileOnTheHost) {
  const std::vector<double> rows{1, 2, 3, 0, 4, 5, 6, 0};
  const TileSpace<2> space = tile_space<2>(TensorView(rows.data(), DType::f64, {2, 3}, {4, 1}), {2, 2});
  double tile[4] = {9, 9, 9, 9};
  load_tile(space, {0, 1}, rows.data(), tile, TilePadding::negative_infinity);
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(std::vector<double>(tile, tile + 4), (std::vector<double>{3, -infinity, 6, -infinity}));
  load_tile(space, {0, -1}, rows.data(), tile, TilePadding::undetermined);
  EXPECT_EQ(std::vector<double>(tile, tile + 4), (std::vector<double>{3, -infinity, 6, -infinity}));
  std::vector<double> out(8, -1);
  store_tile(space, {0, 1}, tile, out.data());
  EXPECT_EQ(out, (std::vector<double>{-1, -1, 3, -1, -1, -1, 6, -1}));
  store_tile(space, {1, 0}, tile, out.data());
  EXPECT_EQ(out, (std::vector<double>{-1, -1, 3, -1, -1, -1, 6, -1}));
}

TEST(TileTransferTest, WithoutAxes) {
  const float value = 3;
  float tile = 0, result = 0;
  const TileSpace<0> space = tile_space<0>(TensorView(&value, DType::f32, Dims{}), {});
  load_tile(space, {}, &value, &tile, TilePadding::nan);
  store_tile(space, {}, &tile, &result);
  EXPECT_EQ(result, 3);
}

TileWalkLauncher launcher_of([[maybe_unused]] const Device& device) {
#ifdef RELAYOUT_TEST_EMULATOR
  if (device.kind() == DeviceKind::emulated) return emulator::launch_tile_walk;
#endif
#ifdef RELAYOUT_TEST_CUDA
  return cuda::launch_tile_walk;
#elif defined(RELAYOUT_TEST_HIP)
  return hip::launch_tile_walk;
#else
  throw Error(ErrorCode::not_built, "no back end with kernels");
#endif
}

/// Two views in tiles of equal extents; no strides: contiguous.
struct Walk {
  DType dtype;
  Dims in_shape, in_strides, out_shape, out_strides, tile, shift;
  int threads;
};

std::ostream& operator<<(std::ostream& out, const Walk& w) {
  return out << name_of(w.dtype) << " " << to_string(w.in_shape) << " to " << to_string(w.out_shape)
             << ", tiles " << to_string(w.tile) << " shifted by " << to_string(w.shift) << ", " << w.threads
             << " threads";
}

class TileKernels : public DeviceTest {
 protected:
  void check(const Walk& w, TilePadding padding) const {
    SCOPED_TRACE(::testing::Message() << w << ", padding " << name_of(padding));
    GuardedBuffer in(stream(), Role::input, w.dtype, w.in_shape, w.in_strides);
    GuardedBuffer out(stream(), Role::output, w.dtype, w.out_shape, w.out_strides);
    fill_bits(in.host(), 17);
    in.upload();
    TileWalkCase c;
    c.in = in.device();
    c.out = out.device();
    c.tile = w.tile;
    c.shift = w.shift;
    c.padding = padding;
    c.threads = w.threads;
    launcher_of(device())({device().index(), stream().native()}, c);

    const std::vector<unsigned char> bytes = out.download();
    const TensorView actual = out.view_of(bytes);
    reference::for_each_index(w.out_shape, [&](const Dims& to) {
      Dims from = to;
      bool inside = true;
      for (std::size_t k = 0; k < from.size(); ++k) {
        from[k] += w.shift[k] * w.tile[k];
        inside = inside && from[k] >= 0 && from[k] < w.in_shape[k];
      }
      // What is undetermined is compared with itself.
      reference::store_bits(out.host(), to,
                            inside                                 ? reference::load_bits(in.host(), from)
                            : padding == TilePadding::undetermined ? reference::load_bits(actual, to)
                                                                   : padding_bits(w.dtype, padding));
    });
    EXPECT_TRUE(out.check(NanRule::exact));
    EXPECT_TRUE(in.check());
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TileKernels);
INSTANTIATE_TEST_SUITE_P(Devices, TileKernels, ::testing::ValuesIn(kernel_devices_in_any_order()),
                         device_test_name);

/// From one strided view to another of its shape, the tiles' ends off the view's.
TEST_P(TileKernels, MoveAView) {
  check({DType::f32, {37, 29}, {1, 41}, {37, 29}, {31, 1}, {8, 16}, {0, 0}, 64}, TilePadding::undetermined);
  check({DType::f16, {48, 32}, {}, {48, 32}, {1, 48}, {16, 16}, {0, 0}, 96}, TilePadding::undetermined);
  check({DType::u8, {5, 13, 11}, {-143, 11, 1}, {5, 13, 11}, {1, 60, 5}, {2, 3, 7}, {0, 0, 0}, 32},
        TilePadding::zero);
  check({DType::f64, {301}, {0}, {301}, {3}, {19}, {0}, 7}, TilePadding::zero);
}

/// The output is larger than the input on all sides: tiles with negative indices, cut ones, and ones past the
/// end.
TEST_P(TileKernels, EveryPadding) {
  for (const DType type : {DType::u8, DType::i16, DType::f16, DType::bf16, DType::f32, DType::tf32,
                           DType::f64, DType::e4m3fn, DType::e5m2}) {
    for (const TilePadding padding : kPaddings) {
      const Walk two{type, {13, 7}, {1, 17}, {30, 25}, {26, 1}, {5, 4}, {-1, -2}, 32};
      const Walk three{type, {3, 5, 4}, {}, {6, 9, 9}, {}, {2, 3, 3}, {-1, -1, -1}, 64};
      if (has_padding(type, padding)) {
        check(two, padding);
        check(three, padding);
      } else {
        EXPECT_THROW(check(two, padding), Error);
      }
    }
  }
}

TEST_P(TileKernels, NothingInsideAndNothingAtAll) {
  check({DType::f32, {4, 4}, {}, {8, 8}, {}, {4, 4}, {7, -9}, 64}, TilePadding::nan);
  check({DType::f32, {0, 4}, {}, {5, 6}, {}, {4, 4}, {0, 0}, 64}, TilePadding::negative_zero);
  check({DType::f32, {5, 6}, {}, {0, 4}, {}, {4, 4}, {0, 0}, 64}, TilePadding::zero);
}

}  // namespace
}  // namespace relayout::test
