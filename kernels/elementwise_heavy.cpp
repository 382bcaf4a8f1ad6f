// Chains with an operation of many instructions, and the choice among all instances.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise_kernel.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

bool has_heavy(const ElementwiseParams& p) {
  const bool real = p.compute == ComputeClass::single || p.compute == ComputeClass::twice;
  for (int s = 0; s < p.steps; ++s) {
    if (is_heavy(p.step[s].operation, p.rounding, real)) return true;
  }
  return false;
}

void launch_heavy(const LaunchContext& context, const ElementwiseParams& p) {
  switch (p.compute) {
    case ComputeClass::word:
      return launch_elementwise_of<std::int32_t, 2, AllOperations>(context, p);
    case ComputeClass::long_word:
      return launch_elementwise_of<std::int64_t, 2, AllOperations>(context, p);
    case ComputeClass::twice:
      return launch_elementwise_of<double, 2, AllOperations>(context, p);
    case ComputeClass::single:
      if (p.width == 4) return launch_elementwise_of<float, 4, AllOperations>(context, p);
      return launch_elementwise_of<float, 2, AllOperations>(context, p);
  }
}

}  // namespace

void launch_elementwise(const LaunchContext& context, const ElementwiseParams& p) {
  if (has_heavy(p)) return launch_heavy(context, p);
  switch (p.compute) {
    case ComputeClass::word:
      return launch_elementwise_word(context, p);
    case ComputeClass::single:
      return launch_elementwise_single(context, p);
    case ComputeClass::long_word:
    case ComputeClass::twice:
      return launch_elementwise_wide(context, p);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
