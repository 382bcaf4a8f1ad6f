// The GEMM of Device::cpu() where no BLAS was built in, and the second half of a GEMM whose BLAS wrote fp32
// sums. Both operands are K-contiguous; blocks of them are widened to fp32 (exact) and multiplied from the
// cache.
#include <algorithm>
#include <cstring>
#include <string>

#include "core/integer_math.hpp"
#include "host/cpu/conv/gemm_rows.hpp"
#include "host/cpu/convert.hpp"
#include "host/cpu/native_table.hpp"
#include "host/cpu/parallel.hpp"
#include "host/cpu/processor.hpp"
#include "host/cpu/scratch.hpp"
#include "relayout/error.hpp"

namespace relayout::native {
namespace {

constexpr std::int64_t kRows = 64, kColumns = 64, kDepth = kPanelDepth;
constexpr std::int64_t kStripRows = 4, kStripColumns = 16;

/// a is [row][k], b is [k][column], so that the innermost loop runs over neighbouring columns.
struct Panels {
  alignas(64) float a[kRows][kDepth];
  alignas(64) float b[kDepth][kColumns];
  alignas(64) float sums[kRows][kColumns];
};

using Vector8 __attribute__((vector_size(32))) = float;

/// sums += a * b for a block; a strip of 4 x 16 sums stays in registers for all of k.
__attribute__((always_inline)) inline void multiply_panels(Panels& panels, std::int64_t rows,
                                                           std::int64_t depth) {
  for (std::int64_t row = 0; row < rows; row += kStripRows) {
    for (std::int64_t column = 0; column < kColumns; column += kStripColumns) {
      Vector8 strip[kStripRows][2];
      for (int r = 0; r < kStripRows; ++r)
        std::memcpy(strip[r], &panels.sums[row + r][column], sizeof strip[r]);
      for (std::int64_t k = 0; k < depth; ++k) {
        Vector8 b[2];
        std::memcpy(b, &panels.b[k][column], sizeof b);
        for (int r = 0; r < kStripRows; ++r) {
          strip[r][0] += panels.a[row + r][k] * b[0];
          strip[r][1] += panels.a[row + r][k] * b[1];
        }
      }
      for (int r = 0; r < kStripRows; ++r)
        std::memcpy(&panels.sums[row + r][column], strip[r], sizeof strip[r]);
    }
  }
}

void multiply_plain(Panels& panels, std::int64_t rows, std::int64_t depth) {
  multiply_panels(panels, rows, depth);
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) void multiply_avx2(Panels& panels, std::int64_t rows, std::int64_t depth) {
  multiply_panels(panels, rows, depth);
}
#endif

using Multiply = void (*)(Panels&, std::int64_t, std::int64_t);

Multiply choose_multiply() noexcept {
#if defined(__x86_64__) && defined(__GNUC__)
  if (has_avx2()) return multiply_avx2;
#endif
  return multiply_plain;
}

/// The rows of a matrix in memory.
template <class T>
class MatrixRows final : public GemmRows {
 public:
  explicit MatrixRows(const GemmParams& params) : p_(params) {}
  void load(std::int64_t group, std::int64_t row, std::int64_t rows, std::int64_t k, std::int64_t depth,
            float (*panel)[kPanelDepth]) const override {
    const T* a = static_cast<const T*>(p_.a) + group * p_.a_group + row * p_.lda + k;
    for (std::int64_t r = 0; r < rows; ++r) convert_row(a + r * p_.lda, panel[r], depth);
  }

 private:
  const GemmParams& p_;
};

/// Rows beyond the matrix are zeros. They are multiplied, but their results are never stored.
void load_a(const GemmRows& a, std::int64_t group, std::int64_t row, std::int64_t rows, std::int64_t k,
            std::int64_t depth, Panels& panels) {
  a.load(group, row, rows, k, depth, panels.a);
  for (std::int64_t r = rows; r < kRows; ++r) std::fill_n(panels.a[r], depth, 0.0f);
}

template <class T>
void load_b(const T* bt, std::int64_t pitch, std::int64_t columns, std::int64_t depth, Panels& panels) {
  float line[kDepth] = {};
  for (std::int64_t column = 0; column < kColumns; ++column) {
    if (column < columns) {
      convert_row(bt + column * pitch, line, depth);
    } else {
      std::fill_n(line, depth, 0.0f);
    }
    for (std::int64_t k = 0; k < depth; ++k) panels.b[k][column] = line[k];
  }
}

/// y = round(sums + bias) for part of a row.
void store_row(const float* sums, const float* bias, std::int64_t count, void* y, std::int64_t offset,
               DType type) {
  float row[kColumns];
  for (std::int64_t i = 0; i < count; ++i) row[i] = bias == nullptr ? sums[i] : sums[i] + bias[i];
  if (type == DType::f16) {
    convert_row(row, static_cast<f16*>(y) + offset, count);
  } else if (type == DType::bf16) {
    convert_row(row, static_cast<bf16*>(y) + offset, count);
  } else {
    convert_row(row, static_cast<float*>(y) + offset, count);
  }
}

template <class T>
void run_gemm(const GemmParams& params, const GemmRows& a) {
  const Multiply multiply = choose_multiply();
  const std::int64_t row_blocks = divide_up(params.m, kRows);
  const std::int64_t column_blocks = divide_up(params.n, kColumns);
  const auto run_block = [&](std::int64_t block, Panels& panels) {
    const std::int64_t column = block % column_blocks * kColumns;
    const std::int64_t row = block / column_blocks % row_blocks * kRows;
    const std::int64_t group = block / column_blocks / row_blocks;
    const std::int64_t rows = std::min(kRows, params.m - row),
                       columns = std::min(kColumns, params.n - column);
    const T* bt = static_cast<const T*>(params.bt) + group * params.b_group + column * params.ldb;
    std::fill_n(&panels.sums[0][0], kRows * kColumns, 0.0f);
    for (std::int64_t k = 0; k < params.k; k += kDepth) {
      const std::int64_t depth = std::min(kDepth, params.k - k);
      load_a(a, group, row, rows, k, depth, panels);
      load_b(bt + k, params.ldb, columns, depth, panels);
      multiply(panels, round_up(rows, kStripRows), depth);
    }
    const float* bias = params.bias == nullptr ? nullptr : params.bias + group * params.bias_group + column;
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t offset = group * params.y_group + (row + r) * params.ldc + column;
      store_row(panels.sums[r], bias, columns, params.y, offset, params.out_type);
    }
  };
  const std::int64_t work = params.groups * params.m * params.n;
  parallel_ranges_in<Panels>(params.groups * row_blocks * column_blocks,
                             work * std::clamp<std::int64_t>(params.k / 16, 1, kSerialElements),
                             [&](std::int64_t begin, std::int64_t end, Panels& panels) {
                               for (std::int64_t block = begin; block < end; ++block)
                                 run_block(block, panels);
                             });
}

void check_types(const GemmParams& params) {
  const bool operands = params.in_type == DType::f16 || params.in_type == DType::bf16;
  const bool result = params.out_type == params.in_type || params.out_type == DType::f32;
  if (!operands || !result) {
    throw Error(ErrorCode::dtype, std::string("No GEMM of ") + name_of(params.in_type) + " operands into " +
                                      name_of(params.out_type) + ".");
  }
}

}  // namespace

void gemm(const LaunchContext& context, const GemmParams& params) {
  if (params.kernel == GemmKernel::epilogue) return gemm_epilogue(context, params);
  check_types(params);
  if (params.in_type == DType::f16) {
    run_gemm<f16>(params, MatrixRows<f16>(params));
  } else {
    run_gemm<bf16>(params, MatrixRows<bf16>(params));
  }
}

void gemm_of_rows(const GemmParams& params, const GemmRows& a) {
  check_types(params);
  if (params.in_type == DType::f16) {
    run_gemm<f16>(params, a);
  } else {
    run_gemm<bf16>(params, a);
  }
}

void gemm_epilogue(const LaunchContext& /*context*/, const GemmParams& params) {
  check_types(params);
  const std::int64_t rows = params.groups * params.m;
  parallel_ranges(rows, rows * params.n, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t group = row / params.m;
      const float* bias = params.bias == nullptr ? nullptr : params.bias + group * params.bias_group;
      const std::int64_t offset = group * params.y_group + row % params.m * params.ldc;
      for (std::int64_t column = 0; column < params.n; column += kColumns) {
        store_row(params.workspace + row * params.n + column, bias == nullptr ? nullptr : bias + column,
                  std::min(kColumns, params.n - column), params.y, offset + column, params.out_type);
      }
    }
  });
}

}  // namespace relayout::native
