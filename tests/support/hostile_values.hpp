// Extents, strides, pads and taps near 2^31, 2^32 and 2^63, and views made of them. A view whose bytes are
// few lies in memory of exactly its size; any other has a null pointer, and whoever touches it falls.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <relayout/copy_plan.hpp>
#include <relayout/device.hpp>
#include <relayout/error.hpp>
#include <relayout/stream.hpp>
#include <relayout/tensor_view.hpp>

#include "tests/support/random.hpp"

namespace relayout::test {

/// A view, and the memory that it lies in, if any.
struct HostileTensor {
  TensorView view;
  std::shared_ptr<std::vector<std::uint64_t>> memory;

  /// Whether it may be read and written.
  bool is_real() const { return view.elements() == 0 || memory != nullptr; }
  /// The same view over a copy of the memory.
  HostileTensor twin() const {
    if (memory == nullptr) return *this;
    HostileTensor copy;
    copy.memory = std::make_shared<std::vector<std::uint64_t>>(*memory);
    const auto offset = static_cast<char*>(view.data()) - reinterpret_cast<char*>(memory->data());
    copy.view = TensorView(reinterpret_cast<char*>(copy.memory->data()) + offset, view.dtype(), view.shape(),
                           view.strides());
    return copy;
  }
};

class HostileValues {
 public:
  explicit HostileValues(std::uint64_t seed) : random_(seed) {}

  Random& random() { return random_; }
  bool chance(double probability) { return random_.chance(probability); }

  /// Any number that breaks arithmetic.
  std::int64_t any() {
    constexpr std::int64_t k31 = std::int64_t{1} << 31, k32 = k31 * 2, k62 = k31 * k31,
                           kMax = std::numeric_limits<std::int64_t>::max();
    static const std::vector<std::int64_t> numbers{
        0,        1,   2,       3,       7,        16,      k31 - 1,  k31,   k31 + 1,
        k32 - 1,  k32, k32 + 1, k62 - 1, k62,      k62 + 1, kMax - 1, kMax,  kMax / 3,
        kMax / 2, -1,  -2,      -k31,    -k32 - 1, -k62,    -k62 - 1, -kMax, -kMax - 1};
    return random_.pick(numbers);
  }
  /// Mostly a small number, at least `least`.
  std::int64_t small_or(double hostile, std::int64_t least) {
    return chance(hostile) ? any() : random_.integer(least, 5);
  }
  /// Extents, most of them small: their product then often fits.
  Dims shape(int rank) {
    Dims extents;
    for (int axis = 0; axis < rank; ++axis) extents.push_back(small_or(0.15, chance(0.1) ? 0 : 1));
    return extents;
  }

  /// Any strides: many of them as far apart as the bytes of the view let them be.
  HostileTensor input(DType type, const Dims& shape) {
    Dims strides;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) strides.push_back(stride(type, shape, axis));
    return placed(type, shape, strides);
  }
  /// Strides under which no two elements share an address, in a random order of the axes.
  HostileTensor output(DType type, const Dims& shape) {
    std::vector<std::size_t> order;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) order.push_back(axis);
    if (chance(0.5)) random_.shuffle(order);
    if (chance(0.3)) std::reverse(order.begin(), order.end());
    Dims strides(shape.size(), 1);
    std::int64_t reach = 0;
    for (const std::size_t axis : order) {
      std::int64_t step = 0, gap = chance(0.2) ? any() : 0, length = 0;
      if (shape[axis] <= 1 && chance(0.5)) {
        strides[axis] = any();
        continue;
      }
      const bool fits = gap >= 0 && !__builtin_add_overflow(reach, 1 + gap % (kFar - 1), &step) &&
                        !__builtin_mul_overflow(std::max<std::int64_t>(shape[axis], 1) - 1, step, &length) &&
                        !__builtin_add_overflow(reach, length, &length);
      if (!fits) return placed(type, shape, contiguous_strides(shape));
      reach = length;
      strides[axis] = chance(0.2) ? -step : step;
    }
    return placed(type, shape, strides);
  }
  /// A view of these extents and strides. Throws what the view throws.
  HostileTensor placed(DType type, const Dims& shape, const Dims& strides) {
    HostileTensor tensor;
    tensor.view = TensorView(nullptr, type, shape, strides);
    const TensorView::ByteRange range = tensor.view.byte_range();
    if (range.begin < -kMaxBytes || range.end > kMaxBytes) return tensor;
    const auto bytes = static_cast<std::size_t>(range.end - range.begin);
    tensor.memory = std::make_shared<std::vector<std::uint64_t>>((bytes + 15) / 8);
    for (std::uint64_t& word : *tensor.memory) word = 0x0101010101010101u * (++filled_ % 64);
    // The last byte of the view is the last one of the memory's words, or nearly.
    char* const first = reinterpret_cast<char*>(tensor.memory->data());
    tensor.view = TensorView(first - range.begin, type, shape, strides);
    return tensor;
  }

 private:
  static constexpr std::int64_t kMaxBytes = 8192, kFar = std::int64_t{1} << 40;

  std::int64_t stride(DType type, const Dims& shape, std::size_t axis) {
    if (chance(0.2)) return any();
    if (chance(0.4)) {
      std::int64_t stride = 1;
      for (std::size_t inner = axis + 1; inner < shape.size(); ++inner)
        if (__builtin_mul_overflow(stride, shape[inner], &stride)) return 0;
      return stride;
    }
    if (chance(0.3)) return random_.integer(-3, 9);
    const std::int64_t steps = std::max<std::int64_t>(2, shape[axis]) - 1;
    const std::int64_t most = std::numeric_limits<std::int64_t>::max() / steps /
                              static_cast<std::int64_t>(size_of(type) * (shape.size() + 1));
    return chance(0.5) ? most : -most;
  }

  Random random_;
  std::uint64_t filled_ = 0;
};

/// How many calls succeeded: a test whose calls are all refused would see nothing.
struct HostileCalls {
  int taken = 0, refused = 0;

  /// Calls; relayout::Error is the one exception that may leave. Whether the call was taken.
  template <class Call>
  bool operator()(const Call& call) {
    try {
      call();
      ++taken;
      return true;
    } catch (const Error& error) {
      EXPECT_GT(std::string(error.what()).size(), 20u) << error.what();
      ++refused;
      return false;
    }
  }
};

/// Some problems of each kind, of hostile values: planned for native code and for both kinds of GPU.
class HostileTest : public ::testing::Test {
 protected:
  explicit HostileTest(int cases) : cases_(cases) {}
  template <class Plan>
  void plan_everywhere(const Plan& plan) {
    calls_([&] { plan(PlanTarget(cpu_)).explain(); });
    calls_([&] { plan(PlanTarget(h200_)).explain(); });
    calls_([&] { plan(PlanTarget(mi300x_)).explain(); });
  }
  void TearDown() override {
    // The draws are made so that many calls are legal, and many are not.
    EXPECT_GT(calls_.taken, cases_ / 4);
    EXPECT_GT(calls_.refused, cases_ / 10);
  }

  const int cases_;
  const Device cpu_ = Device::cpu();
  const DeviceProperties h200_ = DeviceProperties::h200(), mi300x_ = DeviceProperties::mi300x();
  const Stream stream_{cpu_};
  HostileCalls calls_;
};

}  // namespace relayout::test
