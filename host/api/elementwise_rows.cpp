#include "host/api/elementwise_rows.hpp"

#include <algorithm>
#include <cstdint>

#include "host/api/row_vectors.hpp"

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

}  // namespace

void cut_rows(ElementwiseParams& p) {
  p.width = static_cast<std::int32_t>(width_of(p));
  p.aligned = true;
  for (int t = 0; t < p.tensors; ++t) {
    p.tensor[t].access = access_of(p, p.tensor[t]);
    p.aligned =
        p.aligned && (p.tensor[t].access == Access::repeated || p.tensor[t].access == Access::aligned);
  }
  count_vectors(p);
}

}  // namespace relayout
