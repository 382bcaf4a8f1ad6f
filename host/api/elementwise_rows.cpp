#include "host/api/elementwise_rows.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#

namespace relayout {
namespace {

constexpr std::int64_t kVectorBytes = 16;

bool has_heavy(const ElementwiseParams& p) {
  const bool real = p.compute == ComputeClass::single || p.compute == ComputeClass::twice;
  return std::any_of(p.step, p.step + p.steps,
                     [&](const Step& step) { return is_heavy(step.operation, p.rounding, real); });
}

/// Elements of which the largest operand's are 16 bytes; fewer where a kernel computes with more registers.
std::int64_t width_of(const ElementwiseParams& p) {
  std::size_t widest = size_of(p.out_type);
  for (int t = 0; t < p.tensors; ++t) widest = std::max(widest, size_of(p.tensor[t].type));
  if (p.convert) widest = std::max(widest, size_of(p.result));
  const std::int64_t fitting = kVectorBytes / static_cast<std::int64_t>(widest);
  switch (p.compute) {
    case ComputeClass::word:
      return has_heavy(p) ? 2 : fitting;
    case ComputeClass::single:
      return std::min<std::int64_t>(fitting, has_heavy(p) ? 4 : 8);
    case ComputeClass::long_word:
    case ComputeClass::twice:
      break;
  }
  return 2;
}

/// Whether every row of the output begins as many elements behind a vector's boundary.
bool rows_alike(const ElementwiseParams& p) {
  return std::all_of(p.out_strides, p.out_strides + p.rank - 1,
                     [&](std::int64_t stride) { return stride % p.width == 0; });
}

}  // namespace

void cut_rows(ElementwiseParams& p) {
  const int last = p.rank - 1;
  p.width = static_cast<std::int32_t>(width_of(p));
  std::int64_t most_lead = 0;
  if (p.out_strides[last] == 1) {
    const auto bytes = static_cast<std::int64_t>(size_of(p.out_type));
    const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p.out) % 16);
    most_lead = rows_alike(p) ? address % (p.width * bytes) / bytes : p.width - 1;
  }
  p.row_vectors = (most_lead + p.extents[last] + p.width - 1) / p.width;
  const std::int64_t rows = p.elements / p.extents[last];
  p.vectors = rows * p.row_vectors;
  p.small = p.vectors <= std::numeric_limits<std::int32_t>::max();
  if (!p.small) return;
  p.row_divisor = make_divisor(static_cast<std::uint32_t>(p.row_vectors));
  for (int axis = 0; axis < last; ++axis)
    p.divisors[axis] = make_divisor(static_cast<std::uint32_t>(p.extents[axis]));
}

}  // namespace relayout
