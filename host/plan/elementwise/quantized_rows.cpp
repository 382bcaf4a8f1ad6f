#include "host/plan/elementwise/quantized_rows.hpp"

#include <algorithm>

#include "host/plan/elementwise/row_vectors.hpp"

namespace relayout {
namespace {

constexpr std::int32_t kCodesOfVector = 16, kNumbersOfVector = 4;

bool is_aligned(Access access) { return access == Access::aligned || access == Access::repeated; }

template <class T>
bool is_repeated(const QuantizedParams& p, const TensorOrConstant<T>& number) {
  return number.tensor < 0 || p.tensor[number.tensor].access == Access::repeated;
}

/// add, sub and mul of codes to codes, rows in vectors, scales and zero points constant along each row.
bool is_arithmetic(const QuantizedParams& p) {
  const bool offered =
      p.operation == Operation::add || p.operation == Operation::sub || p.operation == Operation::mul;
  if (p.converts || !offered || !p.out_coded || !p.fits_32_bits || p.out_strides[p.rank - 1] != 1)
    return false;
  const auto fits = [&](const CodeNumbers& codes) {
    return is_repeated(p, codes.scale) && is_repeated(p, codes.zero);
  };
  return fits(p.out_codes) && std::all_of(p.argument, p.argument + 2, [&](const QuantizedArgument& a) {
           return a.coded && is_aligned(p.tensor[a.value.tensor].access) && fits(a.codes);
         });
}

void cut_rows(QuantizedParams& p, std::int32_t width) {
  p.width = width;
  for (int t = 0; t < p.tensors; ++t) p.tensor[t].access = access_of(p, p.tensor[t]);
  count_vectors(p);
}

}  // namespace

void cut_rows(QuantizedParams& p) {
  cut_rows(p, kCodesOfVector);
  if (is_arithmetic(p)) {
    p.kernel = QuantizedKernel::arithmetic;
    const std::int64_t shared = (p.row_vectors + kArithmeticVectors - 1) / kArithmeticVectors;
    p.row_divisor = make_divisor(static_cast<std::uint32_t>(shared));
    p.lanes = static_cast<std::uint32_t>(p.elements / p.extents[p.rank - 1] * shared);
    return;
  }
  p.kernel = QuantizedKernel::any;
  cut_rows(p, kNumbersOfVector);
}

}  // namespace relayout
