// The processor's GEMM around the ends of its blocks: OpenBLAS's are of 512 rows, 1024 columns and a depth of
// 1024, those of relayout's own kernel of 64 rows and columns and a depth of 128. All sums are exact.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "core/kernel_table.hpp"
#include "host/api/checks.hpp"
#include "platform/backend.hpp"

#include <relayout/relayout.hpp>

namespace relayout::test {
namespace {

struct Sizes {
  std::int64_t m, n, k, groups;
};

/// Small integers that differ from element to element.
float number(std::int64_t index, std::int64_t salt) {
  const std::uint64_t mixed =
      (static_cast<std::uint64_t>(index) + 1) * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(salt);
  return static_cast<float>(static_cast<int>(mixed >> 61) - 3);
}

template <class T>
std::vector<T> numbers(std::int64_t count, std::int64_t salt, const std::function<T(float)>& convert) {
  std::vector<T> result;
  for (std::int64_t i = 0; i < count; ++i) result.push_back(convert(number(i, salt)));
  return result;
}

/// y = a * bt^T + bias by `multiply`, against plain loops. Rows of y have a gap, which stays as it was.
void check(const Sizes& s, bool with_bias, const std::function<void(const GemmParams&)>& multiply) {
  SCOPED_TRACE(::testing::Message() << s.groups << " x m " << s.m << " n " << s.n << " k " << s.k << " bias "
                                    << with_bias);
  constexpr std::int64_t kGap = 3;
  constexpr float kUntouched = -12345.0f;
  const std::int64_t pitch = s.n + kGap;
  const auto half = [](float value) { return to_f16(value); };
  const std::vector<f16> a = numbers<f16>(s.groups * s.m * s.k, 1, half),
                         bt = numbers<f16>(s.groups * s.n * s.k, 2, half);
  const std::vector<float> bias = numbers<float>(s.groups * s.n, 3, [](float value) { return value; });
  std::vector<float> y(static_cast<std::size_t>(s.groups * s.m * pitch), kUntouched);
  GemmParams p;
  p.a = a.data();
  p.bt = bt.data();
  p.bias = with_bias ? bias.data() : nullptr;
  p.y = y.data();
  p.in_type = DType::f16;
  p.out_type = DType::f32;
  p.groups = s.groups;
  p.m = s.m;
  p.n = s.n;
  p.k = p.lda = p.ldb = s.k;
  p.ldc = pitch;
  p.a_group = s.m * s.k;
  p.b_group = s.n * s.k;
  p.y_group = s.m * pitch;
  p.bias_group = s.n;
  multiply(p);

  std::vector<float> left(a.size()), right(bt.size());
  for (std::size_t i = 0; i < a.size(); ++i) left[i] = to_float(a[i]);
  for (std::size_t i = 0; i < bt.size(); ++i) right[i] = to_float(bt[i]);
  for (std::int64_t row = 0; row < s.groups * s.m; ++row) {
    const std::int64_t group = row / s.m;
    for (std::int64_t column = 0; column < pitch; ++column) {
      float expected = kUntouched;
      if (column < s.n) {
        const float *x = &left[static_cast<std::size_t>(row * s.k)],
                    *w = &right[static_cast<std::size_t>((group * s.n + column) * s.k)];
        expected = with_bias ? bias[static_cast<std::size_t>(group * s.n + column)] : 0.0f;
        for (std::int64_t i = 0; i < s.k; ++i) expected += x[i] * w[i];
      }
      ASSERT_EQ(y[static_cast<std::size_t>(row * pitch + column)], expected)
          << "row " << row << " column " << column;
    }
  }
}

/// Every extent just before, at and just behind an end of a block, beside small ones.
void check_around(std::int64_t rows, std::int64_t columns, std::int64_t depth,
                  const std::function<void(const GemmParams&)>& multiply) {
  bool with_bias = false;
  for (const std::int64_t beyond : {-1, 0, 1}) {
    for (const bool twice : {false, true}) {
      const std::int64_t blocks = twice ? 2 : 1;
      check({blocks * rows + beyond, 5, 3, 1}, with_bias = !with_bias, multiply);
      check({3, blocks * columns + beyond, 5, 1}, with_bias, multiply);
      check({3, blocks * columns + beyond, 5, 1}, !with_bias, multiply);
      check({5, 3, blocks * depth + beyond, 1}, with_bias, multiply);
    }
  }
  // Blocks along two axes at once: what is kept from one block must not serve for the next.
  check({rows + 1, columns + 1, 2, 1}, true, multiply);
  check({rows + 1, 2, depth + 1, 1}, false, multiply);
  check({2, columns + 1, depth + 1, 1}, true, multiply);
  check({3, columns + 1, depth + 1, 2}, true, multiply);
}

TEST(NativeGemm, AroundTheBlocksOfTheLibrary) {
  const Device cpu = Device::cpu();
  if (cpu.backend().blas_name() == nullptr) GTEST_SKIP() << "there is no library";
  const Stream stream(cpu);
  check_around(512, 1024, 1024, [&](const GemmParams& params) {
    GemmParams library = params;
    library.kernel = GemmKernel::library;
    ASSERT_TRUE(cpu.backend().blas_gemm(context_of(stream), library));
  });
}

TEST(NativeGemm, AroundTheBlocksOfTheOwnKernel) {
  const Stream stream(Device::cpu());
  check_around(64, 64, 128,
               [&](const GemmParams& params) { kernels_of(stream).gemm(context_of(stream), params); });
}

}  // namespace
}  // namespace relayout::test
